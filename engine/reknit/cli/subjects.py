"""The rules that a command is about, whatever kind of file they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reknit.errors import UsageError
from reknit.explain.subject import NO_BASE, Subject, open_subject
from reknit.trial import prepare


def subject_for(file: str, policy: str | None, folders: Sequence[Path], fragments: Sequence[str]) -> Subject:
    """Compile a file; a fragment on the first vendor that it is tried on.

    Args:
        file: A path or name.
        policy: Another policy than a vendor names.
        folders: Where further rule files are looked up by name.
        fragments: Fragments to apply on top.

    Raises:
        UsageError: There is no such file.
        RulesError: It does not pass the checks.
    """
    try:
        return open_subject(file, policy, folders, fragments)
    except UsageError as error:
        if error.code != NO_BASE:
            raise
        base = next(iter(prepare(file, folders).tables), None)
        if base is None:
            raise
    return open_subject(file, policy, folders, fragments, base)
