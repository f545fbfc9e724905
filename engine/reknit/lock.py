"""Pinned fingerprints: what rules compiled to when somebody last looked, held against what they compile to now.

A fingerprint is in every message. A lock file keeps, for each rule file, the one that was reviewed, so that a change
of rules, of what they build on, or of the engine's own files is seen before a stream is read by it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reknit.errors import UsageError
from reknit.rulebook import table_for
from reknit.table import LANGUAGE

if TYPE_CHECKING:
    from reknit.trial import Trial

NAME: Final = "rules.lock"
"""The name of a lock file."""

DIFFERS, MISSING, EXTRA, LANGUAGE_DIFFERS = "differs", "missing", "extra", "language"


class Drift(NamedTuple):
    """Something that is not as it was pinned.

    Attributes:
        kind: `differs`; `missing`, where nothing is pinned; `extra`, where nothing is there any more; `language`.
        name: Of the rules, such as `vendor acme`; empty where the language differs.
        message: One sentence, lower case, no full stop.
        help: The next step.
    """

    kind: str
    name: str
    message: str
    help: str


def place_for(paths: Sequence[str]) -> str:
    """The lock file of rule files: beside them; in the working folder for those that ship.

    Args:
        paths: Files, folders and shipped names.

    Raises:
        UsageError: They stand in several folders.
    """
    folders = {os.path.normpath(_folder(path)) for path in paths} or {os.curdir}
    if len(folders) > 1:
        shown = " and ".join(f"`{folder}`" for folder in sorted(folders)[:2])
        raise UsageError("lock-place", f"the files stand in {shown}", "say which lock file with `--lockfile`")
    return os.path.join(next(iter(folders)), NAME)


def _folder(path: str) -> str:
    if os.path.isdir(path):
        return path
    return os.path.dirname(path) if os.path.lexists(path) else os.curdir


def fingerprints(trials: Iterable[Trial]) -> dict[str, str]:
    """What is to be pinned of rule files: by kind and name; a fragment once for each vendor that it is tried on."""
    found: dict[str, str] = {}
    for trial in trials:
        for base, table in trial.tables.items():
            on = f" on {base}" if trial.kind == "fragment" else ""
            found[f"{trial.kind} {trial.name}{on}"] = table.fingerprint
    return found


def write(path: str | os.PathLike[str], found: Mapping[str, str]) -> None:
    """Pin fingerprints; the same ones give the same file.

    Raises:
        UsageError: The file cannot be written.
    """
    text = json.dumps({"language": LANGUAGE, "fingerprints": dict(sorted(found.items()))}, indent=2, ensure_ascii=True)
    try:
        Path(path).write_text(f"{text}\n", encoding="ascii")
    except OSError as error:
        raise UsageError("unwritable", f"`{os.fspath(path)}` cannot be written: {_reason(error)}") from None


def compare(path: str | os.PathLike[str], found: Mapping[str, str]) -> list[Drift]:
    """Hold fingerprints against those that are pinned; empty where all are as they were.

    Raises:
        UsageError: There is no lock file, or it is none.
    """
    language, pinned = _read(os.fspath(path))
    shown = os.fspath(path)
    drifts = []
    if language != LANGUAGE:
        said = f"`{shown}` pins rule language {language!r}, this engine runs {LANGUAGE!r}"
        drifts.append(
            Drift(LANGUAGE_DIFFERS, "", said, "review the rules under this engine, then `reknit check --lock`")
        )
    for name in sorted({*pinned, *found}):
        if name not in pinned:
            help = "`reknit check --lock` pins it once it was reviewed"
            drifts.append(Drift(MISSING, name, f"`{name}` is not pinned in `{shown}`", help))
        elif name not in found:
            help = "check all files that were pinned; `reknit check --lock` forgets it if it is gone on purpose"
            drifts.append(Drift(EXTRA, name, f"`{name}` is pinned in `{shown}`, and is not among these files", help))
        elif pinned[name] != found[name]:
            help = "`reknit diff` says what changed, as in `reknit diff main..`; then `reknit check --lock` accepts it"
            said = f"`{name}` compiles to {found[name]}, and {pinned[name]} is pinned in `{shown}`"
            drifts.append(Drift(DIFFERS, name, said, help))
    return drifts


def known(fingerprint: str) -> str | None:
    """The shipped rules that have a fingerprint, as in `acme` or `acme with policy strict`; None where none have.

    A message whose fingerprint is not known any more was rebuilt by rules that have changed since.
    """
    from reknit.lang.files import FileLoader

    loader = FileLoader()
    for policy in (None, *loader.names("policy")):
        for vendor in loader.names("vendor"):
            if table_for(vendor, policy).fingerprint == fingerprint:
                return vendor if policy is None else f"{vendor} with policy {policy}"
    return None


def _read(path: str) -> tuple[str, dict[str, str]]:
    help = "`reknit check --lock` writes one"
    try:
        data: Any = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UsageError("no-lock", f"the lock file `{path}` cannot be read: {_reason(error)}", help) from None
    except (ValueError, RecursionError):
        raise UsageError("no-lock", f"`{path}` is no lock file: it is not JSON", help) from None
    pinned = data.get("fingerprints") if isinstance(data, dict) else None
    if not isinstance(pinned, dict) or not all(isinstance(value, str) for value in pinned.values()):
        raise UsageError("no-lock", f"`{path}` is no lock file: it pins no fingerprints", help)
    return str(data.get("language")), pinned


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
