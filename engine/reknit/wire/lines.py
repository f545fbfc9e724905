"""Bytes to lines, shared by the wires that are made of lines.

Lines end in LF, CR or CRLF and in nothing else: U+2028 and its like are ordinary text. One leading byte order mark is
no part of the first line (both from the WHATWG HTML standard, "server-sent events", "parsing an event stream"; NDJSON
says less and is read the same way). Lines are cut as bytes and decoded as a whole, so that a character cut in two
between reads is never seen as two halves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from reknit.excerpt import excerpt
from reknit.wire.frames import Item, Limits, WireFailure, WireNote
from reknit.wire.opening import Opening

_BOM: Final = b"\xef\xbb\xbf"

_CR: Final = ord("\r")

_STRIDE: Final = 1 << 16
"""Bytes worked on at a time. A larger read is taken in pieces, so that what is held beside it stays small."""

_LEAST: Final = 16
"""Shortest bound of a line: below it the name of a field would not fit."""

_SHOWN: Final = 4096
"""Bytes of a line that is too long that an excerpt is made of: no more than the shortest way to it has kept."""


class LineWire(ABC):
    """The common half of the wires that are made of lines: cutting, bounds, and the end of the body.

    Held between reads is one unfinished line at most; each byte is searched for line ends once and copied a fixed
    number of times, so the cost is linear in the body however it is cut.

    Args:
        end: The vendor's end marker, or None.
        salvage: Names of the salvage steps that are on; see `reknit.wire.salvage.SALVAGE`.
        limits: Bounds of one stream.
        comments: Whether lines that begin with a colon are comments.
    """

    __slots__ = ("_after_cr", "_calm", "_end", "_frame_bytes", "_head", "_left", "_limits", "_opening", "_over",
                 "_pending", "_steps")  # fmt: skip

    def __init__(self, end: str | None, salvage: frozenset[str], limits: Limits, comments: bool) -> None:
        self._end = end
        self._steps = salvage
        self._limits = limits
        self._frame_bytes = max(limits.frame_bytes, _LEAST)
        self._left = limits.body_bytes
        self._head: bytes | None = b""  # the first bytes, while they may be a byte order mark
        self._after_cr = False  # the last read ended in CR: an LF that comes now belongs to it
        self._pending = bytearray()  # the unfinished line; one byte beyond the limit is kept, and no more
        self._opening: Opening | None = Opening(comments)  # the body so far, while it may be no stream at all
        self._over = False
        self._calm = False  # nothing is held back: whole lines may go straight to `_run`

    def feed(self, data: bytes) -> list[Item]:
        """Take the next bytes of the body and return the items that are now complete. Never raises on bad input."""
        left = self._left - len(data)
        if self._calm and left >= 0 and data[-1:] == b"\n" and len(data) <= _STRIDE:
            flat = data.replace(b"\r\n", b"\n") if _CR in data else data
            if _CR not in flat:
                self._left = left
                items: list[Item] = []
                lines = flat.split(b"\n")
                lines.pop()
                self._run(lines, items)
                return items
        return self._feed(data)

    def close(self) -> list[Item]:
        """The body has ended: settle what is pending. What is fed after this is ignored."""
        items: list[Item] = []
        if not self._over:
            last = bytes(self._head or self._pending)
            self._stop()
            self._finish(last, items)
        return items

    @abstractmethod
    def _run(self, lines: list[bytes], items: list[Item]) -> None:
        """Read whole lines, without their ends."""

    @abstractmethod
    def _finish(self, last: bytes, items: list[Item]) -> None:
        """Settle the open event, and the last line if the body did not end in a line end."""

    @abstractmethod
    def _begins(self, line: bytes) -> bool:
        """Whether a line shows that the body is a stream, or that it must be salvaged line by line."""

    def _open(self, lines: list[bytes], items: list[Item]) -> list[bytes]:
        """Hold the lines until one shows that the body is a stream; returns what is to be read as one."""
        opening = self._opening
        if opening is None:
            return lines
        longest = self._frame_bytes + 1  # what is left of a longer line when it comes in pieces
        for at, line in enumerate(lines):
            line = line[:longest]
            if self._begins(line):
                held, notes = opening.release()
                items += notes
                self._opening = None
                return held + lines[at:]
            opening.hold(line)
        return []

    def _too_long(self, line: bytes) -> WireNote:
        return WireNote("frame-too-long", excerpt(line[: min(self._frame_bytes, _SHOWN)]))

    def _feed(self, data: bytes) -> list[Item]:
        items: list[Item] = []
        if self._over:
            return items
        too_long = len(data) > self._left
        if too_long:
            data = data[: self._left]
        self._left -= len(data)
        start, size = 0, len(data)
        while start < size:
            stop = start + _STRIDE
            if stop < size:
                stop = data.rfind(b"\n", start, stop) + 1 or stop
            block = self._cut(data[start:stop])
            start = stop
            if block:
                lines = block.split(b"\n")
                lines.pop()
                self._run(lines, items)
        if too_long:
            self._stop()
            message = f"the body is longer than {self._limits.body_bytes} bytes"
            items.append(WireFailure("malformed", "body-too-long", message))
        self._calm = not (self._over or self._pending or self._after_cr or self._head is not None or self._opening)
        return items

    def _cut(self, data: bytes) -> bytes:
        """The lines that are now complete, each ended by LF; the rest is held."""
        if self._head is not None:
            data = self._head + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._head = data
                return b""
            self._head = None
            data = data.removeprefix(_BOM)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if _CR in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        pending = self._pending
        limit = self._frame_bytes
        stop = data.rfind(b"\n") + 1
        block = data[:stop]
        if stop and pending:
            if len(pending) > limit:
                block = block[block.index(b"\n") :]
            block = b"".join((pending, block))
            pending.clear()
        pending += data[stop : stop + max(0, limit + 1 - len(pending))]
        return block

    def _stop(self) -> None:
        self._over = True
        self._calm = False
        self._head = None
        self._pending.clear()
