"""The event stream: what the standard says, and the bounds."""

from __future__ import annotations

import json

import pytest
from wire_cases import ALL, NONE, items_of, short

from reknit.wire import EVENT_KEY, EndMarker, Item, Limits, WireFailure, WireNote

DONE = EndMarker("[DONE]")
A = {"a": 1}
B = {"b": 2}

# Body, items without any salvage step. Notes stand as their reasons.
STANDARD: list[tuple[str, bytes, list[Item]]] = [
    ("one event", b'data: {"a":1}\n\n', [A]),
    ("no space after the colon", b'data:{"a":1}\n\ndata:[DONE]\n\n', [A, DONE]),
    ("one space is taken, another is white space", b'data:  {"a":1}\n\n', [A]),
    ("CRLF", b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n', [A, B]),
    ("CR", b'data: {"a":1}\r\rdata: {"b":2}\r\r', [A, B]),
    ("mixed line ends", b'data: {"a":1}\r\n\ndata: {"b":2}\n\r\n', [A, B]),
    ("byte order mark", b'\xef\xbb\xbfdata: {"a":1}\n\n', [A]),
    ("byte order mark and CRLF", b'\xef\xbb\xbfdata: {"a":1}\r\n\r\n', [A]),
    ("byte order mark before a comment", b'\xef\xbb\xbf: hello\n\ndata: {"a":1}\n\n', [A]),
    ("comments", b': ping\n\n:\n\ndata: {"a":1}\n: inside\n\n: after\n\n', [A]),
    ("comment with a colon and JSON", b': {"b":2}\n\ndata: {"a":1}\n\n', [A]),
    ("comment inside of an event of several lines", b'data: {"a":\n: ping\ndata: 1}\n\n', [A]),
    ("id and retry", b'id: 7\nretry: 10\ndata: {"a":1}\n\nid: 8\n\n: ping\n\n', [A]),
    ("id without colon, empty id", b'id\nid:\ndata: {"a":1}\n\n', [A]),
    ("several data lines", b'data: {\ndata: "a":\ndata: 1\ndata: }\n\n', [A]),
    ("data without colon between", b'data: {"a":\ndata\ndata: 1}\n\n', [A]),
    ("empty data", b"data\n\ndata:\n\ndata: \n\ndata:\ndata:\n\n", []),
    ("event without data", b'event: ping\n\ndata: {"a":1}\n\n', [A]),
    ("more blank lines", b'\n\ndata: {"a":1}\n\n\n\n\ndata: {"b":2}\n\n\n', [A, B]),
    ("unknown fields", b'foo: bar\nbaz\ndata: {"a":1}\nqux:1\n\n', [A]),
    ("field names are case-sensitive", b'DATA: x\nEvent: y\ndata: {"a":1}\n\n', ["unknown-field", A]),
    ("line separators of Unicode", 'data: {"a":"\u2028\u2029\x85"}\n\n'.encode(), [{"a": "\u2028\u2029\x85"}]),
    (
        "data that looks like framing",
        b'data: {"a":"x: y, data: z\\n\\nevent: d"}\n\n',
        [{"a": "x: y, data: z\n\nevent: d"}],
    ),
    ("any JSON value", b'data: [1]\n\ndata: "x"\n\ndata: null\n\ndata: 1.5\n\n', [[1], "x", None, 1.5]),
    ("end marker with blanks", b"data:  [DONE] \n\n", [DONE]),
    ("after the end marker", b'data: [DONE]\n\n: ping\n\ndata: {"a":1}\n\n', [DONE, A]),
    ("data that is no JSON", b'data: oops\n\ndata: {"a":1}\n\n', ["bad-frame", A]),
    ("a number and text", b'data: 404 page not found\n\ndata: {"a":1}\n\n', ["bad-frame", A]),
    ("empty body", b"", []),
    ("blank body", b"\r\n \n", []),
    ("comments only", b": ping\n\n: ping", []),
    ("a byte order mark only", b"\xef\xbb\xbf", []),
]


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in STANDARD], ids=[case[0] for case in STANDARD])
def test_standard(body: bytes, expected: list[Item]) -> None:
    assert short(items_of(body, steps=NONE)) == expected
    assert short(items_of(body, steps=NONE, cuts=range(len(body)))) == expected


# Payload, what it becomes: JSON that the fast decoder refuses.
PAYLOADS: list[tuple[str, bytes, list[Item]]] = [
    ("lone surrogate", b'{"a":"\\ud83d"}', [{"a": "\ud83d"}]),
    ("surrogate pair", b'{"a":"\\ud83d\\ude00"}', [{"a": "\N{GRINNING FACE}"}]),
    ("invalid UTF-8", b'{"a":"\xff"}', ["bad-utf8", {"a": "\ufffd"}]),
    ("cut UTF-8", b'{"a":"\xe5\xae"}', ["bad-utf8", {"a": "\ufffd"}]),
    ("invalid UTF-8 that is no JSON", b"\xff\xfe", ["bad-frame"]),
    ("NaN", b'{"a":NaN,"b":[Infinity,-Infinity]}', ["non-json-number", {"a": None, "b": [None, None]}]),
    ("NaN alone", b"NaN", ["non-json-number", None]),
    ("beyond a double", b'{"a":1e999}', ["non-json-number", {"a": None}]),
    ("beyond Python's own bound", b'{"a":' + b"9" * 5000 + b"}", ["non-json-number", {"a": None}]),
    ("large integer", b'{"a":123456789012345678901234567890}', [{"a": 123456789012345678901234567890}]),
    ("raw NUL in a string", b'{"a":"x\0y"}', ["raw-control-character", {"a": "x\0y"}]),
    ("NULs around", b'\0{"a":1}\0\0', ["raw-control-character", {"a": 1}]),
    ("byte order mark", b'\xef\xbb\xbf{"a":1}', [{"a": 1}]),
    ("deep", b"[" * 192 + b"]" * 192, [json.loads("[" * 192 + "]" * 192)]),
    ("too deep", b"[" * 193 + b"]" * 193, ["frame-too-deep"]),
    ("too deep, objects", b'{"a":' * 193 + b"1" + b"}" * 193, ["frame-too-deep"]),
    ("much too deep", b"[" * 100_000 + b"]" * 100_000, ["frame-too-deep"]),
    ("wide", b"[" + b"[]," * 500 + b"[]]", [[[]] * 501]),
    ("single quotes", b"{'a':1}", ["bad-frame"]),
    ("trailing comma", b'{"a":1,}', ["bad-frame"]),
]


@pytest.mark.parametrize("wire", ["sse", "ndjson"])
@pytest.mark.parametrize(("payload", "expected"), [case[1:] for case in PAYLOADS], ids=[case[0] for case in PAYLOADS])
def test_payload(payload: bytes, expected: list[Item], wire: str) -> None:
    first, last = (b'data: {"a":1}\n\ndata: ', b"\n\n") if wire == "sse" else (b'{"a":1}\n', b"\n")
    assert short(items_of(first + payload + last, wire, steps=NONE)) == [A, *expected]


NAMES: list[tuple[str, bytes, list[Item]]] = [
    ("before", b'event: x\ndata: {"a":1}\n\n', [{"a": 1, EVENT_KEY: "x"}]),
    ("after", b'data: {"a":1}\nevent: x\n\n', [{"a": 1, EVENT_KEY: "x"}]),
    ("twice", b'event: x\nevent: y\ndata: {"a":1}\n\n', [{"a": 1, EVENT_KEY: "y"}]),
    ("no space", b'event:x\ndata:{"a":1}\n\n', [{"a": 1, EVENT_KEY: "x"}]),
    ("only of its own event", b'event: x\ndata: {"a":1}\n\ndata: {"b":2}\n\n', [{"a": 1, EVENT_KEY: "x"}, B]),
    ("not of an empty event", b'event: x\n\ndata: {"b":2}\n\n', [B]),
    ("empty", b'event:\ndata: {"a":1}\n\n', [A]),
    ("not into other values", b"event: x\ndata: [1]\n\n", [[1]]),
    ("not into the end marker", b"event: x\ndata: [DONE]\n\n", [DONE]),
    ("error", b'event: error\ndata: {"a":1}\n\n', [{"a": 1, EVENT_KEY: "error"}]),
    ("bad UTF-8", b'event: \xff\ndata: {"a":1}\n\n', ["bad-utf8", {"a": 1, EVENT_KEY: "\ufffd"}]),
    ("the same again and again", b'event: x\ndata: {"a":1}\n\n' * 3, [{"a": 1, EVENT_KEY: "x"}] * 3),
    ("over a foreign one", b'event: x\ndata: {"$event":"y"}\n\n', [{EVENT_KEY: "x"}]),
]


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES])
def test_event_names(body: bytes, expected: list[Item]) -> None:
    for cuts in ((), range(len(body)), [i + 2 for i in range(len(body)) if body[i : i + 2] == b"\n\n"]):
        assert short(items_of(body, steps=NONE, keep_event=True, cuts=cuts)) == expected
    plain = [item for item in short(items_of(body, steps=NONE)) if item != "bad-utf8"]
    assert all(not isinstance(item, dict) or item.get(EVENT_KEY) in (None, "y") for item in plain)


def test_many_event_names_are_not_remembered() -> None:
    body = b"".join(b'event: n%d\ndata: {"a":1}\n\n' % number for number in range(200))
    assert [item[EVENT_KEY] for item in items_of(body, keep_event=True)] == [f"n{number}" for number in range(200)]


def test_one_event_a_read_is_the_same_as_the_whole_body() -> None:
    events = [b'event: x\r\ndata: {"a":1}\r\n\r\n', b'data: {"b":2}\n\n', b"data: [DONE]\r\n\r\n", b": ping\n\n"] * 3
    body = b"".join(events)
    cuts = [sum(map(len, events[:count])) for count in range(len(events))]
    assert items_of(body, keep_event=True, cuts=cuts) == items_of(body, keep_event=True)


BOUNDS: list[tuple[str, bytes, list[Item]]] = [
    ("long data", b'data: "' + b"x" * 200 + b'"\n\ndata: {"a":1}\n\n', ["frame-too-long", A]),
    ("long in sum", b'data: "xxxxxxxxxx"\n' * 20 + b'\ndata: {"a":1}\n\n', ["frame-too-long", A]),
    ("the rest of a long event", b'data: "' + b"x" * 200 + b'"\ndata: 1\nfoo: {"a":2}\n\ndata: {"a":1}\n\n',
     ["frame-too-long", A]),
    ("long unknown line", b'data: {"a":1}\n\nfoo: {"a":"' + b"x" * 200 + b'"}\n\n', [A, "frame-too-long"]),
    ("long comment", b":" + b"x" * 200 + b'\n\ndata: {"a":1}\n\n', [A]),
    ("long name", b"event: " + b"x" * 200 + b'\ndata: {"a":1}\n\n', ["frame-too-long", A]),
    ("long and unterminated", b'data: {"a":1}\n\ndata: "' + b"x" * 200, [A, "frame-too-long"]),
    ("just not long", b'data: "' + b"x" * 92 + b'"\n\n', ["x" * 92]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in BOUNDS], ids=[case[0] for case in BOUNDS])
def test_frame_bound(body: bytes, expected: list[Item]) -> None:
    limits = Limits(frame_bytes=100)
    assert short(items_of(body, steps=NONE, limits=limits, keep_event=True)) == expected
    assert short(items_of(body, steps=NONE, limits=limits, keep_event=True, cuts=range(len(body)))) == expected


@pytest.mark.parametrize("wire", ["sse", "ndjson"])
def test_body_bound(wire: str) -> None:
    event = b'data: {"a":1}\n\n' if wire == "sse" else b'{"a":1}\n'
    limits = Limits(body_bytes=len(event) * 3 + 4)
    items = items_of(event * 5, wire, limits=limits, cuts=range(0, 75, 10))
    assert items[:-1] == [A, A, A]
    assert items[-1] == WireFailure("malformed", "body-too-long", f"the body is longer than {limits.body_bytes} bytes")
    assert items_of(event * 5, wire, limits=Limits(body_bytes=len(event) * 5)) == [A] * 5


def test_an_end_marker_that_is_json() -> None:
    assert items_of(b'data: {"done":true}\n\ndata: {"a":1}\n\n', end='{"done":true}') == [EndMarker('{"done":true}'), A]


def test_notes_are_bounded_and_redacted() -> None:
    (note,) = items_of(b'data: {"key":"sk-abcdefghijklmnop", ' + b"x" * 5000 + b"\n\n", steps=ALL)
    assert isinstance(note, WireNote)
    assert len(note.excerpt) <= 160
    assert "abcdefgh" not in note.excerpt
