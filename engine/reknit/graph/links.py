"""States and links: which rule leads from which state to which, read off the cells; of two, what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from reknit.table import ENDING_STATE, ActionSpec, PolicyTable, StateSpec

Status: TypeAlias = Literal["same", "added", "removed", "changed"]
"""What became of a state or link from one policy to another; `same` where there is only one."""

STATUSES: Final[tuple[Status, ...]] = ("same", "added", "removed", "changed")

_Cells: TypeAlias = dict[tuple[str, str, str], set[tuple[str, int, tuple[ActionSpec, ...]]]]
"""By source, target and rule: the cells, each with what it does."""


@dataclass(frozen=True, slots=True)
class State:
    """A state: its name, what it holds in words, whether it is the start or final, and what became of it."""

    name: str
    holds: str
    flag: str
    status: Status = "same"


@dataclass(frozen=True, slots=True)
class Link:
    """A rule that leads from a state to a state (or stays in it), with the number of cells in which it does."""

    source: str
    target: str
    rule: str
    cells: int
    status: Status = "same"


@dataclass(frozen=True, slots=True)
class Graph:
    """A policy as states and links.

    Attributes:
        title: What it is of.
        states: In the order of the file.
        links: By source, then target, then as they come in the table.
        compared: Whether it tells two policies apart.
    """

    title: str
    states: tuple[State, ...]
    links: tuple[Link, ...]
    compared: bool = False

    def between(self) -> dict[tuple[str, str], list[Link]]:
        """The links by source and target, in the order of the states."""
        order = {state.name: n for n, state in enumerate(self.states)}
        found: dict[tuple[str, str], list[Link]] = {}
        for link in sorted(self.links, key=lambda link: (order[link.source], order[link.target])):
            found.setdefault((link.source, link.target), []).append(link)
        return found


def graph_of(policy: PolicyTable) -> Graph:
    """The graph of a policy."""
    links = [Link(*key, len(cells)) for key, cells in _cells(policy).items()]
    states = tuple(State(state.name, _holds(state), state.flag) for state in policy.states)
    return Graph(policy.name, states, tuple(links))


def graph_of_both(before: PolicyTable, after: PolicyTable) -> Graph:
    """The graph of two policies: what both have, what only one has, and what does something else."""
    old_states, new_states = ({state.name: state for state in policy.states} for policy in (before, after))
    states = []
    for name in dict.fromkeys([*new_states, *old_states]):
        spec = new_states.get(name) or old_states[name]
        states.append(State(name, _holds(spec), spec.flag, _status(old_states.get(name), new_states.get(name))))
    old, new = _cells(before), _cells(after)
    links = [
        Link(*key, len(new.get(key) or old[key]), _status(old.get(key), new.get(key)))
        for key in dict.fromkeys([*new, *old])
    ]
    title = after.name if before.name == after.name else f"{before.name} and {after.name}"
    return Graph(title, tuple(states), tuple(links), compared=True)


def _status(old: object, new: object) -> Status:
    if old is None or new is None:
        return "added" if old is None else "removed"
    return "same" if old == new else "changed"


def _cells(policy: PolicyTable) -> _Cells:
    found: _Cells = {}
    for event, state, number, outcome in _numbers(policy):
        what = policy.outcomes[outcome]
        found.setdefault((state, what.to, what.rule), set()).add((event, number, what.actions))
    return found


def _numbers(policy: PolicyTable) -> Iterator[tuple[str, str, int, int]]:
    for event, by_state in policy.cells.items():
        for state, row in by_state.items():
            if state != ENDING_STATE:
                yield from ((event, state, number, outcome) for number, outcome in enumerate(row) if outcome >= 0)


def _holds(state: StateSpec) -> str:
    return ", ".join(f"{held.kind}{'*' if held.many else ''}" for held in state.holds)
