"""Playing a test: what is given goes in, frame by frame, as one chunk, and cut at every byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from reknit.lang.syntax import Given, Test
from reknit.message import Message
from reknit.stream import Stream, engine_for
from reknit.table import Table
from reknit.testing.views import Brought, brought
from reknit.tools.registry import Tools
from reknit.updates import Update
from reknit.wire import EVENT_KEY, open_wire
from reknit.wire.frames import BareBody, Limits

SEED: Final = "test"
"""From which ids are made up in tests."""

STEPWISE: Final = "step by step"
WHOLE: Final = "as one chunk"
CUT: Final = "cut at every byte"

FED: Final = ("event", "frame", "marker", "raw", "close")
"""Kinds of steps that go into the stream; the others set the scene."""

Piece: TypeAlias = bytes | Given
"""Bytes of the body, or an event or the end, which have none."""


class Play(NamedTuple):
    """How a test went.

    Attributes:
        mode: How the stream was fed, in words.
        message: What came out.
        choices: The same and its alternatives.
        fired: The rules that fired, in order.
        brought: What each step brought, by its place among the steps; only step by step.
    """

    mode: str
    message: Message
    choices: dict[int, Message]
    fired: tuple[str, ...]
    brought: dict[int, Brought]


class Stage:
    """One stream in which a test is played."""

    def __init__(self, table: Table, tools: Tools) -> None:
        self.stream = Stream(table, tools, SEED)
        self.fired: list[str] = []
        self.stream.machine.watch = lambda _, leaf: self.fired.append(leaf.rule)

    def feed(self, piece: Piece) -> list[Update]:
        """Feed bytes, or an event; an event goes to the machine as if a map had just made it."""
        if isinstance(piece, bytes):
            return self.stream.feed_bytes(piece)
        if piece.kind == "close" or piece.event is None:
            return self.stream.close()
        machine = self.stream.machine
        machine.named_step(piece.event.text, piece.value)
        updates, machine.updates = machine.updates, []
        return updates

    def feed_frame(self, frame: Any) -> list[Update]:
        """Feed a decoded frame, or the end marker."""
        return self.stream.feed_frame(frame)

    def end(self, mode: str, seen: dict[int, Brought]) -> Play:
        """The body ends, if it has not."""
        self.stream.close()
        return Play(mode, self.stream.message(), self.stream.choices(), tuple(self.fired), seen)


def plays(test: Test, table: Table, tools: Tools) -> Iterator[Play]:
    """Play a test in every way: step by step; and, where it gives bytes or frames, as bytes.

    A test with raw bytes is fed those of each step at once where others are fed decoded frames.
    """
    given = [(number, step) for number, step in enumerate(test.steps) if isinstance(step, Given) and step.kind in FED]
    as_frames = not any(step.kind == "raw" for _, step in given)
    yield _stepwise(given, table, tools, as_frames)
    pieces = _joined([_piece(step, table) for _, step in given])
    if not any(isinstance(piece, bytes) for piece in pieces):
        return
    for mode in (WHOLE, CUT):
        stage = Stage(table, tools)
        for piece in pieces:
            if mode == CUT and isinstance(piece, bytes):
                for at in range(len(piece)):
                    stage.feed(piece[at : at + 1])
            else:
                stage.feed(piece)
        yield stage.end(mode, {})


def _stepwise(given: Sequence[tuple[int, Given]], table: Table, tools: Tools, as_frames: bool) -> Play:
    stage = Stage(table, tools)
    seen: dict[int, Brought] = {}
    for number, step in given:
        if as_frames and step.kind in ("frame", "marker"):
            updates = stage.feed_frame(_with_name(step.value, table))
        else:
            updates = stage.feed(_piece(step, table))
        seen[number] = brought(updates, stage.stream.machine)
    return stage.end(STEPWISE, seen)


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and isinstance(piece, bytes) and isinstance(joined[-1], bytes):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


# -- frames as bytes ---------------------------------------------------------------------------------------------------


def _piece(step: Given, table: Table) -> Piece:
    if step.kind == "raw":
        return str(step.value).encode()
    if step.kind not in ("frame", "marker"):
        return step
    return ENCODERS[table.program.wire](*_payload(step, table))


def _payload(step: Given, table: Table) -> tuple[str, str]:
    """A frame as text, and the name of its event, or an empty one."""
    if step.kind == "marker":
        return str(step.value), ""
    frame = _with_name(step.value, table)
    name = ""
    if isinstance(frame, dict) and isinstance(frame.get(EVENT_KEY), str):
        name = frame[EVENT_KEY]
        frame = {key: value for key, value in frame.items() if key != EVENT_KEY}
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")), name


def _with_name(frame: Any, table: Table) -> Any:
    """A frame with the name of its event, which is its type, where the vendor's maps read that name."""
    if not isinstance(frame, dict) or EVENT_KEY in frame or not engine_for(table).mapping.uses_event_name:
        return frame
    name = frame.get("type")
    return {**frame, EVENT_KEY: name} if isinstance(name, str) and name.isprintable() and name else frame


def _as_event(payload: str, name: str) -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {payload}\n\n".encode()


def _as_line(payload: str, name: str) -> bytes:
    return f"{payload}\n".encode()


ENCODERS: Final[Mapping[str, Callable[[str, str], bytes]]] = {"sse": _as_event, "ndjson": _as_line}
"""How a payload with the name of its event stands on each wire; a test holds it equal to the wires that there are."""


# -- which maps were of use --------------------------------------------------------------------------------------------


def maps_used(test: Test, table: Table) -> set[str]:
    """The maps that made an event of something that the test gives."""
    program, mapping = table.program, engine_for(table).mapping
    wire = open_wire(
        program.wire,
        end=program.end,
        salvage=frozenset(program.salvage),
        keep_event=mapping.uses_event_name,
        limits=Limits(),
    )
    given = [step for step in test.steps if isinstance(step, Given)]
    body = b"".join(piece for step in given if isinstance(piece := _piece(step, table), bytes))
    items = wire.feed(body) + wire.close()
    frames: list[Any] = []
    for item in items:
        bare = item.payload if isinstance(item, BareBody) else item
        frames += bare if isinstance(bare, list) else [bare]
    state, used = mapping.new_stream(), set()
    for frame in frames:
        if type(frame) is dict:
            made = mapping.events(frame, state) or []
            used |= {one[2] for one in made if type(one) is tuple}
    return used
