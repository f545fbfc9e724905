"""Looking for witnesses: ways to changed cells first, and from there on to where the change shows.

A way counts for a cause only if the first changed cell that it passes through is of that cause; else the difference
would be another change's. Where a cell is reached and nothing is to be seen yet, but the two machines remember
different things, the search goes on with further steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from reknit.diff.atlas import Atlas, Way
from reknit.diff.cells import Group
from reknit.diff.play import Cell, advance, close, started, tools_of
from reknit.diff.samples import NO_TOOLS
from reknit.diff.situation import memory
from reknit.diff.steps import FAMILIES
from reknit.diff.witness import Pair, Witness

_MOST_TRIES: Final = 1000
"""So many ways to cells of one cause are tried."""

_MOST_SHARED: Final = 100
"""So many ways that pass through other changes are kept."""

_MOST_EXTENDED: Final = 6
"""So many of them are gone on from."""

_MOST_PLACES: Final = 12
"""So many places, one step on, are gone on from once more."""

NOT_REACHED: Final = "no short sequence of events was found that reaches it"
NOT_SEEN: Final = "it is reached, and nothing that can be seen differs within the bound"


@dataclass(slots=True)
class _Quest:
    """The search for one cause."""

    witness: Witness | None = None
    tries: int = 0
    extended: int = 0
    shared: list[Way] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.witness is None and self.tries < _MOST_TRIES


class Search:
    """Looks for witnesses of changed cells.

    Args:
        pair: The two policies.
        atlas: Of the policy before.
        groups: Changed cells by cause.
    """

    def __init__(self, pair: Pair, atlas: Atlas, groups: list[Group]) -> None:
        self._pair, self._atlas, self._groups = pair, atlas, groups
        self._owner: dict[Cell, int] = {cell: number for number, group in enumerate(groups) for cell in group.cells}
        self._quests = [_Quest() for _ in groups]

    def run(self) -> list[tuple[Witness | None, str]]:
        """For each group a witness, or why there is none."""
        if self._groups:
            for cell, way in self._atlas.reaching(self._wanted, self._families):
                self._try(self._owner[cell], way)
                if not any(quest.open for quest in self._quests):
                    break
        return [self._result(quest) for quest in self._quests]

    def _wanted(self, cell: Cell) -> bool:
        number = self._owner.get(cell)
        return number is not None and self._quests[number].open

    def _families(self) -> set[str]:
        """The families of events of which a cause is still looked for."""
        events = self._atlas.policy.events
        abouts = {
            events[g.cause.event].about for g, quest in zip(self._groups, self._quests, strict=True) if quest.open
        }
        found = {family for family, kinds in FAMILIES.items() if abouts & set(kinds)}
        return found | ({"calls"} if "ending" in abouts else set())

    def _try(self, number: int, way: Way) -> None:
        quest = self._quests[number]
        if self._first_changed(way) != number:
            if len(quest.shared) < _MOST_SHARED:
                quest.shared.append(way)
            return
        quest.tries += 1
        found: Way | None = way if self._pair.differs(way) is not None else None
        if found is None and quest.extended < _MOST_EXTENDED and self._parted(way):
            quest.extended += 1
            found = self._extended(way)
        if found is not None:
            quest.witness = self._pair.differs(shortened(found, lambda way: self._shows(way, number)))

    def _shows(self, way: Way, number: int) -> bool:
        return self._first_changed(way) == number and self._pair.differs(way) is not None

    def _first_changed(self, way: Way) -> int | None:
        """The cause of the first changed cell on a way."""
        watched = self._atlas.watched
        machine = started(watched, tools_of(way.kit))
        watched.passed.clear()
        with suppress(Exception):  # what was passed until a machine failed counts all the same
            for step in way.steps:
                advance(machine, step)
            close(machine)
        return next((self._owner[cell] for cell in watched.passed if cell in self._owner), None)

    def _extended(self, way: Way) -> Way | None:
        """Go on from where both machines remember different things, until it shows."""
        onward: list[Way] = []
        memories: set[str] = set()
        for step in self._atlas.steps.all:
            further = Way(way.kit, (*way.steps, step))
            if self._pair.differs(further) is not None:
                return further
            remembered = self._parted(further)
            if remembered and remembered not in memories and len(onward) < _MOST_PLACES:
                memories.add(remembered)
                onward.append(further)
        for further in onward:
            for step in self._atlas.steps.all:
                last = Way(way.kit, (*further.steps, step))
                if self._pair.differs(last) is not None:
                    return last
        return None

    def _parted(self, way: Way) -> str:
        """What the two machines remember, where that differs; empty where they are in one place."""
        remembered = []
        for side in (0, 1):
            machine = self._pair.machine(side, way.kit)
            try:
                for step in way.steps:
                    self._pair.take(side, machine, step)
            except Exception:
                return ""
            remembered.append(memory(machine))
        return "" if remembered[0] == remembered[1] else "\n".join(remembered)

    def _result(self, quest: _Quest) -> tuple[Witness | None, str]:
        if quest.witness is not None:
            return quest.witness, ""
        for way in quest.shared:
            # It passes through other changes first: still true, if not of this change alone.
            found = self._pair.differs(way)
            if found is not None:
                return found, ""
        return None, NOT_SEEN if quest.tries or quest.shared else NOT_REACHED


def shortened(way: Way, shows: Callable[[Way], bool]) -> Way:
    """A way without the steps that it does not need, and without tools if they are not needed.

    Args:
        way: That shows something.
        shows: Whether another way shows it, too.
    """
    bare = Way(NO_TOOLS, way.steps)
    way, at = bare if shows(bare) else way, 0
    while at < len(way.steps):
        less = Way(way.kit, way.steps[:at] + way.steps[at + 1 :])
        if shows(less):
            way, at = less, 0
        else:
            at += 1
    return way


def first_difference(pair: Pair, ways: Iterable[Way]) -> Witness | None:
    """The first of some ways that the sides answer differently, without the steps that it does not need."""
    for way in ways:
        if pair.differs(way) is not None:
            return pair.differs(shortened(way, lambda one: pair.differs(one) is not None))
    return None
