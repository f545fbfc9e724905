"""Work grows with the stream and no faster: nothing is read again for each piece that comes.

What is counted are lines of Python, which no clock disturbs; where the work is done inside of a regular expression,
the time of the process, against a bound that a linear search stays far below.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import reknit
from reknit.vocabulary.repairs import REPAIRS


def steps_of(run: Callable[[], Any]) -> int:
    """How many lines of Python a call executes."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return lines


def delta(kind: str, number: int) -> dict[str, Any]:
    """A fragment of a stream, one of many of its kind."""
    if kind == "arguments":
        if number:
            return {"tool_calls": [{"index": 0, "function": {"arguments": "x\\n"}}]}
        return {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": '{"a": "'}}]}
    if kind == "calls":
        return {"tool_calls": [{"index": number, "id": f"t{number}", "function": {"name": "f", "arguments": "{}"}}]}
    if kind == "one call again and again":
        return {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]}
    if kind == "switches":
        return {"content": "a"} if number % 2 else {"reasoning_content": "b"}
    if kind == "oddities":
        return {"tool_calls": [{"index": {}, "function": {"arguments": "{}"}}]}
    return {kind: "word "}


KINDS = ["arguments", "content", "reasoning_content", "calls", "one call again and again", "switches", "oddities"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_work_of_a_stream_is_linear_in_its_fragments(kind: str) -> None:
    def work(count: int) -> int:
        chunks = [{"choices": [{"index": 0, "delta": delta(kind, number)}]} for number in range(count)]
        reconstructor = reknit.Reconstructor("openai-chat", seed="s")

        def feed() -> None:
            for chunk in chunks:
                reconstructor.feed(chunk)
            reconstructor.close()

        return steps_of(feed)

    work(3)
    few, many = work(300), work(600)
    assert many < 2.2 * few, f"{few} lines for 300 fragments, {many} for 600"


@pytest.mark.parametrize("line", [b'data: {"nobody": "knows"}\n\n', b"data: x\n\n", b"word\n", b'{"a": 1}\n'])
def test_the_work_of_recognising_a_protocol_is_linear_in_the_body(line: bytes) -> None:
    def work(count: int) -> int:
        reconstructor = reknit.Reconstructor(None, seed="s")

        def feed() -> None:
            for _ in range(count):
                reconstructor.feed(line)
            reconstructor.close()

        return steps_of(feed)

    work(3)
    few, many = work(100), work(200)
    assert many < 2.2 * few, f"{few} lines for 100 chunks, {many} for 200"


BROKEN = {
    "code that is cut off": '{"code": "' + 'print(\\"a\\") ' * 4000,
    "commas": '{"a": 1' + ", " * 20_000,
    "blanks": '{"a": 1,' + " " * 40_000,
    "blanks and more": "{}" + " " * 40_000 + "x",
    "quotes": '{"a": "b" ' * 5000,
    "backslashes": "\\" * 40_000,
    "numbers": "1 " * 20_000,
    "braces": "{" + "} " * 20_000,
    "tokens": "<|a|> " * 8000,
    "fences": "```\n" * 10_000,
    "objects": '{"a": 1}' * 5000,
    "words": "True None " * 4000,
    "open quotes": '"' * 39_999,
}


@pytest.mark.parametrize("name", REPAIRS)
def test_the_work_of_a_repair_is_linear_in_the_text(name: str) -> None:
    for what, text in BROKEN.items():
        began = time.process_time()
        REPAIRS[name].apply(text, "")
        took = time.process_time() - began
        # A linear search of 50 kB takes milliseconds, a quadratic one many seconds.
        assert took < 2, f"{what}: {took:.1f} s for {len(text)} characters"
