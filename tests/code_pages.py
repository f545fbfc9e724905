"""The pages of the codes as what they hold: the files under Wrong and Right, each a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from reknit.lang.diagnostics import Diagnostic
from reknit.lint import lint
from reknit.testing import run_trial
from reknit.trial import prepare

CODES_FOLDER = Path(__file__).resolve().parents[1] / "docs" / "codes"

_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Page(NamedTuple):
    """A page: its title, the text of each section, and the files in each: first the one that is checked."""

    title: str
    sections: dict[str, str]
    files: dict[str, dict[str, str]]


def page_of(text: str) -> Page:
    """Take a page apart; a fence that is no rule file is an error."""
    title = text.split("\n", 1)[0]
    sections = {name: body.strip("\n") for name, body in _SECTION.findall(text)}
    files: dict[str, dict[str, str]] = {}
    for name, body in sections.items():
        files[name] = {}
        for kind, file, content in _FENCE.findall(body):
            assert kind == "rules", f"{title}: a block of {kind or 'nothing'}"
            files[name][file or "page.rules"] = content
    return Page(title, sections, files)


def findings(path: Path, *, tests: bool) -> tuple[list[Diagnostic], dict[str, str]]:
    """All that is found in a rule file: errors, failing tests, and lints where it is sound; with the texts.

    Args:
        path: The file; what it builds on may stand beside it.
        tests: Whether rules that no test fires count.
    """
    trial = prepare(str(path))
    report = run_trial(trial)
    found = [*report.diagnostics, *(failure for test in report.tests for failure in test.failures)]
    if report.ok:
        found += lint([(str(path), trial)], [report] if tests else None)
    return found, dict(trial.sources)
