"""From the name or path of a vendor to its compiled table. The one bridge from rule text to the runtime.

The rule language and its parser are imported only when something has to be compiled.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reknit.errors import RulesError, UsageError
from reknit.table import PolicyTable, Table

if TYPE_CHECKING:
    from reknit.lang.diagnostics import Diagnostic
    from reknit.lang.resolve import ResolvedPolicy, ResolvedVendor


Folder: TypeAlias = str | os.PathLike[str]


class Compiled(NamedTuple):
    """What came of compiling a file.

    Attributes:
        table: None where anything is wrong, and for a policy by itself.
        vendor: The resolved vendor; None for a policy, or when it could not be read.
        policy: The resolved policy; None when it could not be read.
        diagnostics: Everything that is wrong, file by file.
        sources: The texts, for rendering.
    """

    table: Table | None
    vendor: ResolvedVendor | None
    policy: ResolvedPolicy | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]


def compile_vendor(
    name: str, policy: str | None = None, folders: Sequence[Path] = (), fragments: Sequence[str] = ()
) -> Compiled:
    """Resolve, check and compile a vendor with its policy; what is wrong is in `diagnostics`."""
    from reknit.compile.program import compile_program
    from reknit.lang.files import FileLoader
    from reknit.lang.resolve import resolve_vendor
    from reknit.table import assemble

    resolution = resolve_vendor(name, FileLoader(folders=folders), policy, fragments)
    vendor, found = resolution.value, list(resolution.diagnostics)
    if vendor is None or resolution.failed:
        return Compiled(None, vendor, vendor.policy if vendor else None, tuple(found), resolution.sources)
    rules = vendor.policy
    table, more = _policy_table(rules)
    found += more
    if table is None:
        return Compiled(None, vendor, rules, tuple(found), resolution.sources)
    settings = {
        "protocol": (vendor.protocol,) if vendor.protocol else (),
        "wire": (vendor.wire,) if vendor.wire else (),
        "end": (vendor.end,) if vendor.end else (),
        "salvage": vendor.salvage,
        "choices": vendor.choices or (),
    }
    program, more = compile_program(vendor.name, settings, vendor.items.values(), table)
    found += more
    made = assemble(table, program) if program is not None and not found else None
    return Compiled(made, vendor, rules, tuple(found), resolution.sources)


_MOST_CACHED = 128

_POLICIES: dict[str, PolicyTable] = {}
"""Compiled policies by their items as text: most vendors use one policy unchanged."""


def _policy_table(rules: ResolvedPolicy) -> tuple[PolicyTable | None, list[Diagnostic]]:
    from reknit.compile.policy import compile_policy

    written = f"{rules.name.text}\n{list(rules.items.values())!r}"
    table = _POLICIES.get(written)
    if table is not None:
        return table, []
    table, found = compile_policy(rules.name.text, rules.items.values(), rules.name.place)
    if table is not None:
        if len(_POLICIES) >= _MOST_CACHED:
            _POLICIES.pop(next(iter(_POLICIES)))
        _POLICIES[written] = table
    return table, found


_CACHE: dict[tuple[object, ...], Table] = {}


def table_for(
    name: str | os.PathLike[str],
    policy: str | None = None,
    folders: Sequence[Folder] = (),
    fragments: Sequence[str] = (),
) -> Table:
    """The table of a vendor, compiled once as long as its files do not change.

    Args:
        name: A shipped vendor's name, or the path of a rule file (with a separator, or ending in `.rules`).
        policy: Another policy than the vendor names, such as `strict`.
        folders: Where further rule files are looked up by name.
        fragments: Fragments to apply on top, such as `think-tags`.

    Raises:
        UsageError: There is no such vendor.
        RulesError: Its files do not pass the checks; `report` holds all findings.
    """
    name = os.fspath(name)
    places = [Path(os.fspath(folder)) for folder in folders]
    key = (name, policy, *fragments, *_stamps(name, places))
    table = _CACHE.get(key)
    if table is None:
        compiled = compile_vendor(name, policy, places, fragments)
        table = compiled.table
        if table is None:
            raise _refusal(name, compiled)
        if len(_CACHE) >= _MOST_CACHED:
            _CACHE.pop(next(iter(_CACHE)))
        _CACHE[key] = table
    return table


def _refusal(name: str, compiled: Compiled) -> UsageError | RulesError:
    from reknit.lang.diagnostics import render

    found = compiled.diagnostics
    if not compiled.sources and found:
        return UsageError("unknown-vendor", found[0].message, found[0].help or "")
    return RulesError(render(found, compiled.sources), tuple(diagnostic.code for diagnostic in found))


def _stamps(name: str, folders: Sequence[Path]) -> list[tuple[str, int, int]]:
    """What changes when a rule file that may take part does; nothing for shipped names, which do not change."""
    looked = list(folders)
    if name.endswith(".rules") or os.sep in name or "/" in name:
        looked.append(Path(name).parent)
    stamps = []
    for folder in looked:
        for entry in _scan(folder):
            try:
                status = entry.stat()
            except OSError:
                continue
            stamps.append((entry.path, status.st_mtime_ns, status.st_size))
    return stamps


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((entry for entry in found if entry.name.endswith(".rules")), key=lambda entry: entry.name)
    except OSError:
        return []


@cache
def protocols() -> tuple[str, ...]:
    """The shipped vendors that say how their protocol is recognised, and are nobody's dialect of another one."""
    from reknit.lang.files import FileLoader
    from reknit.lang.resolve import read_file

    loader, found = FileLoader(), []
    for name in loader.names("vendor"):
        file = read_file(name, loader).value
        if file is not None and file.header.extends is None and table_for(name).program.detects:
            found.append(name)
    return tuple(found)
