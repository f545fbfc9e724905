"""Cells back to patterns: a set of cells as the few patterns that a person would have written for them.

The cells of one event, in all states, are the bits of one number; a pattern is a box of states and cases. Boxes are
grown as far as they cover nothing else: cells that cannot occur belong to nobody, and a box may reach over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from reknit.compile.cells import states_of
from reknit.table import ENDING_STATE, EventSpec, Outcome, PolicyTable

_STATE: Final = 0


class Pattern(NamedTuple):
    """A box of cells.

    Attributes:
        states: In the order of the policy.
        cases: For each question that is narrowed, its cases; a question that is not here may have any case.
    """

    states: tuple[str, ...]
    cases: Mapping[str, tuple[str, ...]]

    def text(self) -> str:
        """The pattern as a rule file says it, without its states and event."""
        inner = ", ".join(f"{name}: {' | '.join(cases)}" for name, cases in self.cases.items())
        return f"{{ {inner} }}" if inner else ""


class Space:
    """The cells of one event, in all its states, as bits.

    Args:
        event: The event.
        policy: Whose cells they are.
    """

    def __init__(self, event: EventSpec, policy: PolicyTable) -> None:
        self.states = tuple(state.name for state in states_of(event, policy.states))
        self._names = ("", *(question.name for question in event.questions))
        self._cases = (self.states, *(question.cases for question in event.questions))
        total = 1
        for cases in self._cases:
            total *= len(cases)
        self._everything = (1 << total) - 1
        self._strides: list[int] = []
        self._masks: list[list[int]] = []
        stride = total
        for cases in self._cases:
            period, stride = stride, stride // len(cases)
            block = (1 << stride) - 1
            self._strides.append(stride)
            self._masks.append([_repeated(block << (n * stride), period, total // period) for n in range(len(cases))])
        questions = range(1, len(self._cases))
        # The first questions tell most, so they are best given up last; now and then the other way says it shorter.
        self._orders = ((_STATE, *reversed(questions)), (_STATE, *questions), (*reversed(questions), _STATE))
        self._rows = [policy.cells[event.name][state] for state in self.states]

    def where(self, wanted: Callable[[str, Outcome], bool], outcomes: Sequence[Outcome]) -> int:
        """The cells whose state and outcome are wanted."""
        return self._bits(lambda state, number: number >= 0 and wanted(state, outcomes[number]))

    def possible(self) -> int:
        """The cells that can occur."""
        return self._bits(lambda state, number: number >= 0)

    def box(self, states: Sequence[str], cases: Mapping[str, Sequence[str]]) -> int:
        """The cells of some states (none: all) and, for the questions named, of some cases."""
        bits = self._everything
        for at, name in enumerate(self._names):
            chosen = (states or None) if at == _STATE else cases.get(name)
            if chosen is not None:
                bits &= _union(
                    mask for case, mask in zip(self._cases[at], self._masks[at], strict=True) if case in chosen
                )
        return bits

    def outcomes_in(self, bits: int) -> dict[tuple[str, int], int]:
        """The outcomes of some cells, by state and number, with how many of the cells have it."""
        found: dict[tuple[str, int], int] = {}
        width = len(self._rows[0])
        for state, row, at in zip(self.states, self._rows, range(len(self._rows)), strict=True):
            part = (bits >> (at * width)) & ((1 << width) - 1)
            if not part:
                continue
            for index in _ones(part):
                if row[index] >= 0:
                    found[state, row[index]] = found.get((state, row[index]), 0) + 1
        return found

    def patterns(self, wanted: int, taken: int | None = None) -> list[Pattern]:
        """Patterns that cover all of the wanted cells and none of those that are taken.

        Args:
            wanted: Cells, as bits.
            taken: Cells that have to stay out; without it, all others that can occur.
        """
        others = (self.possible() if taken is None else taken) & ~wanted
        boxes: list[list[list[int]]] = []
        rest = wanted
        while rest:
            seed = (rest & -rest).bit_length() - 1
            grown = [self._grown(seed, wanted, others, order, over) for order in self._orders for over in (False, True)]
            best = max(grown, key=lambda box: ((self._within(box) & rest).bit_count(), -self._said(box)))
            rest &= ~self._within(best)
            boxes.append(best)
        return [self._pattern(box) for box in self._needed(boxes, wanted)]

    # -- boxes ---------------------------------------------------------------------------------------------------------

    def _grown(self, index: int, wanted: int, others: int, order: tuple[int, ...], over: bool) -> list[list[int]]:
        """The box around a cell, as large as it can be.

        Args:
            index: Of the cell.
            wanted: Cells that it is there for.
            others: Cells that it must not cover.
            order: In which its sides are pushed out.
            over: Push a side over cells that cannot occur, too; what turns out to hold nothing else is taken back.
        """
        sides = zip(self._strides, self._cases, strict=True)
        box = [[index // stride % len(cases)] for stride, cases in sides]
        for at in (*order, *order):
            around = self._within(box, without=at)
            box[at] = [
                n
                for n, mask in enumerate(self._masks[at])
                if n in box[at] or (not around & mask & others and (over or around & mask & wanted))
            ]
        for at in order:
            around = self._within(box, without=at) & wanted
            box[at] = [n for n in box[at] if around & self._masks[at][n]]
        for at in order:
            if at != _STATE and not self._within(box, without=at) & others:
                box[at] = list(range(len(self._cases[at])))
        return box

    def _said(self, box: list[list[int]]) -> int:
        """How much there is to say of a box."""
        return sum(len(side) for side, cases in zip(box, self._cases, strict=True) if len(side) < len(cases))

    def _within(self, box: Sequence[Sequence[int]], without: int = -1) -> int:
        bits = self._everything
        for at, chosen in enumerate(box):
            if at != without and len(chosen) < len(self._cases[at]):
                bits &= _union(self._masks[at][n] for n in chosen)
        return bits

    def _needed(self, boxes: list[list[list[int]]], wanted: int) -> list[list[list[int]]]:
        cells = [self._within(box) & wanted for box in boxes]
        kept = list(range(len(boxes)))
        for number in reversed(range(len(boxes))):
            rest = _union(cells[other] for other in kept if other != number)
            if not cells[number] & ~rest:
                kept.remove(number)
        return [boxes[number] for number in kept]

    def _pattern(self, box: list[list[int]]) -> Pattern:
        states = tuple(self.states[n] for n in box[_STATE])
        cases = {
            name: tuple(known[n] for n in chosen)
            for name, known, chosen in zip(self._names[1:], self._cases[1:], box[1:], strict=True)
            if len(chosen) < len(known)
        }
        return Pattern(() if states == (ENDING_STATE,) else states, cases)

    def _bits(self, wanted: Callable[[str, int], bool]) -> int:
        bits = 0
        for state, row in zip(reversed(self.states), reversed(self._rows), strict=True):
            known = {number: wanted(state, number) for number in set(row)}
            digits = "".join("1" if known[number] else "0" for number in reversed(row))
            bits = bits << len(row) | int(digits, 2)
        return bits


def _repeated(block: int, period: int, times: int) -> int:
    bits, have = block, 1
    while have < times:
        take = min(have, times - have)
        bits |= (bits & ((1 << (take * period)) - 1)) << (have * period)
        have += take
    return bits


def _union(masks: Iterator[int]) -> int:
    bits = 0
    for mask in masks:
        bits |= mask
    return bits


def _ones(bits: int) -> Iterator[int]:
    text = bin(bits)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)
