"""Ways through a policy: for each cell, the shortest sequences of steps that were found to reach it.

Exploring is breadth first over the real machine, family by family (steps of one family, and now and then one of another
that leads into another state), with and without tools; places with one `view` are one. Short lives of calls are tried
besides, for the cells that judge them. It goes on only as far as is asked for, and an atlas serves any number of
comparisons with its policy.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

from reknit.diff.play import Cell, Step, WatchedRuntime, advance, cell_ahead, started, tools_of
from reknit.diff.samples import FEW_TOOLS, KITS, NO_TOOLS, Kit
from reknit.diff.situation import view
from reknit.diff.steps import FAMILIES, Steps
from reknit.machine import Machine, Runtime
from reknit.table import PolicyTable

MOST_PLACES: Final = 1500
"""So many places of one family are gone on from at first."""

MOST_PLACES_AT_ALL: Final = 6000
"""So many are gone on from where that was not enough; each takes some milliseconds."""

MOST_STEPS: Final = 5
"""So many steps a way has at most."""

_WAYS: Final = 3
"""So many ways to one cell are kept."""

_BATCH: Final = 64
_RESTS: Final = -1

Survey: TypeAlias = Iterator[int]
"""Explores a little each time it is asked, and tells how long the next ways will be, or that it rests."""


class Way(NamedTuple):
    """A sequence of steps, with the tools that are known."""

    kit: Kit
    steps: tuple[Step, ...]


class Atlas:
    """Explores one policy, as far as is asked for."""

    def __init__(self, policy: PolicyTable) -> None:
        self.policy = policy
        self.steps = Steps(policy)
        self.plain = Runtime(policy)
        self.watched = WatchedRuntime(policy)
        self.ways: dict[Cell, list[Way]] = {}
        self._journal: list[tuple[Cell, Way]] = []
        self._surveys: list[tuple[int, int, Survey]] = []
        self._resting: list[tuple[int, Survey, str]] = []
        self._families: list[str] = []
        for order, (family, survey) in enumerate(self._all_surveys()):
            self._families.append(family)
            length = next(survey, None)
            if length is not None:
                heapq.heappush(self._surveys, (length, order, survey))

    def reaching(
        self, wanted: Callable[[Cell], bool], families: Callable[[], set[str]] = set
    ) -> Iterator[tuple[Cell, Way]]:
        """Ways to cells, those known first; explores on until all that is in reach has been looked at.

        Args:
            wanted: Whether ways to a cell are asked for; asked anew for each.
            families: The families of events whose surveys go on once all have gone far; asked anew each time.
        """
        at = 0
        while True:
            while at < len(self._journal):
                cell, way = self._journal[at]
                at += 1
                if wanted(cell):
                    yield cell, way
            if not self._explore(families):
                return

    def _explore(self, families: Callable[[], set[str]]) -> bool:
        """Go on a little, where the next ways are shortest; whether there was anything left to explore."""
        if not self._surveys:
            wanted = families()
            again = [one for one in self._resting if one[2] in wanted]
            if not again:
                return False
            self._resting = [one for one in self._resting if one not in again]
            self._surveys = [(0, order, survey) for order, survey, _ in again]
        _, order, survey = heapq.heappop(self._surveys)
        length = next(survey, None)
        if length == _RESTS:
            self._resting.append((order, survey, self._families[order]))
        elif length is not None:
            heapq.heappush(self._surveys, (length, order, survey))
        return True

    def _all_surveys(self) -> Iterator[tuple[str, Survey]]:
        for family in FAMILIES:
            yield family, self._survey(family, NO_TOOLS)
        for kit in KITS:
            yield "", self._lives(kit, list(self.steps.calls(kit)))
        yield "calls", self._survey("calls", FEW_TOOLS)
        yield "", self._lives(NO_TOOLS, list(self.steps.twins()))

    def _lives(self, kit: Kit, ways: list[tuple[Step, ...]]) -> Survey:
        ways.sort(key=len)
        for start in range(0, len(ways), _BATCH):
            yield len(ways[start])
            for steps in ways[start : start + _BATCH]:
                self._live(kit, steps)

    def _live(self, kit: Kit, steps: tuple[Step, ...]) -> None:
        """Take steps, all of them under watch."""
        machine = started(self.watched, tools_of(kit))
        for count, step in enumerate(steps, start=1):
            self.watched.passed.clear()
            with suppress(Exception):
                advance(machine, step)
            for cell in self.watched.passed:
                self._record(cell, Way(kit, steps[:count]))

    def _survey(self, family: str, kit: Kit) -> Survey:
        core, moves = self.steps.core(family), self.steps.moves(family)
        seen: set[Hashable] = set()
        pending: deque[tuple[tuple[Step, ...], bool]] = deque([((), False)])
        places = 0
        while pending and places < MOST_PLACES_AT_ALL:
            if places == MOST_PLACES:
                yield _RESTS
            yield len(pending[0][0]) + 1
            steps, moved = pending.popleft()
            places += 1
            if (machine := self._at(kit, steps)) is None:
                continue
            for step in self.steps.all:
                self._record(cell_ahead(machine, step, self.watched), Way(kit, (*steps, step)))
            if len(steps) + 1 >= MOST_STEPS:
                continue
            for step in [*core, *(() if moved else moves)]:
                arrived = self._walk(kit, steps, step)
                if arrived is not None and (place := view(arrived)) not in seen:
                    seen.add(place)
                    pending.append(((*steps, step), moved or step in moves))

    def _at(self, kit: Kit, steps: tuple[Step, ...]) -> Machine | None:
        """A machine after some steps; None where it cannot take them."""
        machine = started(self.plain, tools_of(kit))
        try:
            for step in steps:
                advance(machine, step)
        except Exception:  # what a rule file makes a machine do is looked at here, not answered for
            return None
        return machine

    def _walk(self, kit: Kit, steps: tuple[Step, ...], last: Step) -> Machine | None:
        """Take steps, and one more under watch."""
        machine = self._at(kit, steps)
        if machine is None:
            return None
        machine.runtime = self.watched
        self.watched.passed.clear()
        try:
            advance(machine, last)
        except Exception:
            machine = None
        way = Way(kit, (*steps, last))
        for cell in self.watched.passed:
            self._record(cell, way)
        return machine

    def _record(self, cell: Cell, way: Way) -> None:
        known = self.ways.setdefault(cell, [])
        if len(known) < _WAYS and way not in known:
            known.append(way)
            self._journal.append((cell, way))


_ATLASES: Final[dict[int, Atlas]] = {}


def atlas_of(policy: PolicyTable) -> Atlas:
    """The atlas of a policy, kept as long as the last few are."""
    atlas = _ATLASES.get(id(policy))
    if atlas is None or atlas.policy is not policy:
        if len(_ATLASES) >= 4:
            _ATLASES.pop(next(iter(_ATLASES)))
        atlas = _ATLASES[id(policy)] = Atlas(policy)
    return atlas
