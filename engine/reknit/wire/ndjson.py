"""Newline-delimited JSON: one value a line.

Source: the NDJSON specification (one JSON text a line, LF or CRLF, UTF-8, blank lines may be ignored). Beyond it a CR
alone ends a line too, and the last line counts without a line end: with nothing but its own closing bracket to prove
it, a line of JSON is whole or it is not JSON.
"""

from __future__ import annotations

from reknit.depth import MAX_DEPTH
from reknit.wire.frames import Item, Limits
from reknit.wire.lines import LineWire
from reknit.wire.payload import REFUSED, decode, nests, whole
from reknit.wire.salvage import FIELDS, error_line, is_frame, misspelt_data, read, salvaged, settled


class NdjsonWire(LineWire):
    """NDJSON bytes to items, one frame a line. A `Wire`; see there for `feed` and `close`.

    Args:
        end: A line that is the vendor's end marker, or None.
        salvage: Names of the salvage steps that are on; see `reknit.wire.salvage.SALVAGE`. With `data-prefix` the
            other fields of an event stream, and its comments, are passed over as well.
        keep_event: Not used; here so that all wires are made in the same way.
        limits: Bounds of one stream; a frame is a line.
    """

    __slots__ = ("_watch",)

    def __init__(
        self,
        *,
        end: str | None,
        salvage: frozenset[str] = frozenset(),
        keep_event: bool = False,
        limits: Limits = Limits(),  # noqa: B008  # immutable
    ) -> None:
        super().__init__(end, salvage, limits, comments=False)
        # A line longer than this is looked at more closely before it is decoded.
        self._watch = -1 if end is not None and whole(end.encode()) else min(2 * MAX_DEPTH, self._frame_bytes)

    def _run(self, lines: list[bytes], items: list[Item]) -> None:
        if self._opening is not None:
            lines = self._open(lines, items)
        append, watch = items.append, self._watch
        for line in lines:
            if line:
                if len(line) > watch and self._is_unusual(line):
                    items += self._read(line)
                    continue
                try:
                    append(decode(line))
                except REFUSED:
                    items += self._read(line)

    def _begins(self, line: bytes) -> bool:
        opening, end, steps = self._opening, self._end, self._steps
        text = line.strip()
        if opening is None or not text:
            return False
        if len(line) > self._frame_bytes or (end is not None and text == end.encode()):
            return True
        if "data-prefix" in steps and misspelt_data(line) is not None:
            return True
        if "error-line" in steps and error_line(line):
            return True
        if opening.is_markup or opening.is_inside or not (opening.is_empty or text[:1] == b"{"):
            return False
        return any(map(is_frame, read(text, end, steps)))

    def _is_unusual(self, line: bytes) -> bool:
        return self._watch < 0 or len(line) > self._frame_bytes or nests(line)

    def _read(self, line: bytes) -> list[Item]:
        """The items of a line that is no plain JSON."""
        if len(line) > self._frame_bytes:
            return [self._too_long(line)]
        end, steps = self._end, self._steps
        if "error-line" in steps and (error := error_line(line)):
            return error
        found = read(line, end, steps)
        if not found or any(map(is_frame, found)):
            return found
        if "data-prefix" in steps:
            value = misspelt_data(line)
            if value is not None:
                return salvaged("data-prefix", read(value, end, steps), line) or (found if value.strip() else [])
            field, colon, _ = line.partition(b":")
            if colon and (not field or field in FIELDS):
                return []
        return found

    def _finish(self, last: bytes, items: list[Item]) -> None:
        opening = self._opening
        if opening is not None:
            if not self._begins(last):
                opening.hold(last)
                verdict = opening.bare() or opening.failure()
                items += [verdict] if verdict is not None else []
                return
            lines, notes = opening.release()
            items += notes
            self._opening = None
            self._run(lines, items)
        found = self._read(last)
        # Here the step `unterminated` is not asked: a last line that is JSON counts.
        too_long = len(last) > self._frame_bytes
        items += found if too_long or any(map(is_frame, found)) else settled(found, last, frozenset())
