"""How words and signs are written, and what stands between two of them on one line."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from reknit.lang.literals import text_value
from reknit.lang.syntax import NOWHERE
from reknit.lang.tokens import Token

_ESCAPE: Final = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\t")
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs of which nothing is seen."""

_LEFT: Final = frozenset({",", ":", "?", "*", "]"})
"""Signs that stand directly behind what is before them."""


def spelled(token: Token) -> str:
    """Write a token in its one way; only in texts there is a choice."""
    return _ESCAPE.sub(_escape, token.text) if token.kind == "text" else token.text


def _escape(match: re.Match[str]) -> str:
    """Write a character as itself where a reader can see it, else by its shortest escape.

    A character that cannot be seen and stands there as itself is left alone: it may be part of a written word.
    """
    value, _ = text_value(f'"{match.group()}"', NOWHERE)
    if value in _SHORT:
        return _SHORT[value]
    return value if _is_seen(value) else match.group().lower()


def _is_seen(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANKS


def space(before: str, after: str) -> str:
    """Give what stands between two tokens of one line."""
    if after in _LEFT or before == "[" or (before, after) == ("{", "}"):
        return ""
    return " "
