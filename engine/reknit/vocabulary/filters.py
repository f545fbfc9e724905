"""Filters: small total functions from one JSON value to another, for the binds of a map.

None is no value: a filter that cannot say anything sensible gives None, and a field without a value is not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple


class Filter(NamedTuple):
    """A filter: its sentence, its function, and whether it takes a word or text."""

    doc: str
    apply: Callable[[Any, str], Any]
    argument: bool = False


def to_text(value: Any, _: str = "") -> str | None:
    """A text as it is; a number as its digits; anything else is no value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return None


def to_json(value: Any, _: str = "") -> str | None:
    """A text as it is; any other value as compact JSON text."""
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None


def nonempty(value: Any, _: str = "") -> Any:
    """Empty texts, lists and objects are no value."""
    return None if value in ("", [], {}) else value


def before(value: Any, mark: str) -> Any:
    """The text before the first occurrence of a mark."""
    return value.partition(mark)[0] if isinstance(value, str) and mark else value


def after(value: Any, mark: str) -> Any:
    """The text after the first occurrence of a mark; without one, the text as it is."""
    if not isinstance(value, str) or not mark:
        return value
    head, found, tail = value.partition(mark)
    return tail if found else head


def joined(value: Any, key: str) -> Any:
    """A list of texts, or of objects with a text under a key, as one text; a text as it is."""
    if not isinstance(value, list):
        return value
    parts = [part.get(key) if isinstance(part, dict) else part for part in value]
    return "".join(part for part in parts if isinstance(part, str))


def number(value: Any, _: str = "") -> int | None:
    """A whole number that is not negative: also from a float without a fraction or a text of digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
    elif isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 2**53 else None
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


FILTERS: Final[dict[str, Filter]] = {
    "text": Filter("a text as it is, a number as its digits, anything else is no value", to_text),
    "json": Filter("a text as it is, any other value as compact JSON text", to_json),
    "nonempty": Filter("empty texts, lists and objects are no value", nonempty),
    "before": Filter("the text before the first occurrence of a mark", before, argument=True),
    "after": Filter("the text after the first occurrence of a mark", after, argument=True),
    "joined": Filter(
        "a list of texts, or of objects with a text under the named key, as one text", joined, argument=True
    ),
    "number": Filter("a whole number that is not negative, also out of a text of digits", number),
    "or": Filter(
        "a word or text where there is no value", lambda value, word: word if value is None else value, argument=True
    ),
    "enum": Filter("the case that the named enum gives for the word", lambda value, _: value, argument=True),
}
