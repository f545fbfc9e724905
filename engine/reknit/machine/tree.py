"""Dense cells to decision trees: only the questions that make a difference are asked, and only where they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Tree: TypeAlias = Any
"""A leaf, or a pair of an asking function (giving the number of a case) and a list of trees."""

_WILD = -1


def grow(
    row: Sequence[int], radix: Sequence[int], ask: Callable[[int], Callable[[Any], int]], leaf: Callable[[int], Any]
) -> Tree:
    """A tree over one row of cells.

    Args:
        row: Outcome numbers in mixed radix; -1 cannot occur, and goes with any.
        radix: Sizes of the questions.
        ask: Gives the asking function of a question by its number.
        leaf: Gives the leaf of an outcome number.
    """
    return _grow(row, radix, 0, ask, leaf)


def _grow(
    row: Sequence[int],
    radix: Sequence[int],
    question: int,
    ask: Callable[[int], Callable[[Any], int]],
    leaf: Callable[[int], Any],
) -> Tree:
    distinct = set(row)
    distinct.discard(_WILD)
    if len(distinct) <= 1:
        return leaf(distinct.pop()) if distinct else None
    width = len(row) // radix[question]
    slices = [row[n * width : (n + 1) * width] for n in range(radix[question])]
    merged = _merge(slices)
    if merged is not None:
        return _grow(merged, radix, question + 1, ask, leaf)
    return (ask(question), [_grow(part, radix, question + 1, ask, leaf) for part in slices])


def _merge(slices: list[Sequence[int]]) -> list[int] | None:
    merged = list(slices[0])
    for part in slices[1:]:
        for n, number in enumerate(part):
            if number == _WILD:
                continue
            if merged[n] == _WILD:
                merged[n] = number
            elif merged[n] != number:
                return None
    return merged
