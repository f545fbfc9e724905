"""A stream under watch: what maps made of each frame, which cell each event met, and when its actions were done.

The running machine asks only the questions that make a difference. Under watch all of them are asked, the dense cell
is looked up, and its outcome is what the machine then does. So a cell that is told is the cell that acted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Final, Protocol

from reknit.machine import STREAM_ERROR, Leaf, Machine, Runtime
from reknit.machine.answers import Asking
from reknit.machine.run import _asking
from reknit.mapping import Made, Mapped, MappingState, Mistyped
from reknit.mapping import Mapping as Maps
from reknit.stream import Choice, Stream
from reknit.table import EventSpec, PolicyTable, Table
from reknit.tools.registry import Tools
from reknit.updates import Update
from reknit.wire.frames import EndMarker, Limits, WireFailure, WireNote

FRAME, MARKER, LOST, FAILURE, UNREAD, CLOSE = "frame", "end marker", "wire note", "failure", "unread", "close"
"""What an item of a body is: a frame, the end marker, something lost or salvaged, what broke the stream off, what comes
after that, and the end of the body."""


class Witness(Protocol):
    """Who is told what happens, in the order in which it happens."""

    def item(self, kind: str, value: Any) -> AbstractContextManager[None]:
        """An item of the body is taken; what is told until the context ends happens on its account."""
        ...

    def handed_over(self) -> None:
        """What was told so far is about to be handed to the caller."""
        ...

    def mapped(self, frame: Any, made: Made | None) -> None:
        """Maps made events of a frame; None where no map took it."""
        ...

    def turn(self, one: Mapped | Mistyped | None) -> None:
        """The next of those events is taken; None when there are no more."""
        ...

    def asked(self, machine: Machine, state: str, spec: EventSpec, index: int) -> None:
        """A machine met a cell, and has not acted yet; `index` is the number of the combination."""
        ...

    def acted(self, machine: Machine, leaf: Leaf) -> None:
        """The machine did what the cell says."""
        ...


class ObservingRuntime(Runtime):
    """A runtime whose decision trees ask everything, and tell."""

    def __init__(self, policy: PolicyTable, witness: Witness) -> None:
        super().__init__(policy)
        self._witness = witness
        self._watched: dict[tuple[str, str], Any] = {}
        self._asks: dict[str, tuple[Asking, ...]] = {}

    def tree(self, state: str, event: str) -> Any:
        """A tree of one question that stands for all; `trees` stays empty, so the machine always comes here."""
        key = (state, event)
        if key not in self._watched:
            self._watched[key] = self._watch(state, event)
        return self._watched[key]

    def _watch(self, state: str, event: str) -> Any:
        spec, row, witness = self.events[event], self.policy.cells[event][state], self._witness
        if event not in self._asks:
            self._asks[event] = tuple(_asking(spec, number) for number in range(len(spec.questions)))
        asks = [(ask, len(question.cases)) for ask, question in zip(self._asks[event], spec.questions, strict=True)]

        def ask(machine: Machine) -> Leaf:
            index = 0
            for answer, cases in asks:
                index = index * cases + answer(machine)
            if machine.watch is None:
                machine.watch = witness.acted
            witness.asked(machine, state, spec, index)
            return self._leaf(spec, row[index]) if row[index] >= 0 else self._plainly(machine, state, event)

        return (ask, _ITSELF)

    def _plainly(self, machine: Machine, state: str, event: str) -> Leaf:
        """What a machine does that is not watched: in a cell that should not occur, too."""
        leaf = super().tree(state, event)
        del self.trees[state][event]
        while type(leaf) is tuple:
            leaf = leaf[1][leaf[0](machine)]
        return leaf  # type: ignore[no-any-return]


class _Itself:
    """Stands where branches stand: the answer is the leaf already."""

    def __getitem__(self, leaf: Leaf) -> Leaf:
        return leaf


_ITSELF: Final = _Itself()


class _Turns(list[Mapped | Mistyped]):
    """The events of a frame, which tell of each when it is taken."""

    def __init__(self, made: Made, witness: Witness) -> None:
        super().__init__(made)
        self._witness = witness

    def __iter__(self) -> Iterator[Mapped | Mistyped]:
        for one in super().__iter__():
            self._witness.turn(one)
            yield one
        self._witness.turn(None)


class ObservedMaps(Maps):
    """Maps that tell what they make."""

    def __init__(self, maps: Maps, witness: Witness) -> None:
        self._plain = maps
        self._witness = witness
        self.uses_event_name = maps.uses_event_name

    def new_stream(self) -> MappingState:
        """What one stream has to remember."""
        return self._plain.new_stream()

    def ignored(self, frame: Any) -> bool:
        """Whether a frame carries nothing on purpose."""
        return self._plain.ignored(frame)

    def events(self, frame: Any, state: MappingState) -> Made | None:
        """The events of a frame; None when no map takes it and it is not ignored."""
        made = self._plain.events(frame, state)
        self._witness.mapped(frame, made)
        return made if made is None else _Turns(made, self._witness)


class ObservedStream(Stream):
    """A stream that is watched; all else is as it always is.

    Args:
        table: What reads and rebuilds it.
        tools: What may be called.
        witness: Who is told.
        seed: From which made-up ids are derived.
        wire: A framing other than the vendor's own.
        limits: Bounds of the body.
    """

    def __init__(
        self,
        table: Table,
        tools: Tools,
        witness: Witness,
        seed: str | None = None,
        wire: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(table, tools, seed, wire, limits)
        self._witness = witness
        engine = copy(self._engine)  # the plain one is shared with all streams of the table
        engine.runtime = ObservingRuntime(table.policy, witness)
        engine.mapping = ObservedMaps(engine.mapping, witness)
        self._engine = engine
        self._first = Choice(engine, tools, self._seed)

    @property
    def alternatives(self) -> dict[int, Choice]:
        """All choices so far by their number."""
        return {0: self._first, **self._others}

    def number_of(self, machine: Machine) -> int:
        """The number of the choice that a machine rebuilds."""
        return next((number for number, choice in self._others.items() if choice.machine is machine), 0)

    def _updates(self) -> list[Update]:
        self._witness.handed_over()
        return super()._updates()

    def _item(self, item: Any) -> None:
        kind = self._kind(item)
        if kind == FRAME:
            super()._item(item)
            return
        with self._witness.item(kind, item):
            super()._item(item)

    def _kind(self, item: Any) -> str:
        if self._broken:
            return UNREAD
        if isinstance(item, EndMarker) or (isinstance(item, str) and item == self.table.program.end):
            return MARKER
        return LOST if isinstance(item, WireNote) else FAILURE if isinstance(item, WireFailure) else FRAME

    def _frame(self, frame: Any, noted: bool = True) -> bool:
        with self._witness.item(FRAME, frame):
            return super()._frame(frame, noted)

    def _end_all(self, event: str, fields: Mapping[str, Any]) -> None:
        failed = event == STREAM_ERROR
        said = ": ".join(str(fields[name]) for name in ("code", "message") if fields.get(name)) if failed else None
        with self._witness.item(FAILURE if failed else CLOSE, said):
            super()._end_all(event, fields)
