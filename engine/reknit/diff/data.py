"""A report as plain data, for programs: the same report gives the same data, whatever it took to find it out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reknit.diff.changes import Change, Difference
from reknit.diff.replay import Replayed
from reknit.diff.together import Report
from reknit.diff.witness import Witness


def report_data(report: Report, replayed: Iterable[Replayed] | None) -> dict[str, Any]:
    """All of a report.

    Args:
        report: What was compared.
        replayed: Captures under both sides; None where none were asked for.
    """
    counts: dict[str, int] = {}
    for change in report.changes:
        counts[change.direction] = counts.get(change.direction, 0) + 1
    data: dict[str, Any] = {
        "before": report.before,
        "after": report.after,
        "same": report.same,
        "directions": counts,
        "files": [_difference(difference) for difference in report.differences],
        "compared": report.compared,
        "left_out": report.left_out,
    }
    if replayed is not None:
        data["replay"] = [_replayed(one) for one in replayed]
    return data


def _difference(difference: Difference) -> dict[str, Any]:
    sides = {
        word: {"source": source, "fingerprint": fingerprint}
        for word, (source, fingerprint) in (("before", difference.before), ("after", difference.after))
    }
    return {
        "kind": difference.kind,
        "name": difference.name,
        **sides,
        "cells": difference.cells,
        "changed_cells": difference.changed_cells,
        "told_elsewhere": difference.told,
        "explanation": difference.explanation,
        "changes": [_change(change) for change in difference.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "id": change.id,
        "direction": change.direction,
        "subject": change.subject,
        "message": change.message,
        "before": change.before,
        "after": change.after,
        "cells": change.cells,
        "states": list(change.states),
        "example": change.example,
        "quirk": change.quirk,
        "places": [{"source": place.source, "line": place.line, "column": place.column} for place in change.places],
        "witness": None if change.witness is None else _witness(change.witness),
        "unshown": change.unshown,
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "tools": None if witness.kit.tools is None else dict(witness.kit.tools),
        "steps": [{"event": event, "fields": dict(fields)} for event, fields in witness.steps],
        "at": witness.after,
        "before": witness.before_says,
        "after": witness.after_says,
    }


def _replayed(one: Replayed) -> dict[str, Any]:
    return {
        "capture": one.capture,
        "vendor": one.vendor,
        "trouble": one.trouble,
        "differences": [{"where": at.where, "before": at.before, "after": at.after} for at in one.partings],
    }
