"""Rules that no test fires. A rule of a policy may fire in the tests of its vendors only: all files count together."""

from __future__ import annotations

from collections.abc import Sequence

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Rule
from reknit.lint.subject import Subject
from reknit.testing import FileReport


def untested_rules(files: Sequence[Sequence[Subject]], reports: Sequence[FileReport]) -> list[list[Diagnostic]]:
    """Find the rules of each file that fired in no test of any file; one finding a file."""
    fired: set[tuple[str, str]] = set()
    for made, report in zip(files, reports, strict=True):
        for subject in made:
            rules = [rule for rule in subject.items(Rule) if rule.name.text in report.fired]
            fired |= {(subject.origin(rule).source, rule.name.text) for rule in rules}
    return [_never(made, fired, sum(len(report.tests) for report in reports)) for made in files]


def _never(made: Sequence[Subject], fired: set[tuple[str, str]], tests: int) -> list[Diagnostic]:
    rules: dict[str, Rule] = {}
    for subject in made:
        own = (rule for rule in subject.own(Rule) if (subject.file.source, rule.name.text) not in fired)
        rules |= {rule.name.text: rule for rule in own}
    if not rules:
        return []
    first, *rest = sorted(rules.values(), key=lambda rule: (rule.name.place.line, rule.name.place.column))
    more = f" and {len(rest)} more" if rest else ""
    return [
        Diagnostic(
            "",
            f"no test fires rule {quoted(first.name.text)}{more}",
            Label(first.name.place, "never fired"),
            tuple(Label(rule.name.place, "nor did this one") for rule in rest),
            (f"tests that were run: {tests}, those of all files that were named",),
            help=f"add a test that brings it about, and say `expect fired {first.name.text}`",
        )
    ]
