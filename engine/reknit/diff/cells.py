"""Cells of two tables side by side: which of them do something else, grouped by cause.

A cause is what a reader changed: a rule that does something else, a rule that takes another's input, a boundary. Cells
with one cause are one group, whatever the state; the flushes that both sides share are left out of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from reknit.diff.idle import effective, ends_for_good
from reknit.diff.play import Cell
from reknit.diff.reach import Reach
from reknit.table import ENDING_STATE, ActionSpec, EventSpec, Outcome, PolicyTable

SAME = "same"
FLUSH = "flush"
OUTCOME = "outcome"
WORDING = "wording"
RULE = "rule"
UNREACHED = "unreached"


class Cause(NamedTuple):
    """What cells of one group have in common.

    Attributes:
        kind: FLUSH, OUTCOME, WORDING (the same, said otherwise), RULE (the same, by another rule) or UNREACHED (no
            stream gets there).
        event: Their event.
        rules: The rule before and after.
        before: What their rule does before, without flushes; of FLUSH, the flushes that are there only before.
        after: Likewise after.
        to: The state to which the rules lead before and after, None for one that stays; both None where it is the same.
    """

    kind: str
    event: str
    rules: tuple[str, str]
    before: tuple[ActionSpec, ...]
    after: tuple[ActionSpec, ...]
    to: tuple[str | None, str | None]


@dataclass(slots=True)
class Group:
    """Cells with one cause: their numbers before and after; all actions of the first, and where they lead it.

    `effects` are what is done before and after, without what does nothing, of all of them.
    """

    cause: Cause
    deeds: tuple[tuple[ActionSpec, ...], tuple[ActionSpec, ...]]
    to: tuple[str | None, str | None] = (None, None)
    cells: list[Cell] = field(default_factory=list)
    after: list[Cell] = field(default_factory=list)
    effects: set[tuple[tuple[ActionSpec, ...], tuple[ActionSpec, ...]]] = field(default_factory=set)

    @property
    def states(self) -> tuple[str, ...]:
        """The states of the cells, in the order in which they come."""
        return tuple(dict.fromkeys(cell.state for cell in self.cells if cell.state != ENDING_STATE))


@dataclass(slots=True)
class Comparison:
    """All cells of two tables side by side.

    Attributes:
        groups: By cause, those that do something else and those that only say so.
        cells: How many cells both sides have.
        changed: Cells of the side before that do something else.
        renamed: Rules that have another name and do the same.
        states: States that have another name, before to after.
    """

    groups: list[Group]
    cells: int
    changed: set[Cell]
    renamed: dict[str, str]
    states: dict[str, str]


def compare_cells(before: PolicyTable, after: PolicyTable) -> Comparison:
    """Hold all cells against each other."""
    states = _state_names(before, after)
    comparer = _Comparer(before, after, states)
    for name in before.events:
        if name in after.events:
            comparer.event(name)
    renamed = comparer.renamed()
    groups = [group for group in comparer.groups.values() if not _is_rename(group, renamed)]
    changed = {cell for group in groups if group.cause.kind in (FLUSH, OUTCOME) for cell in group.cells}
    return Comparison(groups, comparer.count, changed, renamed, {old: new for old, new in states.items() if old != new})


def _is_rename(group: Group, renamed: Mapping[str, str]) -> bool:
    return group.cause.kind == RULE and renamed.get(group.cause.rules[0]) == group.cause.rules[1]


def _state_names(before: PolicyTable, after: PolicyTable) -> dict[str, str]:
    """States by their names before and after; one that is gone and one that is new are one, where they are alike."""
    old, new = {state.name: state for state in before.states}, {state.name: state for state in after.states}
    names = {name: name for name in old if name in new}
    names[ENDING_STATE] = ENDING_STATE
    gone, come = [state for state in old if state not in new], [state for state in new if state not in old]
    for name in gone:
        alike = [other for other in come if (old[name].holds, old[name].flag) == (new[other].holds, new[other].flag)]
        if alike:
            names[name] = alike[0]
            come.remove(alike[0])
    return names


class _Comparer:
    """Goes through the cells of one event after the other."""

    def __init__(self, before: PolicyTable, after: PolicyTable, states: Mapping[str, str]) -> None:
        self.before, self.after, self.states = before, after, states
        self.groups: dict[Cause, Group] = {}
        self.count = 0
        self._moves: dict[str, set[str]] = {}
        self._came: dict[str, set[str]] = {}
        self._equal: dict[tuple[int, int], bool] = {}
        self._for_good = ends_for_good(before) and ends_for_good(after)
        self._reach = (Reach(before), Reach(after))
        self._targets = (_targets(before), _targets(after))

    def event(self, name: str) -> None:
        """Compare all cells of an event."""
        old, new = self.before.events[name], self.after.events[name]
        pairs = None if old.questions == new.questions else list(paired(old, new))
        for state, other in self.states.items():
            first, second = self.before.cells[name].get(state), self.after.cells[name].get(other)
            if first is None or second is None:
                continue
            numbers = enumerate(zip(first, second, strict=True)) if pairs is None else ()
            for number, (one, two) in numbers:
                if one >= 0 and two >= 0:
                    self._cell(Cell(name, state, number), Cell(name, other, number), one, two)
            for one, two in pairs or ():
                if first[one] >= 0 and second[two] >= 0:
                    self._cell(Cell(name, state, one), Cell(name, other, two), first[one], second[two])

    def _cell(self, cell: Cell, other: Cell, first: int, second: int) -> None:
        self.count += 1
        one, two = self.before.outcomes[first], self.after.outcomes[second]
        if one.rule != two.rule:
            self._moves.setdefault(one.rule, set()).add(two.rule)
            self._came.setdefault(two.rule, set()).add(one.rule)
        equal = self._equal.get((first, second))
        if equal is None:
            equal = self._equal[first, second] = (
                one.rule == two.rule and one.actions == two.actions and self.states.get(one.to) == two.to
            )
        if equal:
            return
        cause, effects = self._cause(cell, other, one, two)
        group = self.groups.get(cause)
        if group is None:
            to = tuple(None if goes == at.state else goes for goes, at in ((one.to, cell), (two.to, other)))
            group = self.groups[cause] = Group(cause, (one.actions, two.actions), (to[0], to[1]))
        group.cells.append(cell)
        group.after.append(other)
        group.effects.add(effects)

    def _cause(
        self, cell: Cell, other: Cell, one: Outcome, two: Outcome
    ) -> tuple[Cause, tuple[tuple[ActionSpec, ...], tuple[ActionSpec, ...]]]:
        """The cause of a cell that is not the same, and what it does on both sides."""
        old, new = self.before.events[cell.event], self.after.events[cell.event]
        asked, said = answers_of(old, cell.number), answers_of(new, other.number)
        does = effective(old, asked, one.actions, self._for_good)
        did = effective(new, said, two.actions, self._for_good)
        goes_alike = self.states.get(one.to) == two.to
        rules = (one.rule, two.rule)
        to = (self._targets[0].get(one.rule), self._targets[1].get(two.rule))
        if to[0] is not None and self.states.get(to[0]) == to[1]:
            to = (None, None)
        if does == did and goes_alike:
            kind = WORDING if one.rule == two.rule else RULE
            return Cause(kind, cell.event, rules, _own(one.actions), _own(two.actions), to), (does, did)
        if not (self._reach[0].reaches(old, asked) and self._reach[1].reaches(new, said)):
            return Cause(UNREACHED, cell.event, rules, (), (), (None, None)), (does, did)
        if _own(one.actions) == _own(two.actions) and one.rule == two.rule and goes_alike:
            # The boundary is the cause, whatever rules it comes before.
            flushes = _flushes_apart(one.actions, two.actions)
            return Cause(FLUSH, cell.event, ("", ""), *flushes, (None, None)), (does, did)
        return Cause(OUTCOME, cell.event, rules, _own(one.actions), _own(two.actions), to), (does, did)

    def renamed(self) -> dict[str, str]:
        """Rules that are gone and whose cells are exactly those of one new rule, which does the same."""
        new, old = {one.rule for one in self.after.outcomes}, {one.rule for one in self.before.outcomes}
        same = {group.cause.rules for group in self.groups.values() if group.cause.kind == RULE}
        other = {rule for group in self.groups.values() if group.cause.kind == OUTCOME for rule in group.cause.rules}
        found = {}
        for rule, targets in self._moves.items():
            target = next(iter(targets))
            if rule in new or target in old or targets != {target} or self._came.get(target) != {rule}:
                continue
            if (rule, target) in same and rule not in other and target not in other:
                found[rule] = target
        return found


def _targets(policy: PolicyTable) -> dict[str, str]:
    """The state to which each rule leads, of those that lead to one from wherever they are; the others stay."""
    found: dict[str, set[tuple[str, str]]] = {}
    for event in policy.cells.values():
        for state, row in event.items():
            for number in set(row) - {-1}:
                found.setdefault(policy.outcomes[number].rule, set()).add((state, policy.outcomes[number].to))
    targets = {rule: {to for _, to in moves} for rule, moves in found.items()}
    stays = {rule for rule, moves in found.items() if all(state == to for state, to in moves)}
    return {rule: next(iter(to)) for rule, to in targets.items() if len(to) == 1 and rule not in stays}


def _own(actions: tuple[ActionSpec, ...]) -> tuple[ActionSpec, ...]:
    return tuple(action for action in actions if not action.flush)


def _flushes_apart(
    one: tuple[ActionSpec, ...], two: tuple[ActionSpec, ...]
) -> tuple[tuple[ActionSpec, ...], tuple[ActionSpec, ...]]:
    first, second = ([action for action in actions if action.flush] for actions in (one, two))
    return tuple(a for a in first if a not in second), tuple(a for a in second if a not in first)


def apart(
    one: tuple[ActionSpec, ...], two: tuple[ActionSpec, ...]
) -> tuple[tuple[ActionSpec, ...], tuple[ActionSpec, ...]]:
    """Both without the flushes that they share: those have not changed, and differ from state to state."""
    shared = {action for action in one if action.flush} & {action for action in two if action.flush}
    return tuple(a for a in one if a not in shared), tuple(a for a in two if a not in shared)


# -- numbers of cells --------------------------------------------------------------------------------------------------


def answers_of(event: EventSpec, number: int) -> dict[str, str]:
    """The cases of a cell by its number."""
    answers: dict[str, str] = {}
    for question in reversed(event.questions):
        number, digit = divmod(number, len(question.cases))
        answers[question.name] = question.cases[digit]
    return dict(reversed(answers.items()))


def number_of(event: EventSpec, answers: Mapping[str, str]) -> int:
    """The number of a cell by its cases."""
    number = 0
    for question in event.questions:
        number = number * len(question.cases) + question.cases.index(answers[question.name])
    return number


def paired(old: EventSpec, new: EventSpec) -> Iterator[tuple[int, int]]:
    """The numbers of cells that can be the same input on both sides, where the sides ask different questions."""
    cases: dict[str, tuple[str, ...]] = {question.name: question.cases for question in old.questions}
    for question in new.questions:
        known = cases.get(question.name)
        both = question.cases if known is None else tuple(case for case in known if case in question.cases)
        cases[question.name] = both
    for combination in itertools.product(*cases.values()):
        answers = dict(zip(cases, combination, strict=True))
        yield number_of(old, answers), number_of(new, answers)
