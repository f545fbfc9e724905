"""A report as Markdown, fit for a review comment: a table of the changes, and below it what shows each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from reknit.diff.changes import Change, Difference
from reknit.diff.replay import Replayed
from reknit.diff.rule_test import given_lines
from reknit.diff.text import summary
from reknit.diff.together import Report
from reknit.diff.wording import counted, listed
from reknit.table import PolicyTable

_MOST_DETAILS: Final = 40
"""So many changes are told in full; a comment that is too long is not taken by code hosts."""

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|#~!$@])")


def report_markdown(report: Report, replayed: Iterable[Replayed] | None) -> str:
    """The whole comment.

    Args:
        report: What was compared.
        replayed: Captures under both sides; None where none were asked for.
    """
    title = "changes nothing that is done" if report.same else "changes what is done"
    lines = [f"### The rules: {escaped(report.after)} {title}", "", f"{escaped(summary(report))}.", ""]
    left = _MOST_DETAILS
    for difference, (before, _) in zip(report.differences, report.pairs, strict=True):
        policy = before.policy if before is not None else None
        lines += _difference(difference, policy, left)
        left = max(left - len(difference.changes), 0)
    if report.left_out:
        lines += [f"Left out, for they are not sound: {escaped(listed(report.left_out).replace('`', ''))}", ""]
    if replayed is not None:
        lines += _replay(list(replayed))
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """A text in which nothing is taken for Markdown, HTML, a mention or the end of a table's cell."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("\\@", "&#64;")


def code(text: str) -> str:
    """A text as code inside of a line, whatever backticks and bars it holds."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text.replace('|', chr(92) + '|')}{room}{ticks}" if text else ""


def fenced(lines: Iterable[str], language: str = "") -> list[str]:
    """Lines as a block of code, whatever fences they hold."""
    body = list(lines)
    longest = max((len(run) for line in body for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *body, fence]


def _words(message: str) -> str:
    """A message, whose words in backticks stay code."""
    parts = message.split("`")
    return "".join(code(part) if number % 2 else escaped_inside(part) for number, part in enumerate(parts))


def escaped_inside(text: str) -> str:
    """Like `escaped`, but spaces at the edges stay."""
    return _SPECIAL.sub(r"\\\1", text).replace("\\@", "&#64;")


def _difference(difference: Difference, policy: PolicyTable | None, details: int) -> Iterator[str]:
    prints = dict.fromkeys(one[:8] for _, one in (difference.before, difference.after) if one)
    yield f"#### {escaped(f'{difference.kind} {difference.name}')} ({' → '.join(code(one) for one in prints)})"
    yield ""
    if difference.changes:
        yield "| | change | cells |"
        yield "|---|---|---:|"
        for change in difference.changes:
            yield f"| {_direction(change)} | {_words(change.message)} | {change.cells or ''} |"
        yield ""
    if difference.explanation:
        yield f"{escaped(difference.explanation)}."
        yield ""
    if difference.told:
        yield f"And {counted(difference.told, 'change')} told above."
        yield ""
    for change in difference.changes[:details]:
        if change.before is not None or change.after is not None or change.witness is not None:
            yield from _details(change, policy)
    if len(difference.changes) > details:
        yield f"{counted(len(difference.changes) - details, 'change')} more, not told in full."
        yield ""


def _direction(change: Change) -> str:
    return f"**{change.direction}**" if change.direction == "loosens" else change.direction


def _details(change: Change, policy: PolicyTable | None) -> Iterator[str]:
    subject = change.subject.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield f"<details><summary>{change.id} <code>{subject}</code></summary>"
    yield ""
    where = ", ".join(dict.fromkeys(f"{place.source}:{place.line}" for place in change.places))
    if where or change.quirk:
        yield escaped(where + (f" (quirk {change.quirk})" if change.quirk else ""))
        yield ""
    both = [f"{mark} {said}" for mark, said in (("-", change.before), ("+", change.after)) if said is not None]
    if both:
        yield from fenced(both, "diff")
        yield ""
    witness = change.witness
    if witness is not None:
        tools = [] if witness.kit.tools is None else [f"given  tools {listed(witness.kit.tools, 12)}"]
        lines = [*tools, *given_lines(witness, policy)]
        end = [] if witness.after <= len(witness.steps) else ["and the end of the stream"]
        yield "Shown by"
        yield ""
        yield from fenced([*lines, *end])
        yield ""
        at = "in the end" if end else f"after step {witness.after}"
        yield f"Then, {at}:"
        yield ""
        yield from fenced([f"- {witness.before_says}", f"+ {witness.after_says}"], "diff")
        yield ""
    elif change.unshown:
        yield f"Not shown: {escaped(change.unshown)}."
        yield ""
    yield "</details>"
    yield ""


def _replay(replayed: list[Replayed]) -> Iterator[str]:
    changed = [one for one in replayed if one.partings]
    done = sum(not one.trouble for one in replayed)
    yield f"#### {counted(done, 'capture')} replayed, {len(changed)} with another message"
    yield ""
    for one in changed[:_MOST_DETAILS]:
        yield f"<details><summary>{escaped(one.capture)}</summary>"
        yield ""
        yield "| where | before | after |"
        yield "|---|---|---|"
        for at in one.partings:
            yield f"| {escaped(at.where)} | {code(at.before)} | {code(at.after)} |"
        yield ""
        yield "</details>"
        yield ""
    troubles = [one for one in replayed if one.trouble]
    for one in troubles[:_MOST_DETAILS]:
        yield f"- {escaped(one.capture)}: {escaped(one.trouble)}"
    if troubles:
        yield ""
