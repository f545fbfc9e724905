"""A sample of the mutation experiment; `python tests/diff/mutants.py` runs all of it."""

from __future__ import annotations

import pytest
from mutants import COUNT, EQUAL, FALSE, REFUSED, SHOWN, SLIPPED, UNSHOWN, Verdict, chosen, judged, numbers
from mutations import OPERATORS

SAMPLE = 60


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [judged(mutant) for mutant in chosen(SAMPLE)]


def test_none_slips_through(verdicts: list[Verdict]) -> None:
    assert [(one.mutant.label, one.said) for one in verdicts if one.verdict == SLIPPED] == []


def test_every_witness_is_true(verdicts: list[Verdict]) -> None:
    assert [(one.mutant.label, one.said) for one in verdicts if one.verdict == FALSE] == []


def test_nearly_every_change_is_shown(verdicts: list[Verdict]) -> None:
    found = numbers(verdicts)
    assert found[SHOWN] >= SAMPLE // 3
    assert found[UNSHOWN] <= SAMPLE // 20
    assert found[REFUSED] > 0
    assert found[EQUAL] > 0


def test_what_is_called_equal_has_no_changed_cell(verdicts: list[Verdict]) -> None:
    for one in verdicts:
        if one.verdict == EQUAL:
            assert one.difference is not None
            assert one.difference.changed_cells == 0


def test_all_operators_take_part() -> None:
    mutants = chosen(COUNT)
    assert len(mutants) == COUNT
    assert len({mutant.label for mutant in mutants}) == COUNT
    assert len({mutant.operator for mutant in mutants}) == len(OPERATORS)
    assert [mutant.label for mutant in chosen(COUNT)] == [mutant.label for mutant in mutants]
