"""Whether one frame can meet the conditions of two maps.

Conditions on one place are tried on a few values, which stand for all: each constant that is named, and for each type
one value that is not. Places are taken to be independent of each other, so a yes may be wrong, and a no never is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from reknit.table import MapSpec, WhereSpec
from reknit.vocabulary.json_types import JSON_TYPES

_STAND_INS: Final[tuple[Any, ...]] = (
    *(None, True, False, "", "\x00", 8.5, [], [1], {}, {"\x00": 1}),
    *([None], {"\x00": None}),
)


def absolute(path: str, found: str) -> str:
    """Give a path from the root of the frame; `found` is where `at` leads."""
    if path.startswith("@"):
        return found + path[1:]
    return "" if path == "." else path


def places(spec: MapSpec) -> list[str]:
    """Give where the alternatives of a map's `at` lead."""
    return [absolute(path, "") for path in spec.at]


def together(first: MapSpec, first_at: str, second: MapSpec, second_at: str) -> bool:
    """Tell whether one frame may meet the conditions of two maps, each at one of its places."""
    found = (first_at, second_at)
    asked: dict[str, list[WhereSpec]] = {place: [] for place in found}
    for spec, at in ((first, first_at), (second, second_at)):
        for where in spec.where:
            asked.setdefault(absolute(where.path, at), []).append(where)
    return all(_possible(path, wheres, found) for path, wheres in asked.items())


def _possible(path: str, wheres: list[WhereSpec], found: Iterable[str]) -> bool:
    constants = [value for where in wheres for value in where.values]
    return any(
        all(_holds(where, value) for where in wheres) and all(_leads(path, place, value) for place in found)
        for value in (*constants, *_STAND_INS)
    )


def _holds(where: WhereSpec, value: Any) -> bool:
    hit = any(value == one and not isinstance(value, bool) for one in where.values)
    return (hit or any(JSON_TYPES[name](value) for name in where.types)) is not where.negated


def _leads(path: str, place: str, value: Any) -> bool:
    """Tell whether a value can stand at a path on the way to a place where something was found."""
    if path == place:
        return value is not None
    if not place.startswith(path):
        return True
    rest = place[len(path) :]
    if rest.startswith("["):
        return isinstance(value, list)
    return isinstance(value, dict) if rest.startswith(".") else True
