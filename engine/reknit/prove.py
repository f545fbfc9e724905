"""What each state promises to hold, proved over every cell.

`state text holds text` says that on entry exactly one text block is open. Each cell is followed action by action: what
it opens and closes, flushes included. A cell that leaves a block open, closes one that is not there, or enters a state
that holds a block without one, is an error with a witness. So boundary flushing is proved, not tested.
"""

from __future__ import annotations

from typing import NamedTuple

from reknit.table import ActionSpec, StateSpec
from reknit.vocabulary.actions import ALL, BLOCK, CALLS, COMPLETE_CALLS, TWIN, effect
from reknit.vocabulary.words import OPAQUE, SINGLE, TEXT, THINKING, TOOL


class Flushes(NamedTuple):
    """What applies to a cell: archives that come first, and archives ahead of opening a kind."""

    first: tuple[ActionSpec, ...]
    ahead: dict[str, tuple[ActionSpec, ...]]


class Woven(NamedTuple):
    """A rule's actions with its flushes in place, and what is wrong with them, or an empty string."""

    actions: tuple[ActionSpec, ...]
    fault: str


_ORDER = (TEXT, THINKING, OPAQUE, COMPLETE_CALLS, CALLS, ALL)


def in_order(actions: list[ActionSpec]) -> tuple[ActionSpec, ...]:
    """Flushes in one fixed order, whatever the order of the file."""
    return tuple(sorted(set(actions), key=lambda action: (_ORDER.index(action.words[0]), action.words)))


def weave(
    actions: tuple[ActionSpec, ...], flushes: Flushes, start: StateSpec, end: StateSpec | None, meant: str | None
) -> Woven:
    """Put flushes between a rule's actions and follow what is open.

    Args:
        actions: Of the rule.
        flushes: That apply.
        start: The state in which the event arrives.
        end: The next state; None on events that the machine raises itself, whose rules change no state.
        meant: The kind of the block meant, where the cell says it.
    """
    single = {held.kind for held in start.holds if not held.many}
    many = {held.kind for held in start.holds if held.many}
    woven: list[ActionSpec] = []

    def flush(waiting: tuple[ActionSpec, ...]) -> None:
        for action in waiting:
            what = action.words[0]
            if what in SINGLE and what not in single:
                continue
            if what in (CALLS, COMPLETE_CALLS) and TOOL not in many:
                continue
            if what == OPAQUE and OPAQUE not in many:
                continue
            woven.append(action)
            close(what)

    def close(what: str) -> None:
        if what in SINGLE:
            single.discard(what)
        elif what == CALLS:
            many.discard(TOOL)
        elif what == OPAQUE:
            many.discard(OPAQUE)
        elif what == ALL:
            single.clear()
            many.clear()

    flush(flushes.first)
    for action in actions:
        done = effect(action.verb, action.words)
        for kind in done.opens:
            begins = action.verb == "open" and action.words[0] != TWIN
            flush(flushes.ahead.get(kind, ()) if begins else ())
            still = single & set(SINGLE)
            if kind in SINGLE and still:
                return Woven(tuple(woven), f"leaves a {min(still)} block open and opens a {kind} block")
            if kind not in SINGLE and still and begins:
                return Woven(tuple(woven), f"leaves a {min(still)} block open and opens a {kind} block")
            (single if kind in SINGLE else many).add(kind)
        for kind in done.must:
            if kind not in single:
                return Woven(tuple(woven), f"archives a {kind} block, and none is open")
        if action.verb == "archive":
            if action.words[0] == BLOCK and meant in SINGLE:
                return Woven(tuple(woven), f"archives a block in passing where a {meant} block is meant")
            close(action.words[0])
        woven.append(action)
    return Woven(tuple(woven), _arrives(single, many, end) if end is not None else "")


def _arrives(single: set[str], many: set[str], end: StateSpec) -> str:
    promised = {held.kind for held in end.holds if not held.many}
    allowed = {held.kind for held in end.holds if held.many}
    for kind in sorted(promised - single):
        return f"enters a state that holds a {kind} block without one"
    for kind in sorted(single - promised):
        return f"leaves a {kind} block open in a state that holds none"
    for kind in sorted(many - allowed):
        return f"may leave {'calls' if kind == TOOL else 'opaque blocks'} open in a state that holds none"
    return ""
