"""Whatever the bytes and wherever they are cut: the same items, no exception, nothing held beyond the bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_cases import ALL, PIECES, bodies, items_of, settings_of_a_wire

from reknit.wire import Limits, NdjsonWire, SseWire, open_wire

# `repr` keeps apart what `==` does not: 1 and 1.0 and True, a tuple and its note.


@given(bodies, settings_of_a_wire, st.data())
def test_any_cut_gives_the_same_items(body: bytes, settings: dict[str, Any], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    assert repr(items_of(body, cuts=cuts, **settings)) == repr(items_of(body, **settings))


@given(bodies, settings_of_a_wire)
def test_every_single_byte_gives_the_same_items(body: bytes, settings: dict[str, Any]) -> None:
    assert repr(items_of(body, cuts=range(len(body)), **settings)) == repr(items_of(body, **settings))


@given(bodies, settings_of_a_wire, st.sampled_from([b"\n", b"\n\n", b"\r\n\r\n", b"\r"]))
def test_cuts_at_line_ends_give_the_same_items(body: bytes, settings: dict[str, Any], line_end: bytes) -> None:
    cuts = [at + len(line_end) for at in range(len(body)) if body.startswith(line_end, at)]
    assert repr(items_of(body, cuts=cuts, **settings)) == repr(items_of(body, **settings))


@pytest.mark.parametrize("wire", ["sse", "ndjson"])
def test_a_body_larger_than_the_stride_gives_the_same_items(wire: str) -> None:
    body = b"".join(PIECES) * 40
    whole = items_of(body, wire)
    assert repr(items_of(body, wire, cuts=range(0, len(body), 7))) == repr(whole)
    assert repr(items_of(body, wire, cuts=range(0, len(body), 70_001))) == repr(whole)


def test_an_unfinished_line_is_held_once_and_not_rescanned() -> None:
    wire = SseWire(end=None, salvage=ALL, keep_event=False, limits=Limits())
    wire.feed(b'data: {"a":"')
    for _ in range(100_000):
        assert wire.feed(b"x") == []
    assert len(wire._pending) == len(b'data: {"a":"') + 100_000
    assert wire.feed(b'"}\n\n') == [{"a": "x" * 100_000}]
    assert not wire._pending


@pytest.mark.parametrize("wire_type", [SseWire, NdjsonWire])
def test_a_line_without_end_is_not_kept(wire_type: type[SseWire] | type[NdjsonWire]) -> None:
    wire = wire_type(end=None, salvage=ALL, keep_event=False, limits=Limits(frame_bytes=1000))
    for _ in range(100):
        wire.feed(b"data: " + b"x" * 994)
        assert len(wire._pending) <= 1001


def test_lines_of_one_event_are_not_kept_without_bound() -> None:
    wire = SseWire(end=None, salvage=ALL, keep_event=False, limits=Limits(frame_bytes=1000))
    notes = [item for _ in range(100) for item in wire.feed(b"data: {}\n" * 100)]
    assert [note.reason for note in notes] == ["frame-too-long"]
    assert not wire._rest


def test_a_body_that_is_no_stream_is_held_up_to_a_bound() -> None:
    wire = SseWire(end=None, salvage=ALL, keep_event=False, limits=Limits())
    for _ in range(40):
        wire.feed(b"some text, on and on\n" * 5000)
    assert wire._opening is not None
    assert sum(map(len, wire._opening._lines)) <= 1 << 20
    (failure,) = wire.close()
    assert failure.code == "text-body"
    assert len(failure.message) < 300


@pytest.mark.parametrize("name", ["sse", "ndjson"])
def test_what_comes_after_the_end_is_ignored(name: str) -> None:
    wire = open_wire(name, end=None, salvage=ALL)
    wire.feed(b'data: {"a":1}\n\n')
    wire.close()
    assert wire.feed(b'data: {"a":1}\n\n{"a":1}\n') == []
    assert wire.close() == []
