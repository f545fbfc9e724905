"""Two sides to their difference: cells first, then all the rest, each change with a witness where one is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from reknit.diff.alone import cells_alone, change_alone
from reknit.diff.atlas import atlas_of
from reknit.diff.cell_changes import cell_change, quiet_changes, rule_changes
from reknit.diff.cells import FLUSH, OUTCOME, Comparison, compare_cells
from reknit.diff.changes import Change, Difference, in_order
from reknit.diff.items import file_changes
from reknit.diff.policy import Declarations
from reknit.diff.program import program_changes
from reknit.diff.search import Search, first_difference
from reknit.diff.sides import Side
from reknit.diff.trials import NOT_BY_EVENTS, ways_to_show
from reknit.diff.trust import Trust
from reknit.diff.witness import Pair, Witness
from reknit.table import PolicyTable

_NEVER: Final = ("none", "tests", "mapping")
"""Directions of changes that no sequence of events shows."""

_SILENT: Final = ("none", "tests")
"""Directions of changes with which nothing is done otherwise."""


class Comparer:
    """Compares any number of sides; what two of them say of one policy is found out once.

    Args:
        witnesses: Whether to look for a witness of each change; that is what takes time.
    """

    def __init__(self, witnesses: bool = True) -> None:
        self._witnesses = witnesses
        self._policies: dict[tuple[int, int], tuple[PolicyTable, PolicyTable, int]] = {}

    def compare(self, before: Side, after: Side) -> Difference:
        """All changes from one side to another."""
        key = (id(before.policy), id(after.policy))
        told, cells, changed = 0, 0, 0
        changes: list[Change] = []
        if key in self._policies:
            told = self._policies[key][2]
        else:
            comparison = compare_cells(before.policy, after.policy)
            changes = self._policy_changes(comparison, before, after)
            cells, changed = comparison.cells, len(comparison.changed)
            # Both tables are kept, so that no other one can come to have their ids.
            self._policies[key] = (before.policy, after.policy, len(changes))
        changes += [*program_changes(before, after), *file_changes(before, after)]
        return Difference(
            kind=after.kind,
            name=after.name,
            before=(before.source, before.table.fingerprint),
            after=(after.source, after.table.fingerprint),
            changes=in_order(changes),
            cells=cells,
            changed_cells=changed,
            told=told,
            explanation="" if told else _explained(before, after, changes),
        )

    def _policy_changes(self, comparison: Comparison, before: Side, after: Side) -> list[Change]:
        changed = [group for group in comparison.groups if group.cause.kind in (FLUSH, OUTCOME)]
        found: list[tuple[Witness | None, str]] = [(None, "") for _ in changed]
        pair = Pair(before.policy, after.policy)
        if self._witnesses:
            alone = Pair(before.policy, cells_alone(before.policy, after.policy), pair)
            found = Search(alone, atlas_of(before.policy), changed).run()
        changes = [
            cell_change(group, before, after, witness, unshown)
            for group, (witness, unshown) in zip(changed, found, strict=True)
        ]
        changes += quiet_changes(comparison, before, after)
        changes += rule_changes(comparison, before, after)
        parts = [*Declarations(before, after).changes(comparison.states), *Trust(before, after).changes()]
        return [*changes, *(_with_witness(change, pair) if self._witnesses else change for change in parts)]


def compare(before: Side, after: Side, *, witnesses: bool = True) -> Difference:
    """All changes from one side to another.

    Args:
        before: One side.
        after: The other.
        witnesses: Whether to look for a witness of each change; that is what takes time.
    """
    return Comparer(witnesses).compare(before, after)


def _with_witness(change: Change, pair: Pair) -> Change:
    if change.direction in _NEVER:
        return change
    before, after = pair.policies
    alone = Pair(before, change_alone(before, after, change), pair)
    # Where the change shows only together with others, it is still shown.
    witness = first_difference(alone, ways_to_show(change, atlas_of(before), after))
    witness = witness or first_difference(pair, ways_to_show(change, atlas_of(before), after))
    return replace(change, witness=witness, unshown="" if witness else NOT_BY_EVENTS)


def _explained(before: Side, after: Side, changes: list[Change]) -> str:
    """Why fingerprints differ where nothing is done otherwise."""
    if before.table.fingerprint == after.table.fingerprint:
        return ""
    if any(change.direction not in _SILENT for change in changes):
        return ""
    told = [change for change in changes if change.direction == "none" and not change.id.startswith(("QUIRK", "ALLOW"))]
    if told:
        return "the fingerprints differ, for what is listed is part of the table; every cell does the same"
    names = [(side.rules.name.text, side.table.program.name, side.table.program.protocol) for side in (before, after)]
    if names[0] != names[1]:
        return "the fingerprints differ by the names in the headers alone; every cell does the same"
    return "the fingerprints differ by the order in which items are written; every cell does the same"
