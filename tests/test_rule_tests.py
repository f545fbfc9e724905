"""The runner of the tests that stand in rule files: what holds passes, what does not fails in its own place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reknit.lang.diagnostics import CODES
from reknit.message import Message
from reknit.testing import FileReport, TestReport, run_tests
from reknit.testing.expectations import FORMS, OPEN_WORDS
from reknit.testing.reports import disagreement
from reknit.testing.soundness import WIRE_NOTES
from reknit.testing.stage import CUT, ENCODERS, STEPWISE, Play
from reknit.wire import WIRES

FAILS = "# fails"
"""Marks the expectations that must fail; everything else must hold."""

HEAD = 'reknit 1\nvendor acme extends openai-chat "a vendor for these tests"\n'


def _chunk(delta: str, rest: str = "") -> str:
    return f'given {{ "id": "c1", "choices": [{{ "index": 0, "delta": {{ {delta} }}{rest} }}] }}\n'


def _piece(arguments: str, start: str = "", name: str = "") -> str:
    quoted = arguments.replace('"', '\\"')
    return _chunk(f'"tool_calls": [{{ "index": 0,{start} "function": {{ {name}"arguments": "{quoted}" }} }}]')


HELLO = f"""
  {_chunk('"content": "Hel"')} {_chunk('"content": "lo"')} {_chunk("", ', "finish_reason": "stop"')}
  given {{ "choices": [], "usage": {{ "prompt_tokens": 3, "completion_tokens": 1 }} }}
  given "[DONE]"
"""

CALL = f"""
  {_piece('{"file_path":', ' "id": "t1",', '"name": "Read", ')} {_piece(' "a"}')}
  {_chunk("", ', "finish_reason": "tool_calls"')}
"""

HEADLESS = f"""
  {_piece('{"file_path": "a"}')}
  expect opened tool {{ id: made }}
  expect opened tool {{ name: "Read" }} {FAILS}
  {_chunk("", ', "finish_reason": "tool_calls"')}
"""

CASES = {
    "text": f"""{HELLO}
      expect text "Hello"
    """,
    "text as a record": f"""{HELLO}
      expect text {{ text: "Hello", signature: null, citations: null }}
    """,
    "text of any content": f"""{HELLO}
      expect text
    """,
    "other text": f"""{HELLO}
      expect text "Hellu" {FAILS}
    """,
    "signed text": f"""{HELLO}
      expect text {{ text: "Hello", signature: "s" }} {FAILS}
    """,
    "another kind": f"""{HELLO}
      expect thinking "Hello" {FAILS}
      expect text "and what follows is not looked at"
    """,
    "one block too many": f"""{HELLO}
      expect text "Hello"
      expect text "Hello" {FAILS}
    """,
    "one block too few": f"""{CALL}
      given {{ "choices": [{{ "index": 0, "delta": {{ "content": "late" }} }}] }}
      expect tool {{ id: "t1" }} {FAILS}
    """,
    "no blocks": """
      given "[DONE]"
      expect no blocks
    """,
    "no blocks where there is one": f"""{HELLO}
      expect no blocks {FAILS}
    """,
    "nothing said of blocks": f"""{HELLO}
      expect complete true
    """,
    "thinking": f"""
      given {{ "choices": [{{ "index": 0, "delta": {{ "reasoning_content": "Hm" }} }}] }}
      expect opened thinking
      expect opened text {FAILS}
      expect delta thinking "Hm"
      expect delta thinking "Hmm" {FAILS}
      expect delta text "Hm" {FAILS}
      expect state thinking
      expect thinking {{ text: "Hm", signature: "s" }} {FAILS}
    """,
    "redacted and opaque": f"""
      given OPAQUE_BLOCK {{ slot: 1, block: {{ type: redacted_thinking, data: "x" }} }}
      expect opened opaque
      expect no opened text
      given OPAQUE_BLOCK {{ slot: 2, block: {{ type: server_tool_use, id: "s", of: {{ a: [1, true, null] }} }} }}
      given BLOCK_STOP {{ slot: 1 }}
      expect archived redacted {{ data: "x" }}
      expect archived opaque {FAILS}
      given BLOCK_STOP {{ slot: 2 }}
      expect archived opaque {{ type: server_tool_use }}
      expect redacted {{ data: "x" }}
      expect opaque {{ type: server_tool_use, of: {{ a: [1, true, null] }} }}
    """,
    "other redacted and opaque": f"""
      given OPAQUE_BLOCK {{ slot: 1, block: {{ type: redacted_thinking, data: "x" }} }}
      given OPAQUE_BLOCK {{ slot: 2, block: {{ type: server_tool_use, of: {{ a: [1, true, null] }} }} }}
      expect redacted {{ data: "y" }} {FAILS}
      expect opaque {{ type: server_tool_use, of: {{ a: [1, 1, null] }} }} {FAILS}
    """,
    "tool": f"""{CALL}
      expect archived tool {{ id: "t1", seal: final, grade: exact, executable: true, class: read_only }}
      expect archived tool {{ input: {{ file_path: "a" }} }}
      expect archived tool {{ seal: explicit }} {FAILS}
      expect no archived {FAILS}
      expect no archived tool {FAILS}
      expect no archived text
      expect tool {{ id: "t1", name: "Read", input: {{ file_path: "a" }}, invalid: null, raw_input: null,
                    signature: null, class: read_only, grade: exact, seal: final, executable: true }}
    """,
    "other tools": f"""{CALL}
      expect tool {{ id: "t2" }} {FAILS}
      expect tool {{ id: made }} {FAILS}
    """,
    "other names": f"""{CALL}
      expect tool {{ name: "Grep" }} {FAILS}
    """,
    "other input": f"""{CALL}
      expect tool {{ input: {{ file_path: "a", more: 1 }} }} {FAILS}
    """,
    "other verdict": f"""{CALL}
      expect tool {{ class: human, grade: guessed, seal: explicit, executable: false,
                    invalid: bad_json, raw_input: "x", signature: "y" }} {FAILS}
    """,
    "tools in short notation": f"""
      given tools {{ "Read": ["file_path"], "Grep": {{ "type": "object", "required": ["path"] }} }}
      {HEADLESS}
      expect tool {{ id: made, name: "Read", input: {{ file_path: "a" }} }}
      expect tool {{ id: made, name: "Grep" }} {FAILS}
    """,
    "only listed fields": f"""
      given tools {{ "Read": ["file", "file_path"] }}
      {CALL}
      expect tool {{ invalid: missing_required, executable: false }}
    """,
    "stop": f"""{HELLO}
      expect stop "end_turn"
      expect stop "tool_use" {FAILS}
      expect stop null {FAILS}
    """,
    "stop null": f"""
      given {{ "choices": [{{ "index": 0, "delta": {{ "content": "cut" }} }}] }}
      expect stop null
      expect stop "end_turn" {FAILS}
      expect complete false
      expect complete true {FAILS}
    """,
    "usage": f"""{HELLO}
      expect usage {{ input: 3, output: 1, cache_read: null, cache_write: null, reasoning: null }}
      expect usage {{ input: 3 }}
      expect usage {{ input: 3, output: 2 }} {FAILS}
      expect usage {{ reasoning: 0 }} {FAILS}
    """,
    "no error": f"""{HELLO}
      expect no error
      expect error {FAILS}
    """,
    "error": f"""
      given {{ "error": {{ "type": "server_error", "code": "c", "message": "broken" }} }}
      expect error
      expect error {{ kind: server, code: "c", message: "broken" }}
      expect error {{ kind: overloaded }} {FAILS}
      expect error {{ message: "whole" }} {FAILS}
      expect no error {FAILS}
      expect stop "error"
    """,
    "notes": f"""{HEADLESS}
      expect note headless-call
      expect note headless-call {{ rule: input-headless, count: 1, block: 0 }}
      expect note headless-call {{ count: 2 }} {FAILS}
      expect note headless-call {{ first: "nothing of the kind" }} {FAILS}
      expect note missing-finish {FAILS}
      expect no notes {FAILS}
      expect no note headless-call {FAILS}
      expect no note after-end
    """,
    "no notes": f"""{HELLO}
      expect no notes
      expect note after-end {FAILS}
    """,
    "notes of maps and wires": """
      given { "unknown": 1 }
      given { "id": 3, "choices": [{ "index": 0, "delta": { "content": "Hi" }, "finish_reason": true }] }
      expect note unmapped-frame { rule: frame }
      expect note mistyped { rule: finish }
    """,
    "fired": f"""{HELLO}
      expect fired text-open
      expect fired tool-open {FAILS}
    """,
    "steps one by one": f"""
      given {{ "choices": [{{ "index": 0, "delta": {{ "content": "a" }} }}] }}
      expect opened text
      expect delta text "a"
      expect no archived
      expect state text
      expect state idle {FAILS}
      given {{ "choices": [{{ "index": 0, "delta": {{ "reasoning_content": "b" }} }}] }}
      expect archived text "a"
      expect archived text "b" {FAILS}
      expect opened text {FAILS}
      expect no delta {FAILS}
      expect no delta text
      expect no delta thinking {FAILS}
      expect no opened {FAILS}
      given close
      expect archived thinking "b"
      expect no opened
      expect no delta
    """,
    "reopened": f"""
      given TOOL_USE_START {{ slot: 0, id: "t1", name: "Read" }}
      given TOOL_INPUT_DELTA {{ slot: 0, json: "{{" }}
      expect no reopened
      expect reopened {FAILS}
      given BLOCK_STOP {{ slot: 0 }}
      given TOOL_INPUT_DELTA {{ slot: 0, json: "}}" }}
      expect reopened
      expect no reopened {FAILS}
    """,
    "deltas of a call": f"""
      given TOOL_USE_START {{ slot: 0, id: "t1", name: "Read" }}
      expect opened tool {{ id: "t1", name: "Read" }}
      expect opened tool {{ id: made }} {FAILS}
      given TOOL_INPUT_DELTA {{ slot: 0, json: "{{}}" }}
      expect delta input "{{}}"
      given THINKING_DELTA {{ text: "Hm" }}
      given SIGNATURE_DELTA {{ of: thinking, signature: "s" }}
      expect delta signature "s"
      expect no delta signature {FAILS}
    """,
    "raw": f"""
      given raw "data: {{\\"choices\\":[{{\\"index\\":0,\\"delta\\":{{\\"content\\":\\"Hé\\"}}}}]}}\\n\\n"
      expect delta text "Hé"
      expect delta text "He" {FAILS}
      given raw "data: [DO"
      expect no delta
      given raw "NE]\\n\\n"
      expect text "Hé"
      expect complete true
    """,
    "raw and frames": """
      given raw ": a comment\\n\\n"
      given { "choices": [{ "index": 0, "delta": { "content": "Hi" } }] }
      expect delta text "Hi"
      given "[DONE]"
      expect text "Hi"
    """,
    "more than ASCII": """
      given { "choices": [{ "index": 0, "delta": { "content": "naïve 🙂 \\u0000" } }] }
      expect text "naïve 🙂 \\u0000"
    """,
    "one choice of several": """
      given { "choices": [{ "index": 1, "delta": { "content": "b" } }, { "index": 0, "delta": { "content": "a" } }] }
      expect text "a"
    """,
    "events in a vendor file": """
      given TEXT_DELTA { text: "a" }
      given { "choices": [{ "index": 0, "delta": { "content": "b" } }] }
      given STREAM_END { how: clean }
      expect text "ab"
      expect complete true
    """,
    "every kind of step": f"""
      given THINKING_DELTA {{ text: "a" }}
      expect opened thinking
      expect delta thinking "a"
      expect no opened thinking {FAILS}
      expect no delta thinking {FAILS}
      expect opened text {FAILS}
      expect opened opaque {FAILS}
      expect opened tool {FAILS}
      expect archived thinking {FAILS}
      expect archived text {FAILS}
      expect archived redacted {FAILS}
      expect no archived text
      expect no archived thinking
      expect no archived redacted
      expect no archived opaque
      expect no archived tool
      expect no opened opaque
      expect no opened tool
      expect no delta text
      expect no delta signature
      expect no delta input
      expect delta signature "s" {FAILS}
      expect delta input "s" {FAILS}
      given TEXT_DELTA {{ text: "b" }}
      expect archived thinking "a"
      expect no archived thinking {FAILS}
      expect no opened text {FAILS}
      expect no opened thinking
      expect opened thinking {FAILS}
      expect no delta text {FAILS}
      expect no delta thinking
      given OPAQUE_BLOCK {{ slot: 1, block: {{ type: redacted_thinking, data: "x" }} }}
      expect no archived text {FAILS}
      expect no opened opaque {FAILS}
      given OPAQUE_BLOCK {{ slot: 2, block: {{ type: image }} }}
      given BLOCK_STOP {{ slot: 1 }}
      expect no archived redacted {FAILS}
      given BLOCK_STOP {{ slot: 2 }}
      expect no archived opaque {FAILS}
      given TOOL_USE_START {{ slot: 3, id: "t1" }}
      expect no opened tool {FAILS}
      given TOOL_INPUT_DELTA {{ slot: 3, json: "{{}}" }}
      expect no delta input {FAILS}
      expect thinking "a"
      expect text "b"
      expect redacted
      expect opaque
      expect tool
    """,
    "events without frames": """
      given TEXT_DELTA { text: "a" }
      given close
      expect text "a"
      expect complete false
    """,
}


def _with_tests(head: str, cases: dict[str, str]) -> str:
    return head + "".join(f'test "{title}" {{{body}\n}}\n' for title, body in cases.items())


def _write(folder: Path, text: str, name: str = "acme.rules") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, FileReport]:
    text = _with_tests(HEAD, CASES)
    return text, run_tests(_write(tmp_path_factory.mktemp("rules"), text))


def _report(report: FileReport, title: str) -> TestReport:
    assert report.sound, report.rendered()
    return next(test for test in report.tests if test.title == title)


@pytest.mark.parametrize("title", CASES)
def test_expectations_hold_and_fail_where_they_should(title: str, played: tuple[str, FileReport]) -> None:
    text, report = played
    test = _report(report, title)
    lines = text.split("\n")
    body = len(CASES[title].split("\n"))
    start = test.place.line
    marked = {at for at in range(start, start + body) if lines[at - 1].endswith(FAILS)}
    # An expectation over several lines is marked where it ends.
    found = {failure.label.place.end_line: failure for failure in test.failures}
    assert found.keys() == marked, report.rendered()
    assert all(failure.code == "E710" for failure in test.failures)
    assert all(failure.label.place.source == report.source for failure in test.failures)
    assert test.passed is not bool(marked)


def test_every_form_of_expectation_passes_and_fails_somewhere() -> None:
    said = {line.strip() for body in CASES.values() for line in body.split("\n") if "expect" in line}
    for words in FORMS:
        spelt = [r"[\w-]+" if word in OPEN_WORDS else word for word in words]
        pattern = re.compile("expect " + " ".join(spelt) + r"(?![\w-])")
        fitting = [line for line in said if pattern.match(line)]
        assert {FAILS in line for line in fitting} == {True, False}, words


def test_a_failure_says_what_was_expected_what_came_and_what_fired(played: tuple[str, FileReport]) -> None:
    _, report = played
    (failure,) = _report(report, "other names").failures
    assert failure.message == "test `other names` fails"
    assert failure.notes[0] == 'expected tool { name: "Grep" }'
    assert failure.notes[1] == 'got      tool { name: "Read" }'
    assert failure.notes[2].startswith("fired    begin, tool-open, ")
    rendered = report.rendered()
    assert f"{report.source}:{failure.label.place.line}:{failure.label.place.column}" in rendered


def test_long_texts_are_compared_for_the_reader(tmp_path: Path) -> None:
    given = 'given TEXT_DELTA { text: "A sentence that is long enough" }'
    text = HEAD + f'test "t" {{ {given} expect text "A sentence that was long enough" }}\n'
    (test,) = run_tests(_write(tmp_path, text)).tests
    assert test.failures[0].help == (
        'the texts part after 16 characters: "was long enough" was expected, "is long enough" came'
    )


def test_a_block_that_stands_elsewhere_is_pointed_at(tmp_path: Path) -> None:
    given = 'given THINKING_DELTA { text: "b" } given TEXT_DELTA { text: "a" }'
    text = HEAD + f'test "t" {{ {given} expect text "a" expect thinking "b" }}\n'
    (test,) = run_tests(_write(tmp_path, text)).tests
    assert [failure.help for failure in test.failures] == ["block 2 of the message is so"]


def test_a_note_that_is_spelt_alike_is_pointed_at(tmp_path: Path) -> None:
    text = HEAD + 'test "t" { given TEXT_DELTA { text: "a" } given close expect note missing-finish }\n'
    (test,) = run_tests(_write(tmp_path, text)).tests
    assert test.failures[0].notes[1].startswith("got      note cut-stream")


def test_made_up_ids_are_the_same_in_every_run(tmp_path: Path) -> None:
    path = _write(tmp_path, _with_tests(HEAD, {"headless": CASES["notes"].replace(FAILS, "")}))
    assert run_tests(path) == run_tests(path)


def test_fired_rules_and_used_maps_are_gathered(tmp_path: Path) -> None:
    report = run_tests(_write(tmp_path, _with_tests(HEAD, {"hello": CASES["text"]})))
    assert {"text-open", "text-append", "finish", "usage", "end"} <= report.fired < set(report.rules)
    assert report.maps_used == {"start", "content", "finish", "usage"}
    assert report.maps_used < set(report.maps)
    assert (report.kind, report.name, report.passed, report.failed, report.ok) == ("vendor", "acme", 1, 0, True)


# -- policies ----------------------------------------------------------------------------------------------------------


def test_a_policy_is_tested_with_canonical_events(tmp_path: Path) -> None:
    head = 'reknit 1\npolicy own extends standard "a policy for this test"\n'
    body = """
      given tools { "Read": ["file_path"] }
      given TEXT_DELTA { text: "a" }
      given TOOL_INPUT_DELTA { json: "{\\"file_path\\": \\"b\\"}" }
      expect archived text "a"
      given MESSAGE_STOP { reason: tool_use }
      given STREAM_END { how: clean }
      expect text "a"
      expect tool { id: made, name: "Read" }
      expect stop "tool_use"
      expect complete true
    """
    report = run_tests(_write(tmp_path, _with_tests(head, {"t": body})))
    assert report.ok, report.rendered()
    assert report.maps == ()
    assert "call-name-inferred" in report.fired


# -- the wire ----------------------------------------------------------------------------------------------------------


def test_the_name_of_an_event_is_its_type_where_maps_read_it(tmp_path: Path) -> None:
    head = """reknit 1
vendor named "a vendor that tells its frames apart by the name of the event"
  protocol named
  wire     sse

map text
  at    .text
  where .$event is "piece"
  emit  TEXT_DELTA { text: @ }

map other
  at    .text
  where .$event is "other"
  emit  THINKING_DELTA { text: @ }

"""
    body = """
      given { "type": "piece", "text": "a" }
      given { "$event": "other", "text": "b" }
      expect text "a"
      expect thinking "b"
    """
    report = run_tests(_write(tmp_path, _with_tests(head, {"t": body})))
    assert report.ok, report.rendered()
    assert report.maps_used == {"text", "other"}


def test_frames_of_a_line_wire_are_lines(tmp_path: Path) -> None:
    head = 'reknit 1\nvendor lined "one frame a line"\n  protocol lined\n  wire ndjson\n  end "done"\n'
    head += "map text at .text emit TEXT_DELTA { text: @ }\n"
    body = """
      given { "text": "a" }
      given "done"
      expect text "a"
      expect complete true
    """
    report = run_tests(_write(tmp_path, _with_tests(head, {"t": body})))
    assert report.ok, report.rendered()


def test_every_wire_has_a_way_to_be_written() -> None:
    assert ENCODERS.keys() == WIRES.keys()


def test_the_notes_of_wires_are_known() -> None:
    import reknit.wire

    folder = Path(reknit.wire.__file__).parent
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    calls = re.findall(r"WireNote\((.*)", sources)
    named = {word for call in calls for word in re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', call)}
    named |= set(re.findall(r'forgiven\.add\("([a-z0-9-]+)"\)', sources))
    named |= set(re.findall(r'reasons\.append\("([a-z0-9-]+)"\)', sources))
    assert named <= set(WIRE_NOTES), named - set(WIRE_NOTES)
    plain = {reason for reason in WIRE_NOTES if not reason.startswith("salvaged-")}
    assert plain <= named


def test_messages_that_depend_on_the_cut_are_told(tmp_path: Path) -> None:
    from reknit.lang.parser import parse

    file, _ = parse('reknit 1\nvendor v "x"\ntest "t" { given close expect no blocks }\n', "v.rules")
    assert file is not None
    test = file.items[0]
    one = Message.model_validate({"content": [{"type": "text", "text": "ab"}], "complete": True})
    two = Message.model_validate({"content": [{"type": "text", "text": "a"}], "complete": True})
    first, other = Play(STEPWISE, one, {0: one}, (), {}), Play(CUT, two, {0: two}, (), {})
    assert disagreement(test, first, first) is None  # type: ignore[arg-type]
    found = disagreement(test, first, other)  # type: ignore[arg-type]
    assert found is not None
    assert found.code == "E711"
    assert found.message == "test `t` gives another message cut at every byte than step by step"
    assert found.notes == (
        'step by step: content[0].text is "ab"',
        'cut at every byte: content[0].text is "a"',
    )
    third = Play(CUT, one, {0: one, 1: two}, (), {})
    assert disagreement(test, first, third) is not None  # type: ignore[arg-type]


# -- what is no test ---------------------------------------------------------------------------------------------------

MISTAKES = {
    "E701 unknown": ('expect txt "a"', "unknown expectation `expect txt`", "did you mean `text`?"),
    "E701 second word": ("expect archived tol", "unknown expectation `expect archived tol`", "did you mean `tool`?"),
    "E701 too little": ("expect archived", "`expect archived` does not say of what", "known here: `text`"),
    "E701 no reason": ("expect note", "`expect note` does not say of what", "as in `expect note headless-call"),
    "E701 too much": ("expect no blocks now", "`expect no blocks` takes no further word", "take it out"),
    "E702 number": ("expect stop 3", "`expect stop` takes a text or `null`", 'as in `expect stop "end_turn"`'),
    "E702 no value": ("expect complete", "`expect complete` takes `true` or `false`", "as in `expect complete true`"),
    "E702 null": ("expect text null", "`expect text` takes a text or a record or no value", "as in `expect text"),
    "E702 list": ("expect usage [1]", "`expect usage` takes a record", "as in `expect usage"),
    "E702 value": ("expect no notes 3", "`expect no notes` takes no value", "as in `expect no notes`"),
    "E703 key": ('expect tool { nam: "a" }', "`expect tool` has no `nam`", "did you mean `name`?"),
    "E703 usage": ("expect usage { inptu: 1 }", "`expect usage` has no `inptu`", "did you mean `input`?"),
    "E704 marker": ('given "[DOEN]" expect no blocks', "`[DOEN]` is not the end marker", 'it is `given "[DONE]"`'),
    "E704 order": ("given close given { } expect no blocks", "the stream was closed above", "put it before"),
    "E704 tools": (
        'given { } given tools { "R": [] } expect no blocks',
        "`given tools` comes after what is fed",
        "put it first in the test",
    ),
    "E704 step": ("expect state idle", "nothing was given before it", "it is about what the last `given`"),
    "E705 event": ('given TEXT_DELT { text: "a" } expect no blocks', "unknown event `TEXT_DELT`", "`TEXT_DELTA`?"),
    "E705 raised": ("given CALL_END expect no blocks", "`CALL_END` is raised by the machine itself", "give what ends"),
    "E705 field": ('given TEXT_DELTA { text: "a", slit: 1 } expect text', "has no field `slit`", "`slot`?"),
    "E705 missing": ("given TEXT_DELTA { slot: 1 } expect no blocks", "is no event without its field `text`", "add"),
    "E705 type": ("given TEXT_DELTA { text: 1 } expect no blocks", "`text` of `TEXT_DELTA` has to be a text", None),
    "E705 slot": ("given BLOCK_STOP { slot: true } expect no blocks", "has to be a whole number or a text", None),
    "E705 count": ("given USAGE { input: -1 } expect no blocks", "has to be a whole number that is not negative", None),
    "E705 case": ("given STREAM_END { how: cleen } expect no blocks", "is never `cleen`", "did you mean `clean`?"),
    "E707 rule": ("expect fired text-opn", "no rule is named `text-opn`", "did you mean `text-open`?"),
    "E707 state": ("given { } expect state idel", "no state is named `idel`", "did you mean `idle`?"),
    "E707 reason": ("expect no note headles-call", "nothing makes a note `headles-call`", "`headless-call`?"),
    "E707 rule of a note": ("expect note after-end { rule: lat }", "no rule is named `lat`", None),
    "E708 fields": ('given tools { "R": [1] } expect no blocks', "the fields of tool `R` are names", 'as in `"R"'),
    "E708 shape": (
        'given tools { "R": 1 } expect no blocks',
        "tool `R` needs a list of fields or a schema",
        'as in `"R"',
    ),
    "E708 schema": (
        'given tools { "R": { type: 3 } } expect no blocks',
        "the input schema of tool `R` is no JSON",
        None,
    ),
    "E708 twice": (
        'given tools { "R": [] } given tools { "R": [] } expect no blocks',
        "two tools are named `R`",
        "rename one of them",
    ),
    "E709 nothing": ("given close", "expects nothing", "say what must come out"),
}


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, FileReport]:
    text = HEAD + "".join(f'test "{title}" {{ {body} }}\n' for title, (body, _, _) in MISTAKES.items())
    return text, run_tests(_write(tmp_path_factory.mktemp("rules"), text))


@pytest.mark.parametrize("title", MISTAKES)
def test_what_is_no_test_is_told_with_the_way_out(title: str, mistaken: tuple[str, FileReport]) -> None:
    text, report = mistaken
    _, message, help = MISTAKES[title]
    line = 1 + text.split("\n").index(next(line for line in text.split("\n") if line.startswith(f'test "{title}"')))
    (found,) = [one for one in report.diagnostics if one.label.place.line == line]
    assert found.code == title.split()[0]
    assert found.code in CODES
    assert message in found.message
    assert help is None or help in (found.help or "")


def test_a_file_that_is_not_sound_runs_no_test(mistaken: tuple[str, FileReport]) -> None:
    _, report = mistaken
    assert not report.sound
    assert not report.ok
    assert report.tests == ()
    assert report.rules


def test_a_policy_takes_no_frames(tmp_path: Path) -> None:
    text = 'reknit 1\npolicy own extends standard "x"\ntest "t" { given { "a": 1 } expect no blocks }\n'
    (found,) = run_tests(_write(tmp_path, text)).diagnostics
    assert (found.code, found.message) == ("E704", "a policy reads no frames")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nonsense", "E103"),
        ('reknit 1\nvendor v extends nobody "x"\ntest "t" { given close expect no blocks }\n', "E503"),
        ('reknit 1\nvendor v extends openai-chat "x"\nmap m at .a emit TEXT_DELTA { text: @ | no-filter }\n', "E4"),
        ('reknit 1\npolicy p extends standard "x"\nrule r on NO_EVENT stay\n', "E2"),
    ],
)
def test_files_with_errors_are_reported_and_never_raise(text: str, code: str, tmp_path: Path) -> None:
    report = run_tests(_write(tmp_path, text))
    assert not report.ok
    assert report.diagnostics[0].code.startswith(code), report.rendered()
    assert report.rendered()


def test_an_unknown_name_is_told() -> None:
    report = run_tests("no-such-rules")
    assert [found.code for found in report.diagnostics] == ["E503"]
    assert report.kind == ""


# -- fragments ---------------------------------------------------------------------------------------------------------

TAGS = """reknit 1
fragment tags "the thinking stands between tags"
quirk between-tags "at the head of the text"
  add split between from TEXT_DELTA at "<t>" "</t>" into THINKING_DELTA only head
"""


def test_a_fragment_is_tried_on_the_protocol_that_its_frames_are_of(tmp_path: Path) -> None:
    body = f"""
      {_chunk('"content": "<t"')} {_chunk('"content": ">a</"')} {_chunk('"content": "t>b"')}
      given "[DONE]"
      expect thinking "a"
      expect text "b"
    """
    report = run_tests(_write(tmp_path, _with_tests(TAGS, {"chat": body})))
    assert report.ok, report.rendered()
    assert (report.kind, report.name, report.passed) == ("fragment", "tags", 1)


def test_each_test_of_a_fragment_may_have_its_own_vendor(tmp_path: Path) -> None:
    _write(tmp_path, HEAD)
    chunk = _chunk('"content": "<t>a</t>"')
    block = '"content_block": { "type": "text", "text": "<t>a</t>b" }'
    frame = f'given {{ "type": "content_block_start", "index": 0, {block} }}'
    cases = {
        "beside it": f'given vendor "acme" {chunk} expect thinking "a"',
        "recognised": f'{frame} expect thinking "a" expect text "b"',
        "events": 'given vendor "acme" given THINKING_DELTA { text: "a" } expect thinking "a"',
    }
    report = run_tests(_write(tmp_path, _with_tests(TAGS, cases), "tags.rules"))
    assert report.ok, report.rendered()
    assert report.passed == 3


@pytest.mark.parametrize(
    ("body", "code", "message", "help"),
    [
        ("given close expect no blocks", "E706", "does not say on which vendor", "begin it with `given vendor "),
        ("given { a: 1 } expect no blocks", "E706", "does not say on which vendor", "begin it with `given vendor "),
        ('given vendor "openai-cat" given close expect no blocks', "E503", "no vendor is named", "openai-chat"),
        ('given vendor "../acme" given close expect no blocks', "E503", "no vendor is named", ""),
    ],
)
def test_a_fragment_needs_a_vendor(body: str, code: str, message: str, help: str, tmp_path: Path) -> None:
    (found,) = run_tests(_write(tmp_path, _with_tests(TAGS, {"t": body}), "tags.rules")).diagnostics
    assert found.code == code
    assert message in found.message
    assert help in (found.help or "")


def test_only_tests_of_fragments_name_a_vendor(tmp_path: Path) -> None:
    text = _with_tests(HEAD, {"t": 'given vendor "lenient" given close expect no blocks'})
    (found,) = run_tests(_write(tmp_path, text)).diagnostics
    assert (found.code, found.message) == ("E704", "a vendor file runs as it is")


def test_a_fragment_that_fits_nothing_is_told_against_the_nearest(tmp_path: Path) -> None:
    text = 'reknit 1\nfragment odd "x"\nquirk q "x" remove map no-such-map\n'
    report = run_tests(_write(tmp_path, text))
    assert [found.code for found in report.diagnostics] == ["E501"]
    assert report.diagnostics[0].label.place.source == report.source
