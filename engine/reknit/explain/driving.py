"""Driving a stream under watch: bytes in, passages out as they are finished, the message at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reknit.detect import Detector
from reknit.explain.happenings import Passage
from reknit.explain.observing import ObservedStream
from reknit.explain.trace import Recorder
from reknit.message import Message
from reknit.table import Table
from reknit.tools.registry import Tools


class Tracing:
    """One stream, told item by item.

    Args:
        table: What reads and rebuilds it; None recognises the protocol from the first frames.
        tools: What may be called.
        seed: From which made-up ids are derived.
        wire: A framing other than the vendor's own.
        policy: Where the protocol is recognised, another policy than the vendor's.
        fragments: Where the protocol is recognised, fragments to apply on top.
        folders: Where the protocol is recognised, folders with further rule files.
    """

    def __init__(
        self,
        table: Table | None,
        tools: Tools,
        seed: str | None = None,
        wire: str | None = None,
        policy: str | None = None,
        fragments: Sequence[str] = (),
        folders: Sequence[Path] = (),
    ) -> None:
        self.message = Message()
        self._recorder = Recorder()
        self._detector: Detector | None = None

        def start(chosen: Table) -> ObservedStream:
            stream = ObservedStream(chosen, tools, self._recorder, seed, wire)
            self._recorder.stream = stream
            return stream

        if table is None:
            self._detector = Detector(start, wire, policy, fragments, folders)
        else:
            start(table)

    @property
    def table(self) -> Table | None:
        """The table in use; None until the protocol was recognised."""
        return self._recorder.stream.table if self._recorder.stream is not None else None

    def passages(self, chunks: Iterable[bytes]) -> Iterator[Passage]:
        """Feed all pieces and close; passages come as they are finished. `message` is there after the last one."""
        for chunk in chunks:
            if self._recorder.stream is not None:
                self._recorder.stream.feed_bytes(chunk)
            elif self._detector is not None:
                self._detector.feed(chunk)
            yield from self._recorder.take()
        if self._recorder.stream is None and self._detector is not None:
            self._detector.close()
        stream = self._recorder.stream
        if stream is None:
            assert self._detector is not None
            self.message = self._detector.unrecognised(None)
            return
        stream.close()
        yield from self._recorder.take()
        self.message = stream.message()
