"""What somebody asks about rules, in the words of the command line: an event, cells of one, or an item by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from reknit.errors import UsageError
from reknit.explain.accounts import CellAccount, EventAccount, RuleAccount, cell_account, event_account, rule_account
from reknit.explain.subject import Subject
from reknit.lang.diagnostics import nearest, quoted, suggestion
from reknit.lang.syntax import Group
from reknit.table import ENDING_STATE, EventSpec

Account = EventAccount | CellAccount | RuleAccount

_EVENT: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_CELLS: Final = re.compile(r"([A-Z][A-Z0-9_]*)\s*(?:\{(.*)\}\s*)?", re.DOTALL)
_CASE: Final = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*:\s*([a-z0-9_-]+(?:\s*\|\s*[a-z0-9_-]+)*)\s*")
_KINDS: Final = (
    *("rule", "map", "flush", "split", "enum", "ignore", "detect", "repair", "merge", "derive", "class", "state"),
)
"""Kinds of items that may be asked for by name, besides events."""


def accounts(
    subject: Subject, text: str, states: Sequence[str], tests: Callable[[str], Iterable[tuple[str, str]]]
) -> list[Account]:
    """All that is meant by a text.

    Args:
        subject: The rules.
        text: `EVENT`, `EVENT { question: case | case, ... }`, or a name.
        states: In which states to look; names of groups, too.
        tests: Gives title and place of the tests that make a rule fire.

    Raises:
        UsageError: Nothing is meant by it.
    """
    if _EVENT.fullmatch(text) and not states:
        return [event_account(subject, _event(subject, text).name)]
    if _EVENT.match(text):
        return [_cells(subject, text, states)]
    found: list[Account] = []
    for kind in _KINDS:
        if subject.sites.item(kind, text) is None:
            continue
        if kind == "rule":
            found.append(rule_account(subject, text, tests(text)))
        else:
            found.append(RuleAccount(kind, text, subject.sites.history(kind, text)))
    if not found:
        known = [*subject.policy.events, *(name for kind in _KINDS for name in subject.sites.names(kind))]
        near = nearest(text, known)
        help = f"did you mean {quoted(near)}?" if near else "give an event, a cell, or the name of a rule or map"
        raise UsageError("unknown-item", f"{quoted(subject.name)} has nothing named {quoted(text)}", help)
    return found


def _cells(subject: Subject, text: str, states: Sequence[str]) -> CellAccount:
    match = _CELLS.fullmatch(text.strip())
    if match is None:
        raise UsageError("cell", f"{quoted(text)} is no cell", "as in `TEXT_DELTA { slot: last | open, text: some }`")
    spec = _event(subject, match[1])
    return cell_account(subject, spec.name, _cases(spec, match[2] or ""), list(_states(subject, spec, states)))


def _event(subject: Subject, name: str) -> EventSpec:
    spec = subject.policy.events.get(name)
    if spec is None:
        help = suggestion(name, subject.policy.events, 40) or ""
        raise UsageError("unknown-event", f"policy {quoted(subject.policy.name)} has no event {quoted(name)}", help)
    return spec


def _cases(spec: EventSpec, text: str) -> Mapping[str, tuple[str, ...]]:
    questions = {question.name: question.cases for question in spec.questions}
    found: dict[str, tuple[str, ...]] = {}
    for part in text.split(",") if text.strip() else []:
        match = _CASE.fullmatch(part)
        if match is None:
            help = "as in `slot: last | open`, parted by commas"
            raise UsageError("cell", f"{quoted(part.strip())} is no case of a question", help)
        name, cases = match[1], tuple(case.strip() for case in match[2].split("|"))
        if name not in questions:
            help = suggestion(name, questions) or f"{quoted(spec.name)} asks nothing"
            raise UsageError("unknown-question", f"{quoted(spec.name)} has no question {quoted(name)}", help)
        for case in cases:
            if case not in questions[name]:
                help = suggestion(case, questions[name], 12) or ""
                raise UsageError("unknown-case", f"{quoted(name)} of {quoted(spec.name)} is never {quoted(case)}", help)
        found[name] = cases
    return found


def _states(subject: Subject, spec: EventSpec, names: Sequence[str]) -> Iterator[str]:
    known = [state.name for state in subject.policy.states]
    for name in names:
        group = subject.sites.item("group", name)
        if spec.about == "ending":
            message = f"{quoted(spec.name)} is judged in the same way in all states"
            raise UsageError("states", message, "leave `--in` out")
        if isinstance(group, Group):
            yield from (state.text for state in group.states)
        elif name in known:
            yield name
        else:
            help = suggestion(name, [*known, *subject.sites.names("group")], 12) or ""
            raise UsageError("unknown-state", f"policy {quoted(subject.policy.name)} has no state {quoted(name)}", help)


def group_of(subject: Subject, states: Sequence[str]) -> str:
    """States in words: all, a group of just these, or their names."""
    if not states or tuple(states) == (ENDING_STATE,):
        return ""
    if len(states) == len(subject.policy.states):
        return "any state"
    for name in subject.sites.names("group"):
        group = subject.sites.item("group", name)
        if isinstance(group, Group) and {state.text for state in group.states} == set(states) and len(states) > 1:
            return f"{name} ({', '.join(states)})"
    return ", ".join(states)
