"""Words that more than one room uses: kinds of blocks, seals, grades, reasons, error kinds."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

TEXT: Final = "text"
THINKING: Final = "thinking"
TOOL: Final = "tool"
OPAQUE: Final = "opaque"

KINDS: Final[dict[str, str]] = {
    TEXT: "text for the reader; at most one is open",
    THINKING: "reasoning with its signature; at most one is open",
    TOOL: "tool calls; any number may be open at once",
    OPAQUE: "blocks kept as they came; any number may be open at once",
}
"""Kinds of blocks that a state may hold."""

SINGLE: Final = (TEXT, THINKING)
"""Kinds of which a state holds exactly one or none."""

Seal: TypeAlias = Literal["explicit", "sequential", "final", "limit", "cut"]
SEALS: Final[dict[Seal, str]] = {
    "explicit": "the vendor said that the call is finished",
    "sequential": "the next call began",
    "final": "the message stopped",
    "limit": "the message stopped at its output limit",
    "cut": "nothing: the stream ended before the call did",
}

Grade: TypeAlias = Literal["exact", "lossless", "guessed", "truncated"]
GRADES: Final[dict[Grade, str]] = {
    "exact": "parsed as it came",
    "lossless": "repaired without a guess",
    "guessed": "repaired by a guess",
    "truncated": "cut off",
}

STOP_REASONS: Final = (
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "error",
)
"""The stop reasons that rules may ask for; any other word passes through as the case `other`."""

ErrorKind: TypeAlias = Literal[
    "overloaded",
    "rate_limit",
    "connection",
    "server",
    "invalid_request",
    "auth",
    "malformed",
    "stalled",
    "content",
    "other",
]
ERROR_KINDS: Final[tuple[ErrorKind, ...]] = get_args(ErrorKind)

InvalidReason: TypeAlias = Literal[
    "bad_json",
    "truncated",
    "missing_required",
    "schema_mismatch",
    "missing_name",
    "ambiguous_name",
    "unknown_tool",
    "multiple_objects",
    "id_conflict",
]
INVALID_REASONS: Final[tuple[InvalidReason, ...]] = get_args(InvalidReason)

USAGE_FIELDS: Final[dict[str, str]] = {
    "input": "prompt tokens without cached ones",
    "prompt": "prompt tokens as a vendor counts them that includes cached ones; never shown, only derived from",
    "output": "completion tokens, reasoning included",
    "cache_read": "prompt tokens read from a cache",
    "cache_write": "prompt tokens written to a cache",
    "reasoning": "the part of the output that was reasoning",
}

CLASS_SETTINGS: Final[dict[str, tuple[str, ...]]] = {
    "start": ("seal", "confirm", "approval", "never"),
    "parallel": ("true", "false"),
    "discard": ("cancel", "block"),
}
"""What a class of tools may say, and the words for it."""

EXTERNAL_NOTES: Final[dict[str, str]] = {
    "mistyped": "a field had a value of another type than its event declares",
    "unbound-signature": "a signature was held for a block that never came",
    "lone-surrogate": "half of a surrogate pair stood alone in a text",
    "unmapped-frame": "no map took the frame",
    "choice-index": "a choice had no usable index",
}
"""Reasons of notes that arise outside of rules, on the way from bytes to events; the wire's own are in `wire`."""
