"""The decision trees say what the dense cells say, for every cell of every shipped policy; and cells stand exactly
where `possible` says that something can occur.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import reknit
from reknit.machine import Runtime
from reknit.machine.tree import grow
from reknit.shipped import rules_folder
from reknit.table import ENDING_STATE, EventSpec, PolicyTable
from reknit.vocabulary.actions import VERBS
from reknit.vocabulary.questions import possible


def _policies() -> dict[str, PolicyTable]:
    headers = "\n".join(path.read_text(encoding="utf-8") for path in sorted(rules_folder().glob("*.rules")))
    vendors = re.findall(r"^vendor ([\w-]+)", headers, re.MULTILINE)
    found = {f"of {vendor}": reknit.table_for(vendor).policy for vendor in vendors}
    for policy in re.findall(r"^policy ([\w-]+)", headers, re.MULTILINE):
        found[policy] = reknit.table_for("openai-chat", policy=policy).policy
    return {
        name: policy
        for number, (name, policy) in enumerate(found.items())
        if policy not in list(found.values())[:number]
    }


POLICIES = _policies()


def rows(policy: PolicyTable) -> Iterator[tuple[EventSpec, str, tuple[int, ...]]]:
    for name, by_state in policy.cells.items():
        for state, row in by_state.items():
            yield policy.events[name], state, row


def digits(spec: EventSpec, index: int) -> list[int]:
    found: list[int] = []
    for question in reversed(spec.questions):
        index, digit = divmod(index, len(question.cases))
        found.insert(0, digit)
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_every_tree_says_what_the_cells_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asking(spec: EventSpec, number: int) -> Callable[[Any], int]:
        return lambda answers: answers[number]

    monkeypatch.setattr("reknit.machine.run._asking", asking)
    policy = POLICIES[name]
    runtime = Runtime(policy)
    cells = 0
    for spec, state, row in rows(policy):
        tree = runtime.tree(state, spec.name)
        for index, number in enumerate(row):
            if number < 0:
                continue
            cells += 1
            leaf, answers = tree, digits(spec, index)
            while type(leaf) is tuple:
                leaf = leaf[1][leaf[0](answers)]
            outcome = policy.outcomes[number]
            assert (leaf.rule, leaf.to, len(leaf.doing)) == (outcome.rule, outcome.to, len(outcome.actions))
            assert leaf.opens is any(action.verb == "open" for action in outcome.actions)
    assert cells > 1000


@pytest.mark.parametrize("name", POLICIES)
def test_a_tree_asks_nothing_twice_and_nothing_that_makes_no_difference(name: str) -> None:
    for spec, _, row in rows(POLICIES[name]):
        radix = [len(question.cases) for question in spec.questions]
        tree = grow(row, radix, lambda number: number, lambda number: number)  # type: ignore[arg-type, return-value]
        pending: list[tuple[Any, tuple[int, ...]]] = [(tree, ())]
        while pending:
            node, asked = pending.pop()
            if type(node) is tuple:
                assert node[0] not in asked
                assert len(node[1]) == radix[node[0]]
                assert len({repr(below) for below in node[1] if below is not None}) > 1, "a question for nothing"
                pending += [(below, (*asked, node[0])) for below in node[1]]


@pytest.mark.parametrize("name", POLICIES)
def test_cells_stand_where_something_can_occur(name: str) -> None:
    policy = POLICIES[name]
    holds = {state.name: state.holds for state in policy.states} | {ENDING_STATE: ()}
    for spec, state, row in rows(policy):
        single = frozenset(held.kind for held in holds[state] if not held.many)
        many = frozenset(held.kind for held in holds[state] if held.many)
        types = {question.name: question.type for question in spec.questions}
        size = 1
        for question in spec.questions:
            size *= len(question.cases)
        assert len(row) == size
        for index, number in enumerate(row):
            cases = [question.cases[digit] for question, digit in zip(spec.questions, digits(spec, index), strict=True)]
            answers = dict(zip(types, cases, strict=True))
            assert (number >= 0) is possible(spec.about, types, answers, single, many), (spec.name, state, answers)


@pytest.mark.parametrize("name", POLICIES)
def test_outcomes_are_used_and_speak_of_what_there_is(name: str) -> None:
    policy = POLICIES[name]
    states = {state.name for state in policy.states}
    used = {number for _, _, row in rows(policy) for number in row}
    assert used - {-1} == set(range(len(policy.outcomes)))
    for outcome in policy.outcomes:
        assert outcome.to in states | {ENDING_STATE}
        assert {action.verb for action in outcome.actions} <= set(VERBS)
    for spec, state, row in rows(policy):
        if spec.about == "ending":
            assert state == ENDING_STATE
            assert {policy.outcomes[number].to for number in row if number >= 0} == {ENDING_STATE}
        else:
            assert {policy.outcomes[number].to for number in row if number >= 0} <= states
