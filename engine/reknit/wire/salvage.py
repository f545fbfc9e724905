"""Frames out of what is not quite a frame: the named steps that a vendor's rules may switch on.

Without its step, broken input is a `WireNote` and nothing else. With it, what can be read is read, and a note
`salvaged-<step>` stands ahead of it; what cannot be read is a note in either case. Every function here is pure: the
same text, end marker and steps give the same items.
"""

from __future__ import annotations

import re
from typing import Final

from reknit.depth import is_deep
from reknit.excerpt import excerpt
from reknit.wire.frames import EVENT_KEY, EndMarker, Item, WireNote
from reknit.wire.payload import REFUSED, Run, Scanner, decode, nests, text_of, whole

SALVAGE: Final[dict[str, str]] = {
    "unterminated": "A last event without its blank line is dispatched if its data is JSON or the end marker.",
    "several": "Several JSON values in one data or line, one after another, are so many frames.",
    "glued": "Of a half-written JSON text with whole objects glued to its end, the whole ones are frames.",
    "error-line": "A line `field: {...}` whose field is none of the framing's is the frame `{field: {...}}`.",
    "bare-lines": "In an event stream, a line that is JSON without a `data:` before it is a frame.",
    "data-prefix": "A `data:` that the framing does not have, or that is doubled or misspelt, is passed over.",
}
"""The salvage steps: name to what each does, in one sentence."""

MAX_TRIES: Final = 64
"""At how many places of one broken text the step `glued` looks for a whole object, at most."""

FIELDS: Final = (b"data", b"event", b"id", b"retry")
"""The fields of an event stream (WHATWG HTML, "interpreting an event stream")."""

_SEPARATED: Final = re.compile(r"(?:data:|\n)[ \t]*")
_DOUBLED: Final = re.compile(r"(?:data:\s*)+")
_OBJECT: Final = re.compile(r'\{\s*"')
_WORD: Final = re.compile(rb"[\w.-]{1,64}")


def read(raw: bytes, end: str | None, steps: frozenset[str]) -> list[Item]:
    """What the data of one event, or one line, holds: as a rule one frame, from good JSON.

    Args:
        raw: The data, without framing.
        end: The vendor's end marker, or None.
        steps: The salvage steps that are on; `several`, `glued` and `data-prefix` are of use here.

    Returns:
        Frames, end markers and notes, in their order; nothing for blank data.
    """
    text = raw.strip()
    if not text:
        return []
    if end is not None and text == end.encode():
        return [EndMarker(end)]
    try:
        value = decode(raw)
    except REFUSED:
        return _read_broken(raw, end, steps)
    if nests(raw) and is_deep(value):
        return [WireNote("frame-too-deep", excerpt(text))]
    return [value]


def loose(line: bytes, end: str | None, steps: frozenset[str]) -> list[Item]:
    """What a line of an event stream holds that is none of the framing's.

    The standard ignores such a line. `word: text` and a lone word are ignored here too, silently; anything that was
    meant to say more is a frame by one of the steps `bare-lines`, `data-prefix` and `error-line`, or else a note.
    """
    text = line.strip()
    is_end = end is not None and text == end.encode()
    if is_end or text[:1] in (b"{", b"["):
        items = read(text, end, steps) if "bare-lines" in steps and (is_end or text[:1] == b"{") else []
        return salvaged("bare-lines", items, line) or items or [WireNote("bad-frame", excerpt(line))]
    value = misspelt_data(line)
    if value is not None:
        items = read(value, end, steps) if "data-prefix" in steps else []
        if not value.strip():
            return []
        return salvaged("data-prefix", items, line) or items or [WireNote("unknown-field", excerpt(line))]
    items = error_line(line) if "error-line" in steps else []
    if items:
        return items
    field, _, value = line.partition(b":")
    if not text or (_WORD.fullmatch(field.strip()) and value.lstrip()[:1] not in (b"{", b"[")):
        return []
    return [WireNote("unknown-field", excerpt(line))]


def error_line(line: bytes) -> list[Item]:
    """Step `error-line`: `error: {"code": 500}` as the frame `{"error": {"code": 500}}`; nothing for other lines."""
    field, _, value = line.partition(b":")
    field = field.strip()
    if field.lower() in FIELDS or not _WORD.fullmatch(field) or not value.lstrip().startswith(b"{"):
        return []
    found = whole(value)
    if found is None or not isinstance(found.value, dict):
        return []
    return salvaged("error-line", [*found.notes, {field.decode(): found.value}], line)


def misspelt_data(line: bytes) -> bytes | None:
    """Step `data-prefix`: what follows a `data:` in capitals, or behind a byte order mark, NULs or blanks."""
    field, colon, value = line.partition(b":")
    return value if colon and field.strip(b" \t\0\xef\xbb\xbf").lower() == b"data" else None


def settled(items: list[Item], raw: bytes, steps: frozenset[str]) -> list[Item]:
    """Step `unterminated`: what becomes of the items that an event without its end would give.

    With the step on and a frame or an end marker among them, they count; otherwise they are one note.
    """
    if "unterminated" in steps and any(map(is_frame, items)):
        return [WireNote("salvaged-unterminated", excerpt(raw)), *items]
    return [WireNote("unterminated-event", excerpt(raw))] if items else []


def salvaged(step: str, items: list[Item], raw: bytes) -> list[Item]:
    """The items behind the note of their step; nothing if there is no frame and no end marker among them."""
    return [WireNote(f"salvaged-{step}", excerpt(raw)), *items] if any(map(is_frame, items)) else []


def named(items: list[Item], name: str | None) -> list[Item]:
    """The items, with the event's name put into every frame that is an object."""
    if name is not None:
        for item in items:
            if isinstance(item, dict):
                item[EVENT_KEY] = name
    return items


def is_frame(item: Item) -> bool:
    """Whether an item is a frame or an end marker: something read, not something lost."""
    return not isinstance(item, WireNote)


def _read_broken(raw: bytes, end: str | None, steps: frozenset[str]) -> list[Item]:
    text, notes = text_of(raw)
    scanner = Scanner()
    found = scanner.value(text)
    if not found.items or found.stop < len(text):
        doubled = _DOUBLED.match(text) if "data-prefix" in steps else None
        if doubled:
            items = salvaged("data-prefix", read(text[doubled.end() :].encode(), end, steps), raw)
            return [*notes, *items] if items else [_lost(text, found.deep)]
        scanner.forgiven.clear()
        return _read_parts(text, end, steps, scanner, notes)
    return [*notes, *scanner.notes(text), *found.items]


def _read_parts(
    text: str, end: str | None, steps: frozenset[str], scanner: Scanner, notes: tuple[WireNote, ...]
) -> list[Item]:
    """Steps `several` and `glued`: a text that is more, or less, than one JSON value."""
    found = scanner.run(text, 0, end)
    several = "several" in steps and bool(found.items)
    items: list[Item] = []
    if several:
        items = [*scanner.notes(text), WireNote("salvaged-several", excerpt(text)), *found.items]
        if found.stop == len(text):
            return [*notes, *items]
    elif found.stop == len(text):
        return [_lost(text, deep=False)]
    half = found.stop if several else 0
    if "glued" in steps and not found.deep:
        start, tail = glued(text, found, end, scanner)
        if tail:
            lost = text[half:start].rstrip().removesuffix("data:").rstrip()
            items += [_lost(lost, deep=False)] if lost else []
            items += [*scanner.notes(text), WireNote("salvaged-glued", excerpt(text[start:])), *tail]
            return [*notes, *items]
    items.append(_lost(text[half:], found.deep))
    return [*notes, *items] if any(map(is_frame, items)) else items


def glued(text: str, found: Run, end: str | None, scanner: Scanner) -> tuple[int, list[Item]]:
    """Step `glued`: the earliest place from which everything to the end of a broken text is whole objects.

    First the places behind a `data:` or a line end are tried, the end marker among them, then any `{"` at or after
    the place where the text stops being JSON (an object before that place is a part of the broken one, as is every
    object in a text that is merely cut off). `MAX_TRIES` places at most.

    Args:
        text: The broken text.
        found: How far it could be read.
        end: The vendor's end marker, or None.
        scanner: What to read with.

    Returns:
        The place and the items from there; an empty list if there is no such place.
    """
    text = text.rstrip()
    if not (text.endswith("}") or (end and text.endswith(end))):
        return 0, []
    places: list[int] = []
    for match in _SEPARATED.finditer(text, found.stop):
        if len(places) >= MAX_TRIES:
            break
        if text.startswith("{", match.end()) or (end and text.startswith(end, match.end())):
            places.append(match.end())
    if found.fault < len(text):
        # A half-written string is ended by the first quote of what is glued to it: the fault is just behind `{"`.
        brace = text.rfind("{", found.stop, found.fault)
        start = brace if brace >= 0 and text[brace + 1 : found.fault].strip() == '"' else found.fault
        for match in _OBJECT.finditer(text, start):
            if len(places) >= MAX_TRIES:
                break
            places.append(match.start())
    for place in places:
        scanner.forgiven.clear()
        run = scanner.run(text, place, end)
        if run.items and run.stop == len(text) and all(isinstance(item, dict | EndMarker) for item in run.items):
            return place, run.items
    return 0, []


def _lost(text: str, deep: bool) -> WireNote:
    return WireNote("frame-too-deep" if deep else "bad-frame", excerpt(text))
