"""The bad files under `tests/diagnostics`: one mistake each, with what is said about it beside it.

A case is `TOPIC/NAME.rules` with `NAME.txt`; files whose name begins with `_` are what cases build on.
"""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path

from code_pages import CODES_FOLDER, findings
from reknit.lang.diagnostics import CODES, LINTS, Diagnostic, render

FOLDER = Path(__file__).resolve().parent / "diagnostics"

WITHOUT_A_FILE = {"E114", "E711"}
"""What no file brings about unless the engine has an error."""


def cases() -> list[Path]:
    """All bad files."""
    return sorted(path for path in FOLDER.glob("*/*.rules") if not path.name.startswith("_"))


def found_in(path: Path) -> tuple[list[Diagnostic], str]:
    """What is found in a bad file, and how it is shown, as seen from its own folder."""
    # Lints about tests are told of a file that has any.
    tests = b"\ntest " in path.read_bytes()
    with chdir(path.parent):
        found, sources = findings(Path(path.name), tests=tests)
    return found, render(found, sources)


def index() -> str:
    """The table of contents of the pages."""
    names = {code: name for name, code in LINTS.items()}
    lines = [
        "# Codes",
        "",
        "What `reknit check` and `reknit test` say, code by code: how it is wrong, how it is right, and why.",
        "A code is never used for another mistake. `reknit explain CODE` shows its page.",
        "`W` are warnings: a file can `allow` one by its name, with a reason.",
        "",
        "Written by `python tests/diagnostics/update.py`.",
    ]
    for letter, title in TITLES.items():
        lines += ["", f"## {title}", ""]
        lint = letter == "W"
        lines += ["| code | name | finding |", "|---|---|---|"] if lint else ["| code | finding |", "|---|---|"]
        for code, finding in CODES.items():
            if code.startswith(letter):
                name = f" `{names[code]}` |" if lint else ""
                lines.append(f"| [{code}]({code}.md) |{name} {finding} |")
    return "\n".join([*lines, ""])


TITLES = {
    "E1": "Syntax and files",
    "E2": "Names and types",
    "E3": "The table",
    "E4": "Maps",
    "E5": "Edits",
    "E6": "Safety",
    "E7": "Tests",
    "W": "Lints",
}


def update() -> list[Path]:
    """Write what is out of date; give what was written."""
    wanted = {path.with_suffix(".txt"): found_in(path)[1] for path in cases()}
    wanted[CODES_FOLDER / "README.md"] = index()
    written = []
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    for path in FOLDER.glob("*/*.txt"):
        if path not in wanted:
            os.remove(path)
            written.append(path)
    return written
