"""Lints: what is no error in a rule file, and most likely not meant either.

Each lint has a name, under which a file can `allow` it with a reason, and a code. A finding counts for the file that it
is about: what a file builds on is linted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from reknit.lang.diagnostics import LINTS, Diagnostic
from reknit.lint.allowances import allowed
from reknit.lint.coverage import untested_rules
from reknit.lint.edits import dead_edits, shadowed_edits
from reknit.lint.overlaps import overlapping_maps
from reknit.lint.safety import early_starts, loosened_edits
from reknit.lint.subject import Subject, subjects
from reknit.lint.unused import enums_without_else, unused_enums, unused_events, unused_groups
from reknit.testing import FileReport
from reknit.trial import Trial

__all__ = ["lint"]

_CHECKS: Final[Mapping[str, Callable[[Subject], Iterable[Diagnostic]]]] = {
    "dead-edit": dead_edits,
    "shadowed-edit": shadowed_edits,
    "overlapping-maps": overlapping_maps,
    "enum-without-else": enums_without_else,
    "early-start": early_starts,
    "loosened-without-reason": loosened_edits,
    "unused-enum": unused_enums,
    "unused-group": unused_groups,
    "unused-event": unused_events,
}

_EVERYWHERE: Final = frozenset({"dead-edit", "unused-enum"})
"""What a fragment is free of as soon as one of the vendors that it is tried on is."""


def lint(
    files: Sequence[tuple[str, Trial]], reports: Sequence[FileReport] | None = None, folders: Sequence[Path] = ()
) -> list[Diagnostic]:
    """Find what is most likely not meant in some rule files.

    Args:
        files: Each with the name or path by which it was prepared. Files that are not sound have no lints.
        reports: How the tests of the files went, one for each; without them, nothing is said about tests.
        folders: Where further rule files are looked up by name.

    Returns:
        Warnings, file by file, in the order of each file; those that a file allows are left out.
    """
    prepared = [(trial, subjects(name, trial, folders)) for name, trial in files]
    untested = None if reports is None else untested_rules([made for _, made in prepared], reports)
    found: list[Diagnostic] = []
    for number, (trial, made) in enumerate(prepared):
        if trial.file is None or not made:
            continue
        raised = {name: _of(name, made) for name in _CHECKS}
        if untested is not None:
            raised["untested-rule"] = untested[number]
        warnings = {
            name: [replace(one, code=LINTS[name], severity="warning") for one in dict.fromkeys(ones)]
            for name, ones in raised.items()
        }
        found += sorted(allowed(trial.file, warnings), key=_place)
    return found


def _of(name: str, made: Sequence[Subject]) -> list[Diagnostic]:
    found = [list(_CHECKS[name](subject)) for subject in made]
    if name in _EVERYWHERE:
        places = [{one.label.place for one in ones} for ones in found]
        return [one for one in found[0] if all(one.label.place in there for there in places)]
    return [one for ones in found for one in ones]


def _place(found: Diagnostic) -> tuple[int, int]:
    return found.label.place.line, found.label.place.column
