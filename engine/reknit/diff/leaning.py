"""Which way a change of what a cell does leans: towards letting more run, or less, or neither.

What a call may do is decided by a few actions: whether its arguments are accepted, with which seal it ends, whether the
message completes or fails, and what is noted. Everything else changes the message without making it freer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from reknit.diff.changes import Direction
from reknit.diff.commuting import SEALLESS
from reknit.table import ActionSpec, ClassSpec
from reknit.vocabulary.actions import COMPLETE_CALLS
from reknit.vocabulary.words import CLASS_SETTINGS

PROOF: Final = {"cut": 0, "limit": 1, "final": 2, "sequential": 2, "explicit": 2}
"""How far a call may go by its seal: not at all, unless its arguments are cut, freely."""

_VERDICTS: Final = {"reject": -2, "conflict": -2, "decode": 1, "infer": 1, "accept": 2, "keep": 2, "adopt": 1}
"""What is done to a call at its end; without any of it, it stays as if cut off."""

_MOVING: Final = ("append", "replace", "propose", "open", "fold", "reopen", "bind", "fill", "hold", "merge", "adopt")
"""What puts into the message what an event brings."""


def deed_leaning(before: Sequence[ActionSpec], after: Sequence[ActionSpec]) -> Direction:
    """The direction of a cell that does `after` where it did `before`.

    Args:
        before: The actions that do something, flushes included.
        after: Likewise.
    """
    signs = [_ending(after) - _ending(before), _verdict(after) - _verdict(before), _seals(before, after)]
    signs.append(_has("open", "tool", after) - _has("open", "tool", before) if _twinned(before, after) else 0)
    leaning = rank_leaning(signs)
    if leaning == "none":
        # Whether a note is lost tells something only where nothing stronger is said: a failure is louder than a note.
        leaning = rank_leaning([_silence(before, after)])
    return "behaviour" if leaning == "none" else leaning


def class_leaning(before: ClassSpec, after: ClassSpec) -> Direction:
    """The direction of a class whose settings change; in doubt it counts as freer."""
    return rank_leaning([n - m for n, m in zip(guard(before), guard(after), strict=True)])


def rank_leaning(freer: Iterable[int]) -> Direction:
    """The direction of steps towards freedom (positive) and away from it."""
    steps = list(freer)
    if any(step > 0 for step in steps):
        return "loosens"
    return "tightens" if any(step < 0 for step in steps) else "none"


def guard(spec: ClassSpec) -> tuple[int, int, int]:
    """How guarded a class is: when its calls start, whether alone, what discarding them does; higher is stricter."""
    starts, discards = CLASS_SETTINGS["start"], CLASS_SETTINGS["discard"]
    return (starts.index(spec.start), int(not spec.parallel), discards.index(spec.discard))


def notes_of(actions: Iterable[ActionSpec]) -> set[str]:
    """The reasons that actions note."""
    return {action.words[0] for action in actions if action.verb in ("note", "drop")}


# -- what tells of freedom ---------------------------------------------------------------------------------------------


def _has(verb: str, word: str, actions: Iterable[ActionSpec]) -> int:
    return int(any(action.verb == verb and word in ("", *action.words) for action in actions))


def _ending(actions: Sequence[ActionSpec]) -> int:
    """Whether the message ends well (1), badly (-1), or not here."""
    return _has("complete", "", actions) - _has("fail", "", actions)


def _verdict(actions: Sequence[ActionSpec]) -> int:
    return sum(_VERDICTS.get(action.verb, 0) for action in actions if action.words[:1] != ("reason",))


def _seals(before: Sequence[ActionSpec], after: Sequence[ActionSpec]) -> int:
    """Whether calls end with more or less proof, earlier or later."""
    old, new = _ended(before), _ended(after)
    if not old or not new:
        # A call that ends here may run from here on; one that is cut here never runs.
        free = [proof for proof, _ in (old or new).values()]
        return 0 if not free else (1 if max(free) else -1) * (1 if new else -1)
    proof = max(proof for proof, _ in new.values()) - max(proof for proof, _ in old.values())
    return proof or max(reach for _, reach in new.values()) - max(reach for _, reach in old.values())


def _ended(actions: Iterable[ActionSpec]) -> dict[str, tuple[int, int]]:
    """The calls that actions end, each with its proof and with how many calls are meant."""
    return {
        action.words[0]: (
            PROOF[action.words[1] if len(action.words) > 1 else "final"],
            int(action.words[0] != COMPLETE_CALLS),
        )
        for action in actions
        if action.verb == "archive" and action.words[0] not in SEALLESS
    }


def _twinned(before: Sequence[ActionSpec], after: Sequence[ActionSpec]) -> bool:
    """Whether a start that may repeat a call is a call of its own on one side only."""
    return any(
        _has("open", "twin", one) and _has("open", "tool", other) for one, other in ((before, after), (after, before))
    )


def _silence(before: Sequence[ActionSpec], after: Sequence[ActionSpec]) -> int:
    """Whether less is said than before (1) or more (-1); what is kept needs no note, what is lost does."""
    lost, gained = notes_of(before) - notes_of(after), notes_of(after) - notes_of(before)
    if bool(lost) == bool(gained):
        return 0
    kept_before, kept_after = _moved(before), _moved(after)
    if lost:
        return 1 if kept_after <= kept_before else 0
    return -1 if kept_before <= kept_after else 0


def _moved(actions: Iterable[ActionSpec]) -> set[tuple[str, ...]]:
    return {(action.verb, *action.words) for action in actions if action.verb in _MOVING}
