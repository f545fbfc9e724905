"""`reknit test`: the tests that stand in rule files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from reknit.cli.screen import Screen, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reknit.testing import FileReport


@click.command("test", short_help="Run the tests that stand in rule files.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("-k", "text", metavar="TEXT", default="", help="Only tests with this in their title.")
@click.option("-v", "--verbose", is_flag=True, help="Also which rules and maps no test made use of.")
@click.option("--json", "as_json", is_flag=True, help="The reports as JSON.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(paths: tuple[str, ...], text: str, verbose: bool, as_json: bool, color: bool | None) -> None:
    """Run the tests in rule files: step by step, as one chunk, and cut at every byte.

    PATH is a file, a folder, or the name of a shipped file; without any, all that are shipped. Exits with 0 when all
    pass, with 1 when a test fails or a file is not sound.
    """
    from reknit.cli.files import rule_files
    from reknit.testing import run_trial
    from reknit.trial import prepare

    wanted = text.casefold()
    reports = [run_trial(prepare(file), lambda test: wanted in test.title.casefold()) for file in rule_files(paths)]
    if text and not any(report.tests for report in reports) and all(report.sound for report in reports):
        raise UsageError(
            "no-tests", f"no test has `{text}` in its title", "see `reknit test -v` for those that there are"
        )
    if as_json:
        click.echo(json.dumps({"files": [_facts(report) for report in reports]}, ensure_ascii=True, indent=2))
    else:
        _show(Screen(wants_colour(color)), reports, verbose)
    click.get_current_context().exit(0 if all(report.ok for report in reports) else 1)


def _show(screen: Screen, reports: list[FileReport], verbose: bool) -> None:
    from reknit.cli.check import counted

    for report in reports:
        rendered = report.rendered()
        if rendered:
            screen.write(rendered)
    width = max(len(report.source) for report in reports)
    for report in reports:
        said = f"{report.passed} passed"
        style: dict[str, Any] = {"fg": "green"}
        if not report.sound:
            said, style = "not sound, no test was run", {"fg": "red"}
        elif report.failed:
            said, style = f"{report.passed} passed, {report.failed} failed", {"fg": "red"}
        elif not report.tests:
            said, style = "no tests", {"dim": True}
        screen.write(f"{report.source.ljust(width)}  ", end="")
        screen.write(said, **style)
        if verbose and report.sound:
            for test in report.tests:
                screen.write(f"  {'passed' if test.passed else 'FAILED'}  {test.title}", dim=True)
            if report.tests and report.maps:
                _coverage(screen, "maps", report.maps, report.maps_used, "used")
    if len(reports) > 1:
        passed, failed = sum(report.passed for report in reports), sum(report.failed for report in reports)
        unsound = sum(not report.sound for report in reports)
        said = f"{counted(len(reports), 'file')}, {passed} passed, {failed} failed"
        screen.write(said + (f", {unsound} not sound" if unsound else ""), fg="red" if failed or unsound else "green")
    if verbose:
        # A rule of the policy may well fire in the tests of its vendors only.
        rules = dict.fromkeys(rule for report in reports for rule in report.rules)
        _coverage(screen, "rules", rules, {rule for report in reports for rule in report.fired}, "fired")


def _coverage(screen: Screen, what: str, known: Iterable[str], used: Iterable[str], verb: str) -> None:
    everything, covered = list(known), set(used)
    never = [name for name in everything if name not in covered]
    said = f"  {len(everything) - len(never)} of {len(everything)} {what} {verb} in tests"
    screen.write(said + (f"; never: {', '.join(never)}" if never else ""), dim=True)


def _facts(report: FileReport) -> dict[str, Any]:
    from reknit.lang.diagnostics import to_json

    return {
        "source": report.source,
        "kind": report.kind,
        "name": report.name,
        "passed": report.passed,
        "failed": report.failed,
        "diagnostics": [to_json(one) for one in report.diagnostics],
        "tests": [
            {
                "title": test.title,
                "line": test.place.line,
                "passed": test.passed,
                "failures": [to_json(one) for one in test.failures],
                "fired": list(test.fired),
            }
            for test in report.tests
        ],
        "rules": {name: name in report.fired for name in report.rules},
        "maps": {name: name in report.maps_used for name in report.maps},
    }
