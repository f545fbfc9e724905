"""`reknit check`: whether rule files are sound, and what is in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from reknit.cli.screen import Screen, wants_colour

if TYPE_CHECKING:
    from reknit.trial import Trial


@click.command("check", short_help="Check rule files and prove their promises.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(paths: tuple[str, ...], as_json: bool, color: bool | None) -> None:
    """Check rule files: all errors of all files at once.

    PATH is a file, a folder, or the name of a shipped file; without any, all that are shipped. Exits with 0 when all
    are sound, with 1 when there are findings.
    """
    from reknit.cli.files import rule_files
    from reknit.lang.diagnostics import render, to_json
    from reknit.testing import check_tests
    from reknit.trial import prepare

    trials = [prepare(file) for file in rule_files(paths)]
    found_in = {trial.source: [*trial.diagnostics, *check_tests(trial)] for trial in trials}
    # A file that others build on is told of once.
    found = list(dict.fromkeys(diagnostic for diagnostics in found_in.values() for diagnostic in diagnostics))
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    sound = [trial for trial in trials if not any(one.severity == "error" for one in found_in[trial.source])]
    if as_json:
        files = [_facts(trial) | {"sound": trial in sound} for trial in trials]
        click.echo(json.dumps({"files": files, "diagnostics": [to_json(one) for one in found]}, indent=2))
    else:
        screen = Screen(wants_colour(color))
        sources = {source: text for trial in trials for source, text in trial.sources.items()}
        if found:
            screen.write(render(found, sources))
        width = max((len(trial.source) for trial in sound), default=0)
        for trial in sound:
            screen.write(f"{trial.source.ljust(width)}  {_summary(trial)}")
        said = "no errors" if not errors else counted(errors, "error")
        screen.write(f"{counted(len(trials), 'file')}, {said}", fg="red" if errors else "green")
    click.get_current_context().exit(1 if errors else 0)


def counted(number: int, word: str) -> str:
    """A number of things in words."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _facts(trial: Trial) -> dict[str, Any]:
    facts: dict[str, Any] = {"source": trial.source, "kind": trial.kind, "name": trial.name}
    table = trial.table()
    if table is None:
        return facts
    facts |= {"quirks": trial.quirks, "tests": len(trial.tests)}
    if trial.kind == "fragment":
        return facts | {"fits": {base: one.fingerprint for base, one in trial.tables.items()}}
    facts["fingerprint"] = table.fingerprint
    if trial.kind == "vendor":
        return facts | {"maps": len(table.program.maps), "policy": table.policy.name}
    rows = [row for by_state in table.policy.cells.values() for row in by_state.values()]
    return facts | {
        "states": len(table.policy.states),
        "events": len(table.policy.events),
        "rules": len({outcome.rule for outcome in table.policy.outcomes}),
        "cells": sum(number >= 0 for row in rows for number in row),
    }


def _summary(trial: Trial) -> str:
    facts = _facts(trial)
    if trial.kind == "fragment":
        said = [counted(facts["quirks"], "quirk"), f"fits {', '.join(facts['fits'])}"]
    elif trial.kind == "vendor":
        said = [counted(facts["maps"], "map"), f"policy {facts['policy']}", counted(facts["quirks"], "quirk")]
    else:
        said = [counted(facts[word], word.removesuffix("s")) for word in ("states", "events", "rules", "cells")]
    return "  ".join([*said, *([facts["fingerprint"]] if "fingerprint" in facts else [])])
