"""Holding a play against what a test expects: what holds says nothing, what does not is a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from reknit.lang.diagnostics import nearest, quoted
from reknit.lang.syntax import Expect, Given, Place, Test
from reknit.message import Message
from reknit.testing.expectations import ERROR, OF_BLOCKS, OF_STEP, USAGE, form_of
from reknit.testing.stage import FED, STEPWISE, Play
from reknit.testing.views import (
    Brought,
    View,
    differing,
    fits,
    message_views,
    note_view,
    parting,
    same,
    shown,
    shown_value,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """An expectation that does not hold.

    Attributes:
        place: Of the expectation, or of the test where no single one is to blame.
        expected: What was expected, in the words of an expectation.
        got: What came instead.
        hint: What is most likely meant, or where the two part.
    """

    place: Place
    expected: str
    got: str
    hint: str | None = None


def findings(test: Test, play: Play) -> list[Finding]:
    """All expectations of a test that do not hold in a play, in their order; those of steps where steps were played."""
    found: list[Finding] = []
    blocks: list[Expect] = []
    last: int | None = None
    for number, step in enumerate(test.steps):
        if isinstance(step, Given):
            last = number if step.kind in FED else last
            continue
        form = form_of(step)
        if form is None:
            continue
        if form.of == OF_BLOCKS:
            blocks.append(step)
        elif form.of == OF_STEP:
            if play.mode == STEPWISE and last is not None:
                found += _of_step(step, play.brought[last])
        else:
            found += _JUDGES[step.words[0].text](step, play)
    if blocks:
        found += _of_blocks(blocks, message_views(play.message))
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.column))


# -- blocks ------------------------------------------------------------------------------------------------------------


def _wanted(expect: Expect) -> View:
    kind, value = expect.words[-1].text, expect.value
    return View(kind, {"text": value} if isinstance(value, str) else dict(value or {}))


def _of_blocks(expects: Sequence[Expect], views: Sequence[View]) -> list[Finding]:
    found: list[Finding] = []
    wanted = [(expect, _wanted(expect)) for expect in expects if expect.words[0].text != "no"]
    for number, (expect, view) in enumerate(wanted):
        if number >= len(views):
            return [
                *found,
                Finding(expect.place, shown(view, view.data), _no_more(len(views)), _elsewhere(view, views)),
            ]
        got = views[number]
        if view.kind != got.kind:
            return [*found, Finding(expect.place, shown(view, view.data), shown(got), _elsewhere(view, views))]
        if not fits(view, got):
            keys = _keys(view, got)
            found.append(Finding(expect.place, shown(view, keys), shown(got, keys), _hint(view, got, number, views)))
    if len(views) > len(wanted):
        rest = ", ".join(shown(view) for view in views[len(wanted) :])
        expected = f"{_count(len(wanted), 'block')} and no more" if wanted else "no blocks"
        found.append(Finding(expects[-1].place, expected, f"also {rest}" if wanted else rest))
    return found


def _keys(wanted: View, got: View) -> list[str]:
    """What to show of two views of one kind: what differs, and what tells a reader which call it is."""
    differ = differing(wanted.data, got.data)
    return [key for key in wanted.data if key in differ or key in ("id", "name")]


def _hint(wanted: View, got: View, number: int, views: Sequence[View]) -> str | None:
    elsewhere = _elsewhere(wanted, [*views[:number], View("", {}), *views[number + 1 :]])
    if elsewhere is not None:
        return elsewhere
    for key in differing(wanted.data, got.data):
        parted = parting(wanted.data[key], got.data.get(key))
        if parted is not None:
            return parted
    return None


def _elsewhere(wanted: View, views: Sequence[View]) -> str | None:
    at = next((number for number, view in enumerate(views) if fits(wanted, view)), None)
    return f"block {at + 1} of the message is so" if at is not None else None


def _no_more(count: int) -> str:
    return f"no such block: the message has {_count(count, 'block')}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


# -- the message at its end --------------------------------------------------------------------------------------------


def _stop(expect: Expect, play: Play) -> list[Finding]:
    return _value(expect, "stop", expect.value, play.message.stop_reason)


def _complete(expect: Expect, play: Play) -> list[Finding]:
    return _value(expect, "complete", expect.value, play.message.complete)


def _value(expect: Expect, word: str, wanted: Any, got: Any) -> list[Finding]:
    if same(wanted, got):
        return []
    return [Finding(expect.place, f"{word} {shown_value(wanted)}", f"{word} {shown_value(got)}")]


def _usage(expect: Expect, play: Play) -> list[Finding]:
    got = View("usage", {name: getattr(play.message.usage, f"{name}_tokens") for name in USAGE})
    wanted = View("usage", expect.value)
    if fits(wanted, got):
        return []
    return [Finding(expect.place, shown(wanted, wanted.data), shown(got, wanted.data))]


def _error(expect: Expect, play: Play) -> list[Finding]:
    error = play.message.error
    wanted = View("error", expect.value or {})
    if error is None:
        return [Finding(expect.place, shown(wanted, wanted.data), "no error")]
    got = View("error", {key: getattr(error, key) for key in ERROR})
    if fits(wanted, got):
        return []
    hint = parting(wanted.data.get("message"), got.data["message"])
    return [Finding(expect.place, shown(wanted, wanted.data), shown(got, wanted.data), hint)]


def _note(expect: Expect, play: Play) -> list[Finding]:
    wanted = View(expect.words[1].text, expect.value or {})
    views = [note_view(note) for note in play.message.notes]
    if any(fits(wanted, view) for view in views):
        return []
    alike = [view for view in views if view.kind == wanted.kind]
    if alike:
        got = ", ".join(_shown_note(view, wanted.data) for view in alike)
        return [Finding(expect.place, _shown_note(wanted, wanted.data), got)]
    near = nearest(wanted.kind, [view.kind for view in views])
    hint = f"there is a note {quoted(near)}" if near is not None else None
    return [Finding(expect.place, _shown_note(wanted, wanted.data), _notes(play.message), hint)]


def _shown_note(view: View, keys: Iterable[str]) -> str:
    return f"note {shown(view, keys)}"


def _notes(message: Message) -> str:
    shown_notes = [f"note {shown(note_view(note), ('rule', 'count'))}" for note in message.notes]
    return ", ".join(shown_notes) or "no notes"


def _no(expect: Expect, play: Play) -> list[Finding]:
    what = expect.words[1].text
    if what == "error":
        error = play.message.error
        if error is None:
            return []
        got = shown(View("error", {key: getattr(error, key) for key in ERROR}))
        return [Finding(expect.place, "no error", got)]
    if what == "notes":
        return [Finding(expect.place, "no notes", _notes(play.message))] if play.message.notes else []
    reason = expect.words[2].text
    alike = [note for note in play.message.notes if note.reason == reason]
    got = ", ".join(f"note {shown(note_view(note), ('rule', 'count', 'first'))}" for note in alike)
    return [Finding(expect.place, f"no note {reason}", got)] if alike else []


def _fired(expect: Expect, play: Play) -> list[Finding]:
    rule = expect.words[1].text
    if rule in play.fired:
        return []
    return [Finding(expect.place, f"fired {rule}", "it did not fire" if play.fired else "no rule fired")]


_JUDGES: Final[dict[str, Callable[[Expect, Play], list[Finding]]]] = {
    "stop": _stop,
    "complete": _complete,
    "usage": _usage,
    "error": _error,
    "note": _note,
    "no": _no,
    "fired": _fired,
}


# -- steps -------------------------------------------------------------------------------------------------------------


def _of_step(expect: Expect, step: Brought) -> list[Finding]:
    words = [word.text for word in expect.words]
    if words[0] == "no":
        got = [one for one in _things(words[1], step) if len(words) < 3 or one.kind == words[2]]
        said = ", ".join(f"{words[1]} {shown(view)}" for view in got)
        return [Finding(expect.place, " ".join(words), said)] if got else []
    if words[0] == "state":
        if step.state == words[1]:
            return []
        return [
            Finding(expect.place, f"state {words[1]}", f"state {step.state}", "this is asked after the step above it")
        ]
    things = _things(words[0], step)
    if words[0] == "reopened":
        return [] if things else [Finding(expect.place, "reopened", "no block was reopened by this step")]
    wanted = _wanted(expect)
    if any(fits(wanted, view) for view in things):
        return []
    alike = [view for view in things if view.kind == wanted.kind]
    said = ", ".join(f"{words[0]} {shown(view, wanted.data if view in alike else None)}" for view in alike or things)
    hint = parting(wanted.data.get("text"), alike[0].data.get("text")) if len(alike) == 1 else None
    nothing = "no delta" if words[0] == "delta" else f"nothing was {words[0]}"
    expected = f"{words[0]} {shown(wanted, wanted.data)}"
    return [Finding(expect.place, expected, said or f"{nothing} by this step", hint)]


def _things(word: str, step: Brought) -> Sequence[View]:
    if word == "delta":
        return [View(field, {"text": text}) for field, text in step.deltas]
    return {"archived": step.archived, "opened": step.opened, "reopened": step.reopened}[word]


# -- what fired --------------------------------------------------------------------------------------------------------


def fired_in_short(fired: Sequence[str], most: int = 40) -> str:
    """The rules that fired, in order, repetitions counted; the last ones where there were many."""
    runs = [(rule, len(list(run))) for rule, run in groupby(fired)]
    said = [rule if count == 1 else f"{rule} x{count}" for rule, count in runs]
    return ", ".join([*(["..."] if len(said) > most else []), *said[-most:]]) or "no rule fired"
