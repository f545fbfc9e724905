"""One change by itself: the policy before with nothing but that change, so that what shows is shown by it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from reknit.diff.changes import Change
from reknit.table import ClassSpec, PolicyTable
from reknit.vocabulary.words import CLASS_SETTINGS

T = TypeVar("T")

_PARTS = ("merges", "derives", "repairs", "deviations", "excepted", "classes", "classifies", "escalations")
"""What a policy has besides its cells."""


def cells_alone(before: PolicyTable, after: PolicyTable) -> PolicyTable:
    """The policy after, but for its cells that of before."""
    return msgspec.structs.replace(after, **{part: getattr(before, part) for part in _PARTS})


def change_alone(before: PolicyTable, after: PolicyTable, change: Change) -> PolicyTable:
    """The policy before with one change that is not about cells; for other changes, the policy after."""
    subject = change.subject
    parts: dict[str, Any] = {}
    named: list[dict[str, Any]]
    match change.id.split("_")[0]:
        case "MERGE":
            parts["merges"] = _one(before.merges, after.merges, subject)
        case "REPAIR":
            parts["repairs"] = _one(before.repairs, after.repairs, subject)
        case "DERIVE":
            named = [{one.field: one for one in policy.derives} for policy in (before, after)]
            parts["derives"] = tuple(_one(named[0], named[1], subject).values())
        case "DEVIATIONS" if change.id == "DEVIATIONS_CHANGED":
            parts |= {"deviations": after.deviations, "excepted": after.excepted}
        case "DEVIATIONS":
            kept = set(before.excepted) ^ {subject}
            parts["excepted"] = tuple(sorted(kept))
        case "CLASS":
            named = [{one.name: one for one in policy.classes} for policy in (before, after)]
            starts = CLASS_SETTINGS["start"]
            classes = _one(named[0], named[1], subject).values()
            parts["classes"] = tuple(
                sorted(classes, key=lambda one: (starts.index(one.start), not one.parallel, one.name))
            )
        case "CLASSIFY":
            named = [{one.pattern or "else": one for one in policy.classifies} for policy in (before, after)]
            parts["classifies"] = tuple(_one(named[0], named[1], subject).values())
        case "ESCALATION":
            named = [{f"{one.subject}-{one.case}": one for one in policy.escalations} for policy in (before, after)]
            parts["escalations"] = tuple(_one(named[0], named[1], subject).values())
        case _:
            return after
    return msgspec.structs.replace(before, **parts)


def _freest_first(one: ClassSpec) -> tuple[int, bool, str]:
    """The order in which a table has its classes."""
    return (CLASS_SETTINGS["start"].index(one.start), not one.parallel, one.name)


def _one(before: Mapping[str, T], after: Mapping[str, T], name: str) -> dict[str, T]:
    """What was before, but for one name what is after."""
    found = {**before, **({name: after[name]} if name in after else {})}
    if name not in after:
        found.pop(name, None)
    return found
