"""JSON types by the words that `where PATH is TYPE` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


def empty(value: Any) -> bool:
    """Whether a value carries nothing: null, an empty text, or a list or object of nothing but such."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
        elif node is not None and node != "":
            return False
    return True


JSON_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
    "empty": empty,
}
"""Absent and null are the same: `null`; `empty` is whatever carries nothing."""
