"""The ladder of argument repairs: from what a vendor sent to one JSON object, or an honest word why not.

Rungs are tried in the order of `REPAIRS`, from the one that changes least. A policy says which it uses, and what grade
each gives (`repair NAME as GRADE`); what no rung reads is several, partial or broken, and never half used.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from reknit.depth import MAX_INNER, is_deep
from reknit.gather import mended_value

_decode = msgspec.json.decode


class Reading(NamedTuple):
    """How an argument text reads.

    Attributes:
        case: empty, exact, lossless, guessed, several, partial or broken.
        value: The object; `{}` unless it was read.
        repair: The rung that read it, or an empty string.
    """

    case: str
    value: dict[str, Any]
    repair: str = ""


def _no_constant(word: str) -> Any:
    raise ValueError(word)


_STRICT: Final = json.JSONDecoder(parse_constant=_no_constant)
_LAX: Final = json.JSONDecoder(parse_constant=_no_constant, strict=False)


def parse(text: str) -> Any:
    """The JSON value of a text, or ValueError; lone surrogates in escapes pass, deep nesting does not."""
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        try:
            value = _STRICT.decode(text)
        except RecursionError:
            raise ValueError("nested too deeply") from None
    if _deep(text, value):
        raise ValueError("nested too deeply")
    return value


def _deep(text: str, value: Any) -> bool:
    """Whether a value is nested deeper than one inside a block may be; cheap for texts with few brackets."""
    return text.count("{") + text.count("[") > MAX_INNER and is_deep(value, MAX_INNER)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = parse(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and _savable(text, value) else None


def _savable(text: str, value: Any) -> bool:
    """Whether a value can be saved: not too deep, and all its texts can be encoded; cheap for most texts."""
    if _deep(text, value):
        return False
    if text.isascii() and "\\u" not in text:
        return True
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _values(text: str, most: int = 100_000) -> list[Any] | None:
    """All JSON values of a text, one after another, or None."""
    found: list[Any] = []
    at, end = 0, len(text)
    while at < end and len(found) < most:
        try:
            value, at = _STRICT.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        found.append(value)
        while at < end and text[at] in " \t\r\n":
            at += 1
    return found if at >= end else None


def _clean_keys(value: Any) -> bool:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if any(character < " " for key in node for character in key):
                return False
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return True


def control_characters(text: str, _: str) -> dict[str, Any] | None:
    """Raw control characters inside string values, as if they had been escaped; never inside a key."""
    try:
        value = _LAX.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _clean_keys(value) else None


def null(text: str, _: str) -> dict[str, Any] | None:
    """The word `null` in the place of an empty object."""
    return {} if text == "null" else None


def double_encoded(text: str, _: str) -> dict[str, Any] | None:
    """A JSON string that holds the text of an object."""
    try:
        value = parse(text)
    except ValueError:
        return None
    return _object(value) if isinstance(value, str) else None


_FENCE: Final = re.compile(r"\A```[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)
_TOKENS: Final = re.compile(
    r"\A(?:<\|[A-Za-z_]{1,40}\|>\s*){0,4}(\{.*\})\s*(?:<\|[A-Za-z_]{1,40}\|>\s*){0,4}\Z", re.DOTALL
)


def fences(text: str, _: str) -> dict[str, Any] | None:
    """A code fence, or special tokens like `<|call|>`, around the object."""
    match = _FENCE.match(text) or _TOKENS.match(text)
    return _object(match[1]) if match else None


def snapshot(text: str, latest: str) -> dict[str, Any] | None:
    """The last piece that extended all that was held before it: the vendor repeated the arguments so far."""
    return _object(latest) if latest and latest != text else None


def repeated(text: str, _: str) -> dict[str, Any] | None:
    """The same object several times over."""
    values = _values(text)
    if not values or len(values) < 2 or not isinstance(values[0], dict):
        return None
    first = json.dumps(values[0])
    return values[0] if all(json.dumps(value) == first for value in values[1:]) else None


def placeholder(text: str, _: str) -> dict[str, Any] | None:
    """An empty object and then the real one: a start block's placeholder was passed on as text."""
    values = _values(text, most=3)
    if values and len(values) == 2 and values[0] == {} and isinstance(values[1], dict):
        return values[1]
    return None


def lone_surrogates(text: str, _: str) -> dict[str, Any] | None:
    """A lone half of a surrogate pair in a string: U+FFFD in its place."""
    try:
        value = parse(text)
    except ValueError:
        return None
    return mended_value(value) if isinstance(value, dict) else None


_ESCAPE: Final = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')


def unknown_escapes(text: str, _: str) -> dict[str, Any] | None:
    r"""A backslash that begins no JSON escape (`\d`) is taken for a backslash."""
    mended = _ESCAPE.sub(lambda match: match[0] if match[1] else "\\\\", text)
    return _object(mended) if mended != text else None


_OUTSIDE: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|(,)(\s*[}\]])|\b(True|False|None)\b', re.DOTALL)
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


def _outside_strings(text: str, commas: bool, literals: bool) -> str:
    def mend(match: re.Match[str]) -> str:
        if match[1]:
            return match[2] if commas else match[0]
        if match[3]:
            return _WORDS[match[3]] if literals else match[0]
        return match[0]

    return _OUTSIDE.sub(mend, text)


def trailing_comma(text: str, _: str) -> dict[str, Any] | None:
    """A comma before a closing brace or bracket."""
    mended = _outside_strings(text, commas=True, literals=False)
    return _object(mended) if mended != text else None


def literals(text: str, _: str) -> dict[str, Any] | None:
    """`True`, `False` and `None` for `true`, `false` and `null`."""
    mended = _outside_strings(text, commas=True, literals=True)
    return _object(mended) if mended != text else None


_MOST_LITERAL: Final = 100_000
_MOST_BRACKETS: Final = 100
"""Bounds of what Python's own parser is given."""


def python_literal(text: str, _: str) -> dict[str, Any] | None:
    """A Python dict in the place of an object: single quotes, `True`, `None`."""
    if not text.startswith("{") or len(text) > _MOST_LITERAL or sum(map(text.count, "{[(")) > _MOST_BRACKETS:
        return None
    try:
        value = ast.literal_eval(text)
        return value if isinstance(value, dict) and json.loads(json.dumps(value, allow_nan=False)) == value else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


class Rung(NamedTuple):
    """A repair: its sentence and its function from (text, latest snapshot) to an object or None."""

    doc: str
    apply: Callable[[str, str], dict[str, Any] | None]


REPAIRS: Final[dict[str, Rung]] = {
    "control-characters": Rung("raw control characters inside string values, never inside a key", control_characters),
    "null": Rung("the word `null` in the place of an empty object", null),
    "double-encoded": Rung("a JSON string that holds the text of the object", double_encoded),
    "fences": Rung("a code fence or special tokens around the object", fences),
    "snapshot": Rung("pieces that repeated the arguments so far: the last one stands", snapshot),
    "repeated": Rung("the same object several times over", repeated),
    "placeholder": Rung("an empty object ahead of the real one", placeholder),
    "lone-surrogates": Rung("a lone half of a surrogate pair in a string: U+FFFD in its place", lone_surrogates),
    "unknown-escapes": Rung("a backslash that begins no JSON escape is a backslash", unknown_escapes),
    "trailing-comma": Rung("a comma before a closing brace or bracket", trailing_comma),
    "literals": Rung("`True`, `False` and `None` for `true`, `false` and `null`", literals),
    "python-literal": Rung("a Python dict in the place of an object", python_literal),
}


def read(text: str, latest: str, partial: bool, rungs: Mapping[str, str]) -> Reading:
    """Read an argument text.

    Args:
        text: As it was gathered.
        latest: The latest whole-prefix snapshot among its pieces, or an empty string.
        partial: Whether the scanner saw a value that has not ended.
        rungs: The rungs to use, each with its grade.
    """
    text = text.strip(" \t\r\n\ufeff")
    if not text:
        return Reading("empty", {})
    value = _object(text)
    if value is not None:
        return Reading("exact", value)
    for name, grade in _in_order(rungs):
        value = REPAIRS[name].apply(text, latest)
        if value is not None and _savable(text, value):
            return Reading(grade, value, name)
    if partial:
        return Reading("partial", {})
    values = _values(text)
    if values is not None and len(values) > 1 and all(isinstance(value, dict) for value in values):
        return Reading("several", {})
    return Reading("broken", {})


def _in_order(rungs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, rungs[name]) for name in REPAIRS if name in rungs)
