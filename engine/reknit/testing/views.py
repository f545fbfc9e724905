"""What tests see of blocks, and how it is compared and shown: in the words that expectations use.

A view is the kind of a block and its parts as plain data. A part that is not there is None, so `signature: null` says
that there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from reknit.machine import Machine
from reknit.machine.blocks import Call
from reknit.message import Message, Note, ToolUse
from reknit.updates import BlockArchived, BlockChanged, BlockOpened, BlockReopened, Delta, Update

MADE: Final = "made"
"""Stands for every id that was made up here."""

BLOCK_KINDS: Final = ("text", "thinking", "redacted", "opaque", "tool")
"""Kinds of blocks by the words of expectations."""

_KINDS: Final = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "redacted",
    "tool_use": "tool",
    "tool": "tool",
}
_PLAIN_KEY: Final = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_MOST_SHOWN: Final = 400


class View(NamedTuple):
    """A block, or what is asked of one."""

    kind: str
    data: Mapping[str, Any]


class Brought(NamedTuple):
    """What one step of a test brought, and the state that it led to."""

    archived: tuple[View, ...]
    opened: tuple[View, ...]
    reopened: tuple[View, ...]
    deltas: tuple[tuple[str, str], ...]
    state: str


def block_view(data: Mapping[str, Any], facts: Mapping[str, Any]) -> View:
    """A block of a message as tests see it; `facts` are what is known of a call beside its block."""
    kind = _KINDS.get(str(data.get("type")), "opaque")
    if kind == "opaque":
        return View(kind, dict(data))
    parts = {key: value for key, value in data.items() if key != "type"}
    if kind == "thinking":
        parts["text"] = parts.pop("thinking", None)
    if kind == "tool":
        made = facts.get("made", False)
        parts |= {key: value for key, value in facts.items() if key != "made"}
        if made:
            parts["id"] = MADE
    return View(kind, parts)


def message_views(message: Message) -> list[View]:
    """All blocks of a message, in order."""
    views = []
    for block in message.content:
        facts: dict[str, Any] = {}
        verdict = message.verdicts.get(block.id) if isinstance(block, ToolUse) else None
        if verdict is not None:
            facts = {
                "class": verdict.safety,
                "grade": verdict.grade,
                "seal": verdict.seal,
                "executable": verdict.executable,
                "made": verdict.made_id,
            }
        views.append(block_view(block.model_dump(), facts))
    return views


def brought(updates: Iterable[Update], machine: Machine) -> Brought:
    """What a step brought, seen right after it: what a call is called now may be replaced later."""
    archived: list[View] = []
    opened: dict[int, tuple[str, dict[str, Any]]] = {}
    reopened: list[View] = []
    deltas: list[tuple[str, str]] = []
    for update in updates:
        if isinstance(update, BlockArchived):
            facts = {
                "class": update.safety,
                "grade": update.grade,
                "seal": update.seal,
                "executable": update.executable,
                "made": _is_made(machine, update.block),
            }
            archived.append(block_view(update.value, facts))
        elif isinstance(update, BlockOpened):
            parts = {"id": update.id, "name": update.name} if update.kind == "tool_use" else {}
            opened[update.block] = (_KINDS.get(update.kind, "opaque"), parts)
        elif isinstance(update, BlockChanged):
            if update.block in opened and update.field in ("id", "name"):
                opened[update.block][1][update.field] = update.value
        elif isinstance(update, BlockReopened):
            reopened.append(block_view(machine.blocks[update.block].value(), {"made": _is_made(machine, update.block)}))
        elif isinstance(update, Delta):
            deltas.append((update.field, update.text))
    for ordinal, (_, parts) in opened.items():
        if _is_made(machine, ordinal):
            parts["id"] = MADE
    views = tuple(View(kind, parts) for kind, parts in opened.values())
    return Brought(tuple(archived), views, tuple(reopened), tuple(deltas), machine.state)


def _is_made(machine: Machine, ordinal: int) -> bool:
    block = machine.blocks[ordinal]
    return isinstance(block, Call) and block.made


# -- comparing ---------------------------------------------------------------------------------------------------------


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same: `true` is not 1, and 1 is 1.0."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def differing(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """The keys of what is wanted for which something else came."""
    return [key for key, value in wanted.items() if not same(value, got.get(key))]


def fits(wanted: View, got: View) -> bool:
    """Whether a view is what is wanted."""
    return wanted.kind == got.kind and not differing(wanted.data, got.data)


# -- showing -----------------------------------------------------------------------------------------------------------


def shown_value(value: Any) -> str:
    """A JSON value in one line, as a rule file would say it, cut where it is long."""
    text = _written(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)}: {_written(inner)}" for key, inner in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def shown(view: View, keys: Iterable[str] | None = None) -> str:
    """A view in the words of an expectation; only of the keys asked for, and those that are there without them."""
    if keys is None:
        data = {key: value for key, value in view.data.items() if value is not None}
    else:
        data = {key: view.data.get(key) for key in keys}
    if not data:
        return view.kind
    value = data["text"] if list(data) == ["text"] else data
    return f"{view.kind} {shown_value(value)}"


def note_view(note: Note) -> View:
    """A note by its reason, and the rest of it."""
    data = {"rule": note.rule, "count": note.count, "block": note.block, "first": note.first, "last": note.last}
    return View(note.reason, data)


def parting(wanted: Any, got: Any) -> str | None:
    """Where two texts part, for texts that are too long to compare by eye."""
    if not (isinstance(wanted, str) and isinstance(got, str)) or min(len(wanted), len(got)) < 12:
        return None
    at = next(
        (n for n, pair in enumerate(zip(wanted, got, strict=False)) if pair[0] != pair[1]), min(len(wanted), len(got))
    )
    if at == 0:
        return None
    here, there = (shown_value(text[at : at + 20]) if text[at:] else "nothing more" for text in (wanted, got))
    return f"the texts part after {at} characters: {here} was expected, {there} came"
