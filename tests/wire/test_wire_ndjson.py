"""Newline-delimited JSON, and how wires are chosen."""

from __future__ import annotations

import pytest
from wire_cases import ALL, NONE, items_of, short

from reknit.errors import UsageError
from reknit.wire import WIRES, EndMarker, Item, Limits, open_wire, sniff

A = {"a": 1}
B = {"b": 2}

LINES: list[tuple[str, bytes, list[Item]]] = [
    ("lines", b'{"a":1}\n{"b":2}\n', [A, B]),
    ("CRLF", b'{"a":1}\r\n{"b":2}\r\n', [A, B]),
    ("CR", b'{"a":1}\r{"b":2}\r', [A, B]),
    ("blank lines", b'\n{"a":1}\n\r\n \n{"b":2}\n\n', [A, B]),
    ("no line end at the end", b'{"a":1}\n{"b":2}', [A, B]),
    ("byte order mark", b'\xef\xbb\xbf{"a":1}\n', [A]),
    ("characters of several bytes", '{"a":"сто実😸"}\n'.encode(), [{"a": "сто実😸"}]),
    ("line separators of Unicode", '{"a":"\u2028\x85"}\n'.encode(), [{"a": "\u2028\x85"}]),
    ("any JSON value", b'[1]\n"x"\nnull\n2\n', [[1], "x", None, 2]),
    ("end marker", b'{"a":1}\n [DONE]\n', [A, EndMarker("[DONE]")]),
    ("end marker without line end", b'{"a":1}\n[DONE]', [A, EndMarker("[DONE]")]),
    ("end marker only", b"[DONE]", [EndMarker("[DONE]")]),
    ("a line that is no JSON", b'{"a":1}\noops\n{"b":2}\n', [A, "bad-frame", B]),
    ("a long line", b'{"a":1}\n{"c":"' + b"x" * 200 + b'"}\n{"b":2}\n', [A, "frame-too-long", B]),
    ("a long first line", b'{"c":"' + b"x" * 200 + b'"}\n{"b":2}\n', ["frame-too-long", B]),
    ("a long last line", b'{"a":1}\n{"c":"' + b"x" * 200, [A, "frame-too-long"]),
]


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in LINES], ids=[case[0] for case in LINES])
def test_lines(body: bytes, expected: list[Item]) -> None:
    limits = Limits(frame_bytes=100)
    assert short(items_of(body, "ndjson", steps=NONE, limits=limits)) == expected
    assert short(items_of(body, "ndjson", steps=NONE, limits=limits, cuts=range(len(body)))) == expected


@pytest.mark.parametrize(
    ("prefix", "wire"),
    [
        (b"", None),
        (b"\xef", None),
        (b"\xef\xbb\xbf", None),
        (b" \r\n\t", None),
        (b"\xef\xbb\xbf\n", None),
        (b"{", "ndjson"),
        (b'\xef\xbb\xbf {"a":1}', "ndjson"),
        (b"[\n{", "ndjson"),
        (b"d", "sse"),
        (b"\xef\xbb\xbfdata: x", "sse"),
        (b"\n\nevent: x", "sse"),
        (b": ping", "sse"),
        (b"<html>", "sse"),
        (b"\xef\xbbdata", "sse"),
    ],
)
def test_sniff(prefix: bytes, wire: str | None) -> None:
    assert sniff(prefix) == wire


def test_open_wire() -> None:
    for name in WIRES:
        assert open_wire(name, end=None, salvage=ALL).close() == []
    with pytest.raises(UsageError, match="there is no wire `pigeon`"):
        open_wire("pigeon", end=None, salvage=ALL)
