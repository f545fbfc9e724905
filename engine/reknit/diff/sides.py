"""One side of a comparison: a rule file with all it builds on, compiled, and the nodes that say where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reknit.compile.policy import compile_policy
from reknit.compile.program import compile_program
from reknit.errors import RulesError, UsageError
from reknit.lang.diagnostics import Diagnostic, lines_of, render
from reknit.lang.files import Loaded, Loader
from reknit.lang.resolve import read_file, resolve_policy, resolve_vendor
from reknit.lang.resolved import FlatItems, ResolvedPolicy, ResolvedVendor
from reknit.lang.syntax import File, Given, Item, Name, Place, Quirk, Test
from reknit.rulebook import protocols
from reknit.table import PolicyTable, Program, Table, assemble


@dataclass(frozen=True, slots=True)
class Side:
    """A rule file, compiled with all that it builds on.

    Attributes:
        source: The name to show for the file.
        file: Its own nodes.
        table: What runs: for a policy, a table without maps; for a fragment, a vendor with it on top.
        rules: The policy with all edits applied.
        vendor: The vendor with all edits applied; None for a policy.
    """

    source: str
    file: File
    table: Table
    rules: ResolvedPolicy
    vendor: ResolvedVendor | None

    @property
    def kind(self) -> str:
        """policy, vendor or fragment."""
        return self.file.header.kind

    @property
    def name(self) -> str:
        """The name in the header."""
        return self.file.header.name.text

    @property
    def policy(self) -> PolicyTable:
        """The compiled policy."""
        return self.table.policy

    @property
    def program(self) -> Program | None:
        """The compiled vendor program; None for a policy."""
        return self.table.program if self.vendor is not None else None

    def item(self, kind: str, name: str) -> Item | None:
        """An item that takes part, by its kind and name."""
        for resolved in self._resolved():
            if (kind, name) in resolved.items:
                return resolved.items[kind, name]
        return None

    def place(self, kind: str, name: str) -> Place | None:
        """Where an item stands; None where there is none."""
        item = self.item(kind, name)
        return None if item is None else item.place

    def quirk(self, kind: str, name: str) -> str | None:
        """The quirk that gave an item its present form, if one did."""
        for resolved in self._resolved():
            if (kind, name) in resolved.origins:
                return resolved.origins[kind, name].quirk
        return None

    def _resolved(self) -> Iterable[FlatItems]:
        return (self.rules,) if self.vendor is None else (self.rules, self.vendor)


class Workshop:
    """Compiles sides out of one set of files; the same policy only once.

    Args:
        loader: Finds the files.
        policy: A policy to use instead of those that vendors name.
    """

    def __init__(self, loader: Loader, policy: str | None = None) -> None:
        self.loader = loader
        self._policy = policy
        self._policies: dict[str, PolicyTable] = {}

    def file(self, name_or_path: str) -> File:
        """Read one file by itself.

        Raises:
            RulesError: It cannot be read.
        """
        read = read_file(name_or_path, self.loader)
        if read.value is None or read.failed:
            raise refusal(read.diagnostics, read.sources)
        return read.value

    def side(self, name_or_path: str, base: str | None = None) -> Side:
        """Compile one side.

        Args:
            name_or_path: A rule file of any kind.
            base: For a fragment, the vendor on top of which it is looked at; without one, the first that it fits.

        Raises:
            RulesError: It does not pass the checks.
        """
        file = self.file(name_or_path)
        if file.header.kind == "policy":
            return self._policy_side(name_or_path)
        if file.header.kind == "vendor":
            return self.vendor_side(name_or_path, file)
        bases = [base] if base is not None else self.bases(name_or_path)
        return self.vendor_side((bases or protocols())[0], file, [name_or_path])

    def vendor_side(
        self, vendor: str, file: File | None = None, fragments: Sequence[str] = (), policy: str | None = None
    ) -> Side:
        """Compile a vendor with fragments on top.

        Args:
            vendor: Its name or path.
            file: What is asked about: the vendor itself without it, or one of the fragments.
            fragments: Names or paths.
            policy: A policy to use instead of the one that it names.
        """
        resolution = resolve_vendor(vendor, self.loader, policy or self._policy, fragments)
        value = resolution.value
        if value is None or resolution.failed:
            raise refusal(resolution.diagnostics, resolution.sources)
        table = self._policy_table(value.policy, resolution.sources)
        program, found = compile_program(value.name, _settings(value), value.items.values(), table)
        if program is None:
            raise refusal(found, resolution.sources)
        file = file or value.chain[-1]
        return Side(file.source, file, assemble(table, program), value.policy, value)

    def bases(self, fragment: str) -> list[str]:
        """The vendors that a fragment fits: those that its tests name first, then the protocols."""
        file = self.file(fragment)
        given = [
            step for item in file.items if isinstance(item, Test) for step in item.steps if isinstance(step, Given)
        ]
        named = [str(step.value) for step in given if step.kind == "vendor"]
        return [base for base in dict.fromkeys([*named, *protocols()]) if self._fits(base, file, fragment)]

    def below(self, name_or_path: str) -> Side:
        """What a file stands on: what it extends, a fragment's vendor, or itself without its quirks.

        Raises:
            UsageError: It stands on nothing, and edits nothing.
        """
        file = self.file(name_or_path)
        if file.header.kind == "fragment":
            return self.vendor_side((self.bases(name_or_path) or protocols())[0])
        if file.header.extends is not None:
            base = file.header.extends.text
            return self._policy_side(base) if file.header.kind == "policy" else self.vendor_side(base)
        if not any(isinstance(item, Quirk) for item in file.items):
            name = file.header.name.text
            help = "name two files, or revisions as in `main..`"
            raise UsageError("no-quirks", f"{file.header.kind} `{name}` extends nothing and has no quirks", help)
        return Workshop(_WithoutQuirks(self.loader, file), self._policy).side(name_or_path)

    def _fits(self, base: str, file: File, fragment: str) -> bool:
        try:
            self.vendor_side(base, file, [fragment])
        except RulesError:
            return False
        return True

    def _policy_side(self, name: str) -> Side:
        resolution = resolve_policy(name, self.loader)
        value = resolution.value
        if value is None or resolution.failed:
            raise refusal(resolution.diagnostics, resolution.sources)
        table = self._policy_table(value, resolution.sources)
        file = value.chain[-1]
        return Side(file.source, file, assemble(table, without_maps(value.name.text)), value, None)

    def _policy_table(self, rules: ResolvedPolicy, sources: Mapping[str, str]) -> PolicyTable:
        written = f"{rules.name.text}\n{list(rules.items.values())!r}"
        if written not in self._policies:
            table, found = compile_policy(rules.name.text, rules.items.values(), rules.name.place)
            if table is None:
                raise refusal(found, sources)
            self._policies[written] = table
        return self._policies[written]


class _WithoutQuirks:
    """Files, one of them with blanks in the place of its quirks."""

    def __init__(self, loader: Loader, file: File) -> None:
        self._loader = loader
        self._file = file

    def load(self, name_or_path: str, kind: str | None = None) -> Loaded | Diagnostic:
        """Give the text of a file."""
        loaded = self._loader.load(name_or_path, kind)
        if isinstance(loaded, Diagnostic) or loaded.source != self._file.source:
            return loaded
        lines = lines_of(loaded.text)
        for item in self._file.items:
            if isinstance(item, Quirk):
                place = item.place
                rest = lines[place.end_line - 1][place.end_column - 1 :]
                head = lines[place.line - 1][: place.column - 1]
                lines[place.line - 1 : place.end_line] = ["" for _ in range(place.line, place.end_line + 1)]
                lines[place.line - 1] = head
                lines[place.end_line - 1] += rest
        return Loaded(loaded.source, "\n".join(lines))


def without_maps(name: str) -> Program:
    """The program of a policy by itself: what happens to it are canonical events."""
    return Program(name, "", "sse", None, (), None, (), (), (), {}, ())


def refusal(found: Iterable[Diagnostic], sources: Mapping[str, str]) -> RulesError:
    """What to raise for a file that does not pass the checks."""
    found = list(found)
    return RulesError(render(found, sources), tuple(diagnostic.code for diagnostic in found))


def _settings(vendor: ResolvedVendor) -> dict[str, tuple[Name, ...]]:
    return {
        "protocol": (vendor.protocol,) if vendor.protocol else (),
        "wire": (vendor.wire,) if vendor.wire else (),
        "end": (vendor.end,) if vendor.end else (),
        "salvage": vendor.salvage,
        "choices": vendor.choices or (),
    }
