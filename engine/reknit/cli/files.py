"""Which rule files a command is about: names, files and folders, the shipped ones without any."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from reknit.errors import UsageError
from reknit.lang.diagnostics import Diagnostic
from reknit.lang.files import SUFFIX, FileLoader
from reknit.shipped import shipped_names


def rule_files(paths: Sequence[str]) -> list[str]:
    """What to give to the loader, in order: shipped names without `paths`, the files of a folder sorted by name.

    Raises:
        UsageError: There is no such file or name, or a folder without rule files.
    """
    if not paths:
        return shipped_names()
    return list(dict.fromkeys(file for path in paths for file in _of(path)))


def _of(path: str) -> list[str]:
    if os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).glob(f"*{SUFFIX}"))
        if not found:
            raise UsageError("no-rules", f"there are no rule files in `{path}`", f"rule files end in `{SUFFIX}`")
        return found
    if os.path.lexists(path):
        # Without a separator or the ending, the loader would take it for a name.
        return [path if path.endswith(SUFFIX) or os.sep in path else os.path.join(os.curdir, path)]
    found_or_not = FileLoader().load(path)
    if isinstance(found_or_not, Diagnostic):
        raise UsageError("unknown-rules", found_or_not.message, found_or_not.help or "")
    return [path]
