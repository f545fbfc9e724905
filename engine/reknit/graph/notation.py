"""A graph in the notations that other programs draw: Mermaid, as code hosts show it, and DOT."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from reknit.graph.links import STATUSES, Graph, Link, State

_MOST_NAMES: Final = 4
"""So many rules are named on one edge."""

_PLAIN: Final = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED: Final = frozenset(
    {"state", "note", "end", "direction", "as", "class", "classdef", "style", "default", "fork", "join", "choice"}
)
"""Words that mean something else in Mermaid."""

_COLOURS: Final = {"added": "#1a7f37", "removed": "#cf222e", "changed": "#9a6700"}
_FILLS: Final = {"added": "#dafbe1", "removed": "#ffebe9", "changed": "#fff8c5"}


def named(links: Sequence[Link], most: int = _MOST_NAMES) -> str:
    """The rules of some links in words: those that changed first, those that are as before only counted."""
    rules = {status: [link.rule for link in links if link.status == status] for status in STATUSES}
    told = [f"{status} {_some(rules[status], most)}" for status in STATUSES[1:] if rules[status]]
    if not told:
        return _some(rules["same"], most)
    return " / ".join([*told, *([f"{len(rules['same'])} as before"] if rules["same"] else [])])


def stays(links: Sequence[Link]) -> str:
    """The rules that stay in a state: how many, and which of them changed."""
    changed = [link for link in links if link.status != "same"]
    return named(changed) if changed else f"{len(links)} rule{'' if len(links) == 1 else 's'} stay"


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# -- Mermaid -----------------------------------------------------------------------------------------------------------


def mermaid(graph: Graph) -> str:
    """A graph as a Mermaid state diagram (`stateDiagram-v2`), its changes in words, those of states in colours."""
    ids = {state.name: _mermaid_id(state.name, number) for number, state in enumerate(graph.states)}
    lines = ["stateDiagram-v2"]
    for state in graph.states:
        if ids[state.name] != state.name:
            lines.append(f'  state "{_mermaid_text(state.name)}" as {ids[state.name]}')
    lines += [f"  [*] --> {ids[state.name]}" for state in graph.states if state.flag == "start"]
    for (source, target), links in graph.between().items():
        said = stays(links) if source == target else named(links)
        lines.append(f"  {ids[source]} --> {ids[target]}: {_mermaid_text(said)}")
    lines += [f"  {ids[state.name]} --> [*]" for state in graph.states if state.flag == "final"]
    lines += _mermaid_classes(graph.states, ids)
    return "\n".join(lines) + "\n"


def _mermaid_id(name: str, number: int) -> str:
    return name if _PLAIN.fullmatch(name) and name not in _RESERVED else f"s{number}"


def _mermaid_text(text: str) -> str:
    """A text in which nothing is taken for the notation: every sign that may mean something is its number."""
    return re.sub(r"[^\w ,./*+-]", lambda match: f"#{ord(match[0])};", text)


def _mermaid_classes(states: Iterable[State], ids: dict[str, str]) -> list[str]:
    used = [state for state in states if state.status != "same"]
    lines = [
        f"  classDef {status} fill:{_FILLS[status]},stroke:{_COLOURS[status]}"
        + (",stroke-dasharray:4 3" if status == "removed" else "")
        for status in dict.fromkeys(state.status for state in used)
    ]
    return lines + [f"  class {ids[state.name]} {state.status}" for state in used]


# -- DOT ---------------------------------------------------------------------------------------------------------------


def dot(graph: Graph) -> str:
    """A graph in the DOT language."""
    lines = [
        f"digraph {_dot_text(graph.title)} {{",
        "  rankdir=LR",
        '  node [shape=box, style=rounded, fontname="sans"]',
    ]
    lines.append('  edge [fontname="sans", fontsize=10]')
    for state in graph.states:
        label = state.name if not state.holds else f"{state.name}\n{state.holds}"
        style = {"label": label, **({"peripheries": "2"} if state.flag == "final" else {}), **_dot_style(state.status)}
        if "style" in style:
            style["style"] = f"rounded,{style['style']}"
        lines.append(f"  {_dot_text(state.name)} [{_dot_attributes(style)}]")
    for state in graph.states:
        if state.flag == "start":
            lines += ['  "" [shape=point]', f'  "" -> {_dot_text(state.name)}']
    for (source, target), links in graph.between().items():
        said = stays(links) if source == target else named(links)
        statuses = {link.status for link in links}
        status = next(iter(statuses)) if len(statuses) == 1 else "changed"
        attributes = _dot_attributes({"label": said, **_dot_style(status)})
        lines.append(f"  {_dot_text(source)} -> {_dot_text(target)} [{attributes}]")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_style(status: str) -> dict[str, str]:
    if status == "same":
        return {}
    colour = _COLOURS[status]
    return {"color": colour, "fontcolor": colour, **({"style": "dashed"} if status == "removed" else {})}


def _dot_attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{key}={_dot_text(value)}" for key, value in attributes.items())


def _dot_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
