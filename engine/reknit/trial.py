"""A rule file by itself, made ready to run: for those who check and test it.

A vendor file runs as it is. A policy runs under a program without maps: what happens to it are canonical events. A
fragment is an edit of something else, so it runs on top of a vendor: the one that its test names (`given vendor`), else
the protocol that the first frame of the test is recognised as, just as for a stream whose vendor is not named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reknit.compile.policy import compile_policy
from reknit.detect import recognised
from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.files import SUFFIX, FileLoader
from reknit.lang.resolve import read_file, resolve_policy
from reknit.lang.syntax import File, Given, Place, Quirk, Test
from reknit.rulebook import Compiled, compile_vendor, protocols
from reknit.table import Program, Table, assemble

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule file, and what it runs on.

    Attributes:
        source: The name to show for the file.
        file: Its nodes; None where it could not be read.
        tables: What runs it: for a fragment, by the vendor that it is tried on; else one, under its own name.
        bases: For a fragment, the vendor that each test is tried on, by title.
        diagnostics: Everything that is wrong with the file and what it builds on; then there may be no table.
        sources: The texts, for rendering.
        quirks: How many quirks take part, those of what it builds on included.
    """

    source: str
    file: File | None
    tables: Mapping[str, Table] = field(default_factory=dict)
    bases: Mapping[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    quirks: int = 0

    @property
    def kind(self) -> str:
        """What the header says: policy, vendor or fragment; empty where it could not be read."""
        return self.file.header.kind if self.file is not None else ""

    @property
    def name(self) -> str:
        """The name in the header."""
        return self.file.header.name.text if self.file is not None else ""

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that stand in the file."""
        return tests_of(self.file) if self.file is not None else ()

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong that is more than a warning."""
        return not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    def table(self, test: Test | None = None) -> Table | None:
        """What a test runs on; without a test, or for a file that is no fragment, the first table."""
        if test is not None and test.title in self.bases:
            return self.tables.get(self.bases[test.title])
        return next(iter(self.tables.values()), None)


def tests_of(file: File) -> tuple[Test, ...]:
    """The tests that stand in a file, in order."""
    return tuple(item for item in file.items if isinstance(item, Test))


def prepare(name_or_path: str, folders: Sequence[Path] = ()) -> Trial:
    """Read, check and compile one rule file of any kind; nothing is raised on account of what stands in it.

    Args:
        name_or_path: A path (with a separator, or ending in `.rules`), else a name.
        folders: Where further rule files are looked up by name.
    """
    loader = FileLoader(folders=folders)
    read = read_file(name_or_path, loader)
    file = read.value
    if file is None:
        source = next(iter(read.sources), name_or_path)
        return Trial(source, None, diagnostics=read.diagnostics, sources=read.sources)
    if file.header.kind == "policy":
        return _policy(name_or_path, file, loader)
    if file.header.kind == "vendor":
        compiled = compile_vendor(name_or_path, None, folders)
        quirks = len(_quirks(compiled.vendor.quirks)) if compiled.vendor is not None else 0
        return _of(file, {file.header.name.text: compiled}, quirks=quirks)
    return _fragment(name_or_path, file, folders, read.sources)


def _policy(name: str, file: File, loader: FileLoader) -> Trial:
    resolution = resolve_policy(name, loader)
    policy, found = resolution.value, list(resolution.diagnostics)
    tables: dict[str, Table] = {}
    if policy is not None and not resolution.failed:
        compiled, more = compile_policy(policy.name.text, policy.items.values(), policy.name.place)
        found += more
        if compiled is not None:
            tables[policy.name.text] = assemble(compiled, _without_maps(policy.name.text))
    quirks = len(_quirks(policy.quirks)) if policy is not None else 0
    sources = resolution.sources
    return Trial(file.source, file, tables, diagnostics=_told_once(found), sources=sources, quirks=quirks)


def _without_maps(name: str) -> Program:
    return Program(
        name=name,
        protocol="",
        wire="sse",
        end=None,
        salvage=(),
        choices=None,
        maps=(),
        ignores=(),
        detects=(),
        enums={},
        splits=(),
    )


def _fragment(name: str, file: File, folders: Sequence[Path], sources: Mapping[str, str]) -> Trial:
    # Beside a file that was given as a path stand the vendors that it may be tried on.
    is_path = name.endswith(SUFFIX) or "/" in name or Path(name).name != name
    places = [Path(name).parent, *folders] if is_path else list(folders)
    bases: dict[str, str] = {}
    found: list[Diagnostic] = []
    for test in tests_of(file):
        base = _base_of(test, places)
        if isinstance(base, Diagnostic):
            found.append(base)
        else:
            bases[test.title] = base
    if tests_of(file):
        compiled = {base: compile_vendor(base, None, places, [name]) for base in dict.fromkeys(bases.values())}
        return _of(file, compiled, bases, found, sources)
    return _of(file, _fitting(name, places), sources=sources)


def _fitting(name: str, folders: Sequence[Path]) -> dict[str, Compiled]:
    """A fragment without tests has to fit some protocol; where it fits none, the nearest miss tells most."""
    tried = {base: compile_vendor(base, None, folders, [name]) for base in protocols()}
    fitting = {base: compiled for base, compiled in tried.items() if compiled.table is not None}
    nearest = sorted(tried, key=lambda base: (len(tried[base].diagnostics), base))[:1]
    return fitting or {base: tried[base] for base in nearest}


def _base_of(test: Test, folders: Sequence[Path]) -> str | Diagnostic:
    given = [step for step in test.steps if isinstance(step, Given)]
    named = next((step for step in given if step.kind == "vendor"), None)
    if named is not None:
        return _vendor(str(named.value), named.place, folders)
    frame = next((step.value for step in given if step.kind == "frame"), None)
    found = recognised(frame) if frame is not None else []
    if len(found) == 1:
        return found[0]
    say = f'begin it with `given vendor "{found[0] if found else next(iter(protocols()), "NAME")}"`'
    why = "its first frame fits several protocols" if found else "its first frame is of no protocol that is known"
    return Diagnostic(
        "E706",
        f"test {quoted(test.title)} does not say on which vendor the fragment is tried",
        Label(test.place, "this test"),
        notes=(why if frame is not None else "it is given no frame by which the protocol could be recognised",),
        help=say,
    )


def _vendor(name: str, place: Place, folders: Sequence[Path]) -> str | Diagnostic:
    known = FileLoader(folders=folders).names("vendor")
    if _NAME.fullmatch(name) and name in known:
        return name
    help = suggestion(name, known)
    return Diagnostic("E503", f"no vendor is named {quoted(name)}", Label(place, "not known"), help=help)


def _of(
    file: File,
    compiled: Mapping[str, Compiled],
    bases: Mapping[str, str] | None = None,
    found: Iterable[Diagnostic] = (),
    sources: Mapping[str, str] | None = None,
    quirks: int = 0,
) -> Trial:
    tables = {base: one.table for base, one in compiled.items() if one.table is not None}
    texts = dict(sources or {})
    for one in compiled.values():
        texts |= one.sources
    everything = [*found, *(diagnostic for one in compiled.values() for diagnostic in one.diagnostics)]
    own = quirks or sum(isinstance(item, Quirk) for item in file.items)
    return Trial(file.source, file, tables, bases or {}, _told_once(everything), texts, own)


def _quirks(quirks: Iterable[tuple[File, Quirk]]) -> set[tuple[str, str]]:
    return {(file.source, quirk.name.text) for file, quirk in quirks}


def _told_once(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(dict.fromkeys(found))
