"""What tests and captures make use of: rules that fire, maps that make events, cells that are met.

Everything is counted where it stands: a rule of a policy counts for the policy's file whoever makes it fire, an
override in a quirk for the file of the quirk. A cell belongs to the rule that takes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from reknit.detect import Detector
from reknit.explain.observing import ObservedStream
from reknit.explain.subject import Subject, open_subject, refusal
from reknit.lang.files import FileLoader
from reknit.lang.syntax import Given, Test
from reknit.machine import Leaf, Machine
from reknit.mapping import Made, Mapped, Mistyped
from reknit.table import EventSpec, PolicyTable, Table
from reknit.testing.givens import tools_of
from reknit.testing.stage import FED, SEED, Stage, _piece
from reknit.tools.registry import Tools
from reknit.trial import Trial, prepare

CAPTURES: Final = {".sse": None, ".jsonl": "ndjson", ".ndjson": "ndjson"}
"""Endings of files that hold captures, with their wire where it is not the vendor's own."""


class Thing(NamedTuple):
    """A rule or map, known by where it stands."""

    kind: str
    name: str
    source: str
    line: int


class FileCoverage(msgspec.Struct, frozen=True):
    """What was made use of in one file.

    Attributes:
        source: The name to show for the file.
        used: Rules and maps that were made use of.
        never: Those that were not.
        cells: How many cells its rules take.
        met: How many of them were met.
    """

    source: str
    used: tuple[Thing, ...]
    never: tuple[Thing, ...]
    cells: int
    met: int


class Report(msgspec.Struct, frozen=True):
    """What was made use of, file by file, by how many tests and captures; `unread` captures fit no vendor."""

    files: tuple[FileCoverage, ...]
    tests: int
    captures: int
    unread: tuple[str, ...]

    @property
    def percent(self) -> float:
        """Of all rules and maps, how many of a hundred were made use of; 100 where there are none."""
        used = sum(len(file.used) for file in self.files)
        known = used + sum(len(file.never) for file in self.files)
        return 100 * used / known if known else 100.0


class Tally:
    """A witness that counts: the cells that were met, and the maps that made events."""

    def __init__(self) -> None:
        self.cells: set[tuple[str, str, int]] = set()
        self.maps: set[str] = set()

    @contextmanager
    def item(self, kind: str, value: Any) -> Iterator[None]:
        """Items do not count."""
        yield

    def handed_over(self) -> None:
        """Updates do not count."""

    def mapped(self, frame: Any, made: Made | None) -> None:
        """Maps made events."""
        self.maps.update(one[2] for one in made or () if not isinstance(one, Mistyped))

    def turn(self, one: Mapped | Mistyped | None) -> None:
        """Events count where they meet a cell."""

    def asked(self, machine: Machine, state: str, spec: EventSpec, index: int) -> None:
        """A cell was met."""
        self.cells.add((spec.name, state, index))

    def acted(self, machine: Machine, leaf: Leaf) -> None:
        """What is done there does not count."""


class Survey:
    """Rule files, and what is made use of in them.

    Args:
        files: Paths or names of rule files, all of which have to be sound.
        folders: Where further rule files are looked up by name.

    Raises:
        RulesError: A file does not pass the checks.
    """

    def __init__(self, files: Sequence[str], folders: Sequence[Path] = ()) -> None:
        self._folders = list(folders)
        self._known: dict[Thing, bool] = {}
        self._cells: dict[str, set[tuple[Any, ...]]] = {}
        self._met: dict[str, set[tuple[Any, ...]]] = {}
        self._subjects: dict[str, tuple[Subject, Table]] = {}
        self._vendors: dict[str, Table] = {}
        self._tests = 0
        self._captures = 0
        self._unread: list[str] = []
        self._trials = [prepare(file, self._folders) for file in files]
        for file, trial in zip(files, self._trials, strict=True):
            if not trial.sound or not trial.tables:
                raise refusal(trial.diagnostics, trial.sources)
            self._survey(file, trial)

    def run_tests(self) -> None:
        """Play the tests that stand in the files."""
        for trial in self._trials:
            for test in trial.tests:
                table = trial.table(test)
                if table is not None:
                    self._tests += 1
                    self._count(table, _played(test, table))

    def read_captures(self, folder: Path) -> None:
        """Read the captures in a folder and those in it.

        A capture is read by the vendor that a folder on its way is named after, the outermost one first; else by the
        one whose protocol is recognised.
        """
        for path in sorted(folder.rglob("*")):
            if path.suffix in CAPTURES and path.is_file():
                vendor = next((part for part in path.relative_to(folder).parts[:-1] if self._vendor(part)), None)
                table, tally = _read(path, self._vendor(vendor) if vendor is not None else None)
                if table is None:
                    self._unread.append(str(path.relative_to(folder)))
                else:
                    self._captures += 1
                    self._count(table, tally)

    def report(self) -> Report:
        """What was made use of so far."""
        files = []
        for source in dict.fromkeys(trial.source for trial in self._trials):
            things = {thing: used for thing, used in self._known.items() if thing.source == source}
            files.append(
                FileCoverage(
                    source,
                    tuple(thing for thing, used in things.items() if used),
                    tuple(thing for thing, used in things.items() if not used),
                    len(self._cells.get(source, ())),
                    len(self._met.get(source, ())),
                )
            )
        return Report(tuple(files), self._tests, self._captures, tuple(self._unread))

    # -- what there is -------------------------------------------------------------------------------------------------

    def _survey(self, file: str, trial: Trial) -> None:
        for base, table in trial.tables.items():
            subject = open_subject(file, folders=self._folders, base=base if trial.kind == "fragment" else None)
            self._add(subject, table)
        if trial.kind == "vendor":
            self._vendors[trial.name] = next(iter(trial.tables.values()))

    def _add(self, subject: Subject, table: Table) -> None:
        if table.fingerprint in self._subjects:
            return
        self._subjects[table.fingerprint] = subject, table
        for thing in (*_things(subject, "rule", _rules(table.policy)), *_things(subject, "map", _maps(table))):
            self._known.setdefault(thing, False)
        for source, cell, _ in _cells(subject, table.policy):
            self._cells.setdefault(source, set()).add(cell)

    def _vendor(self, name: str) -> Table | None:
        if name not in self._vendors and name in FileLoader(folders=self._folders).names("vendor"):
            subject = open_subject(name, folders=self._folders)
            assert subject.table is not None
            self._vendors[name] = subject.table
        return self._vendors.get(name)

    def _count(self, table: Table, tally: Tally) -> None:
        if table.fingerprint not in self._subjects:
            self._add(open_subject(table.program.name, folders=self._folders), table)
        subject, table = self._subjects[table.fingerprint]
        met = {key for _, _, key in _cells(subject, table.policy, tally.cells)}
        rules = {_rule_at(table.policy, *key) for key in met}
        for thing in (*_things(subject, "rule", rules), *_things(subject, "map", tally.maps)):
            self._known[thing] = True
        for source, cell, _ in _cells(subject, table.policy, met):
            self._met.setdefault(source, set()).add(cell)


def _rules(policy: PolicyTable) -> Iterable[str]:
    return dict.fromkeys(outcome.rule for outcome in policy.outcomes)


def _maps(table: Table) -> Iterable[str]:
    return (one.name for one in table.program.maps)


def _things(subject: Subject, kind: str, names: Iterable[str]) -> Iterator[Thing]:
    for name in names:
        site = subject.sites.find(kind, name)
        if site is not None:
            yield Thing(kind, name, site.source, site.line)


def _cells(
    subject: Subject, policy: PolicyTable, of: Iterable[tuple[str, str, int]] | None = None
) -> Iterator[tuple[str, tuple[Any, ...], tuple[str, str, int]]]:
    """Cells that can occur, all or some: the file of their rule, what they are known by in it, and their place here.

    A policy may be met with a vendor's edits and without: where the questions of an event are the same, so are its
    cells.
    """
    sources = {rule: site.source for rule in _rules(policy) if (site := subject.sites.find("rule", rule)) is not None}
    asked = {name: tuple(question.cases for question in spec.questions) for name, spec in policy.events.items()}
    for event, state, index in of if of is not None else _all(policy.cells):
        if policy.cells[event][state][index] >= 0:
            rule = _rule_at(policy, event, state, index)
            yield sources.get(rule, ""), (rule, event, asked[event], state, index), (event, state, index)


def _all(cells: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[tuple[str, str, int]]:
    for event, by_state in cells.items():
        for state, row in by_state.items():
            for index in range(len(row)):
                yield event, state, index


def _rule_at(policy: PolicyTable, event: str, state: str, index: int) -> str:
    return policy.outcomes[policy.cells[event][state][index]].rule


# -- what is made use of -----------------------------------------------------------------------------------------------


def _played(test: Test, table: Table) -> Tally:
    tally, tools = Tally(), tools_of(test)
    stage = Stage(table, tools)
    stage.stream = ObservedStream(table, tools, tally, SEED)
    for step in test.steps:
        if isinstance(step, Given) and step.kind in FED:
            stage.feed(_piece(step, table))
    stage.stream.close()
    return tally


def tests_that_fire(trial: Trial, rule: str) -> Iterator[tuple[str, str]]:
    """The tests of a file in which a rule fires: their titles and places."""
    for test in trial.tests:
        table = trial.table(test)
        if table is not None and rule in {_rule_at(table.policy, *cell) for cell in _played(test, table).cells}:
            yield test.title, f"{test.place.source}:{test.place.line}"


def _read(path: Path, table: Table | None) -> tuple[Table | None, Tally]:
    tally, wire, body = Tally(), CAPTURES[path.suffix], path.read_bytes()

    def start(chosen: Table) -> ObservedStream:
        return ObservedStream(chosen, Tools(None), tally, SEED, wire)

    if table is not None:
        stream = start(table)
        stream.feed_bytes(body)
    else:
        detector = Detector(start, wire, None)
        found = detector.feed(body) or detector.close()
        if found is None:
            return None, tally
        stream, table = found, found.table  # type: ignore[assignment]
    stream.close()
    return table, tally
