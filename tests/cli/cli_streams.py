"""Streams for the tests of the command line, and how the command is called."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from reknit.cli import cli

COMMAND = [sys.executable, "-c", "from reknit.cli import main; main()"]
"""The command as a process of its own, with what is installed beside these tests."""

QUIET = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}

HOSTILE = "\x1b[2J\x07\x00\x9b31m\u202e\u2066\u200b\x7f\r\u2028\ue000é\u3000\ud83d\udc68\u200d\ud83d\udc69"
HOSTILE = HOSTILE.encode("utf-16", "surrogatepass").decode("utf-16")
"""Escape sequences, a bell, direction marks, invisible characters, separators; and some that do no harm."""


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    """Run the command in this process; anything that it raises is raised on."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def chunk(delta: dict[str, Any] | None = None, index: int = 0, **rest: Any) -> dict[str, Any]:
    """A chunk of the chat protocol."""
    return {"id": "c1", "model": "m", "choices": [{"index": index, "delta": delta or {}, **rest}]}


def text(content: str, index: int = 0) -> dict[str, Any]:
    """A chunk of text."""
    return chunk({"content": content}, index)


def tool(arguments: str, **head: str) -> dict[str, Any]:
    """A chunk of a call; `head` is its id and name, where it has them."""
    function = {"arguments": arguments, **({"name": head["name"]} if "name" in head else {})}
    ident = {"id": head["id"]} if "id" in head else {}
    return chunk({"tool_calls": [{"index": 0, **ident, "function": function}]})


def finish(reason: str = "stop") -> dict[str, Any]:
    """A chunk that finishes."""
    return chunk(finish_reason=reason)


def sse(*frames: Any, end: bool = True) -> bytes:
    """Frames as an event stream, with the end marker."""
    events = [f"data: {json.dumps(frame)}\n\n" for frame in frames]
    return "".join([*events, *(["data: [DONE]\n\n"] if end else [])]).encode()


HELLO = sse(
    text("Hel"),
    text("lo"),
    finish(),
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
)

CALL = sse(
    chunk({"reasoning_content": "Hm"}),
    text("Let me look."),
    tool('{"file_path":', id="t1", name="Read"),
    tool(' "a.py"}'),
    finish("tool_calls"),
)
