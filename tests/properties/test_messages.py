"""What every message keeps, whatever came in: it can be saved and loaded, its ids are unique, its notes name their
rule, looking at it early changes nothing, and closing twice gives the same.
"""

from __future__ import annotations

from typing import Any

import pytest
from effort import EFFORT, law
from frames import WILD, bodies, cut, frame_lists
from hypothesis import given
from hypothesis import strategies as st
from pool import KITS, SEED, TOOLS, tables, vendors, walk

import reknit
from reknit import Message, Reconstructor, Table, UsageError
from reknit.assembly import assemble_message
from reknit.machine import Machine, Runtime
from reknit.updates import StreamEnded

VENDORS = vendors()
TABLES = tables()

ELSEWHERE = {"wire", "frame", "choices", "detect", "notes"}
"""Where notes come from that no rule makes."""


def sources(table: Table) -> set[str]:
    """All that a note may name: rules that stand in some cell, maps, and the way from bytes to events."""
    rules = {outcome.rule for outcome in table.policy.outcomes}
    return rules | {one.name for one in table.program.maps} | ELSEWHERE


def check(message: Message, table: Table | None) -> None:
    assert Message.model_validate_json(message.model_dump_json()) == message
    ids = [call.id for call in message.calls]
    assert len(set(ids)) == len(ids)
    assert "" not in ids
    assert set(message.verdicts) == set(ids)
    for call in message.calls:
        verdict = message.verdicts[call.id]
        assert verdict.executable is (call.invalid is None and verdict.seal != "cut")
        assert message.executable(call) is verdict.executable
        assert (call.raw_input is None) is (call.invalid is None)
    if table is not None:
        assert {one.rule for one in message.notes} <= sources(table)
        assert message.fingerprint == table.fingerprint
    assert len({(one.rule, one.reason, one.block) for one in message.notes if one.block is not None}) == len(
        [one for one in message.notes if one.block is not None]
    )
    for one in message.notes:
        assert one.block is None or 0 <= one.block < len(message.content)
        assert one.count >= 1
        assert (one.last is None) is (one.count == 1)
        assert len(one.first) <= 160
        assert "\n" not in one.first
    assert not (message.complete and message.error)


@pytest.mark.parametrize("name", TABLES)
def test_a_message_of_any_events_can_be_saved_and_its_notes_name_their_rule(name: str) -> None:
    table = TABLES[name]
    runtime = Runtime(table.policy)
    for number in range(round(60 * EFFORT)):
        for kit, tools in KITS.items():
            machine = Machine(runtime, tools, SEED)
            for event, fields in walk(table.policy, (number, kit), 30):
                machine.step(event, fields)
            message = assemble_message(machine, table)
            check(message, table)
            assert {one.rule for one in message.notes} <= {outcome.rule for outcome in table.policy.outcomes}


@pytest.mark.parametrize("vendor", [*VENDORS, None])
@law(180, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, [], TOOLS]), cuts=st.lists(st.integers(0, 2**16), max_size=6))
def test_a_message_of_any_body_can_be_saved_and_looking_changes_nothing(
    vendor: str | None, data: st.DataObject, tools: list[dict[str, Any]] | None, cuts: list[int]
) -> None:
    table = reknit.table_for(vendor or data.draw(st.sampled_from(VENDORS)))
    chunks = cut(data.draw(bodies(table), label="body"), cuts)
    looked, unseen = Reconstructor(vendor, tools, seed=SEED), Reconstructor(vendor, tools, seed=SEED)
    check(looked.snapshot(), looked.table)
    for chunk in chunks:
        looked.feed(chunk)
        early = looked.snapshot()
        check(early, looked.table)
        assert looked.snapshot() == early
        assert not early.complete or early.stop_reason
        unseen.feed(chunk)
    message = looked.close()
    check(message, looked.table)
    assert unseen.close() == message
    assert looked.close() is message
    assert looked.snapshot() == message
    assert looked.fail("too late") == message
    choices = looked.choices
    # Where nothing came for choice 0, the message is that of another one.
    own, *others = [choices[number].content for number in sorted(choices)]
    assert message.content in ([own] if own else [own, *others[:1]])
    for other in choices.values():
        check(other, looked.table)
    if looked.table is not None:
        assert [type(update) for update in looked.last_updates].count(StreamEnded) == 1
    with pytest.raises(UsageError):
        looked.feed(b"")


@pytest.mark.parametrize("vendor", VENDORS)
@law(180, among=len(VENDORS))
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]))
def test_a_message_of_any_frames_can_be_saved(
    vendor: str, data: st.DataObject, tools: list[dict[str, Any]] | None
) -> None:
    table = reknit.table_for(vendor)
    reconstructor = Reconstructor(vendor, tools, seed=SEED)
    for frame in data.draw(frame_lists(table, odd=WILD), label="frames"):
        if isinstance(frame, dict):
            reconstructor.feed(frame)
            check(reconstructor.snapshot(), table)
    failed = data.draw(st.booleans())
    message = reconstructor.fail("connection lost") if failed else reconstructor.close()
    check(message, table)


DEPTHS = [50, 150, 192, 250, 260, 400, 490, 520, 700, 980, 1000, 5000, 100_000]
NESTS = {"lists": ("[", "]"), "objects": ('{"a":', "}"), "both": ('[{"a":', "}]")}
AROUND = [
    '{"x":%s}',
    '{"x":%s}{"x":%s}',
    '{}{"x":%s}',
    '{"x":%s,}',
    "{'x':%s}",
    '{"x":%s, "y":"\\d"}',
    '{"x":%s, "y":"\\ud800"}',
    '```\n{"x":%s}\n```',
]


@pytest.mark.parametrize("nest", NESTS)
def test_arguments_of_any_depth_give_a_message_that_can_be_saved(nest: str) -> None:
    opening, closing = NESTS[nest]
    for depth in DEPTHS:
        value = opening * depth + "1" + closing * depth
        for around in AROUND if depth < 5000 else AROUND[:1]:
            text = around.replace("%s", value)
            call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": text}}
            choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
            message = reknit.reconstruct([{"choices": [choice]}], "openai-chat", seed=SEED)
            check(message, reknit.table_for("openai-chat"))
            if depth == 50 and around == AROUND[0]:
                assert message.executable(message.calls[0])
