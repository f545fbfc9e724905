"""Many paths into JSON laid over each other: a frame is walked once, and keys that no path names cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from reknit.paths import Step

Hit: TypeAlias = Callable[[tuple[int, Any]], None]
"""Takes the code of a path and the value found at its end."""
Walk: TypeAlias = Callable[[Any, Hit], None]


class PathTree:
    """A place in a tree of paths.

    Attributes:
        ends: Codes of the paths that end here.
        keys: Where it goes on under keys.
        positions: Where it goes on at positions of a list.
        every: Where it goes on for each element of a list, or None.
    """

    __slots__ = ("ends", "every", "keys", "positions")

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.keys: dict[str, PathTree] = {}
        self.positions: dict[int, PathTree] = {}
        self.every: PathTree | None = None

    def down(self, step: Step) -> PathTree:
        """The place one step on, made if it is not there."""
        if step is None:
            if self.every is None:
                self.every = PathTree()
            return self.every
        branch: dict[Any, PathTree] = self.keys if isinstance(step, str) else self.positions
        if step not in branch:
            branch[step] = PathTree()
        return branch[step]

    def walk(self) -> Walk:
        """A function that finds everything from here on; None is never found."""
        every = self.every
        if not self.ends and not self.positions and every is None:
            return _walk_object(self._pairs())
        if not self.ends and not self.keys and every is None and set(self.positions) == {0}:
            first = self.positions[0]
            if not first.ends and not first.positions and first.every is None:
                return _walk_first(first._pairs())
        if not self.ends and not self.keys and not self.positions and every is not None and every.is_leaf():
            return _walk_every(every.ends[0])
        return self._walk_any()

    def is_leaf(self) -> bool:
        """Whether one map ends here, and nothing goes on."""
        return len(self.ends) == 1 and not self.keys and not self.positions and self.every is None

    def _pairs(self) -> tuple[tuple[str, int, Walk | None], ...]:
        return tuple(
            (key, child.ends[0], None) if child.is_leaf() else (key, -1, child.walk())
            for key, child in self.keys.items()
        )

    def _walk_any(self) -> Walk:
        ends, inside = tuple(self.ends), _walk_object(self._pairs())
        positions = {at: child.walk() for at, child in self.positions.items()}
        every = self.every.walk() if self.every is not None else None

        def walk(value: Any, hit: Hit) -> None:
            for code in ends:
                hit((code, value))
            if type(value) is dict:
                inside(value, hit)
            elif type(value) is list:
                for at, below in positions.items():
                    if at < len(value) and value[at] is not None:
                        below(value[at], hit)
                if every is not None:
                    for inner in value:
                        if inner is not None:
                            every(inner, hit)

        return walk


# An object is walked along its own keys or along the tree's, whichever are fewer.


def _walk_object(pairs: tuple[tuple[str, int, Walk | None], ...]) -> Walk:
    by_key, count = {pair[0]: pair for pair in pairs}, len(pairs)

    def walk(value: Any, hit: Hit) -> None:
        if type(value) is not dict:
            return
        if len(value) < count:
            for key, inner in value.items():
                if inner is not None and key in by_key:
                    _, code, below = by_key[key]
                    if below is None:
                        hit((code, inner))
                    else:
                        below(inner, hit)
            return
        for key, code, below in pairs:
            inner = value.get(key)
            if inner is not None:
                if below is None:
                    hit((code, inner))
                else:
                    below(inner, hit)

    return walk


def _walk_first(pairs: tuple[tuple[str, int, Walk | None], ...]) -> Walk:
    def walk(value: Any, hit: Hit) -> None:
        if type(value) is not list or not value:
            return
        first = value[0]
        if type(first) is not dict:
            return
        for key, code, below in pairs:
            inner = first.get(key)
            if inner is not None:
                if below is None:
                    hit((code, inner))
                else:
                    below(inner, hit)

    return walk


def _walk_every(code: int) -> Walk:
    def walk(value: Any, hit: Hit) -> None:
        if type(value) is list:
            for inner in value:
                if inner is not None:
                    hit((code, inner))

    return walk
