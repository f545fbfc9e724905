"""Bytes to frames: the framings that models' streams come in.

A wire is opened by name (`open_wire`), fed bytes, and closed; it hands on decoded JSON values and says what it lost
or salvaged. It does no I/O, keeps no clock, and never raises on account of what it is fed.
"""

from __future__ import annotations

from typing import Final, Protocol

from reknit.errors import UsageError
from reknit.wire.frames import EVENT_KEY, BareBody, EndMarker, Item, Limits, Wire, WireFailure, WireNote
from reknit.wire.ndjson import NdjsonWire
from reknit.wire.salvage import SALVAGE
from reknit.wire.sse import SseWire

__all__ = [
    "EVENT_KEY",
    "SALVAGE",
    "WIRES",
    "BareBody",
    "EndMarker",
    "Item",
    "Limits",
    "NdjsonWire",
    "SseWire",
    "Wire",
    "WireFailure",
    "WireNote",
    "WireType",
    "open_wire",
    "sniff",
]


class WireType(Protocol):
    """What `WIRES` holds: a class, or anything else, that makes a wire for one stream."""

    def __call__(self, *, end: str | None, salvage: frozenset[str], keep_event: bool, limits: Limits) -> Wire:
        """Make a wire; the arguments are those of `open_wire`."""
        ...


WIRES: Final[dict[str, WireType]] = {"sse": SseWire, "ndjson": NdjsonWire}
"""The wires by the names that rules call them."""

_BOM: Final = b"\xef\xbb\xbf"


def open_wire(
    name: str,
    *,
    end: str | None,
    salvage: frozenset[str],
    keep_event: bool = False,
    limits: Limits = Limits(),  # noqa: B008  # immutable
) -> Wire:
    """Open a wire for one stream.

    Args:
        name: One of `WIRES`.
        end: The vendor's end marker, such as `[DONE]`, or None.
        salvage: Names of the salvage steps that are on, of `SALVAGE`; other names are ignored here (the checker of
            rules refuses them).
        keep_event: Whether an event's name is put into its payload under `EVENT_KEY`.
        limits: Bounds of the stream.

    Raises:
        UsageError: There is no wire of that name; code `unknown-wire`.
    """
    wire = WIRES.get(name)
    if wire is None:
        known = ", ".join(f"`{known}`" for known in WIRES)
        raise UsageError("unknown-wire", f"there is no wire `{name}`", f"use one of {known}")
    return wire(end=end, salvage=salvage, keep_event=keep_event, limits=limits)


def sniff(prefix: bytes) -> str | None:
    """Guess the wire from the first bytes of a body; a byte order mark and white space before it are passed over.

    JSON objects and arrays are `ndjson`. Everything else is `sse`, a page or a text included: that wire says best
    what they are.

    Returns:
        A name of `WIRES`, or None when more bytes are needed.
    """
    if _BOM.startswith(prefix):
        return None
    text = prefix.removeprefix(_BOM).lstrip()
    if not text:
        return None
    return "ndjson" if text[:1] in (b"{", b"[") else "sse"
