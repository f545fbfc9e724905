"""A body that may be no stream at all: an error as plain JSON, a proxy's HTML page, a line of text.

Until the first line that only a stream can have, the lines are held here. Then they are given back, to be read as
what a stream may contain; if no such line ever comes, the body as a whole is what it looks like.
"""

from __future__ import annotations

import re
from typing import Final

from reknit.excerpt import excerpt
from reknit.wire.frames import BareBody, Item, WireFailure, WireNote
from reknit.wire.payload import whole

_HELD_BYTES: Final = 1 << 20
"""Longest body, in bytes, that is looked at as one JSON value; of a longer one no more is kept."""

_MARKUP: Final = re.compile(rb"<[A-Za-z!?/]")
_INSIDE: Final = (b"{", b"[", b",", b":")


class Opening:
    """The first lines of a body, held while it may be one JSON value, a page or a text instead of a stream.

    Args:
        comments: Whether lines that begin with a colon are comments, which say nothing about the body.
    """

    __slots__ = ("_colon", "_dropped", "_lead", "_lines", "_previous", "_size", "apart")

    def __init__(self, comments: bool) -> None:
        self._colon = b":" if comments else b""
        self._lines: list[bytes] = []
        self._size = 0
        self._dropped = b""  # the first line beyond the bound
        self._lead = b""  # the first line with content
        self._previous = b""  # the last byte of the last one
        self.apart = False
        """Whether the first line is a frame by itself, so that any other line shows that the body is not one value."""

    def has_content(self, line: bytes) -> bool:
        """Whether a line is neither blank nor a comment."""
        return bool(line.strip()) and not (self._colon and line.startswith(self._colon))

    @property
    def is_empty(self) -> bool:
        """Whether no line with content has been held."""
        return not self._lead

    @property
    def is_markup(self) -> bool:
        """Whether the body begins like HTML or XML."""
        return _MARKUP.match(self._lead) is not None

    @property
    def is_inside(self) -> bool:
        """Whether a JSON value that the body began may go on with a value of its own on the next line."""
        return self._lead.startswith((b"{", b"[")) and self._previous in _INSIDE

    def fits(self, line: bytes) -> bool:
        """Whether a line can still be held."""
        return self._size + len(line) < _HELD_BYTES

    def hold(self, line: bytes) -> None:
        """Keep a line."""
        if self.has_content(line):
            self._lead = self._lead or line.lstrip()[:16]
            self._previous = line.rstrip()[-1:]
        if self.fits(line) and not self._dropped:
            self._lines.append(line)
        elif not self._dropped:
            self._dropped = line[:_HELD_BYTES]
        self._size += len(line) + 1

    def release(self) -> tuple[list[bytes], list[Item]]:
        """It is a stream: the lines that were held, and a note if there were more than could be held."""
        lines, self._lines = self._lines, []
        return lines, [WireNote("frame-too-long", excerpt(self._dropped))] if self._dropped else []

    def bare(self) -> BareBody | None:
        """The body as one JSON value, if it is one."""
        if self._dropped or self.is_empty or self.is_markup:
            return None
        for lines in (self._lines, [line for line in self._lines if self.has_content(line)]):
            body = b"\n".join(lines)
            found = whole(body)
            if found is not None:
                return BareBody(found.value, excerpt(body))
        return None

    def failure(self) -> WireFailure | None:
        """The body as something that cannot be read; None when there was nothing."""
        if self.is_empty:
            return None
        shown = excerpt(b"\n".join(line for line in self._lines if self.has_content(line)).strip() or self._dropped)
        if self.is_markup:
            return WireFailure("server", "html-body", f"the body is a page of markup, not a stream: `{shown}`")
        return WireFailure("server", "text-body", f"the body is text, not a stream: `{shown}`")
