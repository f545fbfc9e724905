"""What comes of resolving a rule file: the flat items of its chain, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from reknit.lang.contents import Key
from reknit.lang.diagnostics import Diagnostic
from reknit.lang.shelf import Applied, Origin
from reknit.lang.syntax import KINDS, File, Item, Name, Quirk, Test

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resolution(Generic[T]):
    """What came of resolving a name.

    Attributes:
        value: The result; None where a file could not be found or read. Edits that could not be applied are left out.
        diagnostics: Everything that is wrong, file by file.
        sources: The text of every file that took part, for rendering.
    """

    value: T | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether anything is wrong that is more than a warning."""
        return self.value is None or any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


@dataclass(frozen=True, slots=True)
class FlatItems:
    """The flat items of a chain.

    Attributes:
        name: The name in the header of the file asked for.
        reason: The text of its header.
        chain: The files, from the root to the one asked for.
        fragments: The fragments that took part, in order.
        items: Items by kind and name, in the order written.
        origins: Where each of them comes from.
        tests: The tests of the file asked for, with that file.
        quirks: Every quirk that took part, with its file, in order.
        applied: Every edit that was applied, in order.
    """

    name: Name
    reason: str
    chain: tuple[File, ...]
    fragments: tuple[File, ...]
    items: Mapping[Key, Item]
    origins: Mapping[Key, Origin]
    tests: tuple[tuple[File, Test], ...]
    quirks: tuple[tuple[File, Quirk], ...]
    applied: tuple[Applied, ...]

    def of(self, kind: type[T]) -> dict[str, T]:
        """Give the items of one kind by name, in the order written."""
        word = KINDS[kind]
        return {name: item for (of, name), item in self.items.items() if of == word and isinstance(item, kind)}


@dataclass(frozen=True, slots=True)
class ResolvedPolicy(FlatItems):
    """A policy with all that it extends, and with the edits of a vendor where it was resolved for one."""


@dataclass(frozen=True, slots=True)
class ResolvedVendor(FlatItems):
    """A vendor with all that it extends; a setting is that of the nearest file that gives it, or None.

    Attributes:
        policy: The policy that it uses, the vendor's edits applied.
        protocol: The wire protocol that the vendor speaks.
        wire: The framing.
        end: The text that ends a stream.
        salvage: What may be taken out of a broken frame.
        choices: The path of parallel answers, and the path of their number.
    """

    policy: ResolvedPolicy
    protocol: Name | None
    wire: Name | None
    end: Name | None
    salvage: tuple[Name, ...]
    choices: tuple[Name, Name] | None
