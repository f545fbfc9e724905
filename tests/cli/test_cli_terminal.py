"""What reaches a terminal: colours only where they are wanted, and never a character of the stream that drives it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unicodedata
from typing import Any

import pytest
from cli_streams import CALL, COMMAND, HELLO, HOSTILE, QUIET, call, chunk, finish, sse, text, tool

from reknit.cli.screen import json_printable, printable

CHAT = ("--vendor", "openai-chat")
HARMLESS = "\ue000é\u3000\U0001f468\u200d\U0001f469"


def _driving(shown: str) -> set[str]:
    categories = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return {c for c in shown if unicodedata.category(c) in categories and c not in "\n\t\u200d"}


HOSTILE_STREAM = sse(
    chunk({"reasoning_content": HOSTILE}),
    text(HOSTILE),
    tool(json.dumps({HOSTILE: HOSTILE}), id=f"t{HOSTILE}", name=f"Read{HOSTILE}"),
    tool('{"a": "' + HOSTILE, id=f"u{HOSTILE}", name=HOSTILE),
    {HOSTILE: HOSTILE},
    finish(HOSTILE),
    {"error": {"type": HOSTILE, "code": HOSTILE, "message": HOSTILE}},
)

HOSTILE_BLOCKS = sse(
    {"type": "message_start", "message": {"id": HOSTILE, "model": HOSTILE}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": HOSTILE, HOSTILE: [HOSTILE]}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "x"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {HOSTILE: HOSTILE}}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "redacted_thinking", "data": HOSTILE}},
    {"type": "message_stop"},
    end=False,
)


@pytest.mark.parametrize("more", [(), ("--follow",), ("--json",)])
@pytest.mark.parametrize(("vendor", "body"), [("openai-chat", HOSTILE_STREAM), ("anthropic", HOSTILE_BLOCKS)])
def test_a_stream_cannot_drive_the_terminal(vendor: str, body: bytes, more: tuple[str, ...]) -> None:
    result = call("run", "-", "--vendor", vendor, "--no-color", *more, stdin=body)
    assert not _driving(result.output)
    assert "\\u001b[2J" in result.output if more == ("--json",) else "\\x1b[2J" in result.output
    assert HARMLESS in result.output


def test_json_says_the_same_with_and_without_escapes() -> None:
    data = json.loads(call("run", "-", *CHAT, "--json", stdin=HOSTILE_STREAM).output)
    assert data["content"][0]["thinking"] == HOSTILE
    assert data["content"][1]["text"] == HOSTILE
    assert data["content"][2]["input"] == {HOSTILE: HOSTILE}


@pytest.mark.parametrize("value", [HOSTILE, "\ud800", "\U000e0041", "\U0001f600 \n \t", "plain"])
def test_escapes_of_json_are_those_of_json(value: str) -> None:
    shown = json_printable(json.dumps([value, {value: 1}], ensure_ascii=False, indent=2))
    assert json.loads(shown) == [value, {value: 1}]
    assert not _driving(shown)


def test_texts_keep_lines_and_what_moves_nothing() -> None:
    assert printable("a\n\tb é 日本\u3000🙂") == "a\n\tb é 日本\u3000🙂"
    assert printable("a\nb", keep="") == "a\\nb"
    assert printable("\x1b[0m\x85\u202e\ud83d") == "\\x1b[0m\\x85\\u202e\\ud83d"


def test_a_stream_that_cuts_a_character_cannot_drive_the_terminal_either() -> None:
    body = sse(text("\ud83d"), text("\x1b"), text("[2J"), finish())
    result = call("run", "-", *CHAT, "--follow", stdin=body)
    assert not _driving(result.output)


def _coloured(*arguments: str, stdin: bytes = CALL) -> bool:
    return "\x1b[" in call("run", "-", *CHAT, *arguments, stdin=stdin).output


def test_colours_are_off_where_the_output_is_no_terminal() -> None:
    assert not _coloured()
    assert not _coloured("--follow")


def test_colours_can_be_asked_for_and_refused() -> None:
    assert _coloured("--color")
    assert _coloured("--color", "--follow")
    assert not _coloured("--no-color")
    assert not _coloured("--color", "--json")


def test_thinking_is_dim_and_what_is_wrong_is_red() -> None:
    shown = call("run", "-", *CHAT, "--color", stdin=CALL).output
    assert "\x1b[2m  Hm\x1b[0m" in shown
    cut = call("run", "-", *CHAT, "--color", stdin=sse(tool('{"a', id="t1", name="Read"), end=False)).output
    assert "\x1b[31m  invalid: truncated\x1b[0m" in cut
    assert "\x1b[31mno\x1b[0m" in cut


def _on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the command writes to a terminal."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo terminals")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**QUIET, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(HELLO)
    process.stdin.close()
    shown: list[bytes] = []
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # what Linux says when nobody has the other side open any more
            break
        if not data:
            break
        shown.append(data)
    os.close(ours)
    assert process.wait() == 0
    return b"".join(shown).decode()


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {}, True),
        (("--follow",), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": ""}, True),
        ((), {"TERM": "dumb"}, False),
        (("--no-color",), {}, False),
        (("--color",), {"NO_COLOR": "1"}, True),
    ],
)
def test_colours_on_a_terminal(arguments: tuple[str, ...], environment: dict[str, Any], coloured: bool) -> None:
    shown = _on_a_terminal("run", "-", *CHAT, *arguments, **environment)
    assert ("\x1b[" in shown) is coloured
    assert re.sub(r"\x1b\[[0-9]*m", "", shown).startswith("text\r\n  Hello\r\n")
