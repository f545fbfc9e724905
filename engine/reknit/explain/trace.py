"""Recording what happens to a stream: item by item of its body, event by event, with the cell that each event met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from reknit.excerpt import excerpt
from reknit.explain.happenings import DETECTION, Happening, Passage
from reknit.explain.observing import CLOSE, FAILURE, MARKER, ObservedStream
from reknit.machine import ENDING, Leaf, Machine
from reknit.mapping import Made, Mapped, Mapping, Mistyped
from reknit.message import Note
from reknit.table import EventSpec, Program
from reknit.updates import NoteAdded, Update
from reknit.wire.frames import WireFailure, WireNote

_SHOWN: Final = 2000


class Recorder:
    """A witness that keeps what it is told; `take` hands over what is finished."""

    def __init__(self) -> None:
        self.stream: ObservedStream | None = None
        self._done: list[Passage] = []
        self._number = 0
        self._open: Passage | None = None
        self._turn: Mapped | Mistyped | None = None
        self._stack: list[tuple[Happening, int]] = []
        self._list: list[Update] = []
        self._seen = 0
        self._last: dict[Any, Any] = {}
        self._ignores: list[tuple[str, Mapping]] | None = None

    def take(self) -> list[Passage]:
        """What was recorded since the last time."""
        done, self._done = self._done, []
        return done

    # -- what a stream tells -------------------------------------------------------------------------------------------

    @contextmanager
    def item(self, kind: str, value: Any) -> Iterator[None]:
        """An item of the body."""
        if self._open is not None:
            yield
            return
        self.handed_over()
        passage = self._open = self._begin(kind, _shown(kind, value), self._news(kind, value))
        try:
            yield
        finally:
            _add(self._fresh(), passage)
            passage.held = self._held()
            self._open, self._turn = None, None
            self._stack.clear()

    def handed_over(self) -> None:
        """What was told, and belongs to no item, has one of its own."""
        fresh = self._fresh()
        if fresh:
            _add(fresh, self._begin(DETECTION))

    def mapped(self, frame: Any, made: Made | None) -> None:
        """What maps made of a frame."""
        if self._open is not None and made is None:
            self._open.mapped = False
        elif self._open is not None and not made:
            self._open.ignored = self._ignore(frame)

    def turn(self, one: Mapped | Mistyped | None) -> None:
        """The event whose turn it is."""
        self._turn = one

    def asked(self, machine: Machine, state: str, spec: EventSpec, index: int) -> None:
        """A machine met a cell."""
        assert self.stream is not None
        if spec.name != ENDING:
            for refused, _ in self._stack:
                refused.refused = True
            self._stack.clear()
            if self._open is not None:
                _add(self._fresh(), self._open)
        policy, row = self.stream.table.policy, self.stream.table.policy.cells[spec.name][state]
        happening = Happening(
            spec.name,
            {field.name: value for field, value in zip(spec.fields, machine.fields, strict=False) if value is not None},
            _answers(spec, index),
            "" if spec.name == ENDING else state,
            actions=policy.outcomes[row[index]].actions if row[index] >= 0 else (),
            choice=self.stream.number_of(machine),
            cell=index,
        )
        if spec.name == ENDING:
            happening.call = (machine.ending.id, machine.ending.name)
        else:
            self._whence(happening, machine.fields)
        if self._stack:
            self._stack[-1][0].ended.append(happening)
        elif self._open is not None:
            self._open.events.append(happening)
        self._stack.append((happening, len(machine.updates)))

    def acted(self, machine: Machine, leaf: Leaf) -> None:
        """The machine has acted."""
        if not self._stack:
            return
        happening, mark = self._stack.pop()
        happening.rule = leaf.rule
        happening.to = "" if happening.event == ENDING else machine.state
        happening.updates = machine.updates[mark:]
        happening.stop_reason, happening.complete = machine.stop_reason, machine.complete
        inner = [note for one in happening.ended for note in _notes_of(one)]
        happening.notes = [
            one.note for one in happening.updates if isinstance(one, NoteAdded) and one.note not in inner
        ]
        if not self._stack:
            self._fresh()

    # -- putting it together -------------------------------------------------------------------------------------------

    def _begin(self, kind: str, shown: str = "", news: str | None = None) -> Passage:
        self._number += 1
        passage = Passage(self._number, kind, shown, shown if news is None else news)
        self._done.append(passage)
        return passage

    def _news(self, kind: str, value: Any) -> str | None:
        """Frames repeat themselves: who reads one after the other wants to see what is new."""
        if not isinstance(value, dict):
            return None
        last, self._last = self._last, value
        news = {key: _news(held, last.get(key)) for key, held in value.items() if not _repeats(held, key, last, str)}
        return f"… {excerpt(news, _SHOWN)}" if news != value else None

    def _fresh(self) -> list[Update]:
        """What choice 0 has told since the last time; each feed begins a list of its own."""
        assert self.stream is not None
        updates = self.stream.machine.updates
        seen = self._seen if updates is self._list else 0
        self._list, self._seen = updates, len(updates)
        return updates[seen:]

    def _whence(self, happening: Happening, fields: tuple[Any, ...]) -> None:
        turn = self._turn if type(self._turn) is tuple else None
        if turn is not None and fields is turn[1]:
            happening.map = turn[2]
            return
        assert self.stream is not None
        splits = self.stream.table.program.splits
        found = [one.name for one in splits if happening.event == one.into]
        found += [one.name for one in splits if happening.event == one.source]
        happening.split = found[0] if found else None
        if turn is not None and found and any(one.source == turn[0] for one in splits):
            happening.map = turn[2]

    def _held(self) -> dict[str, str]:
        if self.stream is None or not self.stream.table.program.splits:
            return {}
        return {
            f"{spec.name} of choice {number}" if number else spec.name: splitter.held
            for number, choice in self.stream.alternatives.items()
            for spec, splitter in choice.splitters
            if splitter.held
        }

    def _ignore(self, frame: Any) -> str | None:
        assert self.stream is not None
        if self._ignores is None:
            program, policy = self.stream.table.program, self.stream.table.policy
            self._ignores = [(one.name, Mapping(_only(program, n), policy)) for n, one in enumerate(program.ignores)]
        return next((name for name, mapping in self._ignores if mapping.ignored(frame)), None)


def _add(updates: list[Update], passage: Passage) -> None:
    passage.updates += updates
    passage.notes += [one.note for one in updates if isinstance(one, NoteAdded)]


def _only(program: Program, number: int) -> Program:
    return msgspec.structs.replace(program, maps=(), ignores=(program.ignores[number],))


def _notes_of(happening: Happening) -> Iterator[Note]:
    yield from happening.notes
    for one in happening.ended:
        yield from _notes_of(one)


def _answers(spec: EventSpec, index: int) -> dict[str, str]:
    answers: dict[str, str] = {}
    for question in reversed(spec.questions):
        index, digit = divmod(index, len(question.cases))
        answers[question.name] = question.cases[digit]
    return dict(reversed(answers.items()))


def _news(value: Any, last: Any) -> Any:
    """A part of a frame without what the same part of the last frame said as well; texts stay, they may be repeated."""
    if isinstance(value, dict) and isinstance(last, dict):
        return {key: _news(held, last.get(key)) for key, held in value.items() if not _repeats(held, key, last)}
    if isinstance(value, list) and isinstance(last, list) and len(value) == len(last):
        return [_news(one, other) for one, other in zip(value, last, strict=True)]
    return value


def _repeats(value: Any, key: Any, last: dict[Any, Any], *besides: type) -> bool:
    return isinstance(value, (int, float, type(None), *besides)) and key in last and last[key] == value


def _shown(kind: str, value: Any) -> str:
    if kind == MARKER:
        return excerpt(value if isinstance(value, str) else value.text, _SHOWN)
    if isinstance(value, WireNote):
        return value.excerpt
    if isinstance(value, WireFailure):
        return f"{value.code}: {value.message}"
    return "" if kind == CLOSE else value if kind == FAILURE else excerpt(value, _SHOWN)
