"""Where the files that come with the package are: the grammar and the ready rule files.

In a wheel they are inside the package, in a checkout beside `engine/`. The working directory never counts.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent.parent / name


@cache
def grammar_text() -> str:
    """Give the grammar of the rule language, in lark's notation."""
    return (_folder("grammars") / "rules.lark").read_text(encoding="utf-8")


def rules_folder() -> Path:
    """Give the folder of the ready rule files."""
    return _folder("rules")


def shipped_names() -> list[str]:
    """Name the ready rule files without their ending, sorted; what is in them has the name that its header says."""
    return sorted(path.stem for path in rules_folder().glob("*.rules"))
