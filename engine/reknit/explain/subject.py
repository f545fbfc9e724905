"""The rules that something is explained by: compiled, and with the places of their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reknit.compile.policy import compile_policy
from reknit.errors import RulesError, UsageError
from reknit.explain.sites import Sites
from reknit.lang.diagnostics import Diagnostic, quoted, render
from reknit.lang.files import SUFFIX, FileLoader
from reknit.lang.resolve import read_file, resolve_policy
from reknit.rulebook import compile_vendor
from reknit.table import PolicyTable, Table

NO_BASE: Final = "no-base"
"""The code of the refusal to explain a fragment by itself."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Rules to explain.

    Attributes:
        name: As asked for.
        kind: policy, vendor or fragment.
        policy: The compiled policy, a vendor's edits applied.
        table: The whole table; None for a policy by itself.
        sites: Where everything stands.
    """

    name: str
    kind: str
    policy: PolicyTable
    table: Table | None
    sites: Sites


def open_subject(
    name: str,
    policy: str | None = None,
    folders: Sequence[Path] = (),
    fragments: Sequence[str] = (),
    base: str | None = None,
) -> Subject:
    """Compile what a file says.

    Args:
        name: A path (with a separator, or ending in `.rules`), else the name of a policy, vendor or fragment.
        policy: Another policy than a vendor names.
        folders: Where further rule files are looked up by name.
        fragments: Fragments to apply on top of a vendor.
        base: For a fragment, the vendor that it is applied to.

    Raises:
        UsageError: There is no such file, or it is a fragment and there is no base.
        RulesError: It does not pass the checks.
    """
    loader = FileLoader(folders=folders)
    read = read_file(name, loader)
    if read.value is None:
        raise refusal(read.diagnostics, read.sources)
    kind = read.value.header.kind
    if kind == "policy":
        return _policy(name, loader)
    if kind == "vendor":
        return _vendor(name, kind, name, policy, folders, fragments)
    if base is None:
        help = "name a vendor, and apply the fragment to it"
        raise UsageError(NO_BASE, f"fragment {quoted(name)} is an edit of something else", help)
    places = [Path(name).parent, *folders] if name.endswith(SUFFIX) or Path(name).name != name else list(folders)
    return _vendor(name, kind, base, policy, places, [*fragments, name])


def _policy(name: str, loader: FileLoader) -> Subject:
    resolution = resolve_policy(name, loader)
    found = list(resolution.diagnostics)
    if resolution.value is None or resolution.failed:
        raise refusal(found, resolution.sources)
    resolved = resolution.value
    compiled, more = compile_policy(resolved.name.text, resolved.items.values(), resolved.name.place)
    if compiled is None:
        raise refusal([*found, *more], resolution.sources)
    return Subject(name, "policy", compiled, None, Sites(resolved, None, resolution.sources))


def _vendor(
    name: str, kind: str, base: str, policy: str | None, folders: Sequence[Path], fragments: Sequence[str]
) -> Subject:
    compiled = compile_vendor(base, policy, folders, fragments)
    if compiled.table is None or compiled.policy is None:
        raise refusal(compiled.diagnostics, compiled.sources)
    sites = Sites(compiled.policy, compiled.vendor, compiled.sources)
    return Subject(name, kind, compiled.table.policy, compiled.table, sites)


def refusal(found: Sequence[Diagnostic], sources: Mapping[str, str]) -> UsageError | RulesError:
    """What to raise for rules that cannot be used."""
    if not sources and found:
        return UsageError("unknown-rules", found[0].message, found[0].help or "")
    if not found:
        return UsageError("no-rules", f"there is nothing to explain in {quoted(', '.join(sources))}")
    return RulesError(render(found, sources), tuple(diagnostic.code for diagnostic in found))
