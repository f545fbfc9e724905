"""Actions that may stand in either order: where two rules differ by nothing but that, they do the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from reknit.table import ActionSpec
from reknit.vocabulary.words import OPAQUE, TEXT, THINKING

_PARTS: Final = frozenset(
    {"blocks", "calls", "content", "current", "held", "ids", "names", "notes", "slots", "standing", "told", "verdict"}
    | {"reason", "complete", "error", "id", "model", "ledger"}
)
"""What a machine holds. `standing` is which blocks are open, `current` the one just opened, `told` the order of what
the caller is told."""


class Footprint(NamedTuple):
    """The parts of a machine that an action changes, and those that it looks at."""

    changes: frozenset[str]
    looks_at: frozenset[str] = frozenset()


def _print(changes: str, looks_at: str = "") -> Footprint:
    return Footprint(frozenset(changes.split()), frozenset(looks_at.split()))


_ALL: Final = Footprint(_PARTS)

SEALLESS: Final = (TEXT, THINKING, OPAQUE)
"""Kinds whose blocks end without a seal, and without a judgement."""

_FOOTPRINTS: Final[Mapping[str, Footprint]] = {
    "complete": _print("complete"),
    "bank": _print("ledger"),
    "merge": _print("ledger told"),
    "fail": _print("reason complete error"),
    "note": _print("notes told", "blocks error"),
    "withdraw": _print("slots"),
    "conflict": Footprint(_PARTS - {"slots"}),
    "adopt": Footprint(_PARTS - {"slots"}),
    "accept": _print("verdict notes told", "blocks content error"),
    "reject": _print("verdict", "blocks content"),
    "open": _print("blocks calls slots held ids names content current standing told"),
    "append": _print("content told", "blocks"),
    "replace": _print("content told", "blocks"),
    "propose": _print("content", "blocks"),
    "fold": _print("content", "blocks"),
    "hold": _print("held"),
    "make": _print("ids told", "blocks"),
    "bind": _print("slots", "blocks"),
}
"""What each verb changes and looks at, where that is not everything."""

_FIELDS: Final[Mapping[str, Footprint]] = {
    "message_id": _print("id"),
    "word": _print("model"),
    "id": _print("ids told", "blocks"),
    "name": _print("names told", "blocks"),
}
"""Likewise of actions on a field of a type."""


def in_one_order(actions: Sequence[ActionSpec], types: Mapping[str, str], hidden: bool) -> tuple[ActionSpec, ...]:
    """Actions in one fixed order of all those in which they do the same.

    Args:
        actions: Of a cell.
        types: The types of its event's fields.
        hidden: Whether a twin that the actions open stays out of the message: then nothing is told of it.
    """
    prints: list[Footprint] = []
    untold = False
    for action in actions:
        print_ = footprint(action, types)
        if untold and action.verb in ("set", "fill", "make"):
            print_ = Footprint(print_.changes - {"told"}, print_.looks_at)
        prints.append(print_)
        untold = untold or (hidden and (action.verb, *action.words) == ("open", "twin"))
    rest, ordered = list(range(len(actions))), list[int]()
    while rest:
        free = [one for at, one in enumerate(rest) if all(_commute(prints[one], prints[other]) for other in rest[:at])]
        chosen = min(free, key=lambda one: actions[one])
        rest.remove(chosen)
        ordered.append(chosen)
    return tuple(actions[one] for one in ordered)


def _commute(one: Footprint, two: Footprint) -> bool:
    return not (one.changes & (two.changes | two.looks_at) or two.changes & one.looks_at)


def footprint(action: ActionSpec, types: Mapping[str, str]) -> Footprint:
    """What an action changes and looks at."""
    word = action.words[0] if action.words else ""
    if action.verb == "archive" and word in SEALLESS:
        return _print("standing notes told content", "blocks error")
    if action.verb == "infer":
        return _print("reason", "calls") if word == "reason" else _ALL
    if action.verb == "set" and word == "reason":
        return _print("reason")
    if action.verb in ("set", "fill", "append", "replace") and types.get(word) in _FIELDS:
        return _FIELDS[types[word]]
    return _FOOTPRINTS.get(action.verb, _ALL)
