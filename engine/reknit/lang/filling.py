"""One row to lines: what fits stays on one line, lists are filled up to the width, comments break where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reknit.lang.comments import Gap
from reknit.lang.outline import STEP, Row
from reknit.lang.spelling import space

WIDTH: Final = 120
_CLOSING: Final = {"{": "}", "[": "]"}


class Filler:
    """Writes the rows of one file.

    Args:
        words: The tokens as they are to be written.
        signs: The same, with nothing in the place of texts: what is a bracket or comma is one in truth.
        gaps: What stands ahead of each token.
    """

    def __init__(self, words: Sequence[str], signs: Sequence[str], gaps: Sequence[Gap]) -> None:
        self._words = words
        self._signs = signs
        self._gaps = gaps
        # Sums, so that asking whether a part fits costs the same however long it is.
        self._sizes, self._comments = [0], [0]
        for index, word in enumerate(words):
            before = space(signs[index - 1], signs[index]) if index else ""
            self._sizes.append(self._sizes[-1] + len(before) + len(word))
            self._comments.append(self._comments[-1] + len(gaps[index].comments))
        self._closing: dict[int, int] = {}
        stack: list[int] = []
        for index, sign in enumerate(signs):
            if sign in _CLOSING:
                stack.append(index)
            elif sign in ("}", "]"):
                self._closing[stack.pop()] = index

    def size(self, begin: int, end: int) -> int:
        """Give how wide the tokens from one up to another one are on one line."""
        first = self._sizes[begin + 1] - len(self._words[begin])
        return self._sizes[end] - first

    def lines(self, row: Row, width: int) -> list[str]:
        """Write a row whose first column has a width."""
        return _Line(self, row, width).written()


class _Line:
    """The pen that writes one row."""

    def __init__(self, filler: Filler, row: Row, width: int) -> None:
        self._filler = filler
        self._row = row
        self._pad = max(width - filler.size(row.begin, row.begin + row.stop), 0) if row.stop else 0
        self._done: list[str] = []
        self._line = " " * row.indent
        self._fresh = True
        self._led: set[int] = set()

    def written(self) -> list[str]:
        row = self._row
        self._part(row.begin, row.listed, row.indent + 2 * STEP, row.listed)
        if row.listed < row.end:
            self._list(row.listed, row.end, row.parted, len(self._line) + 1 + self._padding(row.listed))
        return [*self._done, self._line]

    def _padding(self, index: int) -> int:
        return self._pad if index == self._row.begin + self._row.stop else 0

    def _fits(self, begin: int, end: int) -> bool:
        filler, row = self._filler, self._row
        if filler._comments[end] > filler._comments[begin + 1]:
            return False
        if not row.wraps:
            return True
        size = filler.size(begin, end) + (0 if self._fresh else len(self._space(begin)))
        if begin < row.begin + row.stop < end:
            size += self._pad
        return len(self._line) + size <= WIDTH

    def _space(self, index: int) -> str:
        signs = self._filler._signs
        return space(signs[index - 1], signs[index]) + " " * self._padding(index)

    def _break(self, base: int) -> None:
        self._done.append(self._line)
        self._line = " " * base
        self._fresh = True

    def _lead(self, index: int, base: int) -> None:
        """Write the comments ahead of a token; those of the row's first token stand above the row."""
        gap = self._filler._gaps[index]
        if index > self._row.begin and index not in self._led and gap.comments:
            self._led.add(index)
            if gap.trailing is not None:
                self._line += f"  {gap.trailing.text}"
            self._break(base)
            self._done += [" " * base + comment.text for comment in gap.own]

    def _put(self, index: int, base: int) -> None:
        """Write a token, and the comments ahead of it."""
        self._lead(index, base)
        if not self._fresh:
            self._line += self._space(index)
        self._line += self._filler._words[index]
        self._fresh = False

    def _part(self, begin: int, end: int, base: int, until: int) -> None:
        """Write tokens, on one line if all up to `until` fit, else with the records in them broken."""
        index = begin
        whole = self._fits(begin, until)
        while index < end:
            self._put(index, base)
            closing = self._filler._closing.get(index)
            # The brace of a block is closed in another row.
            if not whole and closing is not None and index + 1 < closing < end:
                inner = len(self._line) + (1 if self._filler._signs[index] == "{" else 0)
                self._list(index + 1, closing, ",", inner)
                self._put(closing, inner)
                index = closing
            index += 1

    def _list(self, begin: int, end: int, parted: str, base: int) -> None:
        """Write the elements of a list, as many on a line as fit."""
        first = begin
        while first < end:
            after = self._after(first, end, parted)
            until = after if after < end else self._until(end)
            self._lead(first, base)
            if first > begin and not self._fresh and not self._fits(first, until):
                self._break(base)
            self._part(first, after, base, until)
            first = after

    def _after(self, index: int, end: int, parted: str) -> int:
        """Give where the element ends that begins at a token: behind what parts it from the next one."""
        signs = self._filler._signs
        while index < end:
            if signs[index] == parted:
                return index + 1
            index = self._filler._closing.get(index, index) + 1
        return end

    def _until(self, index: int) -> int:
        """Give where a line can be broken next behind the last element of a list: its closing sign stays with it."""
        signs = self._filler._signs
        while index < self._row.end:
            index += 1
            if signs[index - 1] in (",", "{", "["):
                break
        return index
