"""The public face: a stream in, updates and one message out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from reknit.detect import Detector
from reknit.errors import UsageError
from reknit.message import Message, StreamFault
from reknit.rulebook import table_for
from reknit.stream import Stream
from reknit.table import Table
from reknit.tools.registry import ToolLike, Tools
from reknit.updates import Update
from reknit.vocabulary.words import ERROR_KINDS
from reknit.wire.frames import Limits

Chunk: TypeAlias = bytes | bytearray | memoryview | str | dict[str, Any] | Any
"""Bytes or text of the body, a decoded frame, or an SDK object with `model_dump`."""

Vendor: TypeAlias = str | os.PathLike[str] | Table | None
"""A shipped name, the path of a rule file, a compiled table, or None for detection."""


class Reconstructor:
    """Rebuilds one message from one stream.

    Args:
        vendor: Whose rules read the stream; None recognises the protocol from the first frames, and notes it.
        tools: `{"name", "description", "input_schema"}` dicts, `Tool`s or Python functions; None when they are not
            known, and then nothing is said about names and schemas.
        policy: Another policy than the vendor names, such as `strict`.
        fragments: Rule fragments to apply on top of the vendor's, such as `think-tags`.
        rules: Folders with further rule files.
        wire: Another framing than the vendor's, such as `ndjson` for a file with one frame a line.
        seed: From which made-up ids are derived; the same seed and bytes give the same ids. Random without one, so
            that ids are unique across turns.
        limits: Bounds of the body.

    Raises:
        UsageError: No such vendor, or a bad tool.
        RulesError: The rule files do not pass the checks.
    """

    def __init__(
        self,
        vendor: Vendor = None,
        tools: Iterable[ToolLike] | None = None,
        *,
        policy: str | None = None,
        fragments: Sequence[str] = (),
        rules: Sequence[str | os.PathLike[str]] = (),
        wire: str | None = None,
        seed: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        known = Tools(tools)

        def start(table: Table) -> Stream:
            return Stream(table, known, seed, wire, limits)

        self._detector: Detector | None = None
        self._stream: Stream | None = None
        if vendor is None:
            self._detector = Detector(start, wire, policy, fragments, rules)
        else:
            self._stream = start(vendor if isinstance(vendor, Table) else table_for(vendor, policy, rules, fragments))
        self._message: Message | None = None
        self._frames = False

    def feed(self, chunk: Chunk) -> list[Update]:
        """Take the next piece of the stream, cut anywhere, and return what changed.

        Raises:
            UsageError: The stream was closed, or the chunk is of a type that cannot be one.
        """
        if self._message is not None:
            raise UsageError("closed", "the stream was closed", "make a Reconstructor for each stream")
        if isinstance(chunk, str):
            # Between decoded frames a text can only be the end marker; in a body it may be cut out of anything.
            if not self._frames:
                chunk = chunk.encode("utf-8", "surrogatepass")
        elif isinstance(chunk, bytearray | memoryview):
            chunk = bytes(chunk)
        if not isinstance(chunk, bytes | str):
            chunk = _as_frame(chunk)
            self._frames = True
        if self._stream is None:
            assert self._detector is not None
            self._stream = self._detector.feed(chunk)
            return self._detector.updates()
        return self._stream.feed_bytes(chunk) if isinstance(chunk, bytes) else self._stream.feed_frame(chunk)

    def close(self) -> Message:
        """The stream has ended; the message, and the same one again on later calls. `last_updates` has the rest."""
        if self._message is None:
            self.last_updates = self._settle(None)
        assert self._message is not None
        return self._message

    def fail(self, error: BaseException | StreamFault | str) -> Message:
        """The transport failed: the message with what was rebuilt, `error` filled, `complete` false."""
        if self._message is None:
            fault = error if isinstance(error, StreamFault) else None
            if fault is None:
                code = type(error).__name__ if isinstance(error, BaseException) else ""
                fault = StreamFault(kind="connection", code=code, message=str(error)[:1000])
            self.last_updates = self._settle(fault)
        assert self._message is not None
        return self._message

    last_updates: list[Update]
    """What the end of the stream changed, after `close` or `fail`."""

    def snapshot(self) -> Message:
        """The message so far, at any time; open calls stand there as cut off."""
        if self._message is not None:
            return self._message
        return self._stream.message() if self._stream is not None else Message()

    @property
    def choices(self) -> dict[int, Message]:
        """All choices so far by their number; choice 0 is the message."""
        return self._stream.choices() if self._stream is not None else {0: self.snapshot()}

    @property
    def table(self) -> Table | None:
        """The table in use; None until the protocol was recognised."""
        return self._stream.table if self._stream is not None else None

    def _settle(self, fault: StreamFault | None) -> list[Update]:
        updates: list[Update] = []
        if self._stream is None:
            assert self._detector is not None
            self._stream = self._detector.close()
            updates = self._detector.updates()
        if self._stream is None:
            assert self._detector is not None
            self._message = self._detector.unrecognised(fault)
            return updates
        if fault is None:
            updates += self._stream.close()
        else:
            kind = fault.kind if fault.kind in ERROR_KINDS else "other"
            updates += self._stream.fail(kind, fault.code, fault.message)
        self._message = self._stream.message()
        return updates


def _as_frame(chunk: Any) -> Any:
    if isinstance(chunk, dict | list):
        return chunk
    dump = getattr(chunk, "model_dump", None) or getattr(chunk, "to_dict", None)
    if callable(dump):
        frame = dump()
        if isinstance(frame, dict):
            return frame
    raise UsageError("chunk-type", f"a {type(chunk).__name__} is no piece of a stream", "feed bytes, text or dicts")


def reconstruct(
    chunks: Iterable[Chunk] | bytes | str,
    vendor: Vendor = None,
    tools: Iterable[ToolLike] | None = None,
    **options: Any,
) -> Message:
    """The message of a whole stream.

    Args:
        chunks: Pieces of the body in order, or the whole body.
        vendor: As for `Reconstructor`.
        tools: As for `Reconstructor`.
        **options: As for `Reconstructor`.
    """
    reconstructor = Reconstructor(vendor, tools, **options)
    for chunk in [chunks] if isinstance(chunks, bytes | str) else chunks:
        reconstructor.feed(chunk)
    return reconstructor.close()


def updates(chunks: Iterable[Chunk], reconstructor: Reconstructor) -> Iterator[Update]:
    """Drive a reconstructor over pieces; a failure of the iterator fails the stream and is raised on."""
    try:
        for chunk in chunks:
            yield from reconstructor.feed(chunk)
    except GeneratorExit:
        raise
    except BaseException as error:
        reconstructor.fail(error)
        yield from reconstructor.last_updates
        raise
    reconstructor.close()
    yield from reconstructor.last_updates


async def aupdates(chunks: AsyncIterable[Chunk], reconstructor: Reconstructor) -> AsyncIterator[Update]:
    """Likewise over an asynchronous iterator."""
    try:
        async for chunk in chunks:
            for update in reconstructor.feed(chunk):
                yield update
    except GeneratorExit:
        raise
    except BaseException as error:
        reconstructor.fail(error)
        for update in reconstructor.last_updates:
            yield update
        raise
    reconstructor.close()
    for update in reconstructor.last_updates:
        yield update
