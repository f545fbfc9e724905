"""The machine takes everything: no sequence of canonical events makes it raise, answer outside of `possible`, or break
what its states promise to hold.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import EFFORT, law
from hypothesis import given
from hypothesis import strategies as st
from pool import KITS, Step, sequences, tables, walk
from watched import WatchedRuntime, run

from reknit.assembly import assemble_message
from reknit.machine import Machine, Runtime

TABLES = tables()
RUNTIMES = {name: WatchedRuntime(table.policy) for name, table in TABLES.items()}


def outcome_of(run_it: Callable[[], Machine]) -> str:
    """What went wrong, or an empty string."""
    try:
        run_it()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def shrunk(runtime: WatchedRuntime, kit: str, steps: list[Step]) -> list[Step]:
    """Without the events that do not matter for what went wrong."""
    at = len(steps) - 1
    while at >= 0:
        fewer = steps[:at] + steps[at + 1 :]
        if outcome_of(lambda fewer=fewer: run(runtime, KITS[kit], fewer)):  # type: ignore[misc]
            steps = fewer
        at = min(at, len(steps)) - 1
    return steps


@pytest.mark.parametrize("name", TABLES)
def test_every_sequence_of_events_is_taken(name: str) -> None:
    """Long walks at random, of many seeds: fast, and wide."""
    runtime = WatchedRuntime(TABLES[name].policy)
    for number in range(round(500 * EFFORT)):
        kit = sorted(KITS)[number % len(KITS)]
        steps = walk(runtime.policy, (name, number), 40)
        if outcome_of(lambda steps=steps, kit=kit: run(runtime, KITS[kit], steps)):  # type: ignore[misc]
            steps = shrunk(runtime, kit, steps)
            pytest.fail(f"{outcome_of(lambda: run(runtime, KITS[kit], steps))}\nwith {kit} after {steps}")
    fired = {
        runtime.policy.outcomes[runtime.policy.cells[event][state][cell]].rule for event, state, cell in runtime.visited
    }
    rules = {outcome.rule for outcome in runtime.policy.outcomes}
    # Rules that these walks do not reach are not tried by any of these laws.
    assert len(fired) >= REACHED * len(rules), rules - fired


REACHED = 0.9


@pytest.mark.parametrize("name", TABLES)
@law(150, among=len(TABLES))
@given(data=st.data(), kit=st.sampled_from(sorted(KITS)))
def test_every_short_sequence_of_events_is_taken(name: str, data: st.DataObject, kit: str) -> None:
    """The same, by hypothesis: slower, and shrinks well."""
    run(RUNTIMES[name], KITS[kit], data.draw(sequences(TABLES[name].policy), label="events"))


@pytest.mark.parametrize("name", TABLES)
def test_asking_everything_changes_nothing(name: str) -> None:
    """What is watched is what runs: the plain machine gives the same message."""
    table = TABLES[name]
    plain = Runtime(table.policy)
    for number in range(round(60 * EFFORT)):
        for kit, tools in KITS.items():
            steps = walk(table.policy, ("plain", number), 30)
            watched = run(RUNTIMES[name], tools, steps, checked=False)
            assert assemble_message(run(plain, tools, steps, checked=False), table) == assemble_message(
                watched, table
            ), kit
