"""What a caller sees of a machine, as plain data without the names of rules, and where two such sights part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from reknit.diff.wording import plain
from reknit.machine import Machine
from reknit.machine.blocks import Call, Growing
from reknit.table import ClassSpec
from reknit.updates import (
    BlockArchived,
    BlockChanged,
    BlockOpened,
    BlockReopened,
    BlockWithdrawn,
    Delta,
    NoteAdded,
    Update,
    UsageChanged,
)

Classes: TypeAlias = Mapping[str, ClassSpec]

_MOST_SHOWN: Final = 300


class Seen(NamedTuple):
    """What a caller sees of a play: what each step brought, the message once the stream is closed, and just before."""

    steps: tuple[tuple[Any, ...], ...]
    end: Mapping[str, Any]
    so_far: Mapping[str, Any]


class Noted(NamedTuple):
    """A note, without the rule that made it."""

    reason: str
    block: int | None
    times: int
    first: str
    last: str | None


class Judged(NamedTuple):
    """A block with what is known of it; its class with all that it lets a call do."""

    value: dict[str, Any]
    seal: str | None = None
    grade: str | None = None
    safety: str | None = None
    spec: ClassSpec | None = None
    executable: bool = False
    made: bool = False
    inferred: bool = False


class Archived(NamedTuple):
    """A block that is finished."""

    block: int
    judged: Judged


def plain_update(update: Update, classes: Classes) -> Any:
    """An update, without the names of rules and with the settings of its class."""
    if isinstance(update, NoteAdded):
        note = update.note
        return Noted(note.reason, note.block, note.count, note.first, note.last)
    if isinstance(update, BlockArchived):
        spec = classes.get(update.safety) if update.safety is not None else None
        judged = Judged(update.value, update.seal, update.grade, update.safety, spec, update.executable)
        return Archived(update.block, judged)
    return update


def message_of(machine: Machine, classes: Classes) -> dict[str, Any]:
    """The message so far, by its parts."""
    shown = [block for block in machine.blocks if not block.hidden]
    position = {block.ordinal: number for number, block in enumerate(shown)}
    notes = machine.notes.listed(position)
    return {
        "blocks": [_judged(block, classes) for block in shown],
        "stop": machine.stop_reason,
        "complete": machine.complete,
        "error": machine.error.model_dump() if machine.error is not None else None,
        "usage": machine.ledger.usage().model_dump(),
        "notes": [Noted(note.reason, note.block, note.count, note.first, note.last) for note in notes],
        "id": machine.message_id,
        "model": machine.model,
    }


def _judged(block: Growing, classes: Classes) -> Judged:
    if not isinstance(block, Call):
        return Judged(block.value())
    spec = classes.get(block.safety)
    verdict = (block.seal, block.grade, block.safety, spec, block.executable, block.made, block.inferred)
    return Judged(block.value(), *verdict)


# -- where two sights part ---------------------------------------------------------------------------------------------


def apart(one: Any, two: Any) -> tuple[str, str]:
    """What two sights say where they part first, in words: what a step brought, or the message at the end."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        key = next((key for key in one if one[key] != two.get(key)), None)
        if key is None:
            return "it ends", "it does not end"
        mine, other = one[key], two.get(key)
        if key in ("blocks", "notes") and isinstance(mine, list) and isinstance(other, list):
            return _lists_apart(mine, other)
        return f"{key} {_cut(plain(mine))}", f"{key} {_cut(plain(other))}"
    return _lists_apart(list(one), list(two))


def _lists_apart(one: list[Any], two: list[Any]) -> tuple[str, str]:
    """What only one of two lists has; of the same block, only what is not the same."""
    mine, others = [item for item in one if item not in two], [item for item in two if item not in one]
    if not mine and not others:
        at = next((n for n, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), 0)
        return (f"first {_words(one[at])}", f"first {_words(two[at])}") if one and two else ("nothing", "nothing")
    first, second = (mine or [None])[0], (others or [None])[0]
    if isinstance(first, Archived) and isinstance(second, Archived) and first.block == second.block:
        return tuple(f"block {first.block + 1} ends: {words}" for words in _judged_apart(first.judged, second.judged))  # type: ignore[return-value]
    if isinstance(first, Judged) and isinstance(second, Judged) and len(one) == len(two):
        at = one.index(first)
        return tuple(f"block {at + 1}: {words}" for words in _judged_apart(first, second))  # type: ignore[return-value]
    return _only(mine, one), _only(others, two)


def _only(only: list[Any], everything: list[Any]) -> str:
    return ", ".join(map(_words, only[:2])) or ("nothing" if not everything else "nothing else")


def _judged_apart(one: Judged, two: Judged) -> tuple[str, str]:
    """Of two versions of a block what is not the same, with what tells which block it is."""
    facts = [{**judged.value, **_facts(judged)} for judged in (one, two)]
    if facts[0].get("type") != facts[1].get("type"):
        return _words(one), _words(two)
    keys = [key for key in dict.fromkeys([*facts[0], *facts[1]]) if facts[0].get(key) != facts[1].get(key)]
    said = []
    for fact in facts:
        shown = {key: fact.get(key) for key in ("name", *keys) if key in fact or key in keys}
        said.append(_cut(f"{fact.get('type')} {plain(shown)}"))
    return said[0], said[1]


def _facts(judged: Judged) -> dict[str, Any]:
    if judged.seal is None:
        return {}
    facts = {"seal": judged.seal, "grade": judged.grade, "class": judged.safety, "executable": judged.executable}
    if judged.spec is not None:
        spec = judged.spec
        facts |= {"start": spec.start, "parallel": spec.parallel, "discard": spec.discard}
    return facts


def _words(one: Any) -> str:
    match one:
        case str():
            return one
        case Noted():
            return f"note {one.reason}" + (f" ({one.times} times)" if one.times > 1 else "")
        case Archived():
            return f"block {one.block + 1} ends: {_words(one.judged)}"
        case Judged():
            rest = {key: part for key, part in {**one.value, **_facts(one)}.items() if key not in ("type", *_SETTINGS)}
            return _cut(f"{one.value.get('type')} {plain(rest)}")
        case BlockOpened():
            return f"block {one.block + 1} opens: {one.kind}"
        case Delta():
            return f"block {one.block + 1} goes on: {one.field} {_cut(plain(one.text))}"
        case BlockChanged():
            return f"block {one.block + 1} changes: {one.field} {_cut(plain(one.value))}"
        case BlockReopened():
            return f"block {one.block + 1} is reopened"
        case BlockWithdrawn():
            return f"block {one.block + 1} is withdrawn"
        case UsageChanged():
            return f"usage {plain({key: count for key, count in one.usage.model_dump().items() if count is not None})}"
    return str(one)


_SETTINGS: Final = ("start", "parallel", "discard")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
