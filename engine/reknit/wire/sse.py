"""Server-sent events: the WHATWG event stream, and what vendors make of it.

Source: WHATWG HTML, "server-sent events", "parsing an event stream" and "interpreting an event stream". Of its
fields only `data` and `event` are of use here; `id` and `retry` serve reconnecting, and no stream of a model can be
resumed that way. Two departures, both because the payload is JSON: blank data dispatches nothing (the standard says
so of empty data only), and an unfinished event at the end of the body is never dropped silently.
"""

from __future__ import annotations

from typing import Final

from reknit.depth import MAX_DEPTH
from reknit.excerpt import excerpt
from reknit.wire.frames import EVENT_KEY, Item, Limits, WireNote
from reknit.wire.lines import LineWire
from reknit.wire.opening import Opening
from reknit.wire.payload import REFUSED, decode, is_begun, nests, whole
from reknit.wire.salvage import FIELDS, error_line, is_frame, loose, misspelt_data, named, read, salvaged, settled

_DATA: Final = b"data:"
_EVENT: Final = b"event:"
_LF: Final = ord("\n")
_CR: Final = ord("\r")
_COLON: Final = ord(":")

_MOST_LINES: Final = 1 << 16
"""Most lines of one event, for a line costs memory however short it is."""

_MOST_NAMES: Final = 64
_LONGEST_NAME: Final = 128
"""Bounds of what is remembered of event names, which only saves time."""

_LOST: Final = bytes(bytearray(b"data:"))
"""Stands for the data of an event that was too long; compared by identity."""


class SseWire(LineWire):
    """Event-stream bytes to items, one frame an event. A `Wire`; see there for `feed` and `close`.

    Args:
        end: Data that is the vendor's end marker, such as `[DONE]`, or None.
        salvage: Names of the salvage steps that are on; see `reknit.wire.salvage.SALVAGE`.
        keep_event: Whether the event's name is put into a payload that is an object, under `EVENT_KEY`.
        limits: Bounds of one stream; the length of a frame is that of the lines that make it up.
    """

    __slots__ = ("_held", "_idle", "_keep", "_name", "_names", "_rest", "_size", "_watch")

    def __init__(
        self,
        *,
        end: str | None,
        salvage: frozenset[str] = frozenset(),
        keep_event: bool = False,
        limits: Limits = Limits(),  # noqa: B008  # immutable
    ) -> None:
        super().__init__(end, salvage, limits, comments=True)
        self._keep = keep_event
        self._names: dict[bytes, str] = {}  # `event:` lines that have been read, with what they say
        self._idle = False  # nothing is held and no event is open
        # The open event. Nearly all have one data line, and that is all that the common path looks at; whatever
        # comes after the first data line is kept as it is, to be sorted out when the event ends.
        self._name: str | None = None  # as it was at the first data line
        self._held: bytes | None = None  # the first data line
        self._rest: list[bytes] = []  # the lines after it
        self._size = 0  # bytes of all of them, once there are several
        # Data longer than this is looked at more closely before it is decoded.
        self._watch = -1 if end is not None and whole(end.encode()) else min(2 * MAX_DEPTH, self._frame_bytes - 5)

    def feed(self, data: bytes) -> list[Item]:
        """Take the next bytes of the body and return the items that are now complete. Never raises on bad input."""
        # Most vendors send, and most clients read, one event at a time. A read that is just one event (its name, if
        # it has one, known from before; one data line; the blank line) is decoded where it stands.
        left = self._left - len(data)
        if self._idle and left >= 0:
            flat = data.replace(b"\r\n", b"\n") if _CR in data else data
            start, name = 5, None
            if flat[:5] != _DATA:
                start = flat.find(b"\n")
                name = self._names.get(flat[:start])
                start = start + 6 if name and flat[start + 1 : start + 6] == _DATA else 0
            if start and flat[-2:] == b"\n\n":
                raw = flat[start:-2]
                if _LF not in raw and _CR not in raw and (len(raw) <= self._watch or not self._is_unusual(raw)):
                    try:
                        payload = decode(raw)
                    except REFUSED:
                        pass
                    else:
                        self._left = left
                        if name and self._keep and type(payload) is dict:
                            payload[EVENT_KEY] = name
                        return [payload]
        items = LineWire.feed(self, data)
        self._idle = self._calm and self._held is None and self._name is None
        return items

    def _run(self, lines: list[bytes], items: list[Item]) -> None:
        if self._opening is not None:
            lines = self._open(lines, items)
        held, name, rest, watch = self._held, self._name, self._rest, self._watch
        keep, names, append = self._keep, self._names, items.append
        for line in lines:
            if not line:
                if held is not None:
                    raw = held[5:]
                    if rest or (len(raw) > watch and self._is_unusual(raw)):
                        items += self._dispatch(held, name)
                    else:
                        try:
                            payload = decode(raw)
                        except REFUSED:
                            items += self._dispatch(held, name)
                        else:
                            if name is not None and type(payload) is dict:
                                payload[EVENT_KEY] = name
                            append(payload)
                    held = None
                name = None
            elif held is None and line[:5] == _DATA:
                held = line
            elif held is None and line in names:
                name = names[line] if keep else None
            elif held is None and line[:6] == _EVENT:
                name = self._event_name(line, items)
            elif line[0] != _COLON:
                held = self._other(line, held, name, items)
        self._held, self._name = held, name

    def _begins(self, line: bytes) -> bool:
        opening, end, steps = self._opening, self._end, self._steps
        if opening is None or not opening.has_content(line):
            return False
        if line.partition(b":")[0] in FIELDS or opening.apart:
            return True
        if opening.is_markup:
            return False
        text = line.strip()
        if "data-prefix" in steps and misspelt_data(line) is not None:
            return True
        if "error-line" in steps and error_line(line):
            return True
        if "bare-lines" not in steps:
            return False
        if end is not None and text == end.encode():
            return True
        if opening.is_inside or text[:1] != b"{" or not any(map(is_frame, read(text, end, steps))):
            return False
        # One line of JSON may be the whole body: the next line with content tells.
        opening.apart = opening.is_empty and opening.fits(line)
        return not opening.apart

    def _is_unusual(self, raw: bytes) -> bool:
        return self._watch < 0 or len(raw) + len(_DATA) > self._frame_bytes or nests(raw)

    def _other(self, line: bytes, held: bytes | None, name: str | None, items: list[Item]) -> bytes | None:
        """Take a line that is not of the common kind; returns the first data line of the open event."""
        field = line.partition(b":")[0]
        if field in (b"id", b"retry") or (field == b"event" and (held is None or not self._keep)):
            return held
        if held is None:
            if field == b"data":
                return _DATA
            size = len(_DATA) + len(line)
            if (
                "bare-lines" in self._steps
                and size <= self._frame_bytes
                and line.lstrip()[:1] == b"{"
                and is_begun(line)
            ):
                # Pretty-printed JSON without any `data:`, perhaps: read as an event whose data line says nothing.
                self._rest.append(line)
                self._size = size
                return _DATA
            items += self._loose(line, name)
        elif held is not _LOST:
            self._size = (self._size if self._rest else len(held)) + len(line)
            if self._size > self._frame_bytes or len(self._rest) >= _MOST_LINES:
                items.append(self._too_long(held if len(held) > len(_DATA) else line))
                self._rest.clear()
                return _LOST
            self._rest.append(line)
        return held

    def _event_name(self, line: bytes, items: list[Item]) -> str | None:
        if len(line) > self._frame_bytes:
            items.append(self._too_long(line))
            return None
        raw = line[6:].removeprefix(b" ")
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            name = raw.decode("utf-8", "replace")
            if self._keep:
                items.append(WireNote("bad-utf8", excerpt(raw)))
        else:
            if name and len(self._names) < _MOST_NAMES and len(line) < _LONGEST_NAME:
                self._names[line] = name
        return name if name and self._keep else None

    def _loose(self, line: bytes, name: str | None) -> list[Item]:
        if len(line) > self._frame_bytes:
            return [self._too_long(line)]
        return named(loose(line, self._end, self._steps), name)

    def _dispatch(self, held: bytes, name: str | None) -> list[Item]:
        """The items of an event that is not of the common kind, or whose data is no plain JSON."""
        rest = self._rest.copy()
        self._rest.clear()  # the same list: the caller has it in hand
        if held is _LOST:
            return []
        if len(held) > self._frame_bytes:
            return [self._too_long(held)]
        if rest:
            return self._dispatch_lines([held, *rest], name)
        return named(read(_value(held), self._end, self._steps), name)

    def _dispatch_lines(self, lines: list[bytes], name: str | None) -> list[Item]:
        items: list[Item] = []
        data: list[bytes] = []
        names: list[str | None] = []
        strays: list[bytes] = []
        pieces: list[bytes] = []  # data and strays, in their order
        for line in lines:
            field = line.partition(b":")[0]
            if field == b"event":
                name = self._event_name(line, items)
                continue
            if field == b"data":
                pieces.append(_value(line))
                data.append(pieces[-1])
                names.append(name)
            else:
                pieces.append(line)
                strays.append(line)
        body = b"\n".join(data)
        found = whole(body)
        if found is not None and not self._is_end(body):
            items += [*found.notes, *named([found.value], name)]
        else:
            frames = self._line_by_line(data, names)
            if not frames and strays and "bare-lines" in self._steps:
                # Pretty-printed JSON with `data:` before its first line only.
                body = b"\n".join(pieces)
                found = whole(body)
                if found is not None:
                    strays = []
                    frames = named([*found.notes, found.value], name)
                    frames = salvaged("bare-lines", frames, body)
            items += frames or named(read(b"\n".join(data), self._end, self._steps), name)
        for line in strays:
            items += self._loose(line, name)
        return items

    def _line_by_line(self, data: list[bytes], names: list[str | None]) -> list[Item]:
        """Step `several` on events whose blank line is missing: each data line a frame with the name that it had."""
        items: list[Item] = []
        if "several" not in self._steps or len(data) < 2:
            return items
        for value, name in zip(data, names, strict=True):
            found = None if self._is_end(value) else whole(value)
            if found is None and value.strip() and not self._is_end(value):
                return []
            items += named(read(value, self._end, self._steps), name)
        return salvaged("several", items, b"\n".join(data))

    def _is_end(self, value: bytes) -> bool:
        return self._end is not None and value.strip() == self._end.encode()

    def _finish(self, last: bytes, items: list[Item]) -> None:
        self._idle = False
        if self._opening is not None and not self._finish_opening(self._opening, last, items):
            return
        held, name = self._held, self._name
        field = last.partition(b":")[0]
        if field and (held is None or field not in (b"event", b"id", b"retry")):
            if held is None and field == b"data":
                held = last
            elif held is None and field not in FIELDS:
                self._settle(self._loose(last, name), last, items)
            elif held is not None:
                held = self._other(last, held, name, items)
        if held is not None:
            event = b"\n".join((held, *self._rest))
            self._settle(self._dispatch(held, name), event, items)

    def _finish_opening(self, opening: Opening, last: bytes, items: list[Item]) -> bool:
        """Settle a body that has not begun to be a stream; False when that was all of it."""
        begins = self._begins(last) or any(last and field.startswith(last) for field in FIELDS)
        if not begins:
            opening.hold(last)
            bare = opening.bare()
            if bare is not None or not opening.apart:
                failure = opening.failure()
                items += [bare] if bare is not None else [failure] if failure is not None else []
                return False
        lines, notes = opening.release()
        items += notes
        self._opening = None
        self._run(lines, items)
        return begins

    def _settle(self, found: list[Item], raw: bytes, items: list[Item]) -> None:
        if len(found) == 1 and isinstance(found[0], WireNote) and found[0].reason == "frame-too-long":
            items += found
        else:
            items += settled(found, raw, self._steps)


def _value(line: bytes) -> bytes:
    """What a data line says: all behind the colon but one space; nothing without a colon."""
    return line[5:].removeprefix(b" ")
