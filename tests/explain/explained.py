"""Streams for the tests of explanations, and how they are followed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import reknit
from reknit.explain.driving import Tracing
from reknit.explain.happenings import Happening, Passage
from reknit.message import Message
from reknit.table import Table
from reknit.tools.registry import ToolLike, Tools

SEED = "seed"


def chunk(delta: dict[str, Any] | None = None, index: int = 0, **rest: Any) -> dict[str, Any]:
    """A chunk of the chat protocol."""
    choice = {"index": index, "delta": delta or {}, **rest}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def tool(arguments: str, index: int = 0, **head: str) -> dict[str, Any]:
    """A chunk of a call; `head` is its id and name, where it has them."""
    function = {"arguments": arguments, **({"name": head["name"]} if "name" in head else {})}
    ident = {"id": head["id"]} if "id" in head else {}
    return chunk({"tool_calls": [{"index": index, **ident, "function": function}]})


def sse(*frames: Any, end: bool = True) -> bytes:
    """Frames as an event stream; texts are taken as they are."""
    events = [f"data: {frame if isinstance(frame, str) else json.dumps(frame)}\n\n" for frame in frames]
    return "".join([*events, *(["data: [DONE]\n\n"] if end else [])]).encode()


CALLS = sse(
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "Hm."}),
    chunk({"content": "Let me look."}),
    tool('{"file_path":', id="t1", name="Read"),
    tool(' "a.py"}'),
    tool('{"pattern": "x"}', 1, id="t2", name="Grep"),
    chunk(finish_reason="tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
)

HOSTILE_TEXT = (
    '</script><img src=x onerror="document.title=1"><!-- <b>bold</b> &lt; \x1b[31m\u202e\u2028\x00{{script}}{{data}}'
)
HOSTILE = sse(
    {**chunk({"content": f"Text {HOSTILE_TEXT}"}), "model": HOSTILE_TEXT},
    chunk({"reasoning_content": HOSTILE_TEXT}),
    tool(json.dumps({"path": HOSTILE_TEXT}), id=f"id{HOSTILE_TEXT}", name=f"Read{HOSTILE_TEXT}"),
    {HOSTILE_TEXT: HOSTILE_TEXT},
    f"no json {HOSTILE_TEXT}".replace("\n", " "),
    chunk(finish_reason=f"stop{HOSTILE_TEXT}"),
)


def follow(
    body: bytes,
    table: Table | None = None,
    tools: Sequence[ToolLike] | None = None,
    cut: int = 7,
    **options: Any,
) -> tuple[list[Passage], Message]:
    """All passages of a stream that is fed in pieces, and its message, which is that of the plain machine."""
    tracing = Tracing(table, Tools(tools), SEED, **options)
    pieces = [body[at : at + cut] for at in range(0, len(body), cut)]
    passages = list(tracing.passages(pieces))
    plain = reknit.reconstruct(pieces, table, tools, seed=SEED, **options)
    assert tracing.message == plain
    return passages, plain


def happenings(passages: Sequence[Passage]) -> Iterator[Happening]:
    """All events, those that were raised by others behind them."""
    for passage in passages:
        yield from _flat(passage.events)


def _flat(events: Sequence[Happening]) -> Iterator[Happening]:
    for event in events:
        yield event
        yield from _flat(event.ended)
