"""How things are shown to a person: colours only where they are wanted, and no character that drives a terminal."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import Any, Final

import click

_PLAIN: Final = "\n\t"
_JOINERS: Final = "\u200c\u200d"
"""Scripts and emoji are put together with these; they move nothing."""

_DRIVING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (direction marks, invisible tags), half pairs, line and paragraph separators."""


def printable(text: str, keep: str = _PLAIN) -> str:
    r"""The text with every character that could drive a terminal or reorder a line spelt out, such as `\x1b`."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _drives(c) else _spelt(c) for c in text)


def json_printable(text: str) -> str:
    r"""JSON whose texts hold no such character: each is written as `\u001b`, which says the same."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or not _drives(c) else _escaped(c) for c in text)


def _drives(character: str) -> bool:
    return unicodedata.category(character) in _DRIVING and character not in _JOINERS


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))


def wants_colour(asked: bool | None) -> bool:
    """Whether to colour: as asked, else on a terminal, unless `NO_COLOR` is set (see no-color.org)."""
    if asked is not None:
        return asked
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Screen:
    """Standard output, with or without colours.

    Args:
        colour: Whether to colour.
    """

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def write(self, text: str = "", end: str = "\n", **style: Any) -> None:
        """Write a text that is safe to show; the style is that of `click.style`."""
        wanted = {name: value for name, value in style.items() if value}
        shown = click.style(text, **wanted) if wanted and self.colour and text else text
        click.echo(shown + end, nl=False, color=self.colour)

    def flush(self) -> None:
        """Let the reader have what was written."""
        sys.stdout.flush()


def indented(text: str, margin: str = "  ") -> str:
    """A text whose every line begins after a margin: no line of a stream can pass for one of ours."""
    return margin + text.replace("\n", f"\n{margin}")
