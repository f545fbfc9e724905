"""Findings that have one cause as one finding: the same word that is not known, in several places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label

_MOST_PLACES: Final = 12


def one_a_cause(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Put findings that say the same of several places together, in the order of the first of each."""
    grouped: dict[tuple[str, str, tuple[str, ...], str | None], list[Diagnostic]] = {}
    for one in found:
        grouped.setdefault((one.code, one.message, one.notes, one.help), []).append(one)
    return [_together(group) for group in grouped.values()]


def _together(group: list[Diagnostic]) -> Diagnostic:
    first, *rest = dict.fromkeys(group)
    if not rest:
        return first
    others = [Label(one.label.place, "and here") for one in rest]
    notes = first.notes
    if len(others) > _MOST_PLACES:
        notes = (*notes, f"and in {len(others) - _MOST_PLACES} more places")
    return replace(first, others=(*first.others, *others[:_MOST_PLACES]), notes=notes)
