"""The same bytes in give the same message out, wherever they are cut; and frames as bytes or as dicts are the same."""

from __future__ import annotations

from typing import Any

import pytest
from effort import law
from frames import bodies, cut, frame_lists, json_text
from hypothesis import given, note
from hypothesis import strategies as st
from pool import SEED, TOOLS, vendors

import reknit
from reknit import Message, Reconstructor

VENDORS = vendors()


def rebuild(chunks: list[Any], vendor: str | None, tools: list[dict[str, Any]] | None) -> Message:
    return reknit.reconstruct(chunks, vendor, tools, seed=SEED)


def same(first: Message, second: Message) -> None:
    assert first.model_dump() == second.model_dump()


@pytest.mark.parametrize("vendor", VENDORS)
@law(180, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]), cuts=st.lists(st.integers(0, 2**16), max_size=12))
def test_any_cut_of_the_bytes_gives_the_same_message(
    vendor: str, data: st.DataObject, tools: list[dict[str, Any]] | None, cuts: list[int]
) -> None:
    body = data.draw(bodies(reknit.table_for(vendor)), label="body")
    whole = rebuild([body], vendor, tools)
    same(rebuild(cut(body, cuts), vendor, tools), whole)
    same(rebuild([body[at : at + 1] for at in range(len(body))], vendor, tools), whole)


@law(60)
@given(data=st.data(), vendor=st.sampled_from(VENDORS), cuts=st.lists(st.integers(0, 2**16), max_size=12))
def test_any_cut_gives_the_same_message_where_the_protocol_is_recognised(
    data: st.DataObject, vendor: str, cuts: list[int]
) -> None:
    body = data.draw(bodies(reknit.table_for(vendor)), label="body")
    whole = rebuild([body], None, None)
    same(rebuild(cut(body, cuts), None, None), whole)
    same(rebuild([body[at : at + 1] for at in range(len(body))], None, None), whole)


@pytest.mark.parametrize("vendor", VENDORS)
@law(180, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]))
def test_frames_as_bytes_are_frames_as_dicts(
    vendor: str, data: st.DataObject, tools: list[dict[str, Any]] | None
) -> None:
    table = reknit.table_for(vendor)
    frames = [frame for frame in data.draw(frame_lists(table), label="frames") if isinstance(frame, dict)]
    as_dicts = Reconstructor(vendor, tools, seed=SEED)
    as_bytes = Reconstructor(vendor, tools, seed=SEED, wire="sse")
    as_lines = Reconstructor(vendor, tools, seed=SEED, wire="ndjson")
    for frame in frames:
        text = json_text(frame, ascii_only=True)
        updates = as_dicts.feed(frame)
        assert as_bytes.feed(f"data: {text}\n\n") == updates
        as_lines.feed(f"{text}\n")
    message = as_dicts.close()
    note(repr(message))
    same(as_bytes.close(), message)
    same(as_lines.close(), message)
