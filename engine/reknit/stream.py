"""One stream under one table: bytes or frames in, updates out, a message at the end. No socket, no clock, no file."""

from __future__ import annotations

import secrets
from collections.abc import Mapping as AbstractMapping
from typing import Any, Final

from reknit.assembly import assemble_message
from reknit.depth import is_deep
from reknit.excerpt import excerpt
from reknit.machine import STREAM_END, Machine, Runtime
from reknit.mapping import Made, Mapped, Mapping, Mistyped
from reknit.message import Message
from reknit.paths import Step, getter, parse_path
from reknit.split import Splitter
from reknit.table import Table
from reknit.tools.registry import Tools
from reknit.updates import Update
from reknit.wire import open_wire
from reknit.wire.frames import BareBody, EndMarker, Limits, WireFailure, WireNote

_SLICE: Final = 16 * 1024
"""A large piece is taken in slices: fewer frames at once than would set off the garbage collector."""

MOST_CHOICES: Final = 128
"""Choices of one stream that are rebuilt; further ones are noted."""

_ENDING_TYPES: Final = frozenset({"reason", "how", "error_kind"})


class Engine:
    """A table made ready to run: decision trees and maps, shared by all its streams."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.runtime = Runtime(table.policy)
        self.mapping = Mapping(table.program, table.policy)
        events = table.policy.events.values()
        ends = {event.name for event in events if any(field.type in _ENDING_TYPES for field in event.fields)}
        self.to_all = {
            event.name for event in events if any(field.type in ("how", "error_kind") for field in event.fields)
        }
        self.passes_splits = {event.name for event in events if event.about == "message"} - ends
        self.text_at = {
            event.name: next((n for n, field in enumerate(event.fields) if field.type == "text"), -1)
            for event in events
        }
        self.split_sources = frozenset(spec.source for spec in table.program.splits)
        self.choices = Alternatives(*table.program.choices) if table.program.choices is not None else None


_ENGINES: Final[dict[str, Engine]] = {}
_MOST_ENGINES: Final = 64


def engine_for(table: Table) -> Engine:
    """The engine of a table, made once for each fingerprint."""
    engine = _ENGINES.get(table.fingerprint)
    if engine is None:
        if len(_ENGINES) >= _MOST_ENGINES:
            _ENGINES.pop(next(iter(_ENGINES)))
        engine = _ENGINES[table.fingerprint] = Engine(table)
    return engine


class Alternatives:
    """Where a frame's choices stand, and what numbers them (`choices PATH by PATH`)."""

    __slots__ = ("_by", "_key", "_name", "_path", "listed")

    def __init__(self, path: str, by: str) -> None:
        self._path = parse_path(path)[1][:-1]
        inner = parse_path(by)[1]
        self._by = getter(inner)
        # Nearly all frames hold choice 0 alone: with plain keys, this is seen without a call.
        self._key = self._path[0] if len(self._path) == 1 else None
        self._name = inner[0] if len(inner) == 1 else None
        self.listed = getter(self._path)

    def several(self, frame: dict[Any, Any]) -> list[Any] | None:
        """The choices of a frame, unless it has none, or choice 0 alone."""
        found = frame.get(self._key) if self._key is not None else self.listed(frame)
        if type(found) is not list or not found:
            return None
        if len(found) == 1:
            only = found[0]
            if not (only.get(self._name) if type(only) is dict and self._name is not None else self._by(only)):
                return None
        return found

    def number(self, element: Any) -> int | None:
        """The number of a choice, 0 where it has none, None where that cannot be one."""
        value = self._by(element)
        if value is None:
            return 0
        return value if type(value) is int and value >= 0 else None

    def only(self, element: Any) -> Any:
        """A frame with nothing but one choice."""
        value: Any = [element]
        for step in reversed(self._path):
            value = {step: value}
        return value

    def replaced(self, frame: Any, elements: list[Any]) -> Any:
        """The frame with other choices."""

        def put(value: Any, steps: tuple[Step, ...]) -> Any:
            return {**value, steps[0]: put(value.get(steps[0]), steps[1:])} if steps else elements

        return put(frame, self._path)


class Choice:
    """One alternative of a stream: its machine and its splitters."""

    __slots__ = ("engine", "machine", "splitters")

    def __init__(self, engine: Engine, tools: Tools, seed: str) -> None:
        self.engine = engine
        self.machine = Machine(engine.runtime, tools, seed)
        self.splitters = [(spec, Splitter(spec)) for spec in engine.table.program.splits]

    def take(self, made: Made) -> None:
        """Take the events of a frame."""
        machine = self.machine
        for one in made:
            if isinstance(one, Mistyped):
                machine.outside_note(one.map, "mistyped", f"{one.field}: {one.excerpt}")
            elif self.splitters:
                self._split(one)
            else:
                machine.step(one[0], one[1])

    def _split(self, one: Mapped, start: int = 0) -> None:
        event, values, _ = one
        for number in range(start, len(self.splitters)):
            spec, splitter = self.splitters[number]
            if event == spec.source:
                text = values[self.engine.text_at[event]]
                if text:
                    for inside, piece in splitter.feed(text):
                        self._emit(number, inside, piece, one)
                    return
            elif event not in self.engine.passes_splits:
                for inside, piece in splitter.flush():
                    self._emit(number, inside, piece, None)
        self.machine.step(event, values)

    def _emit(self, number: int, inside: bool, piece: str, like: Mapped | None) -> None:
        spec, _ = self.splitters[number]
        event = spec.into if inside else spec.source
        fields: list[Any] = [None] * len(self.engine.table.policy.events[event].fields)
        if like is not None and event == like[0]:
            fields = list(like[1])
        fields[self.engine.text_at[event]] = piece
        if inside:
            self.machine.step(event, tuple(fields))
        else:
            self._split((event, tuple(fields), spec.name), number + 1)

    def end(self, event: str, fields: AbstractMapping[str, Any]) -> None:
        """Take an event that ends the stream."""
        for number, (_, splitter) in enumerate(self.splitters):
            for inside, piece in splitter.flush():
                self._emit(number, inside, piece, None)
        self.machine.named_step(event, fields)


class Stream:
    """One stream under one table.

    Args:
        table: What reads and rebuilds it.
        tools: What may be called.
        seed: From which made-up ids are derived; random without one. Give it to get the same ids again.
        wire: A framing other than the vendor's own.
        limits: Bounds of the body.
    """

    def __init__(
        self, table: Table, tools: Tools, seed: str | None = None, wire: str | None = None, limits: Limits | None = None
    ) -> None:
        program = table.program
        self.table = table
        self.closed = False
        self._tools = tools
        self._seed = seed if seed is not None else secrets.token_hex(16)
        self._engine = engine_for(table)
        self._wire = open_wire(
            wire or program.wire,
            end=program.end,
            salvage=frozenset(program.salvage),
            keep_event=self._engine.mapping.uses_event_name,
            limits=limits or Limits(),
        )
        self._state = self._engine.mapping.new_stream()
        self._first = Choice(self._engine, tools, self._seed)
        self._others: dict[int, Choice] = {}
        self._broken = False
        self._began = False
        self._told = False

    @property
    def machine(self) -> Machine:
        """The machine of choice 0."""
        return self._first.machine

    def feed_bytes(self, data: bytes) -> list[Update]:
        """Take the next bytes of the body."""
        if len(data) <= _SLICE:
            self._items(self._wire.feed(data))
        else:
            for start in range(0, len(data), _SLICE):
                self._items(self._wire.feed(data[start : start + _SLICE]))
        return self._updates()

    def feed_frame(self, frame: Any) -> list[Update]:
        """Take one decoded frame, or the end marker as text; what is nested too deeply is noted, as on the wire."""
        if is_deep(frame):
            self.machine.outside_note("wire", "frame-too-deep", excerpt(frame))
        else:
            self._item(frame)
        return self._updates()

    def close(self) -> list[Update]:
        """The body has ended."""
        if not self.closed:
            for item in self._wire.close():
                self._item(item)
            self._end_all(STREAM_END, {"how": "closed"})
            self.closed = True
        return self._updates()

    def fail(self, kind: str, code: str, message: str) -> list[Update]:
        """The transport failed; what was rebuilt is kept."""
        if not self.closed:
            for item in self._wire.close():
                self._item(item)
            self._end_all("STREAM_ERROR", {"kind": kind, "code": code, "message": message})
            self.closed = True
        return self._updates()

    def message(self) -> Message:
        """The message so far: choice 0, or the lowest number there is where nothing at all came for that."""
        found = self.choices()
        if not self._stood_in:
            return found[0]
        own, other = found[0], found[min(self._others)]
        # What counts for the whole stream stands with choice 0.
        return other.model_copy(update={"usage": own.usage, "notes": [*own.notes, *other.notes]})

    @property
    def _stood_in(self) -> bool:
        """Whether nothing came for choice 0, and another one stands in for it."""
        first = self._first.machine
        return bool(self._others) and not self._began and not first.blocks and first.error is None

    def choices(self) -> dict[int, Message]:
        """All choices by their number, 0 among them."""
        first = assemble_message(self._first.machine, self.table)
        others = {
            number: assemble_message(choice.machine, self.table, first.model, first.id)
            for number, choice in sorted(self._others.items())
        }
        return {0: first, **others}

    # -- items ---------------------------------------------------------------------------------------------------------

    def _items(self, items: list[Any]) -> None:
        for item in items:
            if type(item) is dict and not self._broken:
                self._frame(item)
            else:
                self._item(item)

    def _item(self, item: Any) -> None:
        if self._broken:
            return
        kind = type(item)
        if kind is EndMarker or (kind is str and item == self.table.program.end):
            self._end_all(STREAM_END, {"how": "clean"})
        elif kind is WireNote:
            self.machine.outside_note("wire", item.reason, item.excerpt)
        elif kind is WireFailure:
            self._fault(item.kind, item.code, item.message)
        elif kind is BareBody:
            self._bare(item)
        else:
            self._frame(item)

    def _bare(self, body: BareBody) -> None:
        payloads = body.payload if isinstance(body.payload, list) else [body.payload]
        taken = [self._frame(payload, noted=False) for payload in payloads]
        if not any(taken):
            self._fault("malformed", "bare-body", f"a JSON body where a stream was promised: {body.excerpt}")

    def _fault(self, kind: str, code: str, message: str) -> None:
        self._end_all("STREAM_ERROR", {"kind": kind, "code": code, "message": message})
        self._broken = True

    def _end_all(self, event: str, fields: AbstractMapping[str, Any]) -> None:
        for choice in (*(() if self._stood_in else (self._first,)), *self._others.values()):
            choice.end(event, fields)

    # -- frames and choices --------------------------------------------------------------------------------------------

    def _frame(self, frame: Any, noted: bool = True) -> bool:
        engine = self._engine
        choices = engine.choices
        if choices is not None and type(frame) is dict:
            found = choices.several(frame)
            if found is None:
                if not self._began and choices.listed(frame):
                    self._began = True
            else:
                frame = self._divide(frame, found, choices)
        made = engine.mapping.events(frame, self._state)
        if made is None:
            if noted:
                self.machine.outside_note("frame", "unmapped-frame", excerpt(frame))
            return False
        first = self._first
        if first.splitters:
            first.take(made)
        else:
            step = first.machine.step
            for one in made:
                if isinstance(one, Mistyped):
                    first.take([one])
                else:
                    step(one[0], one[1])
        if self._others:
            for one in made:
                if not isinstance(one, Mistyped) and one[0] in engine.to_all:
                    for choice in self._others.values():
                        choice.take([one])
        return True

    def _divide(self, frame: Any, found: list[Any], choices: Alternatives) -> Any:
        """Give each further choice its part of a frame; what is left is for choice 0, one piece at a time."""
        own: list[Any] = []
        for element in found:
            number = choices.number(element)
            if number == 0:
                self._began = True
                own.append(element)
            elif number is None or (number not in self._others and len(self._others) >= MOST_CHOICES):
                self.machine.outside_note("choices", "choice-index", excerpt(element))
            elif number not in self._others and self.machine.state in self._engine.runtime.final:
                self.machine.outside_note("choices", "after-end", excerpt(element))
            else:
                if number not in self._others:
                    self._others[number] = Choice(self._engine, self._tools, f"{self._seed}/{number}")
                self._part(self._others[number], choices.only(element))
        for element in own[:-1]:
            self._part(self._first, choices.only(element))
        return choices.replaced(frame, own[-1:])

    def _part(self, choice: Choice, part: Any) -> None:
        made = self._engine.mapping.events(part, self._engine.mapping.new_stream())
        if made is None:
            choice.machine.outside_note("frame", "unmapped-frame", excerpt(part))
        else:
            choice.take(made)

    def _updates(self) -> list[Update]:
        machine = self._first.machine
        updates, machine.updates = machine.updates, []
        if self._others:
            told = self._others[min(self._others)].machine if self._stood_in else None
            for choice in self._others.values():
                if choice.machine is not told:
                    choice.machine.updates.clear()
            # Until the stream has ended, choice 0 may still come; then it alone is told.
            if told is not None and (self.closed or told.state in self._engine.runtime.final):
                machine = told
                updates += told.updates
                told.updates = []
        if self.closed and not self._told:
            self._told = True
            updates.append(machine.ended())
        return updates
