"""Frames and bodies of any shipped vendor, good and dirty, made from what its own maps look for.

A frame is made by choosing a map and putting something at every path that it names: a value that its field takes, or
anything at all. So the maps of rule files that are not written yet are tried too.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from hypothesis import strategies as st
from pool import DOCUMENTS, FRAGMENTS, Choose, field_values

from reknit.paths import Step, parse_path
from reknit.table import ExprSpec, MapSpec, Table, WhereSpec
from reknit.wire.frames import EVENT_KEY

Placed = tuple[tuple[Step, ...], Any]

_WORDS = ["Hel", "lo ", "w\u00f6rld", "\U0001f600", "e\u0301", "\u2028", "<think>", "</think>", "", " ", "0"]
_PLAIN: list[Any] = [*_WORDS, *FRAGMENTS[:8], 0, 1, 2, -1, 7.0, 0.5, True, False, None, [], {}, ["a"], {"a": 1}]
_SAMPLES: dict[str, list[Any]] = {
    "string": _WORDS,
    "number": [0, 1, 2.5],
    "boolean": [True, False],
    "list": [[], ["a"], [{"text": "b"}]],
    "object": [{}, {"text": "c"}, {"type": "d"}],
    "null": [None],
}


WILD: list[Any] = [
    10**400,
    -(2**63) - 1,
    1e308,
    -0.0,
    5e-324,
    2**64,
    "\x00",
    "\ud800",
    "\udc00x",
    "x" * 5000,
    [[[]]] * 50,
]
"""Values that nobody expects."""


def monsters() -> list[Any]:
    """Values that nobody expects, and that Python cannot even print: too deep, too many digits, no number at all."""
    deep: Any = []
    for n in range(1000):
        deep = [deep] if n % 2 else {"a": deep}
    return [-(10**5000), deep, {"a": [10**5000]}, float("nan"), float("-inf")]


def place(frame: Any, steps: tuple[Step, ...], value: Any) -> Any:
    """The frame with a value put at a path; what stands in the way is put aside."""
    if not steps:
        if isinstance(frame, dict) and frame and isinstance(value, dict):
            return {**frame, **value}
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, str):
        held = frame if isinstance(frame, dict) else {}
        return {**held, step: place(held.get(step), rest, value)}
    at = step or 0
    items = list(frame) if isinstance(frame, list) else []
    items += [{} for _ in range(at + 1 - len(items))]
    items[at] = place(items[at], rest, value)
    return items


def _where(spec: WhereSpec, at: tuple[Step, ...], choose: Choose) -> list[Placed]:
    relative, steps = parse_path(spec.path)
    values = [*spec.values, *(value for name in spec.types for value in _SAMPLES[name])]
    if spec.negated or not values:
        return []
    return [((*at, *steps) if relative else steps, choose(values))]


def _expression(spec: ExprSpec, at: tuple[Step, ...], values: list[Any], choose: Choose) -> list[Placed]:
    found: list[Placed] = []
    for _, member in spec.members:
        found += _expression(member, at, values, choose)
    if spec.kind == "path":
        relative, steps = parse_path(spec.path)
        if steps or relative:
            found.append(((*at, *steps) if relative else steps, choose(values)))
    return found


def _map_frame(table: Table, spec: MapSpec, frame: Any, choose: Choose, odd: list[Any]) -> Any:
    at = parse_path(choose(spec.at))[1]
    placed: list[Placed] = [(at, {})] if choose((True, False)) else []
    for emit in spec.emits:
        fields = table.policy.events[emit.event].fields
        for field, bind in zip(fields, emit.binds, strict=True):
            if bind is not None and choose((True, True, True, False)):
                values = odd if choose((False, False, False, True)) else field_values(field.type)
                enums = [table.program.enums[word].cases for name, word in bind.filters if name == "enum"]
                words = [word for cases in enums for word in cases]
                placed += _expression(bind, at, words if words and choose((True, False)) else values, choose)
    for where in spec.where:
        placed += _where(where, at, choose)
    if table.program.choices is not None and at[:1] == parse_path(table.program.choices[0])[1][:1]:
        by = parse_path(table.program.choices[1])[1]
        placed.append(((*at[:2], *by), choose((0, 0, 0, 0, 1))))
    for steps, value in placed:
        if EVENT_KEY not in steps:
            frame = place(frame, steps, value)
    return frame


def any_frame(table: Table, choose: Choose, odd: list[Any] | None = None) -> Any:
    """A frame that one or two of a vendor's maps may take, with a value here and there that is not expected."""
    frame: Any = {}
    for _ in range(choose((1, 1, 2))):
        frame = _map_frame(table, choose(table.program.maps), frame, choose, _PLAIN if odd is None else odd)
    return frame


def by_hypothesis(draw: st.DrawFn) -> Choose:
    """Choices that shrink."""
    return lambda values: draw(st.sampled_from(list(values)))


def call_frames(table: Table, choose: Choose) -> list[Any]:
    """Frames of one call whose arguments come in pieces, where the protocol is one that is known here."""
    text, slot = choose(DOCUMENTS), choose((0, 1))
    cut = choose((1, len(text) // 2))
    name, ident = choose(("Read", "Now", None)), choose(("t1", "t2", None))
    if table.program.protocol == "openai-chat":

        def chunk(call: dict[str, Any]) -> Any:
            return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": slot, **call}]}}]}

        return [
            chunk({"id": ident, "function": {"name": name, "arguments": text[:cut]}}),
            chunk({"function": {"arguments": text[cut:]}}),
        ]
    if table.program.protocol == "anthropic-messages":
        start = {"type": "tool_use", "id": ident, "name": name, "input": {}}
        delta = [{"type": "input_json_delta", "partial_json": piece} for piece in (text[:cut], text[cut:])]
        return [
            {"type": "content_block_start", "index": slot, "content_block": start},
            *({"type": "content_block_delta", "index": slot, "delta": one} for one in delta),
            {"type": "content_block_stop", "index": slot},
        ]
    return []


def frame_lists(table: Table, most: int = 8, odd: list[Any] | None = None) -> st.SearchStrategy[list[Any]]:
    """The frames of a stream, in any order."""

    @st.composite
    def stretch(draw: st.DrawFn) -> list[Any]:
        if draw(st.sampled_from((False, False, True))):
            return call_frames(table, by_hypothesis(draw))
        return [any_frame(table, by_hypothesis(draw), odd)]

    return st.lists(stretch(), max_size=most).map(lambda stretches: [frame for frames in stretches for frame in frames])


def json_text(value: Any, ascii_only: bool = False) -> str:
    """JSON of a value of any depth and any size of number, which `json.dumps` alone refuses to write."""
    limit, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    sys.setrecursionlimit(20_000)
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    finally:
        sys.setrecursionlimit(limit)
        sys.set_int_max_str_digits(digits)


def spread(text: str) -> list[str]:
    """JSON text in pieces between which a line may end."""
    lines, quoted, escaped = [""], False, False
    for character in text:
        lines[-1] += character
        quoted = quoted is not (character == '"' and not escaped)
        escaped = quoted and character == "\\" and not escaped
        if not quoted and character in ",{[":
            lines.append("")
    return lines


_FRAMINGS = [
    "data: {}\n\n",
    "data: {}\n\n",
    "data:{}\n\n",
    "data: {}\r\n\r\n",
    "data: {}\r\r",
    "event: message\ndata: {}\n\n",
    "data: {}\nevent: late\nid: 7\n\n",
    "id: 1\nretry: 10\ndata: {}\n\n",
    "data: {}\n",  # its blank line is missing
    "{}\n",  # no field
    "data: {}\n: comment\n\n",
    "data: {} \n\n",
    "data: data: {}\n\n",
    "DATA: {}\n\n",
]
_NOISE = [
    ": keep-alive\n\n",
    ":\n",
    "\n",
    "\r\n\r\n",
    "data: \n\n",
    "data: [DONE]\n\n",
    "[DONE]",
    'event: ping\ndata: {"type": "ping"}\n\n',
    'data: {"half": "a fra\n\n',
    'data: {"half": {"a": 1}data: {"choices": []}\n\n',
    'data: {"a": 1}{"b": 2}\n\n',
    'error: {"message": "boom", "code": 500}\n\n',
    'data: {"error": {"message": "late", "type": "server_error"}}\n\n',
    "nonsense\n\n",
    "<html>\n",
    "data: not json at all\n\n",
    'data: {\n  data: "a": 1\n}\n\n',
    'data: {\ndata: "choices": []}\n\n',
    "data: \u2028\u00e9\n\n",
    'data: {"a": NaN}\n\n',
    'data: "text"\n\n',
    "data: [1, 2]\n\n",
]


@st.composite
def bodies(draw: st.DrawFn, table: Table, dirt: bool = True) -> bytes:
    """The body of a response: frames in every framing that is seen, and between them what else proxies send."""
    parts: list[bytes] = [b"\xef\xbb\xbf"] if draw(st.integers(0, 9)) == 9 else []
    for frame in draw(frame_lists(table, most=6)):
        if dirt and draw(st.integers(0, 3)) == 3:
            parts.append(draw(st.sampled_from(_NOISE)).encode())
        text = json_text(frame, ascii_only=draw(st.booleans()))
        framing = draw(st.sampled_from(_FRAMINGS if dirt else _FRAMINGS[:1]))
        if table.program.wire == "ndjson":
            framing = "{}\n"
        if dirt and draw(st.integers(0, 5)) == 5:
            # One frame in many lines of data: wherever a line is ended, it must not end the event.
            text = draw(st.sampled_from(["\ndata: ", "\r\ndata:", "\rdata: "])).join(spread(text))
        raw = framing.replace("{}", text).encode("utf-8", "surrogatepass")
        if dirt and draw(st.integers(0, 11)) == 11:
            raw = raw[: draw(st.integers(0, len(raw)))]
        if dirt and draw(st.integers(0, 15)) == 15:
            raw = raw.replace(b"e", b"\xff\xc3", 1)
        parts.append(raw)
    if draw(st.booleans()):
        parts.append(b"data: [DONE]\n\n")
    return b"".join(parts)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    """A body cut at positions, taken round its length; empty pieces are among them."""
    places = sorted(place % (len(data) + 1) for place in cuts)
    starts, stops = [0, *places], [*places, len(data)]
    return [data[start:stop] for start, stop in zip(starts, stops, strict=True)]
