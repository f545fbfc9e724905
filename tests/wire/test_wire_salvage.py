"""Each salvage step, on and off, and the bodies that are no stream."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wire_cases import ALL, NONE, items_of, short

import reknit.wire.salvage
from reknit.wire import EVENT_KEY, SALVAGE, BareBody, EndMarker, Item, WireFailure, WireNote
from reknit.wire.salvage import MAX_TRIES

DONE = EndMarker("[DONE]")
A = {"a": 1}
B = {"b": 2}
E = {"error": {"code": 500}}
FIRST = b'data: {"a":1}\n\n'

# Step, wire, body, items with the step, items without it (the other steps are on in neither).
STEPS: list[tuple[str, str, bytes, list[Item], list[Item]]] = [
    # unterminated
    ("unterminated", "sse", FIRST + b'data: {"b":2}\n', [A, "salvaged-unterminated", B], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b'data: {"b":2}', [A, "salvaged-unterminated", B], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b'data: {"b":2}\r', [A, "salvaged-unterminated", B], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b"data: [DONE]", [A, "salvaged-unterminated", DONE], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b"data: [DONE]\n", [A, "salvaged-unterminated", DONE], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b'data: {"b":', [A, "unterminated-event"], [A, "unterminated-event"]),
    ("unterminated", "sse", FIRST + b"data:", [A], [A]),
    ("unterminated", "sse", FIRST + b"da", [A], [A]),
    ("unterminated", "sse", FIRST + b"event: x", [A], [A]),
    ("unterminated", "sse", FIRST + b": ping", [A], [A]),
    ("unterminated", "sse", b'data: {"a":1}', ["salvaged-unterminated", A], ["unterminated-event"]),
    ("unterminated", "sse", b"dat", [], []),
    ("unterminated", "ndjson", b'{"a":1}\n{"b":2}', [A, B], [A, B]),
    ("unterminated", "ndjson", b'{"a":1}\n{"b":', [A, "unterminated-event"], [A, "unterminated-event"]),
    # several
    ("several", "sse", b'data: {"a":1}{"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1} {"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}\ndata: {"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}data: {"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}data: [DONE]\n\n', ["salvaged-several", A, DONE], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}[DONE]\n\n', ["salvaged-several", A, DONE], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}\ndata: [DONE]\n\n', ["salvaged-several", A, DONE], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}\nevent: x\ndata: {"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":\ndata: 1}{"b":2}\n\n', ["salvaged-several", A, B], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}{"b":\n\n', ["salvaged-several", A, "bad-frame"], ["bad-frame"]),
    ("several", "sse", b'data: {"a":1}}\n\n', ["salvaged-several", A, "bad-frame"], ["bad-frame"]),
    ("several", "sse", b'data: {"a":"\\ud83d"}{"b":NaN}\n\n',
     ["non-json-number", "salvaged-several", {"a": "\ud83d"}, {"b": None}], ["bad-frame"]),
    ("several", "sse", b"data: 1 2\n\n", ["bad-frame"], ["bad-frame"]),
    ("several", "ndjson", b'{"a":1}\n{"a":1}{"b":2}\n', [A, "salvaged-several", A, B], [A, "bad-frame"]),
    ("several", "ndjson", b'{"a":1}{"b":2}\n{"a":1}', ["salvaged-several", A, B, A], ["bad-frame", A]),
    # glued
    ("glued", "sse", b'data: {"x":"1","y":[{"z":{"role":"adata: {"a":1}\n\n', ["bad-frame", "salvaged-glued", A],
     ["bad-frame"]),
    ("glued", "sse", b'data: {"x":" wor\ndata: {"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":" wor{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":" wor{ "a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":tr{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":1{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"\\{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":[data: {"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"data: {"a":1}{"b":2}\n\n', ["bad-frame", "salvaged-glued", A, B], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"data: {"a":1}data: [DONE]\n\n', ["bad-frame", "salvaged-glued", A, DONE],
     ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"wordata: [DONE]\n\n', ["bad-frame", "salvaged-glued", DONE], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"wor\ndata: [DONE]\n\n', ["bad-frame", "salvaged-glued", DONE], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":{"y":1}{"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: oops {"a":1}\n\n', ["bad-frame", "salvaged-glued", A], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":{"a":1}\n\n', ["bad-frame"], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":"y","z":[{"a":1}\n\n', ["bad-frame"], ["bad-frame"]),
    ("glued", "sse", b'data: {"x":" wor{"a":1\n\n', ["bad-frame"], ["bad-frame"]),
    ("glued", "ndjson", b'{"a":1}\n{"x":" wor{"a":1}\n', [A, "bad-frame", "salvaged-glued", A], [A, "bad-frame"]),
    # error-line
    ("error-line", "sse", FIRST + b'error: {"code":500}\n\n', [A, "salvaged-error-line", E], [A, "unknown-field"]),
    ("error-line", "sse", FIRST + b'error:{"code":500}\n', [A, "salvaged-error-line", E], [A, "unknown-field"]),
    ("error-line", "sse", b'error: {"code":500}\n\n', ["salvaged-error-line", E], ["text-body"]),
    ("error-line", "sse", b'data: {"a":1}\nerror: {"code":500}\n\n', [A, "salvaged-error-line", E],
     [A, "unknown-field"]),
    ("error-line", "sse", FIRST + b'error: {"code":\n\n', [A, "unknown-field"], [A, "unknown-field"]),
    ("error-line", "sse", FIRST + b"error: oops\n\n", [A], [A]),
    ("error-line", "sse", FIRST + b"error: 1\n\n", [A], [A]),
    ("error-line", "ndjson", b'{"a":1}\nerror: {"code":500}\n', [A, "salvaged-error-line", E], [A, "bad-frame"]),
    # bare-lines
    ("bare-lines", "sse", FIRST + b'{"b":2}\n', [A, "salvaged-bare-lines", B], [A, "bad-frame"]),
    ("bare-lines", "sse", b'{"a":1}\n{"b":2}\n', ["salvaged-bare-lines", A, "salvaged-bare-lines", B], ["text-body"]),
    ("bare-lines", "sse", b'{"b":2}\n\n' + FIRST, ["salvaged-bare-lines", B, A], ["bad-frame", A]),
    ("bare-lines", "sse", b'data: {"a":1}\n{"b":2}\n\n', [A, "salvaged-bare-lines", B], [A, "bad-frame"]),
    ("bare-lines", "sse", b'data: {"x":" wor\n{"a":1}\n\n', ["bad-frame", "salvaged-bare-lines", A],
     ["bad-frame", "bad-frame"]),
    ("bare-lines", "sse", FIRST + b"[DONE]\n", [A, "salvaged-bare-lines", DONE], [A, "bad-frame"]),
    ("bare-lines", "sse", FIRST + b'{"b":\n\n', [A, "bad-frame"], [A, "bad-frame"]),
    ("bare-lines", "sse", FIRST + b'{\n"b":\n2}\n\n', [A, "salvaged-bare-lines", B],
     [A, "bad-frame", "unknown-field", "unknown-field"]),
    ("bare-lines", "sse", b'data: {\n"a":\n1}\n\n' + FIRST, ["salvaged-bare-lines", A, A],
     ["bad-frame", "unknown-field", "unknown-field", A]),
    ("bare-lines", "sse", b'Sorry:\n{"a":1}\n', ["salvaged-bare-lines", A], ["text-body"]),
    # data-prefix
    ("data-prefix", "sse", b' data: {"a":1}\n\n' + FIRST, ["salvaged-data-prefix", A, A], ["unknown-field", A]),
    ("data-prefix", "sse", FIRST + b'\xef\xbb\xbfdata: {"b":2}\n\n', [A, "salvaged-data-prefix", B],
     [A, "unknown-field"]),
    ("data-prefix", "sse", FIRST + b'\0\0data: {"b":2}\n\n', [A, "salvaged-data-prefix", B], [A, "unknown-field"]),
    ("data-prefix", "sse", FIRST + b'Data: {"b":2}\n\n', [A, "salvaged-data-prefix", B], [A, "unknown-field"]),
    ("data-prefix", "sse", b'data: data: {"a":1}\n\n', ["salvaged-data-prefix", A], ["bad-frame"]),
    ("data-prefix", "sse", b"data: data: [DONE]\n\n", ["salvaged-data-prefix", DONE], ["bad-frame"]),
    ("data-prefix", "sse", FIRST + b" data:\n\n", [A], [A]),
    ("data-prefix", "ndjson", b'data: {"a":1}\n\ndata: [DONE]\n\n',
     ["salvaged-data-prefix", A, "salvaged-data-prefix", DONE], ["text-body"]),
    ("data-prefix", "ndjson", b'{"b":2}\n: ping\nevent: x\ndata: {"a":1}\n', [B, "salvaged-data-prefix", A],
     [B, "bad-frame", "bad-frame", "bad-frame"]),
]  # fmt: skip


@pytest.mark.parametrize(("step", "wire", "body", "on", "off"), STEPS, ids=[f"{c[0]}-{c[1]}-{c[2]!r}" for c in STEPS])
def test_step(step: str, wire: str, body: bytes, on: list[Item], off: list[Item]) -> None:
    for cuts in ((), range(len(body))):
        assert short(items_of(body, wire, steps=frozenset({step}), cuts=cuts)) == on
        assert short(items_of(body, wire, steps=NONE, cuts=cuts)) == off


def test_every_step_is_tested_and_documented() -> None:
    assert {case[0] for case in STEPS} == set(SALVAGE)
    assert all(re.fullmatch(r"[A-Z].*\.", text) for text in SALVAGE.values())
    source = "".join(path.read_text() for path in Path(reknit.wire.salvage.__file__).parent.glob("*.py"))
    for step in SALVAGE:
        assert source.count(f'"{step}"') > 1, step


def test_events_without_a_blank_line_between_keep_their_names() -> None:
    body = b'event: x\ndata: {"a":1}\nevent: y\ndata: {"b":2}\n\n'
    assert short(items_of(body, keep_event=True)) == [
        "salvaged-several", {"a": 1, EVENT_KEY: "x"}, {"b": 2, EVENT_KEY: "y"},
    ]  # fmt: skip


def test_salvaged_frames_have_the_name_of_their_event() -> None:
    assert items_of(b'event: error\nerror: {"code":500}\n\n', keep_event=True)[-1] == {**E, EVENT_KEY: "error"}
    assert items_of(b'event: x\ndata: {"y":{"a":1}\ndata: {"a":1}\n\n', keep_event=True)[-1] == {**A, EVENT_KEY: "x"}


def test_notes_say_what_was_lost_and_what_was_salvaged() -> None:
    assert items_of(b'data: {"x":" wordata: {"a":1}\n\n') == [
        WireNote("bad-frame", '{"x":" wor'),
        WireNote("salvaged-glued", '{"a":1}'),
        A,
    ]


def test_the_earliest_whole_object_is_taken() -> None:
    (_, note, first, second) = items_of(b'data: {"x":" wor{"a":1}{"b":{"c":2}}\n\n')
    assert (note.reason, first, second) == ("salvaged-glued", A, {"b": {"c": 2}})


def test_no_more_than_so_many_places_are_tried() -> None:
    few = b"data: " + b'{"x":y ' * (MAX_TRIES - 4) + b'{"a":1}\n\n'
    many = b"data: " + b'{"x":y ' * (MAX_TRIES + 4) + b'{"a":1}\n\n'
    assert short(items_of(few)) == ["bad-frame", "salvaged-glued", A]
    assert short(items_of(many)) == ["bad-frame"]


NO = {"error": {"message": "no"}}
ERROR = b'{"error":{"message":"no"}}'
PRETTY = b'{\n  "error": {\n    "message": "no"\n  }\n}\n'
BARE: list[tuple[str, str, bytes, Item]] = [
    ("one line", "sse", ERROR, NO),
    ("one line and its end", "sse", ERROR + b"\r\n\r\n", NO),
    ("pretty", "sse", PRETTY, NO),
    ("pretty", "ndjson", PRETTY, NO),
    ("pretty, CRLF, byte order mark", "sse", b"\xef\xbb\xbf" + PRETTY.replace(b"\n", b"\r\n"), NO),
    ("array", "sse", b'[{"a":1},\n{"a":1}\n,\n{"b":2}]', [A, A, B]),
    ("array", "ndjson", b'[{"a":1},\n{"a":1}\n,\n{"b":2}]', [A, A, B]),
    ("objects in a pretty array", "ndjson", b'[\n{"a":1},\n{"b":2}\n]\n', [A, B]),
    ("behind comments", "sse", b": ping\n\n" + ERROR + b"\n\n: ping\n\n", NO),
    ("a string", "sse", b'"no"', "no"),
    ("end marker of another kind", "sse", b"[1]", [1]),
]  # fmt: skip


@pytest.mark.parametrize("steps", [ALL, NONE], ids=["on", "off"])
@pytest.mark.parametrize(("wire", "body", "payload"), [c[1:] for c in BARE], ids=[f"{c[1]}-{c[0]}" for c in BARE])
def test_bare_body(wire: str, body: bytes, payload: Item, steps: frozenset[str]) -> None:
    (item,) = items_of(body, wire, steps=steps)
    assert isinstance(item, BareBody)
    assert item.payload == payload
    assert items_of(body, wire, steps=steps, cuts=range(len(body))) == [item]


FAILURES: list[tuple[str, bytes, str]] = [
    ("page", b"<!DOCTYPE html>\n<html><body>502</body></html>\n", "html-body"),
    ("page with a script", b'\n  <html><script>\n{"a":1}\n</script></html>', "html-body"),
    ("xml", b'<?xml version="1.0"?><Error/>', "html-body"),
    ("text", b"upstream connect error or disconnect/reset before headers. reset reason: timeout", "text-body"),
    ("text of several lines", b"Bad Gateway\nmessage: try later\n", "text-body"),
    ("half of an object", b'{"error": {"mess', "text-body"),
    ("binary", bytes(range(14, 58)) + b"\xff" * 9, "text-body"),
]


@pytest.mark.parametrize("steps", [ALL, NONE], ids=["on", "off"])
@pytest.mark.parametrize("wire", ["sse", "ndjson"])
@pytest.mark.parametrize(("body", "code"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_no_stream(body: bytes, code: str, wire: str, steps: frozenset[str]) -> None:
    (item,) = items_of(body, wire, steps=steps)
    assert isinstance(item, WireFailure)
    assert (item.kind, item.code) == ("server", code)
    assert len(item.message) < 300
    assert items_of(body, wire, steps=steps, cuts=range(len(body))) == [item]


def test_a_failure_does_not_give_secrets_away() -> None:
    (item,) = items_of(b"Incorrect API key provided: sk-proj-abcdefghijklmnop. https://user:pw@example.com/x")
    assert "abcdef" not in item.message
    assert "user:pw" not in item.message


def test_half_a_line_of_ndjson_does_not_stop_the_stream() -> None:
    assert short(items_of(b'{"x": "cut\n{"a":1}\n{"b":2}\n', "ndjson", steps=NONE)) == ["bad-frame", A, B]


@pytest.mark.parametrize("body", [b"", b"\n\n", b"\r\n \t\n", b"\xef\xbb\xbf\n"])
def test_an_empty_body_is_nothing(body: bytes) -> None:
    assert items_of(body, "sse") == items_of(body, "ndjson") == []
