"""Which protocol a stream speaks, by its first frames: rule files say how theirs are recognised (`detect`).

A name never decides, and a guess is never silent: the choice is noted, and two candidates are an error that names both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from reknit.excerpt import excerpt
from reknit.message import Message, StreamFault
from reknit.paths import getter, parse_path
from reknit.rulebook import Folder, protocols, table_for
from reknit.stream import Stream
from reknit.table import Table, WhereSpec
from reknit.updates import Update
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.wire import open_wire, sniff
from reknit.wire.frames import BareBody, Limits, Wire

MOST_FRAMES: Final = 8
MOST_BYTES: Final = 256 * 1024
"""So much is looked at before the stream counts as unrecognised."""

_SHOWN: Final = 256


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
    """Holds a stream back until its protocol is recognised; every byte is decoded once for that.

    Args:
        start: Makes the stream of a table.
        wire: A framing that the caller named, or None to tell it from the first bytes.
        policy: A policy that the caller named, or None.
        fragments: Fragments to apply on top.
        folders: Folders with further rule files.
    """

    def __init__(
        self,
        start: Callable[[Table], Stream],
        wire: str | None,
        policy: str | None,
        fragments: Sequence[str] = (),
        folders: Sequence[Folder] = (),
    ) -> None:
        self._start = start
        self._named = wire
        self._policy = policy
        self._fragments = fragments
        self._folders = folders
        self._chunks: list[Any] = []
        self._wire: Wire | None = None
        self._waiting: list[bytes] = []
        self._head = b""
        self._looked = 0
        self._updates: list[Update] = []
        self._candidates: list[str] = []

    def feed(self, chunk: Any) -> Stream | None:
        """Take a piece; the stream once it is recognised, with all pieces fed to it."""
        self._chunks.append(chunk)
        if self._looked >= MOST_FRAMES:
            return None
        if not isinstance(chunk, bytes):
            return self._look([chunk])
        if len(self._head) < _SHOWN:
            self._head += chunk[: _SHOWN - len(self._head)]
        if self._wire is None:
            self._waiting.append(chunk)
            framing = self._named or sniff(self._head)
            if framing is None and len(self._head) < _SHOWN:
                return None
            self._open(framing or "sse")
            chunk = b"".join(self._waiting)
        assert self._wire is not None
        return self._look(self._wire.feed(chunk))

    def close(self) -> Stream | None:
        """The stream has ended: decide by what there is."""
        if self._looked >= MOST_FRAMES:
            return None
        items: list[Any] = []
        if self._wire is None:
            self._open(self._named or "sse")
            assert self._wire is not None
            items += self._wire.feed(b"".join(self._waiting))
        return self._look([*items, *self._wire.close()])

    def updates(self) -> list[Update]:
        """What recognising brought about."""
        updates, self._updates = self._updates, []
        return updates

    def unrecognised(self, fault: StreamFault | None) -> Message:
        """The message of a stream that no rules can read."""
        if fault is None and self._candidates:
            both = " and ".join(f"`{name}`" for name in self._candidates)
            said = f"the first frames fit {both}: name the vendor"
            fault = StreamFault(kind="malformed", code="ambiguous-protocol", message=said)
        elif fault is None:
            code = "unknown-protocol" if any(self._chunks) else "no-events"
            shown = f", the stream begins {excerpt(self._head)}" if self._head else ""
            said = f"no protocol was recognised: name the vendor{shown}"
            fault = StreamFault(kind="malformed", code=code, message=said)
        return Message(stop_reason="error", error=fault)

    def _open(self, framing: str) -> None:
        limits = Limits(body_bytes=MOST_BYTES)
        self._wire = open_wire(framing, end=None, salvage=frozenset(), keep_event=False, limits=limits)

    def _look(self, items: list[Any]) -> Stream | None:
        for item in items:
            self._looked += 1
            frame = item.payload if isinstance(item, BareBody) else item
            found = recognised(frame) if self._looked <= MOST_FRAMES else []
            if len(found) == 1:
                return self._begin(found[0])
            if found:
                self._candidates = found
        return None

    def _begin(self, name: str) -> Stream:
        table = table_for(name, self._policy, self._folders, self._fragments)
        stream = self._start(table)
        stream.machine.outside_note("detect", "protocol-recognised", name)
        for chunk in self._chunks:
            self._updates += stream.feed_bytes(chunk) if isinstance(chunk, bytes) else stream.feed_frame(chunk)
        return stream
