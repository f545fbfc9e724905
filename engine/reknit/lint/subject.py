"""What a lint looks at: a sound rule file, and all that counts for it with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from reknit.lang.contents import key_of
from reknit.lang.files import SUFFIX, FileLoader
from reknit.lang.resolve import ResolvedPolicy, ResolvedVendor, resolve_policy, resolve_vendor
from reknit.lang.shelf import Applied, Origin
from reknit.lang.syntax import File, Item
from reknit.table import Table
from reknit.trial import Trial

T = TypeVar("T", bound=Item)


@dataclass(frozen=True, slots=True)
class Subject:
    """A rule file under a lint.

    Attributes:
        file: It.
        vendor: It, resolved, or the vendor that a fragment is tried on; None for a policy.
        policy: The policy that counts.
        table: What it was compiled to.
    """

    file: File
    vendor: ResolvedVendor | None
    policy: ResolvedPolicy
    table: Table

    def items(self, kind: type[T]) -> list[T]:
        """Give all items of a kind that count."""
        sides = [self.policy] if self.vendor is None else [self.vendor, self.policy]
        return [item for side in sides for item in side.of(kind).values()]

    def own(self, kind: type[T]) -> Iterator[T]:
        """Give the items of a kind whose present form comes from this file."""
        return (item for item in self.items(kind) if self.is_own(item))

    def is_own(self, item: Item) -> bool:
        """Tell whether the present form of an item comes from this file."""
        return self.origin(item).source == self.file.source

    def origin(self, item: Item) -> Origin:
        """Give where the present form of an item comes from."""
        key = key_of(item)
        sides: list[Mapping[tuple[str, str], Origin]] = [self.policy.origins]
        if self.vendor is not None:
            sides.insert(0, self.vendor.origins)
        return next((origins[key] for origins in sides if key in origins), Origin(""))

    @property
    def applied(self) -> list[Applied]:
        """Every edit that counts, in order: of the vendor's side, then of the policy's."""
        return [*(self.vendor.applied if self.vendor is not None else ()), *self.policy.applied]


def subjects(name: str, trial: Trial, folders: Sequence[Path]) -> list[Subject]:
    """Resolve a file that was prepared, for a fragment on each of its vendors; nothing for one that is not sound.

    Args:
        name: The name or path by which the file was prepared.
        trial: The file.
        folders: Where further rule files are looked up by name.
    """
    if trial.file is None or not trial.sound:
        return []
    if trial.kind == "policy":
        policy = resolve_policy(name, FileLoader(folders=folders)).value
        return [Subject(trial.file, None, policy, table) for table in trial.tables.values() if policy is not None]
    made = []
    for base, table in trial.tables.items():
        if trial.kind == "vendor":
            vendor = resolve_vendor(name, FileLoader(folders=folders)).value
        else:
            beside = [Path(name).parent] if name.endswith(SUFFIX) or Path(name).name != name else []
            vendor = resolve_vendor(base, FileLoader(folders=[*beside, *folders]), None, [name]).value
        if vendor is not None:
            made.append(Subject(trial.file, vendor, vendor.policy, table))
    return made
