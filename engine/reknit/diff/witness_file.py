"""Witnesses as a rule file of their own: it extends what was compared, so its tests pass beside B and fail beside A."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reknit.diff.changes import Change, Difference
from reknit.diff.rule_test import as_rule_test
from reknit.diff.sides import Side
from reknit.diff.together import Report
from reknit.lang.files import SUFFIX


class Written(NamedTuple):
    """The text of a rule file and how many tests stand in it."""

    text: str
    tests: int


def witness_files(report: Report) -> Iterator[tuple[str, Written]]:
    """For each pair of files the name of a file, and what stands in it."""
    for difference, (before, after) in zip(report.differences, report.pairs, strict=True):
        if before is not None and after is not None:
            yield f"{difference.name}-witnesses{SUFFIX}", witness_file(difference, before, after)


def witness_file(difference: Difference, before: Side, after: Side) -> Written:
    """A rule file with the witnesses of a difference, as tests of the side after."""
    parts = [f"reknit 1\n\n{_header(after)}\n"]
    count = 0
    for number, change in enumerate(difference.changes, start=1):
        if change.witness is None:
            continue
        title = f"{change.id} {change.subject}, change {number}"
        test = as_rule_test(change.witness, after, before, title, names_vendor=False)
        count += test is not None
        parts.append(f"# {_comment(change)}\n{test or '# no rule test can tell: ' + _comment_of_witness(change)}")
    return Written("\n".join(parts), count)


def _header(side: Side) -> str:
    reason = '"tests that the version before this one fails"'
    if side.kind == "fragment" and side.vendor is not None:
        return f"vendor {side.name}-witnesses extends {side.vendor.name.text} with {side.name}\n  {reason}"
    return f"{side.kind} {side.name}-witnesses extends {side.name}\n  {reason}"


def _comment(change: Change) -> str:
    return f"{change.direction}: {' '.join(change.message.split())}"


def _comment_of_witness(change: Change) -> str:
    assert change.witness is not None
    said = f"{change.witness.before_says} -> {change.witness.after_says}"
    return f"{' '.join(said.split())}\n"
