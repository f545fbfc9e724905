"""Texts and numbers of a rule file as values: escapes are those of JSON."""

from __future__ import annotations

import re
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Place

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))")
_PLAIN: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def text_value(literal: str, place: Place) -> tuple[str, Diagnostic | None]:
    """Read a text with its quotes; where an escape means nothing the text stays as written, and the first is told."""
    trouble: list[Diagnostic] = []

    def replace(match: re.Match[str]) -> str:
        unit, low, plain = match.groups()
        if plain is not None and plain in _PLAIN:
            return _PLAIN[plain]
        code = int(unit, 16) if unit is not None else -1
        if 0xD800 <= code < 0xDC00 and low is not None:
            return chr(0x10000 + ((code - 0xD800) << 10) + (int(low, 16) - 0xDC00))
        if code >= 0 and not 0xD800 <= code < 0xE000:
            # What looked like the second half of a pair stands alone then, and is a half without its first.
            if low is None:
                return chr(code)
            code = int(low, 16)
        trouble.append(_bad_escape(match, place, code))
        return ""

    value = _ESCAPE.sub(replace, literal[1:-1]) if "\\" in literal else literal[1:-1]
    return (literal[1:-1], trouble[0]) if trouble else (value, None)


def number_value(literal: str) -> int | float:
    """Read a number: whole where it is written without a point and exponent, infinite where it is out of range."""
    return float(literal) if any(sign in literal for sign in ".eE") else int(literal)


def _bad_escape(match: re.Match[str], place: Place, code: int) -> Diagnostic:
    column = place.column + 1 + match.start()
    at = Place(place.source, place.line, column, place.line, column + len(match.group()))
    if code >= 0:
        return Diagnostic(
            "E111",
            f"{quoted(match.group())} is half of a character",
            Label(at, "no character"),
            help="characters beyond `\\uffff` are written as two halves, or as themselves",
        )
    return Diagnostic(
        "E111",
        f"{quoted(match.group())} is no escape",
        Label(at, "means nothing"),
        help='known here: `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, and `\\u` with four digits 0 to f',
    )
