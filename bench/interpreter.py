"""How long rebuilding takes, as a multiple of splitting lines and decoding each payload with orjson, and nothing else.

    python bench/interpreter.py [--pairs N]

Each figure is the median of ratios over interleaved pairs of runs in one process, in processor time: it holds when the
machine's speed drifts, and says nothing about seconds. `whole` feeds the body at once, `each` one event a call.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import orjson

from reknit import Table, table_for
from reknit.stream import Stream
from reknit.tools.registry import Tools

ARGUMENT_CHARACTERS = 100_000


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-AbCdEf123456",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "a-model-2026-01-01",
        "system_fingerprint": "fp_1234567890",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }


def call_start(index: int, name: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": ""}}]}


def call_input(index: int, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def chat_text() -> list[dict[str, Any]]:
    return [*(chunk({"content": f" word{n}"}) for n in range(2000)), chunk({}, "stop")]


def chat_calls() -> list[dict[str, Any]]:
    frames = [chunk({"reasoning_content": f" step {n}"}) for n in range(500)]
    frames += [chunk({"content": f" word{n}"}) for n in range(500)]
    for index in range(3):
        frames.append(chunk(call_start(index, "read_file")))
        frames += [chunk(call_input(index, piece)) for piece in ('{"path":', ' "notes', f"/{index}", '.md"}')]
    return [*frames, chunk({}, "tool_calls")]


def long_call(fragments: int) -> list[dict[str, Any]]:
    text = json.dumps({"path": "x", "content": "abcd" * (ARGUMENT_CHARACTERS // 4)})
    size = max(1, len(text) // fragments)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [chunk(call_start(0, "write_file")), *(chunk(call_input(0, p)) for p in pieces), chunk({}, "tool_calls")]


def body_of(frames: list[dict[str, Any]]) -> bytes:
    lines = (b"data: " + json.dumps(frame, separators=(",", ":")).encode() + b"\n\n" for frame in frames)
    return b"".join(lines) + b"data: [DONE]\n\n"


def decode_only(body: bytes) -> None:
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            orjson.loads(line[6:])


def whole(table: Table, body: bytes) -> None:
    stream = Stream(table, Tools(), "seed")
    stream.feed_bytes(body)
    stream.close()
    stream.message()


def each(table: Table, pieces: list[bytes]) -> None:
    stream = Stream(table, Tools(), "seed")
    for piece in pieces:
        stream.feed_bytes(piece)
    stream.close()
    stream.message()


def timed(run: Callable[[], None]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def ratio(run: Callable[[], None], against: Callable[[], None], pairs: int) -> float:
    run(), against()
    return statistics.median(timed(run) / timed(against) for _ in range(pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=9)
    pairs = parser.parse_args().pairs
    table = table_for("openai-chat")
    print(f"{'workload':<34}{'whole':>8}{'each':>8}    times decoding alone (target: 4)")
    for name, frames in {
        "chat text, 2,000 deltas": chat_text(),
        "reasoning, text and 3 calls": chat_calls(),
        "one call of 100 KB, 25k fragments": long_call(25_000),
    }.items():
        body = body_of(frames)
        pieces = [part + b"\n\n" for part in body.split(b"\n\n") if part]
        at_once = ratio(lambda: whole(table, body), lambda: decode_only(body), pairs)
        by_event = ratio(lambda: each(table, pieces), lambda: decode_only(body), pairs)
        print(f"{name:<34}{at_once:>8.2f}{by_event:>8.2f}")
    print("\ntime per fragment of one call of 100 KB, against 25k fragments (target: within 20%)")
    few = body_of(long_call(25_000))
    for fragments in (50_000, 100_000):
        many = body_of(long_call(fragments))
        scale = few.count(b"\n\n") / many.count(b"\n\n")
        grown = ratio(lambda: whole(table, many), lambda: whole(table, few), max(3, pairs // 3))
        print(f"{fragments:>8,} fragments{grown * scale:>10.2f}")


if __name__ == "__main__":
    main()
