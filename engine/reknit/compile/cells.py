"""Rules to cells: every state, event and combination of cases, enumerated; overlaps, gaps and dead rules found.

Guards have finite domains, so this is exact: what is not found here does not exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reknit.lang.syntax import Case, Rule, Trigger
from reknit.table import ENDING_STATE, EventSpec, StateSpec
from reknit.vocabulary.questions import possible
from reknit.vocabulary.words import SINGLE

MOST_CELLS = 400_000
"""Bound on the cells of one policy: rule files are untrusted text."""

IMPOSSIBLE = -1
UNCOVERED = -2


@dataclass(slots=True)
class Overlap:
    """Two rules that take the same input: how often, and the first such input."""

    first: str
    second: str
    witness: str
    count: int = 1


@dataclass(slots=True)
class Gap:
    """Inputs of an event that no rule takes: in each state the first one, and how many."""

    event: str
    states: dict[str, tuple[str, int]]


@dataclass(slots=True)
class Grid:
    """The rule of each cell: event -> state -> index into `rules`, IMPOSSIBLE, or UNCOVERED."""

    rules: list[Rule]
    cells: dict[str, dict[str, list[int]]]
    overlaps: list[Overlap] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    dead: list[Rule] = field(default_factory=list)


def states_of(event: EventSpec, states: tuple[StateSpec, ...]) -> list[StateSpec]:
    """The states in which an event is judged; an event that the machine raises itself has one of its own."""
    return [StateSpec(ENDING_STATE, (), "")] if event.about == "ending" else list(states)


def size(event: EventSpec) -> int:
    """How many combinations of cases an event has, possible or not."""
    product = 1
    for question in event.questions:
        product *= len(question.cases)
    return product


def combinations(event: EventSpec) -> Iterator[dict[str, str]]:
    """All combinations of cases of an event, in the order of the radix."""
    names = [question.name for question in event.questions]
    for cases in itertools.product(*(question.cases for question in event.questions)):
        yield dict(zip(names, cases, strict=True))


def describe(event: EventSpec, answers: Mapping[str, str], state: str | None = None) -> str:
    """A cell for a person: `TEXT_DELTA { slot: last, text: some } in state `text``."""
    inner = ", ".join(f"{question.name}: {answers[question.name]}" for question in event.questions)
    shown = f"{event.name} {{ {inner} }}" if inner else event.name
    return f"{shown} in state `{state}`" if state not in (None, ENDING_STATE) else shown


def holdings(state: StateSpec) -> tuple[frozenset[str], frozenset[str]]:
    """The kinds of which a state holds exactly one, and those of which it may hold any number."""
    single = frozenset(held.kind for held in state.holds if not held.many and held.kind in SINGLE)
    return single, frozenset(held.kind for held in state.holds if held.many)


def enumerate_cells(
    events: Mapping[str, EventSpec],
    states: tuple[StateSpec, ...],
    rules: list[Rule],
    groups: Mapping[str, tuple[str, ...]],
) -> Grid:
    """Give every possible cell its rule.

    Rules are already checked for names. Fallbacks fill what the others leave; two rules of one level on one cell are
    an overlap, a cell with none is a gap.
    """
    cells: dict[str, dict[str, list[int]]] = {}
    for name, event in events.items():
        masks: dict[tuple[frozenset[str], frozenset[str]], list[int]] = {}
        cells[name] = {}
        for state in states_of(event, states):
            held = holdings(state)
            if held not in masks:
                masks[held] = _mask(event, *held)
            cells[name][state.name] = list(masks[held])
    grid = Grid(rules, cells)
    fired: set[int] = set()
    overlaps: dict[tuple[int, int], Overlap] = {}
    for level in (False, True):
        before = {event: {state: list(row) for state, row in by_state.items()} for event, by_state in cells.items()}
        for number, rule in enumerate(rules):
            if rule.fallback is level:
                _place(grid, events, states, number, rule, groups, before, overlaps, fired)
    grid.overlaps = list(overlaps.values())
    grid.dead = [rule for number, rule in enumerate(rules) if number not in fired]
    grid.gaps = _gaps(grid, events)
    return grid


def _mask(event: EventSpec, single: frozenset[str], many: frozenset[str]) -> list[int]:
    types = {question.name: question.type for question in event.questions}
    return [
        UNCOVERED if possible(event.about, types, answers, single, many) else IMPOSSIBLE
        for answers in combinations(event)
    ]


def _place(
    grid: Grid,
    events: Mapping[str, EventSpec],
    states: tuple[StateSpec, ...],
    number: int,
    rule: Rule,
    groups: Mapping[str, tuple[str, ...]],
    before: dict[str, dict[str, list[int]]],
    overlaps: dict[tuple[int, int], Overlap],
    fired: set[int],
) -> None:
    wanted = expand_states(rule, states, groups)
    for trigger in rule.on:
        for event in events_of(trigger, events):
            indices = list(matching(event, trigger.pattern))
            for state in states_of(event, states):
                if event.about != "ending" and state.name not in wanted:
                    continue
                row, old = grid.cells[event.name][state.name], before[event.name][state.name]
                for index in indices:
                    if old[index] != UNCOVERED:
                        continue
                    holder = row[index]
                    if holder in (UNCOVERED, number):
                        row[index] = number
                        fired.add(number)
                    elif (holder, number) in overlaps:
                        overlaps[holder, number].count += 1
                    else:
                        witness = describe(event, answers_at(event, index), state.name)
                        overlaps[holder, number] = Overlap(grid.rules[holder].name.text, rule.name.text, witness)


def expand_states(rule: Rule, states: tuple[StateSpec, ...], groups: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The states of a rule's `from`, groups expanded; without one, all states."""
    if not rule.states:
        return {state.name for state in states}
    wanted: set[str] = set()
    for name in rule.states:
        wanted.update(groups.get(name.text, (name.text,)))
    return wanted


def events_of(trigger: Trigger, events: Mapping[str, EventSpec]) -> list[EventSpec]:
    """The events of a trigger; `any` stands for all that come from outside."""
    if trigger.event.text == "any":
        return [event for event in events.values() if event.about != "ending"]
    return [events[trigger.event.text]]


def matching(event: EventSpec, pattern: tuple[Case, ...]) -> Iterator[int]:
    """The numbers of the combinations that a pattern takes."""
    wanted = {case.field.text: {name.text for name in case.cases} for case in pattern}
    digits: list[list[int]] = []
    stride = size(event)
    for question in event.questions:
        stride //= len(question.cases)
        chosen = wanted.get(question.name)
        digits.append([n * stride for n, case in enumerate(question.cases) if chosen is None or case in chosen])
    return map(sum, itertools.product(*digits))


def answers_at(event: EventSpec, index: int) -> dict[str, str]:
    """The combination of a number."""
    answers: dict[str, str] = {}
    stride = size(event)
    for question in event.questions:
        stride //= len(question.cases)
        answers[question.name] = question.cases[index // stride]
        index %= stride
    return answers


def _gaps(grid: Grid, events: Mapping[str, EventSpec]) -> list[Gap]:
    gaps: list[Gap] = []
    for name, by_state in grid.cells.items():
        states: dict[str, tuple[str, int]] = {}
        for state, row in by_state.items():
            missing = [index for index, holder in enumerate(row) if holder == UNCOVERED]
            if missing:
                states[state] = (describe(events[name], answers_at(events[name], missing[0]), state), len(missing))
        if states:
            gaps.append(Gap(name, states))
    return gaps
