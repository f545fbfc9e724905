"""Reads cases, feeds them in three cuts, and judges what comes out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
CUTS = ("events", "whole", "bytes")

Case = dict[str, Any]
Result = dict[str, Any]
Contestant = Callable[[Case, list[bytes]], Result | None]

_FAMILY = {
    **dict.fromkeys(("bad_json", "truncated", "missing_required", "multiple_objects", "schema_mismatch"), "arguments"),
    **dict.fromkeys(("missing_name", "ambiguous_name", "unknown_tool"), "name"),
}
_CACHE = ("cache_read_tokens", "cache_write_tokens")
_USAGE = ("input_tokens", "output_tokens", "reasoning_tokens", *_CACHE)
_WITHOUT_CACHE = ("anthropic-messages", "bedrock-converse")
"""Protocols whose input count leaves the cached tokens out."""


def load() -> list[Case]:
    """All cases, by number."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))]


def shown(case: Case) -> Case:
    """What a contestant may see of a case: never the answer."""
    seen = {key: case[key] for key in ("id", "protocol", "tools", "options") if key in case}
    return seen | {"payload_protocol": case.get("payload_protocol") or case["protocol"]}


def pieces(case: Case) -> list[bytes]:
    """The body as a transport delivers it: an event a piece, or cut as the case says."""
    if case["protocol"] == "wire":
        body = case["input"]["raw"].encode()
        at = [0, *case["input"].get("split_at", []), len(body)]
        return [body[start:end] for start, end in itertools.pairwise(at) if start < end]
    return [_event(case["protocol"], event) for event in case["input"]]


def _event(protocol: str, event: Any) -> bytes:
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    if protocol in ("ollama", "bedrock-converse"):
        return f"{data}\n".encode()
    if protocol in ("anthropic-messages", "openai-responses"):
        return f"event: {event['type']}\ndata: {data}\n\n".encode()
    return f"data: {data}\n\n".encode()


def cut(body: list[bytes], how: str) -> list[bytes]:
    """The body in one of three cuts."""
    if how == "events":
        return body
    whole = b"".join(body)
    return ([whole] if whole else []) if how == "whole" else [bytes([byte]) for byte in whole]


def faults(case: Case, contestant: Contestant) -> list[str] | None:
    """What is wrong with a contestant's results on a case; None when the case does not apply to it."""
    body = pieces(case)
    results: dict[str, Result] = {}
    for how in CUTS:
        result = contestant(shown(case), cut(body, how))
        if result is None:
            return None
        results[how] = result
    protocol = case.get("payload_protocol") or case["protocol"]
    wanted = [case["expected"], *({**case["expected"], **other} for other in case.get("also_accept") or [])]
    found = min((list(judge(want, results["events"], protocol)) for want in wanted), key=len)
    found += [f"{how} differs from events" for how in CUTS[1:] if results[how] != results["events"]]
    return found


def judge(expected: Result, got: Result, protocol: str) -> Iterator[str]:
    """What differs from what is expected, aspect by aspect."""
    yield from _content(expected["content"], got["content"])
    for key in ("stop_reason", "complete"):
        if got[key] != expected[key]:
            yield f"{key} is {got[key]!r}, not {expected[key]!r}"
    if not any(_same_counts(form, got["usage"]) for form in _usage_forms(expected, protocol)):
        yield f"usage is {got['usage']}, not {expected['usage']}"
    told = json.dumps(got["error"], ensure_ascii=False)
    named = [str(value) for value in (expected.get("error") or {}).values()]
    if expected["stop_reason"] == "error" and named and not any(value in told for value in named):
        yield f"error is {told}, not {expected['error']}"


def _content(expected: list[Any], got: list[Any]) -> Iterator[str]:
    if [block["type"] for block in expected] != [block["type"] for block in got]:
        yield f"blocks are {got}"
        return
    for number, (want, have) in enumerate(zip(expected, got, strict=True)):
        yield from (f"block {number}: {fault}" for fault in _block(want, have))
    ids = [block["id"] for block in got if block["type"] == "tool_use"]
    if len(set(ids)) < len(ids) or not all(ids):
        yield f"ids are not unique: {ids}"


def _block(want: dict[str, Any], have: dict[str, Any]) -> Iterator[str]:
    invalid = want.get("invalid")
    for key, value in want.items():
        if key == "invalid" or (key == "id" and value == "*") or (key == "input" and invalid):
            continue
        if have.get(key) != value or isinstance(have.get(key), bool) != isinstance(value, bool):
            yield f"{key} is {have.get(key)!r}, not {value!r}"
    if _FAMILY.get(str(invalid), invalid) != _FAMILY.get(str(have.get("invalid")), have.get("invalid")):
        yield f"invalid is {have.get('invalid')!r}, not {invalid!r}"
    yield from (f"{key} was not expected" for key in ("signature", "citations") if key not in want and have.get(key))


def _usage_forms(expected: Result, protocol: str) -> list[dict[str, int]]:
    """The provider's own counts, and the same with the cached tokens on the other side of the input."""
    own = expected["usage"]
    if "input_tokens" not in own:
        return [own]
    cached = sum(own.get(key, 0) for key in _CACHE)
    other = own["input_tokens"] + (cached if protocol in _WITHOUT_CACHE else -cached)
    return [own, expected.get("usage_exclusive") or {**own, "input_tokens": other}]


def _same_counts(form: dict[str, int], got: dict[str, int]) -> bool:
    return all((form.get(key) or 0) == (got.get(key) or 0) for key in _USAGE)
