"""Cells back to patterns: they cover just the cells that are meant, and read as a person would write them."""

from __future__ import annotations

import pytest

import reknit
from reknit.explain.patterns import Pattern, Space
from reknit.table import PolicyTable

POLICIES = {name: reknit.table_for(name).policy for name in ("openai-chat", "lenient")}
POLICY = POLICIES["openai-chat"]
EVENTS = [(name, event) for name, policy in POLICIES.items() for event in policy.events]


def rules_of(policy: PolicyTable, event: str) -> list[str]:
    numbers = {number for row in policy.cells[event].values() for number in row if number >= 0}
    return sorted({policy.outcomes[number].rule for number in numbers})


def patterns_of(event: str, rule: str, policy: PolicyTable = POLICY) -> list[Pattern]:
    space = Space(policy.events[event], policy)
    return space.patterns(space.where(lambda _, outcome: outcome.rule == rule, policy.outcomes))


@pytest.mark.parametrize(("vendor", "event"), EVENTS)
def test_patterns_cover_just_the_cells_of_a_rule(vendor: str, event: str) -> None:
    policy = POLICIES[vendor]
    space = Space(policy.events[event], policy)
    together = 0
    for rule in rules_of(policy, event):
        wanted = space.where(lambda _, outcome, rule=rule: outcome.rule == rule, policy.outcomes)
        covered = 0
        for pattern in space.patterns(wanted):
            covered |= space.box(pattern.states, pattern.cases)
        assert covered & space.possible() == wanted, rule
        assert not together & wanted
        together |= wanted
    assert together == space.possible()


@pytest.mark.parametrize(("vendor", "event"), EVENTS)
def test_bits_are_the_cells_of_the_table(vendor: str, event: str) -> None:
    policy = POLICIES[vendor]
    space = Space(policy.events[event], policy)
    bits, width = space.possible(), len(next(iter(policy.cells[event].values())))
    cells = [number >= 0 for state in space.states for number in policy.cells[event][state]]
    assert len(cells) == len(space.states) * width
    assert [bool(bits >> at & 1) for at in range(len(cells))] == cells
    counts = space.outcomes_in(bits)
    assert sum(counts.values()) == sum(cells)
    for (state, number), count in counts.items():
        assert policy.cells[event][state].count(number) == count


@pytest.mark.parametrize(
    ("event", "rule", "states", "text"),
    [
        ("TEXT_DELTA", "text-append", "text", "{ slot: last | open, text: some }"),
        ("TEXT_DELTA", "text-open", "idle text thinking tool", "{ slot: none | past | fresh | archived, text: some }"),
        ("TEXT_DELTA", "text-empty", "idle text thinking tool ended", "{ text: empty }"),
        ("STREAM_END", "end", "idle text thinking tool ended", "{ finished: yes }"),
        ("ANNOTATION", "annotation", "idle text thinking tool ended", ""),
        ("CALL_END", "twin-same", "", "{ twin: same }"),
        ("CALL_END", "call-incomplete", "", "{ twin: none, seal: explicit | sequential | final, schema: missing }"),
    ],
)
def test_patterns_read_as_they_would_be_written(event: str, rule: str, states: str, text: str) -> None:
    found = patterns_of(event, rule)
    assert [(pattern.states, pattern.text()) for pattern in found] == [(tuple(states.split()), text)]


def test_there_are_not_many_more_patterns_than_people_wrote() -> None:
    # As many as `rule tool-open` has of its own; it is the longest rule of the policy.
    assert len(patterns_of("TOOL_USE_START", "tool-open")) <= 10


def test_a_box_of_some_states_and_cases() -> None:
    space = Space(POLICY.events["TEXT_DELTA"], POLICY)
    box = space.box(["text"], {"text": ["some"], "slot": ["last", "open"]})
    assert {POLICY.outcomes[number].rule for _, number in space.outcomes_in(box)} == {"text-append"}
    assert box.bit_count() == 2 * 4
    assert space.box([], {}) & space.possible() == space.possible()
