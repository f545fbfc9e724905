"""The notes of one message: one for each rule, reason and block, counted, with bounded excerpts."""

from __future__ import annotations

from typing import Final

from reknit.message import Note

MOST_NOTES: Final = 1000
"""So many different notes are kept; what comes beyond is counted in one note more."""

_OVERFLOW: Final = ("notes", "more-notes", None)


class Notebook:
    """Notes by (rule, reason, ordinal of a block or None)."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, int | None], list[object]] = {}

    def add(self, rule: str, reason: str, block: int | None, excerpt: str) -> Note | None:
        """Record an occurrence; the note if it is the first of its kind."""
        key: tuple[str, str, int | None] = (rule, reason, block)
        entry = self._entries.get(key)
        if entry is None and len(self._entries) >= MOST_NOTES:
            key = _OVERFLOW
            entry = self._entries.get(key)
        if entry is None:
            self._entries[key] = [1, excerpt, None]
            return Note(rule=key[0], reason=key[1], block=key[2], first=excerpt)
        entry[0] += 1  # type: ignore[operator]
        entry[2] = excerpt
        return None

    def listed(self, position: dict[int, int]) -> list[Note]:
        """All notes, blocks given by their position in the message; a block that is not in it has none."""
        return [
            Note(
                rule=rule,
                reason=reason,
                block=position.get(block) if block is not None else None,
                count=int(str(count)),
                first=str(first),
                last=None if last is None else str(last),
            )
            for (rule, reason, block), (count, first, last) in self._entries.items()
        ]
