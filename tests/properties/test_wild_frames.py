"""Any JSON value as a frame, and any bytes as a body, neither raise nor hang: for every shipped vendor."""

from __future__ import annotations

from typing import Any

import pytest
from effort import law
from frames import WILD, bodies, frame_lists, json_text, monsters, place
from hypothesis import given
from hypothesis import strategies as st
from pool import SEED, TOOLS, vendors

import reknit
from reknit import Message, Reconstructor
from reknit.paths import Step, parse_path
from reknit.table import ExprSpec, Table

VENDORS = vendors()


def _paths(spec: ExprSpec) -> list[str]:
    return [spec.path, *(path for _, member in spec.members for path in _paths(member))]


def paths_of(table: Table) -> list[tuple[Step, ...]]:
    """Every path that a vendor's program reads, from the root of the frame, and every beginning of one."""
    found: set[tuple[Step, ...]] = {()}
    for one in table.program.maps:
        for written in one.at:
            at = parse_path(written)[1]
            texts = [path for emit in one.emits for bind in emit.binds if bind for path in _paths(bind)]
            texts += [where.path for where in one.where]
            for relative, steps in map(parse_path, filter(None, ["@", *texts])):
                found.add((*at, *steps) if relative else steps)
    for guard in (*table.program.ignores, *table.program.detects):
        found.update(parse_path(where.path)[1] for where in guard.where)
    return sorted({path[:n] for path in found for n in range(len(path) + 1)}, key=repr)


def wild(table: Table) -> st.SearchStrategy[Any]:
    """JSON values of any shape whose keys are those that the vendor's maps look for."""
    keys = sorted({step for path in paths_of(table) for step in path if isinstance(step, str)})
    words = sorted(
        {str(value) for one in table.program.maps for where in one.where for value in where.values} | {"", "a", "\x00"}
    )
    leaves = st.one_of(
        st.sampled_from(words),
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(WILD),
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=4),
        max_leaves=16,
    )


def take(reconstructor: Reconstructor, chunks: list[Any]) -> Message:
    """Feed everything, and ask for all that can be asked for."""
    for chunk in chunks:
        reconstructor.feed(chunk)
        reconstructor.snapshot()
    message = reconstructor.close()
    assert set(reconstructor.choices)
    assert message.complete is False or message.error is None
    return message


@pytest.mark.parametrize("vendor", VENDORS)
@law(150, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]))
def test_any_json_value_is_taken_as_a_frame(
    vendor: str, data: st.DataObject, tools: list[dict[str, Any]] | None
) -> None:
    values = data.draw(st.lists(wild(reknit.table_for(vendor)), max_size=4), label="frames")
    take(Reconstructor(vendor, tools, seed=SEED), [value for value in values if isinstance(value, dict | list)])


@pytest.mark.parametrize("vendor", VENDORS)
@law(100, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]))
def test_any_json_value_is_taken_as_bytes(vendor: str, data: st.DataObject, tools: list[dict[str, Any]] | None) -> None:
    values = data.draw(st.lists(wild(reknit.table_for(vendor)), max_size=4), label="frames")
    framing = data.draw(st.sampled_from(["data: {}\n\n", "{}\n"]))
    chunks = [framing.replace("{}", json_text(value, ascii_only=True)) for value in values]
    take(Reconstructor(vendor, tools, seed=SEED), chunks)


@pytest.mark.parametrize("vendor", VENDORS)
def test_any_value_is_taken_at_every_path_that_a_map_reads(vendor: str) -> None:
    table = reknit.table_for(vendor)
    plain = [None, True, "", "s", 0, 1.5, [], {}, [[]], {"a": {}}, [None], ["s"], [{}]]
    # Most vendors are dialects: what their protocol's own file has been through they need not go through again.
    values = (
        [*plain, *WILD, *monsters()] if vendor in (table.program.protocol, "anthropic") else [1.5, [None], *monsters()]
    )
    for path in filter(None, paths_of(table)):
        for value in values:
            frame = place({}, path, value)
            reconstructor = Reconstructor(table, TOOLS, seed=SEED)
            # First by itself, then among others that are as they should be, so that there are blocks to be about.
            for chunk in [frame, *OPENING.get(table.program.protocol, []), frame]:
                reconstructor.feed(chunk)
            reconstructor.close()


OPENING: dict[str, list[Any]] = {
    "openai-chat": [
        {"id": "c", "choices": [{"index": 0, "delta": {"content": "a", "reasoning_content": "b"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "Read"}}]}}]},
    ],
    "anthropic-messages": [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "s"}},
    ],
}


@pytest.mark.parametrize("vendor", VENDORS)
@law(100, among=len(VENDORS))
@given(data=st.data())
def test_frames_that_are_nearly_right_are_taken(vendor: str, data: st.DataObject) -> None:
    table = reknit.table_for(vendor)
    take(
        Reconstructor(vendor, TOOLS, seed=SEED),
        [f for f in data.draw(frame_lists(table, odd=WILD)) if isinstance(f, dict)],
    )


@pytest.mark.parametrize("vendor", [*VENDORS, None])
@law(300, among=len(VENDORS))
@given(
    chunks=st.lists(st.binary(max_size=40) | st.text(max_size=20), max_size=5),
    wire=st.sampled_from([None, "sse", "ndjson"]),
)
def test_any_bytes_are_taken(vendor: str | None, chunks: list[bytes | str], wire: str | None) -> None:
    take(Reconstructor(vendor, seed=SEED, wire=wire), chunks)


@pytest.mark.parametrize("vendor", VENDORS)
@law(60, among=len(VENDORS))
@given(data=st.data(), cuts=st.lists(st.tuples(st.integers(0, 10**4), st.binary(max_size=3)), max_size=6))
def test_a_good_body_with_bytes_put_in_anywhere_is_taken(
    vendor: str, data: st.DataObject, cuts: list[tuple[int, bytes]]
) -> None:
    body = data.draw(bodies(reknit.table_for(vendor)), label="body")
    for at, dirt in cuts:
        at %= len(body) + 1
        body = body[:at] + dirt + body[at + (at % 2) :]
    take(Reconstructor(vendor, TOOLS, seed=SEED), [body])
