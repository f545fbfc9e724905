"""What `feed` returns: small frozen records, in the order in which things happened.

`block` is the ordinal of a block in the order of opening, from 0. It is the block's position in `Message.content`
unless a block before it was withdrawn (a repeated call turned out to be one).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from reknit.message import Note, StreamFault, Usage


class BlockOpened(msgspec.Struct, frozen=True, gc=False, tag="block_opened"):
    """A block began. `kind` is text, thinking, tool_use or the type of an opaque block; `id` and `name` for calls."""

    block: int
    kind: str
    id: str | None = None
    name: str | None = None


class Delta(msgspec.Struct, frozen=True, gc=False, tag="delta"):
    """New text of an open block: text, thinking, signature or arguments (`field` says which)."""

    block: int
    field: str
    text: str


class BlockChanged(msgspec.Struct, frozen=True, gc=False, tag="block_changed"):
    """An id, a name or a late signature was supplied; `field` says which."""

    block: int
    field: str
    value: str


class BlockArchived(msgspec.Struct, frozen=True, tag="block_archived"):
    """A block is finished.

    Attributes:
        block: Its ordinal.
        value: The block as plain data, in the shape that it has in the message.
        seal: For calls, what proved that the arguments are all there; None for other blocks.
        grade: For calls, how the arguments were read; None where they could not be.
        safety: For calls, the class that the rules give it.
        executable: For calls, whether it may run.
    """

    block: int
    value: dict[str, Any]
    seal: str | None = None
    grade: str | None = None
    safety: str | None = None
    executable: bool = False


class BlockReopened(msgspec.Struct, frozen=True, gc=False, tag="block_reopened"):
    """A finished block goes on after all: what was done on its account must be taken back."""

    block: int


class BlockWithdrawn(msgspec.Struct, frozen=True, gc=False, tag="block_withdrawn"):
    """A block turned out to be a repetition and is not in the message."""

    block: int


class NoteAdded(msgspec.Struct, frozen=True, tag="note"):
    """A repair, drop or oddity was noted for the first time."""

    note: Note


class UsageChanged(msgspec.Struct, frozen=True, tag="usage"):
    """The books so far."""

    usage: Usage


class StreamEnded(msgspec.Struct, frozen=True, tag="ended"):
    """Nothing more will change. `error` is set when the stream failed."""

    stop_reason: str | None
    complete: bool
    error: StreamFault | None = None


Update: TypeAlias = (
    BlockOpened
    | Delta
    | BlockChanged
    | BlockArchived
    | BlockReopened
    | BlockWithdrawn
    | NoteAdded
    | UsageChanged
    | StreamEnded
)
