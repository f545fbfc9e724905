"""How deep JSON may be nested. One bound for frames and for arguments, so that whatever is read can be saved.

Pydantic's own bounds begin near 200 when reading JSON, and near 250 when writing it.
"""

from __future__ import annotations

from typing import Any, Final

MAX_DEPTH: Final = 192
"""Most levels of a frame."""

MAX_INNER: Final = 128
"""Most levels of a value inside a block, which itself stands some levels deep in a message."""


def is_deep(value: Any, most: int = MAX_DEPTH) -> bool:
    """Whether a JSON value is nested deeper than `most` levels; itself without recursion."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(inner, dict | list) for inner in level)
