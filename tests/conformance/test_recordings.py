"""Recordings of real vendors against the message that each must give: others' bytes, read where they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from adapter import reconstruct, vendor_of
from suite import judge

STREAMS = Path(__file__).resolve().parents[3] / "shared" / "streams"
OPEN: dict[str, str] = json.loads((Path(__file__).parent / "open.json").read_text("utf-8"))["recordings"]
FLOOR = 105
"""Recordings that apply; may only rise."""

OWN = ("text", "thinking", "redacted_thinking", "tool_use")


def recordings() -> list[dict[str, Any]]:
    if not (STREAMS / "INDEX.tsv").exists():
        return []
    with (STREAMS / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = []
    for row in rows:
        payload = row["payload_protocol"] or row["protocol"]
        case = {
            **{key: row[key] for key in ("protocol", "vendor", "model")},
            "id": row["file"],
            "payload_protocol": payload,
            "ext": row["file"].rsplit(".", 1)[1],
            "tools": [],
            "options": {},
        }
        if payload == row["protocol"] and vendor_of(case) is not None:
            found.append(case)
    return found


RECORDINGS = recordings()


def comparable(content: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Opaque blocks by type and id; citations where both sides have them; empty unsigned text is nothing."""
    cited = any(block.get("citations") for block in other)
    reduced = []
    for block in content:
        kind = block["type"]
        if kind not in OWN:
            reduced.append({"type": kind, **({"id": block["id"]} if isinstance(block.get("id"), str) else {})})
        elif kind not in ("text", "thinking") or block.get(kind) or block.get("signature"):
            reduced.append({key: value for key, value in block.items() if cited or key != "citations"})
    return reduced


@pytest.mark.skipif(not RECORDINGS, reason="the recordings are not beside this checkout (../shared/streams)")
def test_the_floor_does_not_fall() -> None:
    assert len(RECORDINGS) >= FLOOR
    assert OPEN.keys() <= {case["id"] for case in RECORDINGS}


@pytest.mark.skipif(not RECORDINGS, reason="the recordings are not beside this checkout (../shared/streams)")
@pytest.mark.parametrize("case", RECORDINGS, ids=lambda case: case["id"].removeprefix("raw/"))
def test_recording(case: dict[str, Any]) -> None:
    body = (STREAMS / case["id"]).read_bytes()
    gold = json.loads((STREAMS / "gold" / (case["id"].removeprefix("raw/") + ".json")).read_text("utf-8"))
    results = [
        reconstruct(case, cut)
        for cut in (body.splitlines(keepends=True), [body], [body[at : at + 7] for at in range(0, len(body), 7)])
    ]
    got = results[0]
    assert got is not None
    found: list[str] | None = None
    for other in ({}, *(gold.get("also_accept") or [])):
        want = {**gold["expected"], **other}
        content = comparable(got["content"], want["content"])
        wanted = {**want, "content": comparable(want["content"], got["content"])}
        faults = list(judge(wanted, {**got, "content": content}, case["payload_protocol"]))
        if found is None or len(faults) < len(found):
            found = faults
    assert results[1] == results[0]
    assert results[2] == results[0]
    if case["id"] in OPEN:
        assert found, f"{case['id']} is right now: take it out of open.json"
    else:
        assert found == [], gold.get("why")
