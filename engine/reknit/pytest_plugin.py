"""Rule files as test files: pytest collects the tests that stand in `*.rules`, each as one item.

Files without tests are passed over, so that a rule file which is somebody's example of a mistake disturbs nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from reknit.lang.diagnostics import Diagnostic
    from reknit.lang.syntax import Test
    from reknit.trial import Trial

_SUFFIX: Final = ".rules"
_MOST_BYTES: Final = 512 * 1024
"""More than a rule file may have."""
_TEST: Final = re.compile(rb"^test[ \t]+\"", re.MULTILINE)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take a rule file that holds tests."""
    if file_path.suffix != _SUFFIX or not _holds_tests(file_path):
        return None
    return RulesFile.from_parent(parent, path=file_path)


def _holds_tests(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _TEST.search(file.read(_MOST_BYTES)) is not None
    except OSError:
        return False


def _near(path: Path) -> str:
    """The path as a person would say it: from the working directory, where it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


class RulesFile(pytest.File):
    """A rule file: collected once it has passed the checks, else an error of the collection that shows them."""

    def collect(self) -> Iterator[pytest.Item]:
        """Give an item for each test."""
        # Reading rules takes a parser, which a run without rule files need not load.
        from reknit.lang.diagnostics import render
        from reknit.testing import check_tests
        from reknit.trial import prepare

        trial = prepare(_near(self.path))
        found = [*trial.diagnostics, *check_tests(trial)]
        if any(diagnostic.severity == "error" for diagnostic in found):
            raise self.CollectError(render(found, trial.sources))
        for test in trial.tests:
            yield RuleItem.from_parent(self, name=test.title, trial=trial, test=test)


class RuleItem(pytest.Item):
    """One test of a rule file."""

    def __init__(self, *, trial: Trial, test: Test, **options: Any) -> None:
        super().__init__(**options)
        self._trial = trial
        self._test = test

    def runtest(self) -> None:
        """Run it in every way in which a stream can be fed."""
        from reknit.testing import run_test

        table = self._trial.table(self._test)
        assert table is not None  # a file without one is not collected
        report = run_test(self._test, table)
        if not report.passed:
            raise RuleTestError(report.failures)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what does not hold; a traceback would tell of this plugin only."""
        if not isinstance(excinfo.value, RuleTestError):
            return super().repr_failure(excinfo, style)
        from reknit.lang.diagnostics import render

        return render(excinfo.value.failures, self._trial.sources)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands."""
        return self.path, self._test.place.line - 1, self.name


class RuleTestError(Exception):
    """Something that a test expects does not hold."""

    def __init__(self, failures: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(one.message for one in failures))
        self.failures = failures
