"""The books of one message: raw counts merged by rule, then derived counts, then what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reknit.message import Usage
from reknit.table import DeriveSpec, PolicyTable
from reknit.vocabulary.merges import MERGES


class Ledger:
    """Counts by usage field; `bank` closes what was counted so far, so that what follows is added to it."""

    __slots__ = ("_banked", "_derives", "_merges", "_open")

    def __init__(self, policy: PolicyTable) -> None:
        self._merges = {field: MERGES[name].apply for field, name in policy.merges.items()}
        self._derives: tuple[DeriveSpec, ...] = policy.derives
        self._banked: dict[str, int] = {}
        self._open: dict[str, int] = {}

    def merge(self, report: Mapping[str, Any]) -> bool:
        """Merge a report; whether anything changed. Fields that no merge covers take the latest report."""
        changed = False
        for field, value in report.items():
            if value is None:
                continue
            held = self._open.get(field)
            merge = self._merges.get(field)
            new = merge(held, value) if merge is not None else value
            if new != held:
                self._open[field] = new
                changed = True
        return changed

    def bank(self) -> None:
        """Close the books so far."""
        for field, value in self._open.items():
            self._banked[field] = self._banked.get(field, 0) + value
        self._open = {}

    def usage(self) -> Usage:
        """What is shown; a derived field stands only where its own was not reported, and is never below zero."""
        counts = dict(self._banked)
        for field, value in self._open.items():
            counts[field] = counts.get(field, 0) + value
        for derive in self._derives:
            if derive.source in counts and derive.field not in counts:
                counts[derive.field] = max(
                    counts[derive.source] - sum(counts.get(field, 0) for field in derive.minus), 0
                )
        return Usage(
            input_tokens=counts.get("input"),
            cache_read_tokens=counts.get("cache_read"),
            cache_write_tokens=counts.get("cache_write"),
            output_tokens=counts.get("output"),
            reasoning_tokens=counts.get("reasoning"),
        )
