"""Finding rule files by name and reading them, whatever stands in their place.

A file is known by the kind and name in its header, not by the name of the file. Names come out of rule files, which
are other people's input: they are looked up in a few folders and are never paths. Only the caller gives paths.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import NOWHERE, Place
from reknit.lang.tokens import MAX_BYTES
from reknit.shipped import rules_folder

SUFFIX: Final = ".rules"
KINDS_OF_FILES: Final = ("vendor", "policy", "fragment")

_HEADER: Final = re.compile(
    r"\ufeff?(?:\s|#[^\n]*\n)*reknit\s+[0-9.]+(?:\s|#[^\n]*\n)+(policy|vendor|fragment)\s+([a-z][a-z0-9_-]*)"
)
_HEADER_BYTES: Final = 8192


@dataclass(frozen=True, slots=True)
class Loaded:
    """The text of a rule file, and the name to show for it; that name tells files apart."""

    source: str
    text: str


class Loader(Protocol):
    """Gives the text of rule files."""

    def load(self, name_or_path: str, kind: str | None = None) -> Loaded | Diagnostic:
        """Give a rule file by its name (of a kind, if one is meant), or what is wrong; E503 for an unknown name."""
        ...


class _Known(NamedTuple):
    """A file that was seen in a folder: the kind and name of its header, and where it is."""

    kind: str
    name: str
    path: str


def _chosen(known: list[_Known], name: str, kind: str | None) -> list[_Known]:
    """Give the files that a name can mean: of the kind, or of any kind in a fixed order."""
    for wanted in KINDS_OF_FILES if kind is None else (kind,):
        found = [file for file in known if (file.kind, file.name) == (wanted, name)]
        if found:
            return found
    # A file whose header cannot be read is still what its own name promises: loading it tells what is wrong with it.
    return [file for file in _namesakes(known, name) if not file.kind]


def _namesakes(known: list[_Known], name: str) -> list[_Known]:
    return [file for file in known if Path(file.path).name == name + SUFFIX]


def _header(text: str) -> tuple[str, str]:
    match = _HEADER.match(text)
    return (match[1], match[2]) if match else ("", "")


def _unknown(name: str, kind: str | None, known: list[_Known]) -> Diagnostic:
    names = sorted({file.name for file in known if file.name and kind in (None, file.kind)})
    namesake = next((file.kind for file in known if file.name == name), None)
    what = f"no {kind} is" if kind else "no rules are"
    message = f"{what} named {quoted(name)}"
    help = f"there is a {namesake} of that name" if namesake else suggestion(name, names)
    return Diagnostic("E503", message, Label(NOWHERE, "not known"), help=help)


class TextLoader:
    """Rule files out of a mapping from file name to text, such as for tests."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {name.removesuffix(SUFFIX) + SUFFIX: text for name, text in texts.items()}

    def load(self, name_or_path: str, kind: str | None = None) -> Loaded | Diagnostic:
        """Give the text of a file; its source is its name."""
        if name_or_path in self._texts:
            return Loaded(name_or_path, self._texts[name_or_path])
        known = [_Known(*_header(text), source) for source, text in self._texts.items()]
        found = _chosen(known, name_or_path, kind) or _namesakes(known, name_or_path)
        if not found:
            return _unknown(name_or_path, kind, known)
        return Loaded(found[0].path, self._texts[found[0].path])


class FileLoader:
    """Rule files from disk: a name is looked up beside the file that was asked for, then in folders, then among ours.

    Each file is read once; what changes on disk later is not seen.
    """

    def __init__(self, start: Path | None = None, folders: Sequence[Path] = ()) -> None:
        """Look names up beside `start` (a folder or a rule file), in `folders`, and in the shipped rules.

        Args:
            start: Where names are looked up first; without it, the folder of the first file that is loaded by path.
            folders: Further folders, in order.
        """
        self._start = start.parent if start is not None and start.suffix == SUFFIX else start
        self._folders = tuple(folders)
        self._read: dict[str, Loaded | Diagnostic] = {}
        self._listed: dict[Path, list[_Known]] = {}

    def load(self, name_or_path: str, kind: str | None = None) -> Loaded | Diagnostic:
        """Read a rule file: a path where it holds a separator or ends in `.rules`, else a name."""
        if name_or_path.endswith(SUFFIX) or "/" in name_or_path or os.sep in name_or_path:
            path = Path(name_or_path)
            if self._start is None:
                self._start = path.parent
            return self._once(path)
        for folder, shown in self._places():
            found = _chosen(self._list(folder), name_or_path, kind)
            if len(found) > 1:
                return _ambiguous(found, folder)
            if found:
                return self._once(Path(found[0].path), shown)
        for folder, shown in self._places():
            # What has the name of the file but holds another kind is shown, to tell the two apart.
            for file in _namesakes(self._list(folder), name_or_path):
                return self._once(Path(file.path), shown)
        return _unknown(name_or_path, kind, self._all())

    def names(self, kind: str | None = None) -> list[str]:
        """Name every rule file that can be found by name, sorted; of one kind, if one is given."""
        return sorted({file.name for file in self._all() if file.name and kind in (None, file.kind)})

    def _all(self) -> list[_Known]:
        return [file for folder, _ in self._places() for file in self._list(folder)]

    def _places(self) -> list[tuple[Path, str]]:
        own = [] if self._start is None else [self._start]
        # The shipped folder is shown as in the repository, so that messages do not depend on the machine.
        return [(folder, "") for folder in (*own, *self._folders)] + [(rules_folder(), "rules")]

    def _list(self, folder: Path) -> list[_Known]:
        if folder not in self._listed:
            try:
                paths = sorted(folder.glob("*" + SUFFIX))
            except (OSError, ValueError):  # a folder that cannot be listed has no names to offer
                paths = []
            self._listed[folder] = [_Known(*_header(_beginning(path)), str(path)) for path in paths]
        return self._listed[folder]

    def _once(self, path: Path, shown: str = "") -> Loaded | Diagnostic:
        key = os.path.abspath(path)
        if key not in self._read:
            self._read[key] = _read(path, f"{shown}/{path.name}" if shown else str(path))
        return self._read[key]


def _beginning(path: Path) -> str:
    try:
        if not path.is_file():  # a pipe or device could keep us waiting
            return ""
        with path.open("rb") as file:
            return file.read(_HEADER_BYTES).decode("utf-8", "replace").replace("\r", "\n")
    except (OSError, ValueError):
        return ""


def _read(path: Path, source: str) -> Loaded | Diagnostic:
    try:
        if path.is_dir():
            return _unreadable(source, "it is a folder")
        if not path.exists():
            siblings = sorted(other.name for other in path.parent.glob("*" + SUFFIX))
            return _unreadable(source, "there is no such file", suggestion(path.name, siblings))
        if not path.is_file():  # a pipe or device could give text without end
            return _unreadable(source, "it is not a file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return _unreadable(source, reason.lower())
    return decoded(content, source)


def decoded(content: bytes, source: str) -> Loaded | Diagnostic:
    """Give bytes as the text of a rule file, or what is wrong with them; one byte beyond the bound is enough."""
    if len(content) > MAX_BYTES:
        place = Place(source, 1, 1, 1, 1)
        return Diagnostic("E104", f"the file is larger than {MAX_BYTES // 1024} KiB", Label(place, ""))
    try:
        return Loaded(source, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"{quoted(source)} is not UTF-8: byte {error.start}, on line {line}, is 0x{content[error.start]:02x}"
        return Diagnostic("E105", message, Label(NOWHERE, ""), help="save the file as UTF-8")


def _unreadable(source: str, reason: str, help: str | None = None) -> Diagnostic:
    return Diagnostic("E105", f"{quoted(source)} cannot be read: {reason}", Label(NOWHERE, ""), help=help)


def _ambiguous(found: list[_Known], folder: Path) -> Diagnostic:
    files = " and ".join(quoted(Path(file.path).name) for file in found[:2])
    message = f"{files} both hold {found[0].kind or 'rules'} {quoted(found[0].name)}"
    return Diagnostic(
        "E112", message, Label(NOWHERE, "found twice"), help="give one of them another name in its header"
    )
