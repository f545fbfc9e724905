"""What `idle` and `commuting` claim about actions holds on the machine: policies written by them do the same."""

from __future__ import annotations

import random
from functools import cache

import msgspec
import pytest
from judging import played, random_plays, tools_in
from sides import TINY, side_of

from reknit.diff import Side, Workshop
from reknit.diff.cells import answers_of
from reknit.diff.idle import effective, ends_for_good
from reknit.diff.play import WatchedRuntime, started, tools_of
from reknit.diff.reach import Reach
from reknit.diff.sides import without_maps
from reknit.lang.files import FileLoader
from reknit.table import ActionSpec, EventSpec, Outcome, PolicyTable, assemble

PLAYS = 1500
TINY_POLICY = side_of(TINY).policy

ADDED = [
    ActionSpec("set", ("id",)),
    ActionSpec("set", ("name",)),
    ActionSpec("fill", ("id",)),
    ActionSpec("fill", ("name",)),
    ActionSpec("replace", ("name",)),
    ActionSpec("bind", ("slot",)),
    ActionSpec("set", ("reason",)),
    ActionSpec("set", ("reason", "tool_use")),
    ActionSpec("set", ("reason", "end_turn")),
    ActionSpec("append", ("text",)),
    ActionSpec("append", ("name",)),
    ActionSpec("replace", ("text",)),
    ActionSpec("replace", ("json",)),
    ActionSpec("make", ("id",)),
    ActionSpec("infer", ("reason",)),
    ActionSpec("propose", ("json",)),
    ActionSpec("open", ("tool",)),
    ActionSpec("append", ("json",)),
    ActionSpec("append", ("signature",)),
    ActionSpec("archive", ("block",)),
    ActionSpec("archive", ("all", "cut")),
    ActionSpec("archive", ("calls", "sequential")),
    ActionSpec("archive", ("complete-calls", "sequential")),
    ActionSpec("withdraw", ("call",)),
    ActionSpec("conflict", ("id_conflict",)),
    ActionSpec("adopt", ("arguments",)),
    ActionSpec("merge", ("usage",)),
    ActionSpec("reopen", ("call",)),
    ActionSpec("complete"),
    ActionSpec("bank", ("usage",)),
    ActionSpec("drop", ("extra",)),
]
"""Actions that do nothing in some cells; put into cells, they have to be found idle or stand where they matter."""


@cache
def standard() -> Side:
    return Workshop(FileLoader()).side("standard")


def rewritten(policy: PolicyTable, actions_of: object) -> PolicyTable:
    """A policy in which each cell has actions of its own."""
    outcomes: dict[Outcome, int] = {}
    cells: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, by_state in policy.cells.items():
        event = policy.events[name]
        cells[name] = {}
        for state, row in by_state.items():
            numbers = []
            for number, old in enumerate(row):
                if old < 0:
                    numbers.append(old)
                    continue
                outcome = policy.outcomes[old]
                actions = actions_of(event, number, outcome.actions)  # type: ignore[operator]
                numbers.append(outcomes.setdefault(Outcome(outcome.rule, actions, outcome.to), len(outcomes)))
            cells[name][state] = tuple(numbers)
    return msgspec.structs.replace(policy, outcomes=tuple(outcomes), cells=cells)


def same(one: PolicyTable, two: PolicyTable, seed: int) -> None:
    tables = [assemble(policy, without_maps(policy.name)) for policy in (one, two)]
    for kit, steps in random_plays(one, PLAYS, seed):
        first, second = (played(table, tools_in(kit), steps) for table in tables)
        assert first == second, steps


def applies(action: ActionSpec, event: EventSpec) -> bool:
    """Whether an action can stand in a rule on an event."""
    names = {field.name for field in event.fields}
    if action.verb in ("withdraw", "conflict", "adopt"):
        return event.about == "ending"
    if action.verb in ("set", "fill", "replace", "append") and len(action.words) == 1:
        return (action.words[0] in names and event.about != "message") or action.words[0] in names & {"reason"}
    if action.verb == "bind":
        return event.about == "tool" and "slot" in names
    if action.verb in ("reopen", "make", "open"):
        return event.about == "tool"
    if action.verb == "propose":
        return event.about == "tool" and "json" in names
    return event.about != "ending" or action.verb in ("complete", "drop")


def test_the_effective_actions_do_the_same() -> None:
    policy = standard().policy
    for_good = ends_for_good(policy)
    assert for_good

    def only(event: EventSpec, number: int, actions: tuple[ActionSpec, ...]) -> tuple[ActionSpec, ...]:
        return effective(event, answers_of(event, number), actions, for_good)

    assert any(
        only(policy.events[name], number, policy.outcomes[old].actions) != policy.outcomes[old].actions
        for name, by_state in policy.cells.items()
        for row in by_state.values()
        for number, old in enumerate(row)
        if old >= 0
    )
    same(policy, rewritten(policy, _named(only)), 1)


def _named(only: object) -> object:
    """Effective actions leave out words that say nothing; the machine wants them back."""

    def whole(event: EventSpec, number: int, actions: tuple[ActionSpec, ...]) -> tuple[ActionSpec, ...]:
        found: tuple[ActionSpec, ...] = only(event, number, actions)  # type: ignore[operator]
        fields = {field.type: field.name for field in event.fields}
        done = []
        for action in found:
            words = ("call",) if action.verb == "reopen" else action.words
            if action.verb == "set" and words == ("reason",):
                words = (fields["reason"],)
            done.append(ActionSpec(action.verb, words))
        return tuple(done)

    return whole


@pytest.mark.parametrize("name", ["standard", "lenient", "strict"])
def test_no_cell_is_reached_that_is_called_out_of_reach(name: str) -> None:
    policy = Workshop(FileLoader()).side(name).policy
    reach, runtime = Reach(policy), WatchedRuntime(policy)
    for kit, steps in random_plays(policy, PLAYS, 5):
        machine = started(runtime, tools_of(kit))
        for event, fields in steps:
            machine.named_step(event, fields)
    passed = set(runtime.passed)
    assert len(passed) > 500
    for cell in passed:
        event = policy.events[cell.event]
        assert reach.reaches(event, answers_of(event, cell.number)), cell


def test_some_cells_are_out_of_reach() -> None:
    event = TINY_POLICY.events["CALL_END"]
    seals = {answers_of(event, n)["seal"] for n in range(35) if Reach(TINY_POLICY).reaches(event, answers_of(event, n))}
    assert seals == {"final", "cut"}


@pytest.mark.parametrize("seed", range(6))
def test_actions_that_are_called_idle_can_be_put_in(seed: int) -> None:
    """Random actions are put into cells, and taken out again where they are called idle: nothing may differ by that."""
    policy = standard().policy
    rng = random.Random(seed)

    def more(event: EventSpec, number: int, actions: tuple[ActionSpec, ...]) -> tuple[ActionSpec, ...]:
        fitting = [action for action in ADDED if applies(action, event)]
        if not fitting or rng.random() < 0.5:
            return actions
        at = rng.randint(0, len(actions))
        crowd = tuple(rng.choice(fitting) for _ in range(rng.choice((1, 1, 2, 3))))
        return (*actions[:at], *crowd, *actions[at:])

    crowded = rewritten(policy, more)
    for_good = ends_for_good(crowded)

    def only(event: EventSpec, number: int, actions: tuple[ActionSpec, ...]) -> tuple[ActionSpec, ...]:
        return effective(event, answers_of(event, number), actions, for_good)

    same(crowded, rewritten(crowded, _named(only)), seed + 10)
