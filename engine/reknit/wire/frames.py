"""What a wire hands on: JSON payloads as they are, and the few things that are not payloads.

A wire turns bytes into a list of *items*. Nearly every item is the decoded JSON value of one frame (a `dict`); the
rest are the classes below. A wire never raises on bad input: what it cannot read becomes a `WireNote` (the stream
goes on) or a `WireFailure` (there is nothing to go on with).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol, TypeAlias


class EndMarker(NamedTuple):
    """The vendor's end marker was read (`end` in its rules, such as `[DONE]`)."""

    text: str


class WireNote(NamedTuple):
    """A frame was lost or salvaged.

    Attributes:
        reason: A kebab-case word; it becomes the note's reason. Lost: `bad-frame` (no JSON), `frame-too-long`,
            `frame-too-deep`, `unknown-field` (a line that the framing does not know, and that says more than
            `word: text`), `unterminated-event`. Read all the same, ahead of its frame: `bad-utf8`, `non-json-number`,
            `raw-control-character`, and `salvaged-<step>` for each step of `reknit.wire.salvage.SALVAGE`.
        excerpt: The bytes in question, decoded, bounded and redacted.
    """

    reason: str
    excerpt: str


class WireFailure(NamedTuple):
    """The body is no stream at all, or broke a bound: the stream ends here.

    Attributes:
        kind: One of the closed error kinds (`server`, `malformed`, ...).
        code: A kebab-case word for programs, such as `html-body`.
        message: One sentence with a bounded, redacted excerpt.
    """

    kind: str
    code: str
    message: str


class BareBody(NamedTuple):
    """The whole body was one JSON value where a stream was promised.

    Attributes:
        payload: The decoded value; the maps may still read it (an error object, a whole message).
        excerpt: Bounded and redacted, for the error that follows when no map takes it.
    """

    payload: Any
    excerpt: str


Item: TypeAlias = Any
"""A decoded JSON value, `EndMarker`, `WireNote`, `WireFailure` or `BareBody`."""

EVENT_KEY: Final = "$event"
"""The key under which a wire with `keep_event` puts the SSE event name into a payload that is an object."""


class Limits(NamedTuple):
    """Bounds of one stream; what goes beyond them is noted or fails, and never grows memory.

    Attributes:
        frame_bytes: Longest frame; a longer one is dropped with a note `frame-too-long`.
        body_bytes: Longest body; beyond it the stream fails with code `body-too-long`.
    """

    frame_bytes: int = 16 * 1024 * 1024
    body_bytes: int = 512 * 1024 * 1024


class Wire(Protocol):
    """Bytes to items, fed in pieces of any size; the same bytes give the same items wherever they are cut."""

    def feed(self, data: bytes) -> list[Item]:
        """Take the next bytes of the body and return the items that are now complete."""
        ...

    def close(self) -> list[Item]:
        """The body has ended: settle what is pending."""
        ...
