"""Text that is gathered in pieces and joined late, without keeping every small piece; and text made fit to be saved."""

from __future__ import annotations

from typing import Any, Final

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


def savable(text: str) -> bool:
    """Whether a text can be encoded: it has no lone half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mended(text: str) -> str:
    """The text with halves of surrogate pairs joined where they meet, and replaced by U+FFFD where they are alone.

    JSON allows escaped halves (RFC 8259, section 8.2); nothing that encodes text does.
    """
    return text if savable(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mended_value(value: Any) -> Any:
    """A JSON value whose texts can all be encoded."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {mended(key): mended_value(inner) for key, inner in value.items()}
    return [mended_value(inner) for inner in value] if isinstance(value, list) else value
