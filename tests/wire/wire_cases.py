"""What the tests of the wires share: feeding a body in pieces, and the dirty pieces that bodies are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from reknit.wire import SALVAGE, Item, Limits, WireFailure, WireNote, open_wire

ALL = frozenset(SALVAGE)
NONE: frozenset[str] = frozenset()


def items_of(
    body: bytes,
    wire: str = "sse",
    *,
    steps: frozenset[str] = ALL,
    end: str | None = "[DONE]",
    keep_event: bool = False,
    limits: Limits = Limits(),  # noqa: B008
    cuts: Iterable[int] = (),
) -> list[Item]:
    """Everything that a body gives, fed in the pieces that the cuts make of it."""
    opened = open_wire(wire, end=end, salvage=steps, keep_event=keep_event, limits=limits)
    items: list[Item] = []
    start = 0
    for stop in [*cuts, len(body)]:
        items += opened.feed(body[start:stop])
        start = stop
    return items + opened.close()


def short(items: Sequence[Item]) -> list[Item]:
    """Items with every note and failure as its one word."""
    return [
        item.reason if isinstance(item, WireNote) else item.code if isinstance(item, WireFailure) else item
        for item in items
    ]


PIECES = [
    b'data: {"a":1}\n\n',
    b'data: {"a":1}\n',
    b'data:{"b":[1,2]}\r\n\r\n',
    b'data: {"u":"\xe5\xae\x9e\xf0\x9f\x98\xb8"}\n\n',
    b'data: {"x":"\xe2\x80\xa8"}\n\n',
    b'data: {"s":"\\ud83d"}\n\n',
    b'data: {"n":NaN,"m":1e999}\n\n',
    b'data: {"a":"b\0c"}\n\n',
    b'data: "text"\n\n',
    b"data: 1\n\n",
    b"data: " + b"9" * 5000 + b"\n\n",
    b"data: " + b"[" * 300 + b"\n\n",
    b"data: " + b'{"a":' * 193 + b"1" + b"}" * 193 + b"\n\n",
    b'data: "' + b"x" * 50 + b'"\n\n',
    b'data: {"a":1}{"b":2}\n\n',
    b'data: {"a":"bdata: {"c":1}\n\n',
    b'data: {"a":1}data: [DONE]\n\n',
    b'data: {"$event":"q"}\n\n',
    b"data: [DONE]\n\n",
    b"data: [DONE]",
    b"[DONE]\n",
    b"data\n",
    b"data:\n",
    b"data: ",
    b"data",
    b' data: {"y":1}\n',
    b'data: data: {"z":1}\n\n',
    b'Data: {"w":1}\n\n',
    b": ping\n\n",
    b": p",
    b":" + b"c" * 90 + b"\n",
    b"event: x\n",
    b"event:",
    b"event\n",
    b"event: \xff\n",
    b"id: 1\n",
    b"retry: 5\n",
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xef",
    b"\xe5",
    b"\xff",
    b"\x00",
    b'{"c":3}\n',
    b'{"c":3}',
    b'{"half":"abc',
    b'{"half":[',
    b"{\n",
    b"}\n",
    b"[\n",
    b"]\n",
    b",\n",
    b'"k": 1,\n',
    b'"k": {\n',
    b'{"d":{"e":1}},\n',
    b"null\n",
    b'error: {"code":500}\n',
    b'error: {"code"',
    b"foo: bar\n",
    b"foo\n",
    b"Internal Server Error\n",
    b"<html>\n",
    b"x" * 90,
]

bodies = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join),
    st.lists(st.sampled_from([bytes([byte]) for byte in b'\r\n :{}[]"\\,data1e\xef\xbb\xbf']), max_size=40).map(
        b"".join
    ),
    st.binary(max_size=60),
)
settings_of_a_wire = st.fixed_dictionaries(
    {
        "wire": st.sampled_from(["sse", "ndjson"]),
        "steps": st.sets(st.sampled_from(sorted(SALVAGE))).map(frozenset) | st.just(ALL),
        "end": st.sampled_from(["[DONE]", None, '{"c":3}', "1"]),
        "keep_event": st.booleans(),
        "limits": st.sampled_from([Limits(), Limits(40, 10**9), Limits(10**9, 60), Limits(0, 100), Limits(400, 10**6)]),
    }
)
