"""Collections to differences: files are matched, and what many files share is told once.

A change of a policy reaches every vendor that uses it. It is told with the policy; with a vendor stands only what is
not told already.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

from reknit.diff.changes import Change, Difference, Direction, in_order
from reknit.diff.collection import Collection, Key, matched
from reknit.diff.compare import Comparer
from reknit.diff.sides import Side
from reknit.errors import RulesError, UsageError


@dataclass(slots=True)
class Report:
    """All differences between two collections.

    Attributes:
        before: What to call the one.
        after: What to call the other.
        differences: Those with changes, or that were asked for by name.
        pairs: The two sides of each difference; None for a side that is not there.
        compared: How many files were compared.
        left_out: Files that are sound on neither side.
    """

    before: str
    after: str
    differences: list[Difference] = field(default_factory=list)
    pairs: list[tuple[Side | None, Side | None]] = field(default_factory=list)
    compared: int = 0
    left_out: list[str] = field(default_factory=list)

    @property
    def changes(self) -> list[Change]:
        """All changes of all files."""
        return [change for difference in self.differences for change in difference.changes]

    @property
    def same(self) -> bool:
        """Whether nothing is done otherwise."""
        return all(difference.same for difference in self.differences)

    def directions(self) -> set[Direction]:
        """The directions of all changes."""
        return {change.direction for change in self.changes}

    def add(self, difference: Difference, before: Side | None, after: Side | None) -> None:
        """Add a difference with its sides."""
        self.differences.append(difference)
        self.pairs.append((before, after))


def compare_files(before: Collection, after: Collection, *, witnesses: bool = True) -> Report:
    """Compare one file with another one, whatever their names."""
    report = Report(before.label, after.label, compared=1)
    old, new = next(iter(before.entries)), next(iter(after.entries))
    if old[0] != new[0]:
        message = f"`{before.label}` is a {old[0]} and `{after.label}` a {new[0]}"
        raise UsageError("other-kind", message, "compare two files of one kind")
    base: str | None = None
    if old[0] == "fragment":
        fitting = after.bases(new)
        base = next((name for name in before.bases(old) if name in fitting), None)
    sides = before.side(old, base), after.side(new, base)
    report.add(Comparer(witnesses).compare(*sides), *sides)
    return report


def compare_with_base(collection: Collection, *, witnesses: bool = True) -> Report:
    """What the quirks and fragments of one file change against what it builds on."""
    key = next(iter(collection.entries))
    below, side = collection.below(key), collection.side(key)
    report = Report(below.source, side.source, compared=1)
    report.add(Comparer(witnesses).compare(below, side), below, side)
    return report


def compare_collections(before: Collection, after: Collection, *, witnesses: bool = True) -> Report:
    """Compare all files of two collections, matched by kind and name."""
    report = Report(before.label, after.label)
    comparer = Comparer(witnesses)
    told: set[tuple[object, ...]] = set()
    for old, new in matched(before, after):
        if old is not None and new is not None:
            report.compared += 1
            if before.texts(old) == after.texts(new):
                continue
            sides = _both(before, after, old, new, report)
            if sides is None:
                continue
            difference = _untold(comparer.compare(*sides), told)
            if difference.changes or difference.explanation:
                report.add(difference, *sides)
        elif new is not None:
            _came(after, new, comparer, told, report)
        elif old is not None:
            argument = before.entries[old].argument
            _refuse_broken(after, argument)
            message = f"{old.kind} `{old.name}` is gone"
            gone = Change("FILE_REMOVED", _of_file(old), old.name, message, before=argument)
            report.add(Difference(old.kind, old.name, (argument, ""), ("", ""), (gone,)), None, None)
    report.left_out += [name for name in after.unread if name not in report.left_out]
    return report


def _both(before: Collection, after: Collection, key: Key, now: Key, report: Report) -> tuple[Side, Side] | None:
    """Both sides of a file; None where it is sound on neither. A file that is broken now is refused."""
    try:
        old: Side | None = before.side(key)
    except RulesError:
        old = None
    try:
        new = after.side(now)
    except RulesError:
        if old is not None:
            raise
        report.left_out.append(after.entries[now].argument)
        return None
    if old is None:
        message = f"{now.kind} `{now.name}` was not sound before"
        change = Change("FILE_ADDED", _of_file(now), now.name, message, after=new.source)
        report.add(Difference(now.kind, now.name, ("", ""), (new.source, new.table.fingerprint), (change,)), None, new)
        return None
    return old, new


def _came(after: Collection, key: Key, comparer: Comparer, told: set[tuple[object, ...]], report: Report) -> None:
    """A file that is new: what it changes against what it builds on."""
    try:
        side = after.side(key)
    except RulesError:
        report.left_out.append(after.entries[key].argument)
        return
    report.compared += 1
    change = Change("FILE_ADDED", _of_file(key), key.name, f"{key.kind} `{key.name}` is new", after=side.source)
    difference = Difference(key.kind, key.name, ("", ""), (side.source, side.table.fingerprint), (change,))
    below: Side | None = None
    with suppress(RulesError, UsageError):
        below = after.below(key)
    if below is not None:
        found = _untold(comparer.compare(below, side), told)
        changes = in_order([change, *found.changes])
        difference = replace(found, before=(below.source, below.table.fingerprint), changes=changes)
    report.add(difference, below, side)


def _of_file(key: Key) -> Direction:
    return "behaviour" if key.kind == "policy" else "mapping"


def _untold(difference: Difference, told: set[tuple[object, ...]]) -> Difference:
    """The difference without what was told of another file."""
    kept: list[Change] = []
    for change in difference.changes:
        what = (change.id, change.subject, change.message, change.before, change.after)
        if change.direction == "tests" or change.id.startswith(("QUIRK", "ALLOW")) or what not in told:
            kept.append(change)
        told.add(what)
    return replace(difference, changes=tuple(kept), told=difference.told + len(difference.changes) - len(kept))


def _refuse_broken(after: Collection, argument: str) -> None:
    """A file that could be read before, and cannot be now, is no file that is gone: it is refused."""
    name = _file_name(argument)
    for unread in after.unread:
        if _file_name(unread) == name:
            after.workshop(unread).file(unread)


def _file_name(argument: str) -> str:
    return argument.rpartition(":")[2].rpartition("/")[2]
