"""Two sides of which one part after the other is held against each other; what differs is told with its places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from reknit.diff.changes import Change, Direction
from reknit.diff.sides import Side

T = TypeVar("T")

Words = tuple[str | None, str | None]
"""A part in words, before and after; None where it is not there."""


class Parts:
    """Makes changes about parts of two sides.

    Args:
        before: One side.
        after: The other.
    """

    def __init__(self, before: Side, after: Side) -> None:
        self.sides = (before, after)

    def change(
        self, id: str, direction: Direction, key: tuple[str, str], message: str, words: Words = (None, None)
    ) -> Change:
        """A change of the part that is known by `key`, its kind and name."""
        before, after = self.sides
        places = tuple(place for side in self.sides if (place := side.place(*key)) is not None)
        quirk = after.quirk(*key) or (before.quirk(*key) if after.item(*key) is None else None)
        return Change(id, direction, key[1], message, words[0], words[1], quirk=quirk, places=places)


def paired(old: Mapping[str, T], new: Mapping[str, T]) -> Iterator[tuple[str, T | None, T | None]]:
    """Both sides by name: those of the side before first."""
    for name in dict.fromkeys([*old, *new]):
        yield name, old.get(name), new.get(name)


def in_words(say: Callable[[T], str], old: T | None, new: T | None) -> Words:
    """A part in words on both sides."""
    return (None if old is None else say(old), None if new is None else say(new))


def came_or_went(word: str, old: object, new: object, changed: str = "CHANGED") -> str:
    """The id of a change of a part: it was added, removed, or changed."""
    return f"{word}_{'ADDED' if old is None else 'REMOVED' if new is None else changed}"
