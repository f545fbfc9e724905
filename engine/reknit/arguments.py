"""The argument text of one call: gathered in pieces, scanned only when asked, never twice."""

from __future__ import annotations

import re
from typing import Final

from reknit.gather import Gathered

_SPECIAL: Final = re.compile(r'["\\{}\[\]]')


class ArgumentText:
    """Text that grows, with a linear JSON scanner that runs only when asked.

    A piece that repeats all that is held and goes on may be a snapshot of the arguments so far; only a piece at least
    as long as what is held can be one, so the test costs nothing on ordinary streams. Both readings are kept, the
    ladder of repairs decides between them at the end.
    """

    __slots__ = ("_before", "_depth", "_escaped", "_quoted", "_since", "_status", "_unscanned", "length")

    def __init__(self) -> None:
        self._before = Gathered()
        self._since = Gathered()
        self._unscanned = Gathered()
        self.length = 0
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._status = "empty"

    def append(self, piece: str) -> None:
        """Add a piece."""
        held = self._since.length
        if held and len(piece) >= held and self._is_snapshot(piece, held):
            self._before.append(self._since.take())
        self._since.append(piece)
        self._unscanned.append(piece)
        self.length += len(piece)

    def _is_snapshot(self, piece: str, held: int) -> bool:
        return piece.startswith(self._since.text) and (len(piece) > held or self._before.length > 0)

    @property
    def text(self) -> str:
        """All of it, as it came."""
        return self._before.text + self._since.text

    @property
    def latest(self) -> str:
        """The latest whole-prefix snapshot with what came after it, or an empty string."""
        return self._since.text if self._before.length else ""

    def status(self) -> str:
        """empty, partial, complete (one value has ended) or over (more came after it)."""
        if self._unscanned.length:
            self._scan(self._unscanned.take())
        return self._status

    def _scan(self, new: str) -> None:
        depth, quoted, status = self._depth, self._quoted, self._status
        at, end = 0, len(new)
        if self._escaped and end:
            at, self._escaped = 1, False
        while at < end:
            match = _SPECIAL.search(new, at)
            upto = match.start() if match else end
            if depth == 0 and not quoted and upto > at and new[at:upto].strip():
                status = "over" if status in ("complete", "over") else "partial"
            if match is None:
                break
            mark, at = match[0], upto + 1
            if quoted:
                if mark == "\\":
                    if at >= end:
                        self._escaped = True
                    at += 1
                elif mark == '"':
                    quoted = False
                    if depth == 0 and status == "partial":
                        status = "complete"
                continue
            if depth == 0:
                status = "over" if status in ("complete", "over") else "partial"
            if mark == '"':
                quoted = True
            elif mark in "{[":
                depth += 1
            elif mark in "}]":
                depth = max(depth - 1, 0)
                if depth == 0 and status == "partial":
                    status = "complete"
        self._depth, self._quoted, self._status = depth, quoted, status
