"""Actions that may stand in either order: where two rules differ by nothing but that, they do the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reknit.table import ActionSpec

_EVERYTHING = frozenset({"blocks", "reason", "complete", "ledger", "error", "id", "model", "slots"})
_BLOCKS = frozenset({"blocks", "slots"})

_FOOTPRINTS: Mapping[str, frozenset[str]] = {
    "complete": frozenset({"complete"}),
    "bank": frozenset({"ledger"}),
    "withdraw": frozenset({"slots"}),
    "note": frozenset({"blocks", "error"}),
    "conflict": _EVERYTHING - {"slots"},
    "adopt": _EVERYTHING - {"slots"},
    "accept": frozenset({"blocks", "error"}),
    "reject": frozenset({"blocks"}),
    "merge": frozenset({"ledger", "blocks"}),
    "fail": frozenset({"reason", "complete", "error"}),
}
"""What a verb reads or writes of the machine, where that is less than everything. Whatever tells the caller something
has a footprint on `blocks`: the order of updates is seen."""


def in_one_order(actions: Sequence[ActionSpec], types: Mapping[str, str], hidden: bool) -> tuple[ActionSpec, ...]:
    """Actions in one fixed order of all those in which they do the same.

    Args:
        actions: Of a cell.
        types: The types of its event's fields.
        hidden: Whether a call that the actions open stays out of the message.
    """
    rest, ordered = list(actions), list[ActionSpec]()
    while rest:
        free = [
            number
            for number, action in enumerate(rest)
            if all(
                _commute(action, other, types, hidden and _opens_twin([*ordered, *rest[:number]]))
                for other in rest[:number]
            )
        ]
        chosen = min(free, key=lambda number: rest[number])
        ordered.append(rest.pop(chosen))
    return tuple(ordered)


def _opens_twin(actions: Sequence[ActionSpec]) -> bool:
    return any((action.verb, *action.words) == ("open", "twin") for action in actions)


def _commute(one: ActionSpec, two: ActionSpec, types: Mapping[str, str], hidden: bool) -> bool:
    if hidden and one.verb == two.verb == "set" and {_type(one, types), _type(two, types)} == {"id", "name"}:
        return True
    return not _footprint(one, types) & _footprint(two, types)


def _type(action: ActionSpec, types: Mapping[str, str]) -> str:
    return types.get(action.words[0], "") if len(action.words) == 1 else ""


def _footprint(action: ActionSpec, types: Mapping[str, str]) -> frozenset[str]:
    if action.verb == "set":
        if action.words[0] == "reason":
            return frozenset({"reason"})
        found = {"message_id": "id", "word": "model"}.get(_type(action, types))
        return _BLOCKS if found is None else frozenset({found})
    if action.verb == "infer":
        return frozenset({"reason", "blocks"}) if action.words[0] == "reason" else _EVERYTHING
    if action.verb in (
        "open",
        "append",
        "propose",
        "replace",
        "mark",
        "fill",
        "make",
        "bind",
        "reopen",
        "hold",
        "fold",
    ):
        return _BLOCKS
    return _FOOTPRINTS.get(action.verb, _EVERYTHING)
