"""Several answers in one stream: each is rebuilt as if it were alone, and none outlives the stream."""

from __future__ import annotations

from typing import Any

import pytest
from effort import law
from hypothesis import given
from hypothesis import strategies as st
from pool import SEED

import reknit
from reknit import Message, Reconstructor
from reknit.updates import Delta

VENDOR = "openai-chat"


def chunk(index: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


DELTAS: list[dict[str, Any]] = [
    {"content": "a"},
    {"content": ""},
    {"reasoning_content": "b"},
    {"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "Read", "arguments": '{"file'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '_path": "x"}'}}]},
    {"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "Read", "arguments": '{"file_path": "x"}'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
]
STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(DELTAS), st.sampled_from([None, None, None, "stop"])), max_size=12
)


def content(message: Message) -> list[Any]:
    """The blocks without the ids that were made up, which are others in each choice."""
    blocks = [block.model_dump() for block in message.content]
    return [{key: value for key, value in block.items() if key != "id" or value == "t1"} for block in blocks]


@law(200)
@given(steps=STEPS, together=st.booleans())
def test_a_choice_is_rebuilt_as_if_it_were_alone(
    steps: list[tuple[int, dict[str, Any], str | None]], together: bool
) -> None:
    frames: list[dict[str, Any]] = []
    for step in steps:
        mates = frames[-1]["choices"] if frames else []
        if together and mates and all(one["index"] != step[0] for one in mates):
            mates.extend(chunk(*step)["choices"])
        else:
            frames.append(chunk(*step))
    both = Reconstructor(VENDOR, seed=SEED)
    for frame in frames:
        both.feed(frame)
    both.feed("[DONE]")
    message = both.close()
    came = {index for index, _, _ in steps}
    for index, rebuilt in both.choices.items():
        if index not in came:
            assert not rebuilt.content
            continue
        alone = Reconstructor(VENDOR, seed=SEED)
        for step in steps:
            if step[0] == index:
                alone.feed(chunk(0, *step[1:]))
        alone.feed("[DONE]")
        expected = alone.close()
        assert content(rebuilt) == content(expected)
        assert rebuilt.stop_reason == expected.stop_reason
        assert rebuilt.complete == expected.complete
        assert [one.reason for one in rebuilt.notes] == [one.reason for one in expected.notes]
    ids = [call.id for rebuilt in both.choices.values() for call in rebuilt.calls if call.id != "t1"]
    assert len(set(ids)) == len(ids), "one made-up id in two choices"
    assert message.complete or not steps or message.error is None


@pytest.mark.parametrize("index", [{"index": 0}, {"index": 1}, {}])
def test_two_pieces_of_one_choice_in_one_frame_are_both_taken(index: dict[str, int]) -> None:
    frame = {"choices": [{**index, "delta": {"content": text}} for text in ("Hel", "lo")]}
    message = reknit.reconstruct([frame], VENDOR, seed=SEED)
    assert message.text == "Hello"


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("beside", [[], [{"index": 2, "delta": {"content": "a"}}]])
def test_what_no_map_takes_is_noted_in_every_choice(index: int, beside: list[Any]) -> None:
    reconstructor = Reconstructor(VENDOR, seed=SEED)
    reconstructor.feed({"choices": [{"index": index, "delta": {"nobody_knows": "this"}}, *beside]})
    message = reconstructor.close()
    notes = [*message.notes, *(one for choice in reconstructor.choices.values() for one in choice.notes)]
    assert any("nobody_knows" in one.first for one in notes)


def test_a_choice_that_opens_after_the_stream_failed_is_not_complete() -> None:
    reconstructor = Reconstructor(VENDOR, seed=SEED)
    reconstructor.feed({"error": {"message": "boom"}})
    reconstructor.feed(chunk(1, {"content": "late"}, "stop"))
    reconstructor.feed("[DONE]")
    assert reconstructor.close().error is not None
    assert not any(choice.complete for choice in reconstructor.choices.values())


def test_a_stream_of_another_choice_alone_is_told_as_it_grows() -> None:
    reconstructor = Reconstructor(VENDOR, seed=SEED)
    updates = reconstructor.feed(chunk(1, {"content": "Hi"}, "stop"))
    updates += reconstructor.feed("[DONE]")
    message = reconstructor.close()
    assert message.text == "Hi"
    assert message.complete
    assert not message.notes
    assert "Hi" in [update.text for update in updates if isinstance(update, Delta)]


def test_a_stream_of_another_choice_alone_passes_the_strict_policy() -> None:
    frames = [chunk(1, {"content": "Hi"}, "stop"), "[DONE]"]
    message = reknit.reconstruct(frames, VENDOR, policy="strict", seed=SEED)
    assert message.text == "Hi"
    assert message.error is None


@pytest.mark.parametrize("index", [-1, 1.5, "0", None, True, {}, 10**30, 2**31])
def test_a_choice_with_an_odd_number_is_taken_or_noted(index: Any) -> None:
    message = reknit.reconstruct([{"choices": [{"index": index, "delta": {"content": "Hi"}}]}], VENDOR, seed=SEED)
    assert message.text == "Hi" or "choice-index" in {one.reason for one in message.notes}
