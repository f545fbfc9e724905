"""Every rule file that ships is sound, and its own tests pass."""

from __future__ import annotations

import pytest

from reknit.lang import syntax
from reknit.lang.diagnostics import render
from reknit.shipped import shipped_names
from reknit.testing import check_tests, run_test
from reknit.trial import Trial, prepare

TRIALS = {name: prepare(name) for name in shipped_names()}
TESTS = [(trial, test) for trial in TRIALS.values() for test in trial.tests]


@pytest.mark.parametrize("name", TRIALS)
def test_a_shipped_file_is_sound(name: str) -> None:
    trial = TRIALS[name]
    found = [*trial.diagnostics, *check_tests(trial)]
    assert not found, render(found, trial.sources)
    assert trial.table() is not None
    assert trial.source.startswith("rules/")


@pytest.mark.parametrize(("trial", "test"), TESTS, ids=[f"{trial.name}: {test.title}" for trial, test in TESTS])
def test_a_test_in_a_shipped_file_passes(trial: Trial, test: syntax.Test) -> None:
    table = trial.table(test)
    assert table is not None, f"{trial.source} is not sound"
    report = run_test(test, table)
    assert report.passed, render(report.failures, trial.sources)


def test_shipped_files_of_one_kind_have_names_of_their_own() -> None:
    headers = [(trial.kind, trial.name) for trial in TRIALS.values()]
    assert len(set(headers)) == len(headers)
    assert {kind for kind, _ in headers} == {"policy", "vendor", "fragment"}
