"""`reknit explain`: codes, events, cells, rules, and streams."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_streams import CALL, HOSTILE, call, chunk, finish, sse, text, tool

import reknit
from reknit.cli.screen import printable
from reknit.lang.diagnostics import CODES

READ = [
    {"name": "Read", "input_schema": {"type": "object", "properties": {"file_path": {}}, "required": ["file_path"]}}
]


def _stream(folder: Path, body: bytes, name: str = "stream.sse") -> Path:
    path = folder / name
    path.write_bytes(body)
    return path


def _refused(*arguments: str | Path) -> str:
    result = call("explain", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    return result.stderr


# -- codes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_something_to_say(code: str) -> None:
    result = call("explain", code)
    assert result.exit_code == 0
    assert code in result.output
    data = json.loads(call("explain", code, "--json").output)
    assert (data["code"], data["title"]) == (code, CODES[code])


def test_an_unknown_code() -> None:
    assert "there is no code `E999`" in _refused("E999")


# -- events, cells, rules ----------------------------------------------------------------------------------------------


def test_an_event() -> None:
    output = call("explain", "TEXT_DELTA").output
    head, fields, asks, flushes, taken = re.split(r"\n\n(?:fields|asks besides|archived before.*|taken by)\n", output)
    assert re.fullmatch(r"TEXT_DELTA  rules/policy\.rules:\d+\n  about text blocks", head)
    assert "  slot: slot?  where in the message a block stands" in fields
    assert "    last      no slot given, and a block of the kind is open" in fields
    assert "opaque" not in fields
    assert "  held  the new text against what the block meant holds" in asks
    assert re.search(r"flush text +before open text.*  rules/policy\.rules:\d+", flushes)
    assert re.search(r"  text-append  rules/policy\.rules:\d+  8 cells\n    in text\n", taken)
    assert "from text: archive text (flush); open text; append text (stays)" in taken
    assert re.search(r"  late  rules/policy\.rules:\d+  fallback  \d+ cells", taken)


def test_a_cell() -> None:
    output = call("explain", "rules/policy.rules", "TOOL_USE_START { slot: fresh, id: fresh }", "--in", "text").output
    assert re.match(r"TOOL_USE_START  \d+ cells, and \d+ that cannot occur\n  tool-open  ", output)
    flushes = "archive text (flush); archive complete-calls sequential (flush)"
    assert f"\n    {flushes}; open tool; set id; set name -> tool\n" in output


def test_a_cell_may_come_in_pieces() -> None:
    whole = call("explain", "TEXT_DELTA { text: some }").output
    assert call("explain", "TEXT_DELTA", "{", "text:", "some", "}").output == whole
    assert call("explain", "standard", "TEXT_DELTA { text: some }").output == whole


def test_a_rule_that_a_quirk_changed() -> None:
    output = call("explain", "lenient", "call-mismatch").output
    assert re.search(r"\nstands in rules/policy\.rules:\d+\n  rule call-mismatch\n", output)
    assert re.search(r"\noverridden by quirk values-encoded-twice of rules/lenient\.rules:\d+\n  \"an object", output)
    assert "\non CALL_END\n" in output
    assert "\ntests that make it fire\n  none in this file\n" in output
    assert '\ntests that make it fire\n  "a list inside' in call("explain", "lenient", "call-nested").output


def test_rules_of_a_vendor_by_option_and_on_a_fragment() -> None:
    assert call("explain", "x-groq-error", "--vendor", "groq").output == call("explain", "groq", "x-groq-error").output
    assert "split think  rules/think-tags.rules:" in call("explain", "think-tags", "think").output


def test_accounts_as_json() -> None:
    event = json.loads(call("explain", "TEXT_DELTA", "--json").output)
    assert (event["what"], event["name"]) == ("event", "TEXT_DELTA")
    cell = json.loads(call("explain", "STREAM_END { how: clean }", "--in", "done", "--json").output)
    assert (cell["what"], cell["taken"][0]["rule"]) == ("cell", "end-again")
    both = json.loads(call("explain", "groq", "usage", "--json").output)
    assert [(one["what"], one["kind"]) for one in both] == [("rule", "rule"), ("rule", "map")]
    assert both[1]["history"][1]["quirk"] == "usage-under-x-groq"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["TEXT_DELTAS"], "did you mean `TEXT_DELTA`?"),
        (["groq", "x-grok-error"], "did you mean `x-groq-error`?"),
        (["rules/policy.rules"], "what of `rules/policy.rules` is to be explained?"),
        (["TEXT_DELTA", "--html", "x.html"], "`--html` goes with a stream"),
        (["TEXT_DELTA", "--tools", "x.json"], "`--tools` goes with a stream"),
        (["./nothing.rules", "text-append"], "there is no such file"),
        (["nothing-of-it", "text-append"], "no rules are named"),
    ],
)
def test_wrong_use(arguments: list[str], said: str) -> None:
    assert said in _refused(*arguments)


def test_rules_that_do_not_pass_the_checks(tmp_path: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text('reknit 1\nvendor bad extends openai-chat "x"\nquirk q "x"\n  remove map nothing\n')
    result = call("explain", path, "TEXT_DELTA")
    assert result.exit_code == 2
    assert "error[E501]" in result.stderr


# -- streams -----------------------------------------------------------------------------------------------------------


def test_a_stream(tmp_path: Path) -> None:
    result = call("explain", _stream(tmp_path, CALL), "--vendor", "openai-chat")
    assert result.exit_code == 0
    output = result.output
    assert re.search(
        r"\n2 frame  … .*Let me look.*\n"
        r"  TEXT_DELTA { text: \"Let me look.\" }  map content  rules/openai-chat\.rules:\d+\n"
        r"    slot none, text some, held none\n"
        r"    text-open  rules/policy\.rules:\d+  thinking -> text\n"
        r"      archive thinking \(flush\); open text; append text\n",
        output,
    )
    assert re.search(
        r"\n      CALL_END  call Read t1\n"
        r"        twin none, seal final, .*\n"
        r"        call-good  rules/policy\.rules:\d+\n"
        r"          accept\n",
        output,
    )
    table = reknit.table_for("openai-chat")
    assert output.endswith(f"openai-chat, policy standard, {table.fingerprint}\n")


def test_a_stream_on_standard_input_whose_protocol_is_recognised(tmp_path: Path) -> None:
    output = call("explain", "-", stdin=sse({**text("Hi"), "object": "chat.completion.chunk"}, finish())).output
    assert output.startswith("1 the protocol is recognised\n  note protocol-recognised (detect): openai-chat\n2 frame")
    assert re.search(r"map content  rules/openai-chat\.rules:\d+", output)


def test_a_stream_of_lines_and_what_is_held_back(tmp_path: Path) -> None:
    lines = "".join(json.dumps(frame) + "\n" for frame in (text("<thi"), text("nk>Hm</think>Yes"), finish()))
    path = _stream(tmp_path, lines.encode(), "stream.jsonl")
    output = call("explain", path, "--vendor", "openai-chat", "--with", "think-tags").output
    assert '\n  split think holds back "<thi"\n' in output
    assert re.search(r"THINKING_DELTA { text: \"Hm\" }  split think  rules/think-tags\.rules:\d+, map content", output)


def test_what_is_wrong_with_a_stream(tmp_path: Path) -> None:
    body = sse({"strange": 1}, {"choices": [{"index": 0, "delta": {}}]}, end=False) + b"data: {torn\n\n"
    result = call("explain", _stream(tmp_path, body), "--vendor", "openai-chat")
    assert result.exit_code == 1
    assert "\n  no map takes it\n" in result.output
    assert re.search(
        r"\n  carries nothing on purpose: ignore empty-delta  rules/openai-chat\.rules:\d+\n", result.output
    )
    assert "wire note  {torn" in result.output
    assert "the body ends" in result.output


def test_a_stream_as_json_lines(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(READ))
    tools = ["--tools", str(tmp_path / "tools.json"), "--vendor", "openai-chat", "--json"]
    lines = [json.loads(line) for line in call("explain", _stream(tmp_path, CALL), *tools).output.splitlines()]
    *passages, end = lines
    assert [passage["number"] for passage in passages] == list(range(1, len(passages) + 1))
    (one,) = passages[1]["events"]
    assert (one["event"], one["rule"], one["state"], one["to"]) == ("TEXT_DELTA", "text-open", "thinking", "text")
    assert one["rule_at"].startswith("rules/policy.rules:")
    assert one["map_at"].startswith("rules/openai-chat.rules:")
    assert end["kind"] == "message"
    assert end["message"]["fingerprint"] == reknit.table_for("openai-chat").fingerprint
    stop = next(event for passage in passages for event in passage["events"] if event["event"] == "MESSAGE_STOP")
    assert stop["ended"][0]["answers"]["schema"] == "valid"
    assert stop["ended"][0]["rule_at"].startswith("rules/policy.rules:")


def test_a_stream_under_a_kept_table(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_bytes(reknit.table_for("openai-chat").to_json())
    output = call("explain", _stream(tmp_path, CALL), "--vendor", table).output
    assert "    text-open  thinking -> text\n" in output
    assert "cannot be read" in _refused(_stream(tmp_path, CALL), "--vendor", tmp_path / "none.json")
    table.write_text("{}")
    assert "not a compiled table" in _refused(_stream(tmp_path, CALL), "--vendor", table)


def test_nothing_in_a_stream_drives_the_terminal(tmp_path: Path) -> None:
    frames: list[Any] = [
        {**chunk({"content": HOSTILE, "reasoning_content": HOSTILE}), HOSTILE: HOSTILE},
        tool(json.dumps({"file_path": HOSTILE}), id=HOSTILE, name=HOSTILE),
        {HOSTILE: HOSTILE},
        finish(HOSTILE),
    ]
    path = _stream(tmp_path, sse(*frames) + f"data: {HOSTILE.replace(chr(13), '')}\n\n".encode())
    for options in ([], ["--json"], ["--with", "think-tags"]):
        output = call("explain", path, "--vendor", "openai-chat", *options).output
        assert output == printable(output, keep="\n")


def test_a_page_is_written(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    result = call("explain", _stream(tmp_path, CALL), "--vendor", "openai-chat", "--html", target)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert target.read_text("ascii").startswith("<!DOCTYPE html>")
    assert "cannot be written" in _refused(_stream(tmp_path, CALL), "--html", tmp_path / "none" / "page.html")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vendor", "standard"], "which reads no frames"),
        (["--vendor", "nobody"], "no rules are named `nobody`"),
        (["--wire", "pigeon"], "there is no wire `pigeon`"),
        (["--tools", "nothing.json"], "cannot be read"),
    ],
)
def test_wrong_use_with_a_stream(tmp_path: Path, options: list[str], said: str) -> None:
    assert said in _refused(_stream(tmp_path, CALL), *options)
