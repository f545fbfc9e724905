"""Running the tests that stand in rule files.

Each test is played step by step, as one chunk of bytes, and cut at every byte; all three must give the same message
and keep what the test expects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reknit.lang.syntax import Test
from reknit.table import Table
from reknit.testing.findings import findings, fired_in_short
from reknit.testing.givens import tools_of
from reknit.testing.reports import FileReport, TestReport, disagreement, failure
from reknit.testing.soundness import check_tests, rules_of
from reknit.testing.stage import Play, maps_used, plays
from reknit.trial import Trial, prepare

__all__ = ["FileReport", "TestReport", "check_tests", "run_test", "run_tests", "run_trial"]


def run_tests(name_or_path: str | os.PathLike[str], folders: Sequence[str | os.PathLike[str]] = ()) -> FileReport:
    """Run all tests of a rule file.

    Args:
        name_or_path: A path (with a separator, or ending in `.rules`), else the name of a policy, vendor or fragment.
        folders: Where further rule files are looked up by name.

    Returns:
        How each test went. Where the file does not pass the checks, its diagnostics, and no test was run.
    """
    return run_trial(prepare(os.fspath(name_or_path), [Path(os.fspath(folder)) for folder in folders]))


def run_trial(trial: Trial, chosen: Callable[[Test], bool] = lambda test: True) -> FileReport:
    """Run the tests of a file that was prepared, all or those chosen."""
    diagnostics = (*trial.diagnostics, *check_tests(trial))
    report: dict[str, Any] = {"source": trial.source, "kind": trial.kind, "name": trial.name}
    tables = list(trial.tables.values())
    report |= {
        "diagnostics": diagnostics,
        "sources": trial.sources,
        "rules": tuple(dict.fromkeys(rule for table in tables for rule in rules_of(table))),
        "maps": tuple(dict.fromkeys(one.name for table in tables for one in table.program.maps)),
    }
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return FileReport(**report)
    tests = [(test, table) for test in trial.tests if chosen(test) and (table := trial.table(test)) is not None]
    done = tuple(run_test(test, table) for test, table in tests)
    used = [maps_used(test, table) for test, table in tests if trial.kind != "policy"]
    return FileReport(
        **report,
        tests=done,
        fired=frozenset(rule for one in done for rule in one.fired),
        maps_used=frozenset(name for one in used for name in one),
    )


def run_test(test: Test, table: Table) -> TestReport:
    """Run one test, which `check_tests` has found nothing wrong with."""
    first: Play | None = None
    told: set[object] = set()
    failures = []
    fired: dict[str, None] = {}
    for play in plays(test, table, tools_of(test)):
        fired |= dict.fromkeys(play.fired)
        short = fired_in_short(play.fired)
        if first is None:
            first = play
        elif (difference := disagreement(test, first, play)) is not None:
            # What is expected of a message that is another one would only say the same again.
            failures.append(difference)
            continue
        for finding in findings(test, play):
            if finding.place not in told:
                failures.append(failure(test, finding, play.mode, short))
                told.add(finding.place)
    return TestReport(test.title, test.place, tuple(failures), tuple(fired))
