"""`reknit run`: what it shows, what it says as JSON, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_streams import CALL, HELLO, call, chunk, finish, sse, text, tool

import reknit

CHAT = ("--vendor", "openai-chat")


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    path = tmp_path / "hello.sse"
    path.write_bytes(HELLO)
    return path


def test_a_message_is_shown_to_a_person(tmp_path: Path) -> None:
    path = tmp_path / "call.sse"
    path.write_bytes(CALL)
    result = call("run", path, *CHAT)
    assert result.output.split("\n") == [
        "thinking",
        "  Hm",
        "",
        "text",
        "  Let me look.",
        "",
        "call Read  t1",
        "  {",
        '    "file_path": "a.py"',
        "  }",
        "  read_only, seal final, grade exact",
        "",
        "stop      tool_use",
        "complete  yes",
        "usage     not reported",
        "notes     none",
        "",
    ]
    assert result.exit_code == 0


def test_usage_error_and_notes_are_shown() -> None:
    body = sse(text("a"), {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}, {"odd": 1}, end=False)
    body += sse({"error": {"type": "server_error", "code": "500", "message": "it broke"}}, end=False)
    result = call("run", "-", *CHAT, stdin=body)
    assert "usage     input 3, output 2\n" in result.output
    assert "error     server 500: it broke\n" in result.output
    assert "complete  no\n" in result.output
    assert '  unmapped-frame (frame): {"odd": 1}\n' in result.output
    assert result.exit_code == 1


def test_an_invalid_call_is_shown_with_its_reason_and_as_it_came() -> None:
    result = call("run", "-", *CHAT, stdin=sse(tool('{"file_path": "a', id="t1", name="Read"), end=False))
    assert "call Read  t1\n" in result.output
    assert "not executable" in result.output
    assert '  invalid: truncated\n  as it came\n    {"file_path": "a\n' in result.output
    assert result.exit_code == 1


def test_blocks_of_other_kinds_are_shown() -> None:
    body = sse(
        {"type": "message_start", "message": {"id": "m", "model": "c"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "abcd"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "server_tool_use", "id": "s"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "x"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {"url": "u"}}},
        {"type": "message_stop"},
        end=False,
    )
    result = call("run", "-", "--vendor", "anthropic", stdin=body)
    assert "redacted thinking\n  4 characters, encrypted\n" in result.output
    assert 'server_tool_use\n  {\n    "id": "s"\n  }\n' in result.output
    assert 'text\n  x\n  cited\n    {\n      "url": "u"\n    }\n' in result.output


def test_no_line_of_a_text_can_pass_for_one_of_ours() -> None:
    for more in ((), ("--follow",)):
        result = call(
            "run", "-", *CHAT, *more, stdin=sse(text("a\nstop      end_turn\ncomple"), text("te  yes\n"), finish())
        )
        assert "\n  stop      end_turn\n  complete  yes\n" in result.output
        assert result.output.count("\nstop  ") == 1


def test_the_message_as_json(hello: Path) -> None:
    result = call("run", hello, *CHAT, "--json", "--seed", "s")
    message = reknit.reconstruct(HELLO, "openai-chat", seed="s")
    assert json.loads(result.output) == message.model_dump(mode="json")
    assert reknit.Message.model_validate_json(result.output) == message
    assert result.output.startswith('{\n  "role": "assistant",\n')
    assert "\x1b" not in result.output


def test_other_choices_stand_beside_the_message() -> None:
    body = sse(text("a"), text("b", 1), text("c", 2), finish(), chunk(index=1, finish_reason="length"))
    data = json.loads(call("run", "-", *CHAT, "--json", stdin=body).output)
    assert data["content"] == [{"type": "text", "text": "a"}]
    assert data["choices"].keys() == {"1", "2"}
    assert data["choices"]["1"]["stop_reason"] == "max_tokens"
    one = json.loads(call("run", "-", *CHAT, "--json", "--choice", "1", stdin=body).output)
    assert one == data["choices"]["1"]
    assert "choices   also 1, 2; see --choice\n" in call("run", "-", *CHAT, stdin=body).output
    assert "text\n  c\n" in call("run", "-", *CHAT, "--choice", "2", stdin=body).output
    missing = call("run", "-", *CHAT, "--choice", "3", stdin=body)
    assert missing.output == "error: the stream has no choice 3\nhelp: it has 0, 1, 2\n"
    assert missing.exit_code == 2


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (HELLO, 0),
        (sse(text("a"), finish("length")), 0),
        (sse(text("a"), end=False), 1),
        (sse(text("a"), {"error": {"type": "server_error", "message": "x"}}), 1),
        (b"", 1),
        (b"<html>", 1),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",), ("--follow",)])
def test_the_exit_code_tells_whether_the_message_is_complete(body: bytes, code: int, more: tuple[str, ...]) -> None:
    assert call("run", "-", *CHAT, *more, stdin=body).exit_code == code


def test_the_vendor_is_recognised_and_that_is_noted(hello: Path) -> None:
    result = call("run", hello)
    assert "  protocol-recognised (detect): openai-chat\n" in result.output
    assert result.exit_code == 0


def test_a_stream_of_no_known_protocol_fails_as_a_stream() -> None:
    result = call("run", "-", stdin=sse({"nobody": "knows"}))
    assert "error     malformed unknown-protocol" in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_a_file_of_lines_is_read_line_by_line(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"stream{suffix}"
    path.write_text("".join(json.dumps(frame) + "\n" for frame in (text("Hi"), finish())), encoding="utf-8")
    assert "text\n  Hi\n" in call("run", path).output
    assert call("run", path, *CHAT).exit_code == 0


def test_the_wire_can_be_named(hello: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(HELLO)
    assert "text\n  Hello\n" in call("run", path, *CHAT, "--wire", "sse").output


def test_the_seed_decides_made_up_ids() -> None:
    body = sse(tool("{}", name="Read"), finish("tool_calls"))
    first, again, other = (
        json.loads(call("run", "-", *CHAT, "--json", "--seed", seed, stdin=body).output) for seed in ("a", "a", "b")
    )
    assert first == again
    assert first["content"][0]["id"] != other["content"][0]["id"]
    assert "(made up)" in call("run", "-", *CHAT, stdin=body).output


def test_policies_fragments_and_rules_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "acme.rules").write_text('reknit 1\nvendor acme extends openai-chat "x"\n', encoding="utf-8")
    (tmp_path / "caps.rules").write_text(
        'reknit 1\nfragment caps "x"\nquirk q "x" add split t from TEXT_DELTA at "[" "]" into THINKING_DELTA\n',
        encoding="utf-8",
    )
    body = sse(text("[a]b"), finish())
    by_name = call("run", "-", "--vendor", "acme", "--rules", tmp_path, "--with", "caps", stdin=body)
    assert "thinking\n  a\n\ntext\n  b\n" in by_name.output
    by_path = call("run", "-", "--vendor", tmp_path / "acme.rules", stdin=body)
    assert "text\n  [a]b\n" in by_path.output
    strict = call("run", "-", *CHAT, "--policy", "strict", stdin=sse({"odd": 1}))
    assert strict.exit_code == 1
    assert "error     malformed unmapped-frame" in strict.output


TOOL = {"name": "Read", "input_schema": {"type": "object", "properties": {"file_path": {}}, "required": ["file_path"]}}


@pytest.mark.parametrize(
    "tools",
    [
        [TOOL],
        {"tools": [TOOL]},
        [{"type": "function", "function": {"name": "Read", "parameters": TOOL["input_schema"]}}],
    ],
)
def test_tools_are_read_from_a_file(tools: object, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(tools), encoding="utf-8")
    body = sse(tool('{"file_path": "a"}'), finish("tool_calls"))
    assert "call Read" in call("run", "-", *CHAT, "--tools", path, stdin=body).output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"\xff\xfe[", "is not JSON"),
        (b"3", "holds no list of tools"),
        (b'{"name": "Read"}', "holds no list of tools"),
        (b'[{"name": 3}]', "a tool is a dict"),
        (b"[3]", "a int is no tool"),
        (b'[{"name": "R", "input_schema": {"type": 3}}]', "the input schema of tool `R` is no JSON Schema"),
        (b'[{"name": "R"}, {"name": "R"}]', "two tools are named `R`"),
    ],
)
def test_bad_tools_are_wrong_use(content: bytes, said: str, tmp_path: Path, hello: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    result = call("run", hello, *CHAT, "--tools", path)
    assert result.output.startswith("error: ")
    assert said in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--vendor", "openai-cat"), "error: no vendor is named `openai-cat`\nhelp: did you mean `openai-chat`?\n"),
        (("--vendor", "no/such.rules"), "error: `no/such.rules` cannot be read: there is no such file\n"),
        ((*CHAT, "--policy", "nobody"), "error[E503]: no policy is named `nobody`\n"),
        (("--policy", "nobody"), "error[E503]: no policy is named `nobody`\n"),
        ((*CHAT, "--with", "nobody"), "error[E503]: no fragment is named `nobody`\n"),
        ((*CHAT, "--wire", "smoke"), "error: there is no wire `smoke`\nhelp: use one of `sse`"),
        ((*CHAT, "--tools", "no-such.json"), "error: the tools in `no-such.json` cannot be read: no such file"),
        ((*CHAT, "--follow", "--json"), "error: `--follow` and `--json` do not go together\n"),
        ((*CHAT, "--follow", "--choice", "1"), "error: `--follow` and `--choice 1` do not go together\n"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(arguments: tuple[str, ...], said: str, hello: Path) -> None:
    result = call("run", hello, *arguments)
    assert result.output.startswith(said)
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [(), ("FILE", "--choice", "-1"), ("FILE", "--rules", "no-such-folder"), ("FILE", "--unknown"), ("FILE", "more")],
)
def test_wrong_arguments_are_told_with_the_usage(arguments: tuple[str, ...]) -> None:
    result = call("run", *arguments)
    assert "Usage: " in result.output
    assert "Error: " in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize("what", ["missing", "folder", "null"])
def test_a_file_that_cannot_be_read_is_wrong_use(what: str, tmp_path: Path) -> None:
    file = {"missing": str(tmp_path / "missing"), "folder": str(tmp_path), "null": "a\0b"}[what]
    result = call("run", file, *CHAT)
    assert result.output.startswith("error: `")
    assert "cannot be read: " in result.output
    assert "help: give a file, or `-` for standard input\n" in result.output
    assert result.exit_code == 2


def test_rules_that_are_not_sound_are_shown_with_their_errors(tmp_path: Path, hello: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text('reknit 1\nvendor bad extends openai-chat "x"\nquirk q "x" remove map nothing\n', encoding="utf-8")
    result = call("run", hello, "--vendor", path)
    assert result.output.startswith("error[E501]: quirk `q` removes map `nothing`, which does not exist\n")
    assert result.exit_code == 2


def test_following_shows_calls_when_they_open_and_when_they_are_finished() -> None:
    body = sse(
        text("a"),
        text("b\nc"),
        tool("{}", id="t1", name="Read"),
        tool("", id="t2", name="Grep"),
        chunk({"reasoning_content": "Hm"}),
        text("d"),
        {"odd": 1},
        finish("tool_calls"),
    )
    result = call("run", "-", *CHAT, "--follow", stdin=body)
    lines = result.output.split("\n")
    assert lines[:4] == ["text", "  ab", "  c", "... call Read  t1"]
    assert lines[4:8] == ["call Read  t1", "  {}", "  read_only, seal sequential, grade exact", "... call Grep  t2"]
    assert lines[8:13] == ["thinking", "  Hm", "text", "  d", '  unmapped-frame (frame): {"odd": 1}']
    assert "call Grep  t2" in lines[13:]
    assert result.output.endswith("stop      tool_use\ncomplete  yes\nusage     not reported\nnotes     1\n")


def test_following_tells_what_is_taken_back() -> None:
    call_block = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    more = {"type": "input_json_delta", "partial_json": "{}"}
    body = sse(
        {"type": "message_start", "message": {"id": "m", "model": "c"}},
        {"type": "content_block_start", "index": 0, "content_block": call_block},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_delta", "index": 0, "delta": more},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
        end=False,
    )
    lines = call("run", "-", "--vendor", "anthropic", "--follow", stdin=body).output.split("\n")
    assert lines[0] == "... call Read  t1"
    assert lines.index("block 1 goes on after all") > lines.index("call Read  t1")
    assert lines.count("call Read  t1") == 2


def test_a_transport_that_fails_leaves_what_was_rebuilt(monkeypatch: pytest.MonkeyPatch, hello: Path) -> None:
    import io

    class Failing(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            data = super().read1(40)
            if not data:
                raise OSError(5, "Input/output error")
            return data

    monkeypatch.setattr("reknit.cli.run._opened", lambda file: Failing(sse(text("Hel"), text("lo"), end=False)))
    result = call("run", hello, *CHAT)
    assert "text\n  Hello\n" in result.output
    assert "error     connection OSError: [Errno 5] Input/output error\n" in result.output
    assert result.exit_code == 1
