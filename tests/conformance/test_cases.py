"""The public suite, case by case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from adapter import reconstruct
from suite import Case, faults, load, shown

OPEN: dict[str, str] = json.loads((Path(__file__).parent / "open.json").read_text("utf-8"))["cases"]
FLOOR = 124
"""Cases that apply; may only rise."""

CASES = load()
APPLYING = [case for case in CASES if reconstruct(shown(case), []) is not None]


@pytest.mark.parametrize("case", APPLYING, ids=lambda case: case["id"])
def test_case(case: Case) -> None:
    found = faults(case, reconstruct)
    if case["id"] in OPEN:
        assert found, f"{case['id']} is right now: take it out of open.json"
    else:
        assert found == [], case["why"]


def test_the_floor_does_not_fall() -> None:
    assert len(APPLYING) >= FLOOR
    assert OPEN.keys() <= {case["id"] for case in APPLYING}


def test_a_wrong_answer_is_found() -> None:
    """The judge can fail: every case, judged against an empty message, has a fault."""

    def silent(case: Case, chunks: list[bytes]) -> dict[str, object]:
        return {"content": [], "stop_reason": "none", "usage": {}, "complete": True, "error": None}

    assert all(faults(case, silent) for case in CASES)
