"""Paths into JSON: `.choices[0].delta`, `.parts[*]`, `@.text`; parsed once, walked without ever raising."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Step: TypeAlias = str | int | None
"""A key, a position, or None for every element."""

_STEP: Final = re.compile(r"\.([$A-Za-z_]\w*)|\[(\d+)\]|\[(\*)\]")
MOST_STEPS: Final = 32


def parse_path(text: str) -> tuple[bool, tuple[Step, ...]]:
    """Whether a path starts at what `at` found, and its steps.

    Raises:
        ValueError: It is no path, or too long.
    """
    relative = text.startswith("@")
    rest = text[1:] if relative else text
    if rest == ".":
        return False, ()
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None or len(steps) >= MOST_STEPS:
            raise ValueError(text)
        key, position, _ = match.groups()
        steps.append(key if key is not None else int(position) if position is not None else None)
        at = match.end()
    return relative, tuple(steps)


def getter(steps: tuple[Step, ...]) -> Callable[[Any], Any]:
    """A function that follows steps without `[*]` and gives None where they lead nowhere."""
    if not steps:
        return lambda value: value
    if len(steps) == 1 and isinstance(steps[0], str):
        only = steps[0]
        return lambda value: value.get(only) if type(value) is dict else None

    if len(steps) == 2 and isinstance(steps[0], str) and isinstance(steps[1], str):
        first, second = steps[0], steps[1]

        def both(value: Any) -> Any:
            inner = value.get(first) if type(value) is dict else None
            return inner.get(second) if type(inner) is dict else None

        return both

    def walk(value: Any) -> Any:
        for step in steps:
            if type(step) is str:
                if type(value) is not dict:
                    return None
                value = value.get(step)
            else:
                if type(value) is not list or not isinstance(step, int) or step >= len(value):
                    return None
                value = value[step]
            if value is None:
                return None
        return value

    return walk
