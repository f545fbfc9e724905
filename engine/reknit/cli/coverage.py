"""`reknit coverage`: which rules, maps and cells the tests and captures make use of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reknit.cli.screen import Screen, json_printable, printable, wants_colour

if TYPE_CHECKING:
    from reknit.coverage import FileCoverage, Report

_MOST_UNREAD: Final = 3
_FOLDER: Final = click.Path(exists=True, file_okay=False)


@click.command("coverage", short_help="Say which rules, maps and cells are made use of.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--streams", metavar="DIR", multiple=True, type=_FOLDER, help="A folder with captures; may be repeated.")
@click.option("--rules", metavar="DIR", multiple=True, type=_FOLDER, help="A folder with rule files; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.option(
    "--fail-under", metavar="N", type=click.FloatRange(0, 100), help="Fail below N percent of rules and maps."
)
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    paths: tuple[str, ...],
    streams: tuple[str, ...],
    rules: tuple[str, ...],
    as_json: bool,
    fail_under: float | None,
    color: bool | None,
) -> None:
    """Say which rules fire, which maps make events, and how many cells are met by tests in rule files and by captures.

    PATH is a file, a folder, or the name of a shipped file; without any, all that are shipped. Captures are files that
    end in .sse, .jsonl or .ndjson, read by the vendor that a folder on their way is named after, else by the one whose
    protocol is recognised. Exits with 0, with 1 when less is made use of than `--fail-under` asks for.
    """
    from reknit.cli.files import rule_files
    from reknit.coverage import Survey

    survey = Survey(rule_files(paths), [Path(folder) for folder in rules])
    survey.run_tests()
    for folder in streams:
        survey.read_captures(Path(folder))
    report = survey.report()
    short = fail_under is not None and report.percent < fail_under
    if as_json:
        click.echo(json_printable(json.dumps(_facts(report), ensure_ascii=False, indent=2)))
    else:
        _show(Screen(wants_colour(color)), report, fail_under if short else None)
    click.get_current_context().exit(1 if short else 0)


def _show(screen: Screen, report: Report, wanted: float | None) -> None:
    from reknit.cli.check import counted

    width = max((len(file.source) for file in report.files), default=0)
    for file in report.files:
        screen.write(f"{printable(file.source, keep='').ljust(width)}  ", end="")
        screen.write(_said(file), **({"fg": "yellow"} if file.never else {"fg": "green"}))
        for thing in file.never:
            screen.write(f"  never: {thing.kind} {thing.name}", end="", fg="yellow")
            screen.write(f"  {printable(thing.source, keep='')}:{thing.line}", dim=True)
    for name in report.unread[:_MOST_UNREAD]:
        screen.write(f"no vendor reads {printable(name, keep='')}", fg="yellow")
    if len(report.unread) > _MOST_UNREAD:
        screen.write(f"nor {len(report.unread) - _MOST_UNREAD} more captures; `--json` names them", fg="yellow")
    by = counted(report.tests, "test")
    by += f" and {counted(report.captures, 'capture')}" if report.captures else ""
    cells, met = sum(file.cells for file in report.files), sum(file.met for file in report.files)
    of_cells = f", {100 * met / cells:.1f}% of {cells} cells" if cells else ""
    screen.write(
        f"{report.percent:.1f}% of rules and maps{of_cells}: {by}", fg="red" if wanted is not None else "green"
    )
    if wanted is not None:
        screen.write(f"less than the {wanted:g}% that are asked for", fg="red")


def _said(file: FileCoverage) -> str:
    parts = []
    for kind in ("rule", "map"):
        used = sum(thing.kind == kind for thing in file.used)
        known = used + sum(thing.kind == kind for thing in file.never)
        if known:
            parts.append(f"{used} of {known} {kind}{'' if known == 1 else 's'}")
    if file.cells:
        parts.append(f"{file.met} of {file.cells} cells")
    return ", ".join(parts) or "no rules or maps of its own"


def _facts(report: Report) -> dict[str, object]:
    return {
        "percent": round(report.percent, 2),
        "tests": report.tests,
        "captures": report.captures,
        "unread": list(report.unread),
        "files": [
            {
                "source": file.source,
                "used": [thing._asdict() for thing in file.used],
                "never": [thing._asdict() for thing in file.never],
                "cells": file.cells,
                "met": file.met,
            }
            for file in report.files
        ],
    }
