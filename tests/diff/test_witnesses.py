"""Witnesses are true: both sides answer them differently, as streams of the engine and as rule tests."""

from __future__ import annotations

from functools import cache

import pytest
from judging import is_true
from sides import CASES, TINY, edited, side_of, sides_in
from test_diff_cases import NAMES

from reknit.diff import Change, Difference, Side, compare
from reknit.diff.rule_test import as_rule_test
from reknit.lang import syntax
from reknit.lang.parser import parse
from reknit.testing import run_test

SHOWN = [name for name in NAMES if "  shown" in (CASES / name / "expected.txt").read_text("utf-8")]

UNSAYABLE = {"class-narrowed", "class-widened", "action-in-another-order"}
"""Differences that rule tests have no words for: when a class may start, the order of updates in one step."""


@cache
def case(name: str) -> tuple[Side, Side, Difference]:
    before, after = sides_in(CASES / name)
    return before, after, compare(before, after)


def shown(difference: Difference) -> list[Change]:
    return [change for change in difference.changes if change.witness is not None]


@pytest.mark.parametrize("name", SHOWN)
def test_a_witness_is_answered_differently(name: str) -> None:
    before, after, difference = case(name)
    for change in shown(difference):
        assert change.witness is not None
        assert is_true(change.witness, before.table, after.table)
        assert change.witness.before_says != change.witness.after_says
        assert 1 <= change.witness.after <= len(change.witness.steps) + 1


@pytest.mark.parametrize("name", SHOWN)
def test_no_step_of_a_witness_can_be_left_out(name: str) -> None:
    before, after, difference = case(name)
    if sum(change.direction not in ("none", "tests") for change in difference.changes) > 1:
        return  # what is left may show another change
    for change in shown(difference):
        witness = change.witness
        assert witness is not None
        for at in range(len(witness.steps)):
            less = witness.steps[:at] + witness.steps[at + 1 :]
            assert not is_true(type(witness)(witness.kit, less, 0, "", ""), before.table, after.table)


def parsed(text: str) -> syntax.Test:
    file, found = parse(f'reknit 1\npolicy micro "x"\n{text}', "witness")
    assert file is not None
    assert not found
    (test,) = (item for item in file.items if isinstance(item, syntax.Test))
    return test


@pytest.mark.parametrize("name", SHOWN)
def test_a_witness_is_a_rule_test_of_one_side(name: str) -> None:
    before, after, difference = case(name)
    for number, change in enumerate(shown(difference)):
        assert change.witness is not None
        texts = [
            as_rule_test(change.witness, *sides, f"{name} {number}") for sides in ((before, after), (after, before))
        ]
        assert any(texts) is (name not in UNSAYABLE)
        for text, side, other in zip(texts, (before, after), (after, before), strict=True):
            if text is not None:
                test = parsed(text)
                assert run_test(test, side.table).passed
                assert not run_test(test, other.table).passed


def test_a_witness_is_of_its_own_change() -> None:
    """Where several things change, each is shown by what it alone brings about."""
    after = edited(
        ("merge input      by latest_nonzero", "merge input      by sum"),
        ("repair fences         as lossless", "repair fences         as guessed"),
        ("  do   drop repeated-start\n", ""),
        ('classify "Grep" as read_only', 'classify "Grep" as forbidden'),
    )
    difference = compare(side_of(TINY), after)
    by_id = {change.id: change for change in difference.changes}
    assert set(by_id) == {"MERGE_CHANGED", "REPAIR_GRADE", "CELL_OUTCOME", "CLASSIFY_CHANGED"}
    events = {id: [event for event, _ in change.witness.steps] for id, change in by_id.items() if change.witness}
    assert events["MERGE_CHANGED"] == ["USAGE", "USAGE"]
    assert events["CELL_OUTCOME"][-1] == "TOOL_USE_START"
    fields = by_id["CLASSIFY_CHANGED"].witness
    assert fields is not None
    assert fields.steps[0] == ("TOOL_USE_START", {"id": "c1", "name": "Grep"})
    assert "guessed" in (by_id["REPAIR_GRADE"].witness or fields).after_says


def test_the_shortest_way_is_found() -> None:
    after = edited(("  do   append text\n  to   text", "  do   append text\n  do   note began\n  to   text"))
    (change,) = compare(side_of(TINY), after).changes
    assert change.witness is not None
    assert [event for event, _ in change.witness.steps] == ["TEXT_DELTA"]
    assert (change.cells, change.states) == (1, ("idle",))


def test_what_shows_only_later_is_followed() -> None:
    """Arguments that are lost are seen when the call ends, not when they come."""
    after = edited(
        (
            "  on   TOOL_INPUT_DELTA { json: opens | some }\n  from live\n  do   append json\n",
            "  on   TOOL_INPUT_DELTA { json: opens | some }\n  from live\n  do   replace json\n",
        )
    )
    (change,) = compare(side_of(TINY), after).changes
    assert change.witness is not None
    assert len(change.witness.steps) >= 2


def test_a_machine_that_fails_is_an_answer() -> None:
    """Rules that ask for a judgement again and again end, and differ from rules that do not."""
    after = edited(
        (
            "  on   CALL_END { seal: limit | cut }\n  do   reject truncated",
            "  on   CALL_END { seal: limit | cut }\n  do   keep call",
        )
    )
    difference = compare(side_of(TINY), after)
    (change,) = (one for one in difference.changes if one.id == "CELL_OUTCOME")
    assert change.direction == "loosens"
    assert change.witness is not None


def test_without_witnesses_none_is_looked_for() -> None:
    difference = compare(*sides_in(CASES / "merge-changed"), witnesses=False)
    assert [(change.witness, change.unshown) for change in difference.changes] == [(None, "")]
