"""Text that is gathered in pieces and joined late, without keeping every small piece."""

from __future__ import annotations

from typing import Final

_FEW: Final = 256
"""So many pieces are joined into one: a list of every small piece costs many times the text."""


class Gathered:
    """A growing text: `append` is constant time, `text` joins once; `length` in characters."""

    __slots__ = ("_few", "_joined", "length")

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._few: list[str] = []
        self.length = 0

    def append(self, piece: str) -> None:
        """Add a piece."""
        few = self._few
        few.append(piece)
        self.length += len(piece)
        if len(few) > _FEW:
            self._joined.append("".join(few))
            few.clear()

    @property
    def text(self) -> str:
        """All of it."""
        if self._few:
            self._joined.append("".join(self._few))
            self._few.clear()
        if len(self._joined) > 1:
            self._joined[:] = ["".join(self._joined)]
        return self._joined[0] if self._joined else ""

    def take(self) -> str:
        """All of it; holds nothing afterwards."""
        text = self.text
        self._joined.clear()
        self.length = 0
        return text
