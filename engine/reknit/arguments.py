"""The argument text of one call: gathered in pieces, scanned once, joined late."""

from __future__ import annotations

import re
from typing import Final

_FEW: Final = 256
"""So many pieces are joined into one: a list of every small piece costs many times the text."""

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_BLANK: Final = " \t\r\n"


class ArgumentText:
    """Text that grows, with a linear JSON scanner beside it.

    A piece that repeats all that is held and goes on may be a snapshot of the arguments so far; only a piece at least
    as long as what is held can be one, so the test costs nothing on ordinary streams. Both readings are kept, the
    ladder of repairs decides between them at the end.

    Attributes:
        length: Characters that came.
        given: What the start of the call brought; it stands until a piece comes.
    """

    __slots__ = (
        "_before",
        "_depth",
        "_escaped",
        "_few",
        "_held",
        "_joined",
        "_quoted",
        "_seen",
        "_status",
        "given",
        "length",
    )

    def __init__(self) -> None:
        self.length = 0
        self.given = ""
        self._before: list[str] = []
        self._joined: list[str] = []
        self._few: list[str] = []
        self._held = 0
        self._seen = 0
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._status = "empty"

    def append(self, piece: str) -> None:
        """Add a piece."""
        size = len(piece)
        if size >= self._held and self._held and self._is_snapshot(piece):
            self._begin_again()
        self._few.append(piece)
        self._held += size
        self.length += size
        if len(self._few) > _FEW:
            self._join()

    def _is_snapshot(self, piece: str) -> bool:
        return piece.startswith(self.latest_reading) and (len(piece) > self._held or bool(self._before))

    def _begin_again(self) -> None:
        self._before.append(self.latest_reading)
        self._joined = []
        self._held = 0

    def _join(self) -> None:
        self.status()
        self._joined.append("".join(self._few))
        self._few.clear()
        self._seen = 0

    @property
    def latest_reading(self) -> str:
        """What came since the latest whole-prefix snapshot began; everything, where there was none."""
        if self._few:
            self._join()
        if len(self._joined) > 1:
            self._joined = ["".join(self._joined)]
        return self._joined[0] if self._joined else ""

    @property
    def text(self) -> str:
        """All of it, as it came."""
        if not self.length:
            return self.given
        latest = self.latest_reading
        return "".join([*self._before, latest]) if self._before else latest

    @property
    def latest(self) -> str:
        """The latest whole-prefix snapshot with what came after it, or an empty string."""
        return self.latest_reading if self._before else ""

    def status(self) -> str:
        """empty, given, partial, complete (one value has ended) or over (more came after it)."""
        if self.given and not self.length:
            return "given"
        if self._seen < len(self._few):
            self._scan("".join(self._few[self._seen :]))
            self._seen = len(self._few)
        return self._status

    def _scan(self, new: str) -> None:
        at, end = 0, len(new)
        while at < end:
            if self._quoted:
                at = self._pass_string(new, at)
                continue
            match = _OUTSIDE.search(new, at)
            upto = match.start() if match else end
            if self._depth == 0 and new[at:upto].strip(_BLANK):
                self._more()
            if match is None:
                return
            at = upto + 1
            mark = match[0]
            if self._depth == 0:
                self._more()
            if mark == '"':
                self._quoted = True
            elif mark in "{[":
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                self._ended()

    def _pass_string(self, new: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        match = _INSIDE.match(new, at)
        at = match.end() if match else at
        if at < len(new):
            if new[at] == "\\":  # the escape is cut in the middle
                self._escaped = True
            else:
                self._quoted = False
                self._ended()
            at += 1
        return at

    def _more(self) -> None:
        self._status = "over" if self._status in ("complete", "over") else "partial"

    def _ended(self) -> None:
        if self._depth == 0 and self._status == "partial":
            self._status = "complete"
