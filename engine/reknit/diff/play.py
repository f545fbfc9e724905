"""Playing steps on the machine of a policy, with an eye on every cell that it passes through.

A machine by itself asks only the questions that make a difference. A watched one is asked all of them, so that it can
be told which cell of the dense table it is in. Rule files may be wrong in ways that no proof rules out (a judgement
that asks for itself again for ever): a play is stopped then, and says so.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from reknit.diff.samples import Kit
from reknit.lang.syntax import Given, Test
from reknit.machine import STREAM_END, Leaf, Machine, Runtime
from reknit.machine.answers import MAKERS, Asking
from reknit.table import EventSpec, PolicyTable
from reknit.testing.givens import tools_of as tools_given
from reknit.tools.registry import Tools

SEED: Final = "test"
"""From which ids are made up: that of rule tests, which witnesses become."""

MOST_TURNS: Final = 64
"""So many cells may one step pass through, before it counts as endless."""

Step: TypeAlias = tuple[str, tuple[Any, ...]]
"""An event: its name, and its fields in the order of its policy."""


class Cell(NamedTuple):
    """One cell: its event, its state, and the number of its combination of cases."""

    event: str
    state: str
    number: int


class EndlessError(Exception):
    """A step that asks for itself again and again."""


class WatchedRuntime(Runtime):
    """A runtime whose machines tell the cells that they pass through, in `passed`."""

    def __init__(self, policy: PolicyTable) -> None:
        super().__init__(policy)
        self.passed: list[Cell] = []
        self._watched: dict[tuple[str, str], Any] = {}
        self._asks = {
            name: [(_asking(spec, number), len(question.cases)) for number, question in enumerate(spec.questions)]
            for name, spec in policy.events.items()
        }
        for event, by_state in policy.cells.items():
            for state in by_state:
                self.trees.setdefault(state, {})[event] = self.tree(state, event)

    def tree(self, state: str, event: str) -> Any:
        """A tree that asks everything at its root."""
        key = (state, event)
        if key not in self._watched:
            self._watched[key] = self._watch(state, event)
        return self._watched[key]

    def number(self, machine: Machine, event: str) -> int:
        """The number of the cell of an event that the machine has been given, by all its questions."""
        number = 0
        for asking, size in self._asks[event]:
            number = number * size + asking(machine)
        return number

    def _watch(self, state: str, event: str) -> Any:
        real, spec, row = Runtime.tree(self, state, event), self.events[event], self.policy.cells[event][state]

        def ask(machine: Machine) -> Leaf:
            number = self.number(machine, event)
            self.passed.append(Cell(event, state, number))
            if row[number] >= 0:
                return self._leaf(spec, row[number])
            leaf = real
            while type(leaf) is tuple:
                leaf = leaf[1][leaf[0](machine)]
            found: Leaf = leaf
            return found

        return (ask, _SAME)


class _Same:
    """Gives back what it is asked for: the asking function has found the leaf itself."""

    def __getitem__(self, leaf: Leaf) -> Leaf:
        return leaf


_SAME: Final = _Same()


def _asking(spec: EventSpec, number: int) -> Asking:
    question = spec.questions[number]
    at = next((n for n, field in enumerate(spec.fields) if field.name == question.name), -1)
    if at < 0:
        at = next((n for n, field in enumerate(spec.fields) if field.type in ("text", "json")), -1)
    return MAKERS[question.type](at, {case: n for n, case in enumerate(question.cases)})


# -- playing -----------------------------------------------------------------------------------------------------------


def started(runtime: Runtime, tools: Tools) -> Machine:
    """A machine at its beginning, that is stopped where a step would go on for ever."""
    machine = Machine(runtime, tools, SEED)
    machine.watch = Turns()
    return machine


class Turns:
    """Counts the cells of a step."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, machine: Machine, leaf: Leaf) -> None:
        """Count one more."""
        self.count += 1
        if self.count > MOST_TURNS:
            raise EndlessError(leaf.rule)


def advance(machine: Machine, step: Step) -> None:
    """Take a step."""
    watch = machine.watch
    if isinstance(watch, Turns):
        watch.count = 0
    machine.step(step[0], step[1])


def close(machine: Machine) -> None:
    """End the stream without an end marker, as the end of a body does."""
    watch = machine.watch
    if isinstance(watch, Turns):
        watch.count = 0
    machine.named_step(STREAM_END, {"how": "closed"})


def cell_ahead(machine: Machine, step: Step, runtime: WatchedRuntime) -> Cell:
    """The cell that a step would be judged by; the machine stays where it is."""
    event, fields = step
    machine.event, machine.at, machine.fields = runtime.events[event], runtime.positions[event], fields
    machine.current = machine.near = None
    slot = machine.at.slot
    machine.at.resolve(machine, None if slot < 0 else fields[slot])
    return Cell(event, machine.state, runtime.number(machine, event))


@cache
def tools_of(kit: Kit) -> Tools:
    """The tools of a kit."""
    if kit.tools is None:
        return Tools(None)
    given = Given("tools", None, dict(kit.tools))
    return tools_given(Test("", (given,)))
