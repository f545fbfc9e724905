"""Pairs of rule files and what differs: a folder a case, with `before.rules`, `after.rules` and `expected.txt`.

An expected line is an id, its direction, its subject, and whether a witness shows it; a line that begins with `=` says
why fingerprints differ. `python tests/diff/test_diff_cases.py` writes them anew, to be read before they are believed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sides import CASES, sides_in

from reknit.diff import DIRECTIONS, IDS, Difference, compare

NAMES = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())

ONE_SIDED = {"STATE_CHANGED", "EVENT_CHANGED", "FLUSH_CHANGED", "RENAMED_ONLY"}
ONE_SIDED |= {"CELL_UNREACHED", "CELL_RULE", "CELL_WORDING", "POLICY_CHANGED", "MAP_ORDER", "SPLIT_ORDER"}
"""Changes that are called after one side, or whose direction does not turn round with the sides."""

ELSEWHERE = {"FILE_ADDED", "FILE_REMOVED"}
"""Ids of changes of whole folders, which are tried with the command."""


def told(difference: Difference) -> list[str]:
    """A difference as it stands in `expected.txt`."""
    lines = []
    for change in difference.changes:
        shown = "shown" if change.witness is not None else "not shown" if change.unshown else "-"
        lines.append(f"{change.id}  {change.direction}  {change.subject}  {shown}")
    return [*lines, *([f"= {difference.explanation}"] if difference.explanation else [])]


def expected(name: str) -> list[str]:
    return (CASES / name / "expected.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_what_differs(name: str) -> None:
    assert told(compare(*sides_in(CASES / name))) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_other_way_round(name: str) -> None:
    """What was added is removed, what loosened tightens."""
    before, after = sides_in(CASES / name)
    there, back = (compare(*sides, witnesses=False) for sides in ((before, after), (after, before)))

    def turned(word: str) -> str:
        for one, other in (("ADDED", "REMOVED"), ("WIDENED", "NARROWED")):
            if word.endswith((one, other)):
                return word.replace(one, other) if word.endswith(one) else word.replace(other, one)
        return {"loosens": "tightens", "tightens": "loosens"}.get(word, word)

    changes = {
        (turned(change.id), change.subject, turned(change.direction), change.cells)
        for change in there.changes
        if change.id not in ONE_SIDED
    }
    assert {(change.id, change.subject, change.direction, change.cells) for change in back.changes} >= changes


@pytest.mark.parametrize("name", NAMES)
def test_nothing_differs_from_itself(name: str) -> None:
    before, _ = sides_in(CASES / name)
    difference = compare(before, sides_in(CASES / name)[0])
    assert difference.changes == ()
    assert difference.changed_cells == 0
    assert not difference.explanation


def test_every_id_has_a_case() -> None:
    forward = {line.split()[0] for name in NAMES for line in expected(name) if not line.startswith("=")}
    turned = {one.replace("ADDED", "REMOVED") for one in forward} | {one.replace("REMOVED", "ADDED") for one in forward}
    assert forward | turned | ELSEWHERE == set(IDS)


def test_every_direction_has_a_case() -> None:
    found = {line.split()[1] for name in NAMES for line in expected(name) if not line.startswith("=")}
    assert found == set(DIRECTIONS)


def test_what_loosens_stands_first() -> None:
    order = list(DIRECTIONS)
    for name in NAMES:
        directions = [order.index(line.split()[1]) for line in expected(name) if not line.startswith("=")]  # type: ignore[arg-type]
        assert directions == sorted(directions)


if __name__ == "__main__":
    for case in NAMES:
        lines = told(compare(*sides_in(CASES / case)))
        Path(CASES / case / "expected.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
