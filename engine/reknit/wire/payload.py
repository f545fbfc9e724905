"""JSON text to values: fast where the text is good, forgiving where it is nearly good, never raising.

`decode` is the hot path. `whole` and `Scanner` are the last resort behind it: they take what the fast decoder
refuses but what has one meaning all the same (a lone surrogate escape, invalid UTF-8, a byte order mark, a control
character that is not escaped, a number that JSON has no word for) and find out where a text stops being JSON.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NamedTuple

import msgspec

from reknit.depth import MAX_DEPTH, is_deep
from reknit.excerpt import excerpt
from reknit.wire.frames import EndMarker, Item, WireNote

decode: Final = msgspec.json.Decoder().decode
"""Strict JSON bytes to a value. Raises ValueError (not JSON, or a number out of range) or RecursionError."""

REFUSED: Final = (ValueError, RecursionError)
"""What `decode` raises."""

_SPACE: Final = " \t\r\n"
_SPACES: Final = re.compile(r"[ \t\r\n]*")
_EDGE: Final = " \t\r\n\0\ufeff"


class Whole(NamedTuple):
    """A text that is one JSON value.

    Attributes:
        value: The value.
        notes: What had to be forgiven: `bad-utf8`, `non-json-number`, `raw-control-character`.
    """

    value: Any
    notes: tuple[WireNote, ...]


class Run(NamedTuple):
    """JSON values read one after another, up to the end of the text or to the first that could not be read.

    Attributes:
        items: Values and end markers, in their order.
        stop: Where the part that could not be read begins; the length of the text when everything was read.
        fault: Where in that part it stops being JSON; the length of the text when it is only cut off.
        deep: Whether that part is nested too deeply.
    """

    items: list[Item]
    stop: int
    fault: int
    deep: bool


class Scanner:
    """Reads JSON values out of a text, last resort.

    Numbers without a JSON form (`NaN`, `Infinity`, beyond the range of a double, integers of thousands of digits)
    become None; control characters that are not escaped stand for themselves. `forgiven` has the reasons of the notes
    for what was met of that since it was last emptied.
    """

    __slots__ = ("_lenient", "_strict", "forgiven")

    def __init__(self) -> None:
        self.forgiven: set[str] = set()
        self._strict, self._lenient = (
            json.JSONDecoder(
                strict=strict, parse_constant=self._constant, parse_float=self._float, parse_int=self._int
            ).raw_decode
            for strict in (True, False)
        )

    def notes(self, text: str) -> tuple[WireNote, ...]:
        """The notes for what was forgiven in a text."""
        return tuple(WireNote(reason, excerpt(text)) for reason in sorted(self.forgiven))

    def value(self, text: str, at: int = 0) -> Run:
        """Read the one value that begins exactly at `at`; `stop` is where it ends, or `at` when there is none."""
        size = len(text)
        try:
            try:
                value, stop = self._strict(text, at)
            except json.JSONDecodeError as error:
                if not error.msg.startswith("Invalid control character"):
                    raise
                value, stop = self._lenient(text, at)
                self.forgiven.add("raw-control-character")
        except json.JSONDecodeError as error:
            # An unterminated string is reported where it begins, though what is wrong is that the text ends.
            fault = size if error.msg.startswith("Unterminated string") else error.pos
            return Run([], at, fault, deep=False)
        except RecursionError:
            return Run([], at, size, deep=True)
        if text.count("[", at, stop) + text.count("{", at, stop) > MAX_DEPTH and is_deep(value):
            return Run([], at, size, deep=True)
        return Run([value], stop, stop, deep=False)

    def run(self, text: str, at: int, end: str | None) -> Run:
        """Read objects and arrays one after another from `at` to the end of the text.

        Between them may stand white space, nothing, or a stray `data:`; in place of one, the end marker.
        """
        size = len(text)
        items: list[Item] = []
        while at < size:
            if text[at] in _SPACE:
                at = _SPACES.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing too
            elif items and text.startswith("data:", at):
                at += 5
            elif end and text.startswith(end, at):
                items.append(EndMarker(end))
                at += len(end)
            elif text[at] not in "{[":
                return Run(items, at, at, deep=False)
            else:
                found = self.value(text, at)
                if not found.items:
                    return Run(items, at, found.fault, found.deep)
                items += found.items
                at = found.stop
        return Run(items, size, size, deep=False)

    def _constant(self, text: str) -> None:
        self.forgiven.add("non-json-number")

    def _float(self, text: str) -> float | None:
        value = float(text)
        if math.isinf(value):
            self.forgiven.add("non-json-number")
            return None
        return value

    def _int(self, text: str) -> int | None:
        try:
            return int(text)
        except ValueError:  # Python refuses integers of more than some thousand digits
            self.forgiven.add("non-json-number")
            return None


def whole(raw: bytes) -> Whole | None:
    """Read bytes that are one JSON value and nothing else; None when they are not, or nested too deeply."""
    try:
        value = decode(raw)
    except REFUSED:
        text, notes = text_of(raw)
        scanner = Scanner()
        found = scanner.value(text)
        if not found.items or found.stop < len(text):
            return None
        return Whole(found.items[0], notes + scanner.notes(text))
    return None if nests(raw) and is_deep(value) else Whole(value, ())


def text_of(raw: bytes) -> tuple[str, tuple[WireNote, ...]]:
    """Bytes as text, without the white space, NULs and byte order marks around it.

    Invalid UTF-8 is replaced, with a note `bad-utf8`; for NULs there is a note `raw-control-character`.
    """
    reasons = []
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        reasons.append("bad-utf8")
    bare = text.strip(_EDGE)
    if "\0" in text[:1] + text[-1:]:
        reasons.append("raw-control-character")
    return bare, tuple(WireNote(reason, excerpt(text)) for reason in reasons)


def is_begun(raw: bytes) -> bool:
    """Whether a line is the beginning of a JSON text that may go on with another line: no string is open at its end."""
    text, _ = text_of(raw)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except REFUSED:
        pass
    return False


def nests(raw: bytes) -> bool:
    """Whether the text has brackets enough to be nested too deeply (a cheap question, for `is_deep` to settle)."""
    # A level costs two bytes as an array, five as an object: short texts need their `[` counted and no more.
    arrays = raw.count(b"[")
    return 3 * arrays > 5 * MAX_DEPTH - 4 - len(raw) and arrays + raw.count(b"{") > MAX_DEPTH
