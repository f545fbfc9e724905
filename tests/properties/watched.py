"""A machine under watch: every question of every event is asked, and every promise is checked, at each step.

The running machine asks only the questions that make a difference, so an answer outside of what `possible` allows may
stay unseen until a rule changes. Here all of them are asked each time, the full combination is looked up in the dense
cells, and the outcome is compared with what the decision tree says.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pool import SEED, Step

from reknit.machine import ENDING, Leaf, Machine, Runtime
from reknit.machine.answers import MAKERS
from reknit.machine.blocks import Call, Growing, Kept, Prose
from reknit.table import ENDING_STATE, EventSpec, PolicyTable
from reknit.tools.registry import Tools
from reknit.vocabulary.questions import possible

Cell = tuple[str, str, int]
"""Event, state, number of the combination."""


def holdings(policy: PolicyTable, state: str) -> tuple[frozenset[str], frozenset[str]]:
    """The kinds of which a state holds exactly one, and those of which it may hold any number."""
    found = [one for one in policy.states if one.name == state]
    holds = found[0].holds if found else ()
    return frozenset(h.kind for h in holds if not h.many), frozenset(h.kind for h in holds if h.many)


def cases_of(spec: EventSpec, index: int) -> dict[str, str]:
    """The combination of cases that has a number, by question."""
    cases: dict[str, str] = {}
    for question in reversed(spec.questions):
        index, digit = divmod(index, len(question.cases))
        cases[question.name] = question.cases[digit]
    return dict(reversed(cases.items()))


class WatchedRuntime(Runtime):
    """A runtime whose trees ask everything; `visited` counts the cells that machines have been through."""

    def __init__(self, policy: PolicyTable) -> None:
        super().__init__(policy)
        self.visited: Counter[Cell] = Counter()
        self.asked = 0
        self._watched: dict[tuple[str, str], Any] = {}
        for event, by_state in policy.cells.items():
            for state in by_state:
                self.tree(state, event)

    def tree(self, state: str, event: str) -> Any:
        key = (state, event)
        if key not in self._watched:
            self._watched[key] = self._watch(state, event)
            # Where the machine looks first.
            self.trees[state][event] = self._watched[key]
        return self._watched[key]

    def _watch(self, state: str, event: str) -> Any:
        real, spec, row = Runtime.tree(self, state, event), self.events[event], self.policy.cells[event][state]
        single, many = holdings(self.policy, state)
        types = {question.name: question.type for question in spec.questions}
        asks = []
        for question in spec.questions:
            at = next((n for n, field in enumerate(spec.fields) if field.name == question.name), -1)
            if at < 0:
                at = next((n for n, field in enumerate(spec.fields) if field.type in ("text", "json")), -1)
            asks.append(MAKERS[question.type](at, {case: n for n, case in enumerate(question.cases)}))

        def ask(machine: Machine) -> int:
            index = 0
            for question, asking in zip(spec.questions, asks, strict=True):
                answer = asking(machine)
                assert 0 <= answer < len(question.cases), f"{question.name} of {event} answers case {answer}"
                assert asking(machine) == answer, f"{question.name} of {event} answers twice in two ways"
                index = index * len(question.cases) + answer
            answers = cases_of(spec, index)
            where = f"{event} {answers} in {state}"
            assert possible(spec.about, types, answers, single, many), f"not possible, and yet there: {where}"
            assert row[index] >= 0, f"no cell: {where}"
            leaf = real
            while type(leaf) is tuple:
                leaf = leaf[1][leaf[0](machine)]
            assert leaf.rule == self.policy.outcomes[row[index]].rule, f"the tree and the cells differ: {where}"
            assert leaf is self._leaf(spec, row[index]), f"the tree and the cells differ: {where}"
            self.visited[event, state, index] += 1
            self.asked += 1
            return index

        return (ask, _Leaves(self, spec, row))


class _Leaves:
    """The leaves of a row, by number of the combination."""

    def __init__(self, runtime: WatchedRuntime, spec: EventSpec, row: tuple[int, ...]) -> None:
        self._runtime, self._spec, self._row = runtime, spec, row

    def __getitem__(self, index: int) -> Leaf:
        return self._runtime._leaf(self._spec, self._row[index])


def run(runtime: Runtime | WatchedRuntime, tools: Tools, steps: list[Step], checked: bool = True) -> Machine:
    """Take all steps; with `checked`, every promise is looked at after each of them."""
    machine = Machine(runtime, tools, SEED)
    for name, fields in steps:
        asked = runtime.asked if isinstance(runtime, WatchedRuntime) else -1
        machine.step(name, fields)
        assert asked < 0 or runtime.asked > asked, "the machine went round the watch"
        if checked:
            check_promises(machine)
    return machine


def _open_kinds(machine: Machine) -> Counter[str]:
    return Counter(block.kind for block in machine.blocks if block.open)


def check_promises(machine: Machine) -> None:
    """What the state promises to hold is open, and nothing else; the machine's books agree with its blocks."""
    single, many = holdings(machine.runtime.policy, machine.state)
    open_kinds = _open_kinds(machine)
    for kind in ("text", "thinking"):
        wanted = 1 if kind in single else 0
        assert open_kinds[kind] == wanted, f"{open_kinds[kind]} open {kind} blocks in state {machine.state}"
    for kind in ("tool", "opaque"):
        assert kind in many or not open_kinds[kind], f"an open {kind} block in state {machine.state}"
    assert [block.ordinal for block in machine.blocks] == list(range(len(machine.blocks)))
    _same(machine.text_open, _open(machine, "text"))
    _same(machine.thinking_open, _open(machine, "thinking"))
    assert sorted(map(id, machine.calls_open)) == sorted(map(id, _open(machine, "tool"))), (
        "calls_open is not what is open"
    )
    assert sorted(map(id, machine.kept_open)) == sorted(map(id, _open(machine, "opaque"))), (
        "kept_open is not what is open"
    )
    known = set(map(id, machine.blocks))
    for kind, bound in machine.slots.items():
        for slot, block in bound.items():
            assert id(block) in known, f"{kind} slot {slot!r} is bound to a block that is in no message"
            assert block.kind == kind
            assert block.open or not block.hidden, f"{kind} slot {slot!r} stays bound to a call that was withdrawn"
    check_calls(machine)


def check_calls(machine: Machine) -> None:
    """Ids are there and unique; a call is found under its id; verdicts hang together."""
    calls = [block for block in machine.blocks if isinstance(block, Call)]
    shown = [call for call in calls if not call.hidden]
    assert machine.has_calls() is bool(shown)
    ids = [call.id for call in shown]
    assert "" not in ids, "a call without an id"
    assert len(set(ids)) == len(ids), f"one id on several calls: {ids}"
    for call in shown:
        assert machine.ids.get(call.id) is call, f"the id {call.id} leads to another call"
    for call in calls:
        if call.open or call.hidden:
            continue
        assert call.executable is (call.invalid is None and call.seal != "cut")
        assert call.safety, "an ended call without a class"
        if call.executable:
            assert call.name, "a nameless call is executable"
            assert call.doomed is None
            assert call.grade in ("exact", "lossless", "guessed")
            assert not machine.tools.given or call.name in machine.tools
            tool = machine.tools.get(call.name)
            assert tool is None or tool.verdict(call.input) == "valid"


def _open(machine: Machine, kind: str) -> list[Growing]:
    return [block for block in machine.blocks if block.open and block.kind == kind]


def _same(held: Prose | Kept | None, open_blocks: list[Growing]) -> None:
    assert [held] == open_blocks or (held is None and not open_blocks)


__all__ = [
    "ENDING",
    "ENDING_STATE",
    "Cell",
    "WatchedRuntime",
    "cases_of",
    "check_calls",
    "check_promises",
    "holdings",
    "run",
]
