"""A witness as a rule test: it passes on one side and fails on the other, and was run on both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from reknit.diff.sides import Side
from reknit.diff.witness import Witness
from reknit.diff.wording import plain
from reknit.lang.parser import parse
from reknit.lang.syntax import Test
from reknit.message import Message
from reknit.table import PolicyTable
from reknit.testing import check_tests, run_test
from reknit.testing.givens import tools_of
from reknit.testing.stage import Play, plays
from reknit.testing.views import Brought, View, message_views
from reknit.trial import Trial
from reknit.vocabulary.questions import TYPES

_USAGE: Final = ("input", "output", "cache_read", "cache_write", "reasoning")
_TELLING: Final = ("id", "name", "text", "type")
"""What tells a reader which block is meant; the rest of a block stands there only where it is what differs."""


def as_rule_test(
    witness: Witness, side: Side, other: Side, title: str = "the difference", *, names_vendor: bool = True
) -> str | None:
    """Write a witness as a rule test.

    Args:
        witness: Of a change between the two sides.
        side: Whose answer is expected.
        other: On which the test fails.
        title: Of the test.
        names_vendor: Whether a test of a fragment says on which vendor, as it must in the fragment's own file.

    Returns:
        The text of the test; None where rule tests cannot see the difference, such as when a class may start.
    """
    if witness.fails:
        return None
    given = _given(witness, side, names_vendor)
    bare = _parsed(_text(title, [*given, "expect no notes"]), side)
    if bare is None:
        return None
    mine, others = (_play(bare, one) for one in (side, other))
    steps, end = (
        list(_steps(mine, others, len(given))),
        [f"expect {one}" for one in _message(mine.message, others.message)],
    )
    # The message alone is what a reader looks for; what steps bring is asked only where that does not tell.
    for lines in ([*given, *end], _woven(given, steps), [*_woven(given, steps), *end]):
        text = _text(title, lines)
        if _tells_apart(text, side, other):
            return text
    return None


def _woven(given: Sequence[str], steps: Sequence[tuple[int, str]]) -> list[str]:
    """What is given, each followed by what is expected of it."""
    lines = []
    for number, line in enumerate(given):
        lines.append(line)
        lines += [text for at, text in steps if at == number]
    return lines


def _tells_apart(text: str, side: Side, other: Side) -> bool:
    test = _parsed(text, side)
    if test is None or not any("expect" in line for line in text.splitlines()):
        return False
    file = replace(side.file, items=(test,))
    trial = Trial(side.source, file, {side.name: side.table}, {test.title: side.name})
    if any(found.severity == "error" for found in check_tests(trial)):
        return False
    return run_test(test, side.table).passed and not run_test(test, other.table).passed


def _text(title: str, lines: Sequence[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"test {plain(title)} {{\n{body}\n}}\n"


def _parsed(text: str, side: Side) -> Test | None:
    """The test of a text, read as a test of the side's kind of file."""
    file, found = parse(f'reknit 1\n{side.kind} {side.name} "x"\n{text}', side.source)
    if file is None or found:
        return None
    return next((item for item in file.items if isinstance(item, Test)), None)


def _play(test: Test, side: Side) -> Play:
    return next(plays(test, side.table, tools_of(test)))


# -- what is given -----------------------------------------------------------------------------------------------------


def _given(witness: Witness, side: Side, names_vendor: bool) -> list[str]:
    lines = []
    if names_vendor and side.kind == "fragment" and side.vendor is not None:
        lines.append(f"given  vendor {plain(side.vendor.name.text)}")
    if witness.kit.tools is not None:
        tools = ", ".join(f"{plain(name)}: {plain(one)}" for name, one in witness.kit.tools.items())
        lines.append(f"given  tools {{ {tools} }}")
    return [*lines, *given_lines(witness, side.policy)]


def given_lines(witness: Witness, policy: PolicyTable | None) -> list[str]:
    """The steps of a witness as a rule test gives them."""
    return [f"given  {event}{_record(event, fields, policy)}" for event, fields in witness.steps]


def _record(event: str, fields: Mapping[str, Any], policy: PolicyTable | None) -> str:
    spec = policy.events.get(event) if policy is not None else None
    types = {field.name: field.type for field in spec.fields} if spec is not None else {}
    said = []
    for name, value in fields.items():
        closed = (
            TYPES[types[name]].cases if name in types and types[name] in ("reason", "of", "how", "error_kind") else ()
        )
        said.append(f"{name}: {value if value in closed else plain(value)}")
    return f" {{ {', '.join(said)} }}" if said else ""


# -- what is expected --------------------------------------------------------------------------------------------------


def _steps(mine: Play, other: Play, count: int) -> Iterator[tuple[int, str]]:
    """What a step brought on one side only."""
    for number in range(count):
        if number in mine.brought and number in other.brought:
            for text in _brought(mine.brought[number], other.brought[number]):
                yield number, f"expect {text}"


def _brought(mine: Brought, other: Brought) -> Iterator[str]:
    for word, here, there in (
        ("archived", mine.archived, other.archived),
        ("opened", mine.opened, other.opened),
    ):
        for view in here:
            if view not in there:
                alike = next((one for one in there if one.kind == view.kind), None)
                yield f"{word} {_view(view, alike)}"
        if there and not here:
            yield f"no {word}"
    if bool(mine.reopened) != bool(other.reopened):
        yield "reopened" if mine.reopened else "no reopened"
    if mine.deltas != other.deltas:
        for field, text in mine.deltas:
            if (field, text) not in other.deltas:
                yield f"delta {field} {plain(text)}"
        if not mine.deltas:
            yield "no delta"


def _message(mine: Message, other: Message) -> Iterator[str]:
    here, there = message_views(mine), message_views(other)
    if here != there:
        for number, view in enumerate(here):
            alike = there[number] if number < len(there) and there[number].kind == view.kind else None
            yield _view(view, alike)
        if not here:
            yield "no blocks"
    if mine.stop_reason != other.stop_reason:
        yield f"stop {plain(mine.stop_reason)}"
    if mine.complete != other.complete:
        yield f"complete {plain(mine.complete)}"
    if mine.usage != other.usage:
        usage = {name: getattr(mine.usage, f"{name}_tokens") for name in _USAGE}
        was = {name: getattr(other.usage, f"{name}_tokens") for name in _USAGE}
        yield f"usage {plain({name: count for name, count in usage.items() if count != was[name]})}"
    if mine.error != other.error:
        yield "no error" if mine.error is None else f"error {plain({'kind': mine.error.kind, 'code': mine.error.code})}"
    counts, were = ({note.reason: note.count for note in message.notes} for message in (mine, other))
    for reason, count in counts.items():
        if were.get(reason) != count:
            yield f"note {reason}" + (f" {{ count: {count} }}" if reason in were else "")
    gone = [reason for reason in were if reason not in counts]
    if gone and not counts:
        yield "no notes"
    elif gone:
        yield from (f"no note {reason}" for reason in gone)


def _view(view: View, alike: View | None) -> str:
    """A block with what tells it from others, and what is not the same on the other side."""
    data = {
        key: value
        for key, value in view.data.items()
        if value is not None and (key in _TELLING or alike is None or alike.data.get(key) != value)
    }
    if alike is not None:
        data |= {key: None for key, value in alike.data.items() if value is not None and view.data.get(key) is None}
    if not data:
        return view.kind
    words = [f"{key}: {_word(key, value)}" for key, value in data.items()]
    return f"{view.kind} {plain(data['text']) if list(data) == ['text'] else '{ ' + ', '.join(words) + ' }'}"


def _word(key: str, value: Any) -> str:
    """A value of a block; the words of closed lists stand bare."""
    bare = key in ("class", "grade", "seal", "invalid") or (key == "id" and value == "made")
    return str(value) if bare and value is not None else plain(value)
