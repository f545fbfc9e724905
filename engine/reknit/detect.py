"""Which protocol a stream speaks, by its first frames: rule files say how theirs are recognised (`detect`).

A name never decides, and a guess is never silent: the choice is noted, and two candidates are an error that names both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from reknit.excerpt import excerpt
from reknit.message import Message, StreamFault
from reknit.paths import getter, parse_path
from reknit.rulebook import Folder, table_for
from reknit.stream import Stream
from reknit.table import Table, WhereSpec
from reknit.updates import Update
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.wire import open_wire, sniff
from reknit.wire.frames import BareBody, Limits

MOST_FRAMES: Final = 8
MOST_BYTES: Final = 256 * 1024
"""So much is looked at before the stream counts as unrecognised."""


@cache
def protocols() -> tuple[str, ...]:
    """The shipped vendor files that say how their protocol is recognised, and are nobody's dialect of another one."""
    from reknit.lang.files import FileLoader
    from reknit.lang.resolve import read_file

    loader, found = FileLoader(), []
    for name in loader.names("vendor"):
        file = read_file(name, loader).value
        if file is not None and file.header.extends is None and table_for(name).program.detects:
            found.append(name)
    return tuple(found)


def recognised(frame: Any) -> list[str]:
    """The protocols that a frame may belong to."""
    found = []
    for name in protocols():
        guards = table_for(name).program.detects
        if any(all(_holds(where, frame) for where in guard.where) for guard in guards):
            found.append(name)
    return found


def _holds(where: WhereSpec, frame: Any) -> bool:
    value = getter(parse_path(where.path)[1])(frame)
    hit = any(value == one and not isinstance(value, bool) for one in where.values)
    hit = hit or any(JSON_TYPES[name](value) for name in where.types)
    return hit is not where.negated


class Detector:
    """Holds a stream back until its protocol is recognised."""

    def __init__(
        self,
        start: Callable[[Table], Stream],
        wire: str | None,
        policy: str | None,
        fragments: Sequence[str] = (),
        folders: Sequence[Folder] = (),
    ) -> None:
        self._start = start
        self._wire = wire
        self._policy = policy
        self._fragments = fragments
        self._folders = folders
        self._chunks: list[Any] = []
        self._bytes = 0
        self._updates: list[Update] = []
        self._candidates: list[str] = []

    def feed(self, chunk: Any) -> Stream | None:
        """Take a piece; the stream once it is recognised, with all pieces fed to it."""
        self._chunks.append(chunk)
        if isinstance(chunk, bytes):
            self._bytes += len(chunk)
        return self._try(closing=False) if self._worth_trying(chunk) else None

    def close(self) -> Stream | None:
        """The stream has ended: decide by what there is."""
        return self._try(closing=True)

    def updates(self) -> list[Update]:
        """What recognising brought about."""
        updates, self._updates = self._updates, []
        return updates

    def unrecognised(self, fault: StreamFault | None) -> Message:
        """The message of a stream that no rules can read."""
        if fault is None and self._candidates:
            both = " and ".join(f"`{name}`" for name in self._candidates)
            fault = StreamFault(
                kind="malformed", code="ambiguous-protocol", message=f"the first frames fit {both}: name the vendor"
            )
        elif fault is None:
            held = next((chunk for chunk in self._chunks if chunk), None)
            code = "no-events" if held is None else "unknown-protocol"
            shown = "" if held is None else f", the stream begins {excerpt(held)}"
            fault = StreamFault(
                kind="malformed", code=code, message=f"no protocol was recognised: name the vendor{shown}"
            )
        return Message(stop_reason="error", error=fault)

    def _worth_trying(self, chunk: Any) -> bool:
        # One byte at a time would decode the beginning again and again.
        return not isinstance(chunk, bytes) or b"\n" in chunk or b"\r" in chunk or self._bytes > MOST_BYTES

    def _try(self, closing: bool) -> Stream | None:
        for frame in self._frames(closing):
            found = recognised(frame)
            if len(found) == 1:
                return self._begin(found[0])
            if found:
                self._candidates = found
        return None

    def _frames(self, closing: bool) -> list[Any]:
        data = b"".join(chunk for chunk in self._chunks if isinstance(chunk, bytes))[:MOST_BYTES]
        frames = [chunk for chunk in self._chunks if not isinstance(chunk, bytes)][:MOST_FRAMES]
        if data:
            wire = open_wire(
                self._wire or sniff(data) or "sse", end=None, salvage=frozenset(), keep_event=False, limits=Limits()
            )
            frames += wire.feed(data) + (wire.close() if closing else [])
        return [item.payload if isinstance(item, BareBody) else item for item in frames][:MOST_FRAMES]

    def _begin(self, name: str) -> Stream:
        table = table_for(name, self._policy, self._folders, self._fragments)
        stream = self._start(table)
        stream.machine.outside_note("detect", "protocol-recognised", name)
        for chunk in self._chunks:
            self._updates += stream.feed_bytes(chunk) if isinstance(chunk, bytes) else stream.feed_frame(chunk)
        return stream
