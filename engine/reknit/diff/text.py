"""A report as a person reads it in a terminal: the changes that loosen first, each with what shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reknit.diff.changes import Change, Difference
from reknit.diff.replay import Replayed
from reknit.diff.rule_test import given_lines
from reknit.diff.together import Report
from reknit.diff.wording import counted, listed
from reknit.table import PolicyTable

_SHORT: Final = 72
"""So long may two words for a change be, to stand in one line."""

Line = tuple[str, str]
"""A line, and how it is meant: a direction, `-`, `+`, `dim`, `head`, or nothing."""


def report_lines(report: Report, replayed: Iterable[Replayed] | None, verbose: bool) -> Iterator[Line]:
    """The lines of a report.

    Args:
        report: What was compared.
        replayed: Captures under both sides; None where none were asked for.
        verbose: Also other words for the same behaviour.
    """
    for difference, (before, _) in zip(report.differences, report.pairs, strict=True):
        policy = before.policy if before is not None else None
        yield from _difference_lines(difference, policy, verbose)
    if report.left_out:
        yield f"left out, for they are not sound: {listed(report.left_out)}", "dim"
    if replayed is not None:
        yield from _replay_lines(replayed)
    yield summary(report), ""


def summary(report: Report) -> str:
    """One line about all of it."""
    counts: dict[str, int] = {}
    for change in report.changes:
        counts[change.direction] = counts.get(change.direction, 0) + 1
    cells = sum(difference.cells for difference in report.differences)
    changed = sum(difference.changed_cells for difference in report.differences)
    said = [counted(len(report.changes), "change")]
    said += [f"{counts[word]} {phrase}" for word, phrase in _PHRASES.items() if word in counts]
    parts = [", ".join(said) if report.changes else "no changes"]
    if cells:
        parts.append(f"{cells - changed} of {cells} cells do the same")
    if report.compared > 1:
        parts.append(f"{counted(report.compared, 'file')} compared")
    return "; ".join(parts)


_PHRASES: Final = {
    "loosens": "loosens",
    "tightens": "tightens",
    "behaviour": "of behaviour",
    "mapping": "of maps",
    "usage": "of usage",
    "tests": "of tests",
    "none": "in words alone",
}


def _difference_lines(difference: Difference, policy: PolicyTable | None, verbose: bool) -> Iterator[Line]:
    prints = [fingerprint[:8] for _, fingerprint in (difference.before, difference.after) if fingerprint]
    yield f"{difference.kind} {difference.name}   {' -> '.join(dict.fromkeys(prints))}".rstrip(), "head"
    for change in difference.changes:
        if change.direction != "none" or verbose:
            yield from change_lines(change, policy)
    quiet = sum(change.direction == "none" for change in difference.changes)
    if quiet and not verbose:
        yield f" {'none'.ljust(10)}  {counted(quiet, 'change')} in words alone; see --verbose", "dim"
    if difference.told:
        yield f" {''.ljust(10)}  and {counted(difference.told, 'change')} told above", "dim"
    if difference.explanation:
        yield f" {difference.explanation}", "dim"
    yield "", ""


def change_lines(change: Change, policy: PolicyTable | None) -> Iterator[Line]:
    """One change: its headline, both sides of it, and what shows it."""
    word = change.direction.upper() if change.direction == "loosens" else change.direction
    head = f" {word.ljust(10)}  {change.message}"
    sides = (change.before, change.after)
    short = (
        all(side is None or len(side) < _SHORT for side in sides) and sum(len(side or "") for side in sides) < _SHORT
    )
    inline = short and None not in sides and not change.cells and sides[0] != sides[1]
    if inline and f"{sides[0]} -> {sides[1]}" not in change.message:
        head += f": {sides[0]} -> {sides[1]}"
    yield head, change.direction
    where = ", ".join(dict.fromkeys(f"{place.source}:{place.line}" for place in change.places))
    quirk = f", quirk {change.quirk}" if change.quirk else ""
    yield f"   {change.id}{'  ' if where else ''}{where}{quirk}", "dim"
    if not inline:
        for mark, side in zip("-+", sides, strict=True):
            if side is not None:
                yield f"   {mark} {side}", mark
    yield from _shown_by(change, policy)


def _shown_by(change: Change, policy: PolicyTable | None) -> Iterator[Line]:
    witness = change.witness
    if witness is None:
        if change.unshown:
            yield f"   not shown: {change.unshown}", "dim"
        return
    yield "   shown by", ""
    if witness.kit.tools is not None:
        yield f"     given  tools {listed(witness.kit.tools, 12)}", ""
    lines = given_lines(witness, policy)
    for number, line in enumerate(lines, start=1):
        yield f"     {line}", ""
        if number == witness.after:
            yield from _answers(change)
    if witness.after > len(lines):
        yield "     and the end of the stream", ""
        yield from _answers(change)


def _answers(change: Change) -> Iterator[Line]:
    assert change.witness is not None
    yield f"       - {change.witness.before_says}", "-"
    yield f"       + {change.witness.after_says}", "+"


def _replay_lines(replayed: Iterable[Replayed]) -> Iterator[Line]:
    everything = list(replayed)
    changed = [one for one in everything if one.partings]
    for one in changed:
        yield f"{one.capture}  ({one.vendor})", "head"
        for at in one.partings:
            yield f"   {at.where}", ""
            yield from ((f"   {mark} {said}", mark) for mark, said in (("-", at.before), ("+", at.after)) if said)
    for one in everything:
        if one.trouble:
            yield f"{one.capture}  not replayed: {one.trouble}", "dim"
    done = sum(not one.trouble for one in everything)
    yield f"{counted(done, 'capture')} replayed, {len(changed)} with another message", ""
    yield "", ""
