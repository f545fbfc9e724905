"""How tests went: for programs as data, for a person as what was expected, what came, and which rules fired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reknit.lang.diagnostics import Diagnostic, Label, quoted, render
from reknit.lang.syntax import Place, Test
from reknit.testing.findings import Finding
from reknit.testing.stage import STEPWISE, Play
from reknit.testing.views import same, shown_value


@dataclass(frozen=True, slots=True)
class TestReport:
    """How a test went.

    Attributes:
        title: Of the test.
        place: Where it stands.
        failures: What does not hold, each as a diagnostic; empty for a test that passed.
        fired: The rules that fired in it, each once, in the order in which they first did.
    """

    __test__ = False  # pytest takes a class of this name for one of its own

    title: str
    place: Place
    failures: tuple[Diagnostic, ...]
    fired: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything held."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class FileReport:
    """How the tests of a file went.

    Attributes:
        source: The name to show for the file.
        kind: policy, vendor or fragment; empty where it could not be read.
        name: In its header.
        diagnostics: What the checks found; with an error among it no test was run.
        sources: The texts, for rendering.
        rules: The names of all rules that may fire in the file's tests.
        maps: The names of all maps that may be of use in them.
        tests: How each test went, in the order of the file.
        fired: The rules that fired.
        maps_used: The maps that made an event.
    """

    source: str
    kind: str
    name: str
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    rules: tuple[str, ...]
    maps: tuple[str, ...]
    tests: tuple[TestReport, ...] = ()
    fired: frozenset[str] = frozenset()
    maps_used: frozenset[str] = frozenset()

    @property
    def sound(self) -> bool:
        """Whether the checks found no error."""
        return not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(test.passed for test in self.tests)

    @property
    def failed(self) -> int:
        """How many tests failed."""
        return len(self.tests) - self.passed

    @property
    def ok(self) -> bool:
        """Whether the file is sound and all its tests passed."""
        return self.sound and not self.failed

    def rendered(self) -> str:
        """All findings for a person: diagnostics, then failures; empty where there is nothing to say."""
        return render([*self.diagnostics, *(one for test in self.tests for one in test.failures)], self.sources)


def failure(test: Test, finding: Finding, mode: str, fired: str) -> Diagnostic:
    """A finding as a diagnostic."""
    how = "" if mode == STEPWISE else f", {mode}"
    return Diagnostic(
        "E710",
        f"test {quoted(test.title)} fails{how}",
        Label(finding.place, "this does not hold"),
        notes=(f"expected {finding.expected}", f"got      {finding.got}", f"fired    {fired}"),
        help=finding.hint,
    )


def disagreement(test: Test, first: Play, other: Play) -> Diagnostic | None:
    """Two ways to feed one stream that gave different messages, or None."""
    if first.message == other.message and first.choices == other.choices:
        return None
    one, two = ({n: message.model_dump() for n, message in play.choices.items()} for play in (first, other))
    path, left, right = _difference(one, two, "")
    where = path.removeprefix(".0").lstrip(".") or "the choices"
    return Diagnostic(
        "E711",
        f"test {quoted(test.title)} gives another message {other.mode} than {first.mode}",
        Label(test.place, "this test"),
        notes=(f"{first.mode}: {where} is {shown_value(left)}", f"{other.mode}: {where} is {shown_value(right)}"),
    )


def _difference(first: Any, second: Any, path: str) -> tuple[str, Any, Any]:
    """The first place where two values differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key not in first or key not in second or not same(first[key], second[key]):
                return _difference(first.get(key), second.get(key), f"{path}.{key}")
    if isinstance(first, list) and isinstance(second, list):
        for number, (one, two) in enumerate(zip(first, second, strict=False)):
            if not same(one, two):
                return _difference(one, two, f"{path}[{number}]")
    return path, first, second
