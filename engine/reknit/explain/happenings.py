"""Records of what happened to a stream: items of its body, and the events that came of them."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from pydantic import BaseModel

from reknit.message import Note
from reknit.table import ActionSpec
from reknit.updates import Update

DETECTION: Final = "detection"
"""What stands in the place of an item where something happened before the first one."""


class Happening(msgspec.Struct):
    """An event and what it did.

    Attributes:
        event: Its name.
        fields: What it brought, by name; fields that are not there are left out.
        answers: The case of each of its questions.
        state: In which it arrived; empty where states do not matter.
        to: The state that it led to.
        rule: The rule that took it.
        actions: What was done, flushes included.
        map: The map that made it, if one did.
        split: The split that it came out of, if it did.
        choice: The number of the choice that it belongs to.
        cell: The number of the combination, which with event and state says which cell it was.
        call: For the end of a call, its id and name.
        ended: The calls that its actions ended, as they were judged.
        notes: What was noted for the first time.
        updates: What was told of it, that of the calls that it ended included.
        stop_reason: Of the message, afterwards.
        complete: Whether the message was complete afterwards.
        refused: The message had grown beyond its bounds, and nothing was done.
    """

    event: str
    fields: dict[str, Any]
    answers: dict[str, str]
    state: str
    to: str = ""
    rule: str = ""
    actions: tuple[ActionSpec, ...] = ()
    map: str | None = None
    split: str | None = None
    choice: int = 0
    cell: int = -1
    call: tuple[str, str] | None = None
    ended: list[Happening] = msgspec.field(default_factory=list)
    notes: list[Note] = msgspec.field(default_factory=list)
    updates: list[Update] = msgspec.field(default_factory=list)
    stop_reason: str | None = None
    complete: bool = False
    refused: bool = False


class Passage(msgspec.Struct):
    """An item of the body and what came of it.

    Attributes:
        number: From 1.
        kind: frame, end marker, wire note, failure, unread, close or detection.
        shown: An excerpt of it.
        news: The same without the members that the frame before it had as well.
        events: What happened, in order.
        notes: What was noted beside events: on the wire, in maps, or because no map took the frame.
        updates: What was told of what happened beside events.
        mapped: For a frame, whether a map took it or it carries nothing on purpose.
        ignored: The name of the `ignore` by which it carries nothing.
        held: What splits hold back after it, by their names; those of other choices have their number behind it.
    """

    number: int
    kind: str
    shown: str
    news: str
    events: list[Happening] = msgspec.field(default_factory=list)
    notes: list[Note] = msgspec.field(default_factory=list)
    updates: list[Update] = msgspec.field(default_factory=list)
    mapped: bool = True
    ignored: str | None = None
    held: dict[str, str] = msgspec.field(default_factory=dict)


def as_data(value: Any) -> Any:
    """A record of this package, or of the engine's updates, as plain data."""
    return msgspec.to_builtins(value, enc_hook=_model)


def _model(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise NotImplementedError(type(value).__name__)
