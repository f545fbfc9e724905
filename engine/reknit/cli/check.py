"""`reknit check`: whether rule files are sound, and what is in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from reknit.cli.screen import Screen, printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.lang.diagnostics import Diagnostic
    from reknit.lock import Drift
    from reknit.trial import Trial


@click.command("check", short_help="Check rule files and prove their promises.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--lint/--no-lint", "lints", default=None, help="Run the tests too, for rules that none fires; or no lints."
)
@click.option("--deny-warnings", is_flag=True, help="Exit with 1 when there are warnings.")
@click.option("--lock", "pin", is_flag=True, help="Pin the fingerprints of the files in a lock file.")
@click.option("--locked", is_flag=True, help="Fail where a fingerprint is not as it was pinned.")
@click.option("--lockfile", metavar="FILE", help="The lock file; without it, rules.lock beside the files.")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    paths: tuple[str, ...],
    lints: bool | None,
    deny_warnings: bool,
    pin: bool,
    locked: bool,
    lockfile: str | None,
    as_json: bool,
    color: bool | None,
) -> None:
    """Check rule files: all errors of all files at once, and warnings of what is most likely not meant.

    PATH is a file, a folder, or the name of a shipped file; without any, all that are shipped. A file can `allow` a
    warning by its name, with a reason.

    Exits with 0 when all are sound, with 1 when there are errors.
    """
    from reknit.cli.files import rule_files
    from reknit.lang.diagnostics import render, to_json
    from reknit.testing import check_tests
    from reknit.trial import prepare

    files = [(file, prepare(file)) for file in rule_files(paths)]
    trials = [trial for _, trial in files]
    found_in = {trial.source: [*trial.diagnostics, *check_tests(trial)] for trial in trials}
    # A file that others build on is told of once.
    found = list(dict.fromkeys(diagnostic for diagnostics in found_in.values() for diagnostic in diagnostics))
    sound = [trial for trial in trials if not any(one.severity == "error" for one in found_in[trial.source])]
    if lints is not False:
        found += _warnings([(file, trial) for file, trial in files if trial in sound], lints is True)
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    warnings = len(found) - errors
    drifts = _locked(trials, paths, lockfile, locked, pin and not errors) if pin or locked else []
    if as_json:
        facts = [_facts(trial) | {"sound": trial in sound} for trial in trials]
        click.echo(
            json.dumps({"files": facts, "diagnostics": [to_json(one) for one in found]} | _pinned(drifts), indent=2)
        )
    else:
        screen = Screen(wants_colour(color))
        sources = {source: text for trial in trials for source, text in trial.sources.items()}
        if found:
            screen.write(render(found, sources))
        width = max((len(trial.source) for trial in sound), default=0)
        for trial in sound:
            screen.write(f"{trial.source.ljust(width)}  {_summary(trial)}")
        said = "no errors" if not errors else counted(errors, "error")
        said += f", {counted(warnings, 'warning')}" if warnings else ""
        screen.write(
            f"{counted(len(trials), 'file')}, {said}", fg="red" if errors else "yellow" if warnings else "green"
        )
        for drift in drifts:
            screen.write(f"locked: {printable(drift.message)}", fg="red")
            screen.write(f"  help: {printable(drift.help)}", dim=True)
    click.get_current_context().exit(1 if errors or drifts or (warnings and deny_warnings) else 0)


def _locked(trials: list[Trial], paths: tuple[str, ...], file: str | None, locked: bool, pin: bool) -> list[Drift]:
    """Hold the files against their lock, or pin them in it."""
    from reknit.lock import compare, fingerprints, place_for, write

    if locked and pin:
        raise UsageError("lock", "`--lock` and `--locked` do not go together", "pin first, then hold against it")
    place = file or place_for(paths)
    if locked:
        return compare(place, fingerprints(trials))
    if pin:
        write(place, fingerprints(trials))
    return []


def _pinned(drifts: list[Drift]) -> dict[str, Any]:
    return {"drifts": [drift._asdict() for drift in drifts]} if drifts else {}


def _warnings(files: list[tuple[str, Trial]], with_tests: bool) -> list[Diagnostic]:
    """The warnings of sound files, in their order; those about tests only where they are to be run."""
    from reknit.lint import lint
    from reknit.testing import run_trial

    return lint(files, [run_trial(trial) for _, trial in files] if with_tests else None)


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
