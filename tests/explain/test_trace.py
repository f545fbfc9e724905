"""What is told of a stream is what happened: the same message, the cells of the table, nothing left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from explained import CALLS, HOSTILE, chunk, follow, happenings, sse, tool

import reknit
from reknit.explain.happenings import as_data
from reknit.explain.observing import ObservedStream
from reknit.explain.trace import Recorder
from reknit.table import ENDING_STATE
from reknit.tools.registry import Tools
from reknit.updates import NoteAdded

CHAT = reknit.table_for("openai-chat")
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "docs" / "examples").glob("*.sse"))
BODIES = {"calls": CALLS, "hostile": HOSTILE, "nothing": b"", **{path.stem: path.read_bytes() for path in EXAMPLES}}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("cut", [1, 50, 100_000])
def test_watching_changes_nothing_and_tells_the_cells_that_acted(name: str, cut: int) -> None:
    passages, message = follow(BODIES[name], CHAT, cut=cut)
    assert [passage.number for passage in passages] == list(range(1, len(passages) + 1))
    noted = set()
    for one in happenings(passages):
        number = CHAT.policy.cells[one.event][one.state or ENDING_STATE][one.cell]
        outcome = CHAT.policy.outcomes[number]
        assert (one.rule, one.actions) == (outcome.rule, outcome.actions)
        assert not one.state or one.to == outcome.to
        assert set(one.answers) == {question.name for question in CHAT.policy.events[one.event].questions}
        noted |= {(note.rule, note.reason) for note in one.notes}
    noted |= {(note.rule, note.reason) for passage in passages for note in passage.notes}
    assert {(note.rule, note.reason) for note in message.notes} == noted


@pytest.mark.parametrize("name", BODIES)
def test_what_is_told_does_not_depend_on_where_the_stream_is_cut(name: str) -> None:
    assert as_data(follow(BODIES[name], CHAT, cut=1)[0]) == as_data(follow(BODIES[name], CHAT, cut=10_000)[0])


def test_each_state_goes_on_where_the_last_one_ended() -> None:
    passages, _ = follow(CALLS, CHAT)
    state = CHAT.policy.start
    for passage in passages:
        for one in passage.events:
            assert one.state == state
            state = one.to
    assert state == "done"


def test_updates_of_all_events_are_all_updates() -> None:
    passages, _ = follow(HOSTILE, CHAT, cut=10_000)
    reconstructor = reknit.Reconstructor(CHAT, seed="seed")
    wanted = reconstructor.feed(HOSTILE)
    reconstructor.close()
    wanted += [update for update in reconstructor.last_updates if type(update).__name__ != "StreamEnded"]
    told = [
        update
        for passage in passages
        for update in (*passage.updates, *(update for one in passage.events for update in one.updates))
    ]
    # What is told beside events may have come between two of them.
    assert sorted(map(repr, told)) == sorted(map(repr, wanted))


def test_an_event_is_told_with_its_map_fields_answers_and_flushes() -> None:
    passages, _ = follow(CALLS, CHAT)
    (one,) = passages[2].events
    assert (one.event, one.map, one.fields) == ("TEXT_DELTA", "content", {"text": "Let me look."})
    assert one.answers == {"slot": "none", "text": "some", "held": "none"}
    assert (one.state, one.to, one.rule) == ("thinking", "text", "text-open")
    assert [(action.verb, action.flush) for action in one.actions] == [
        ("archive", True),
        ("open", False),
        ("append", False),
    ]


def test_the_calls_that_an_event_ends_are_told_under_it() -> None:
    passages, _ = follow(CALLS, CHAT)
    start = next(one for one in passages[5].events if one.event == "TOOL_USE_START")
    (ended,) = start.ended
    assert (ended.event, ended.call, ended.rule) == ("CALL_END", ("t1", "Read"), "call-good")
    assert ended.answers["seal"] == "sequential"
    stop = next(one for one in happenings(passages) if one.event == "MESSAGE_STOP")
    assert [one.call for one in stop.ended] == [("t2", "Grep")]
    assert stop.stop_reason == "tool_use"


def test_a_judgement_that_asks_again_is_told_twice() -> None:
    body = sse(tool('{"city": "Ulm"}'), chunk(finish_reason="tool_calls"))
    passages, message = follow(body, CHAT, [{"name": "weather", "input_schema": {"required": ["city"]}}])
    stop = next(one for one in happenings(passages) if one.event == "MESSAGE_STOP")
    assert [one.rule for one in stop.ended] == ["call-name-inferred", "call-good"]
    assert message.calls[0].name == "weather"
    notes = [(note.reason, one.rule) for one in stop.ended for note in one.notes]
    assert notes == [("name-inferred", "call-name-inferred")]
    assert not stop.notes


def test_frames_without_events_are_told_apart() -> None:
    body = sse(chunk({"role": "assistant"}), {"strange": 1}, {"choices": [{"index": 0, "delta": {}}]}, "{broken")
    passages, _ = follow(body, CHAT)
    assert passages[1].mapped is False
    assert [note.reason for note in passages[1].notes] == ["unmapped-frame"]
    assert (passages[2].mapped, passages[2].ignored, passages[2].events) == (True, "empty-delta", [])
    assert (passages[3].kind, [note.reason for note in passages[3].notes]) == ("wire note", ["bad-frame"])
    assert [passage.kind for passage in passages[4:]] == ["end marker", "close"]


def test_a_value_of_another_type_is_noted_beside_the_events() -> None:
    passages, _ = follow(sse(chunk({"reasoning_content": 7, "content": "Hi"})), CHAT)
    assert [note.reason for note in passages[0].notes] == ["mistyped"]
    assert [one.event for one in passages[0].events] == ["MESSAGE_START", "TEXT_DELTA"]


def test_what_a_splitter_holds_back_is_told_until_it_comes() -> None:
    table = reknit.table_for("openai-chat", fragments=["think-tags"])
    body = sse(
        chunk({"content": "<thi"}),
        chunk({"content": "nk>Hm</th"}),
        chunk({"content": "ink>Yes"}),
        chunk({"content": "."}),
    )
    passages, message = follow(body, table)
    assert [passage.held for passage in passages[:4]] == [{"think": "<thi"}, {"think": "</th"}, {}, {}]
    assert not [one for one in passages[0].events if one.event != "MESSAGE_START"]
    made = [(one.event, one.split, one.map) for one in happenings(passages) if one.event.endswith("DELTA")]
    assert made == [
        ("THINKING_DELTA", "think", "content"),
        ("TEXT_DELTA", "think", "content"),
        ("TEXT_DELTA", "think", "content"),
    ]
    assert message.text == "Yes."


def test_what_was_held_back_comes_with_what_follows_it() -> None:
    table = reknit.table_for("openai-chat", fragments=["think-tags"])
    passages, _ = follow(sse(chunk({"content": "<thi"}), chunk(finish_reason="stop")), table)
    assert [(one.event, one.split, one.map) for one in passages[1].events] == [
        ("TEXT_DELTA", "think", None),
        ("MESSAGE_STOP", None, "finish"),
    ]


def test_choices_are_told_with_their_number() -> None:
    both = {"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}
    passages, _ = follow(sse(both), CHAT)
    assert [(one.choice, one.fields.get("text")) for one in passages[0].events] == [(1, "B"), (0, "A")]
    assert {one.choice for one in passages[1].events} == {0, 1}


def test_a_recognised_protocol_comes_first() -> None:
    passages, message = follow(CALLS, None)
    assert passages[0].kind == "detection"
    assert [note.reason for note in passages[0].notes] == ["protocol-recognised"]
    assert message.vendor == "openai-chat"


def test_nothing_is_recognised() -> None:
    passages, message = follow(b"data: {}\n\n", None)
    assert passages == []
    assert message.error is not None


def test_a_body_that_is_no_stream() -> None:
    passages, _ = follow(b"<html><body>502</body></html>", CHAT)
    assert passages[0].kind == "failure"
    assert [one.event for one in passages[0].events] == ["STREAM_ERROR"]
    passages, _ = follow(json.dumps({"strange": 1}).encode(), CHAT)
    assert [passage.kind for passage in passages] == ["frame", "failure", "close"]


def test_after_the_end_of_a_body_that_broke_off_nothing_is_read() -> None:
    passages, _ = follow(b"data: {}\n\n" + CALLS, CHAT, cut=10_000)
    assert "unread" not in {passage.kind for passage in passages}
    limits = reknit.Limits(body_bytes=300)
    recorder = Recorder()
    recorder.stream = stream = ObservedStream(CHAT, Tools(None), recorder, "seed", limits=limits)
    stream.feed_bytes(CALLS)
    stream.close()
    kinds = [passage.kind for passage in recorder.take()]
    assert "failure" in kinds
    assert set(kinds[kinds.index("failure") + 1 :]) <= {"unread", "close"}


def test_a_policy_that_fails_on_deviations() -> None:
    passages, message = follow(sse({"strange": 1}, chunk({"content": "A"})), reknit.table_for("openai-chat", "strict"))
    assert message.error is not None
    assert [one.event for one in passages[0].events] == ["STREAM_ERROR"]
    assert passages[0].events[0].rule == "fail"


def test_frames_are_shown_by_what_is_new_in_them() -> None:
    passages, _ = follow(CALLS, CHAT)
    assert passages[0].news == passages[0].shown
    assert passages[2].news == '… {"choices": [{"delta": {"content": "Let me look."}}]}'
    repeated, _ = follow(sse(chunk({"content": "ha"}), chunk({"content": "ha"})), CHAT)
    assert repeated[1].news == '… {"choices": [{"delta": {"content": "ha"}}]}'


def test_passages_are_plain_data() -> None:
    for body in BODIES.values():
        for passage in follow(body, CHAT)[0]:
            json.dumps(as_data(passage))
            assert all(isinstance(update, NoteAdded) for update in passage.updates)
