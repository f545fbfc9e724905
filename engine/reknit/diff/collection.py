"""Rule files that are compared together: a file, a folder, or what stands in a revision; matched by kind and name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from reknit.diff.sides import Side, Workshop
from reknit.errors import RulesError, UsageError
from reknit.lang.diagnostics import Diagnostic
from reknit.lang.files import SUFFIX, FileLoader, Loaded, Loader
from reknit.lang.resolve import DEFAULT_POLICY
from reknit.lang.syntax import File


class Key(NamedTuple):
    """What a rule file is known by: the kind and name in its header, and its folder where there are several."""

    kind: str
    name: str
    folder: str = ""


_ORDER: Final = ("policy", "vendor", "fragment")


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule file of a collection.

    Attributes:
        argument: What its loader knows it by.
        file: Its nodes.
        text: What stands in it.
    """

    argument: str
    file: File
    text: str


@dataclass(slots=True)
class Collection:
    """Rule files and how they are found.

    Attributes:
        label: What to call them: a path, a revision.
        entries: By kind, name and folder.
        unread: Files whose header could not be read, or is that of another file beside them; by what their loader
            knows them by.
        loader: Makes the loader for a file and those beside it.
        policy: A policy to use instead of those that vendors name.
    """

    label: str
    entries: dict[Key, Entry]
    unread: list[str] = field(default_factory=list)
    loader: Callable[[str], Loader] = field(default=lambda argument: FileLoader())
    policy: str | None = None
    _workshops: dict[str, Workshop] = field(default_factory=dict)

    def workshop(self, argument: str) -> Workshop:
        """The workshop for a file and those beside it."""
        folder = argument.rpartition("/")[0]
        if folder not in self._workshops:
            self._workshops[folder] = Workshop(self.loader(argument), self.policy)
        return self._workshops[folder]

    def side(self, key: Key, base: str | None = None) -> Side:
        """Compile a file of the collection."""
        argument = self.entries[key].argument
        return self.workshop(argument).side(argument, base)

    def below(self, key: Key) -> Side:
        """What a file of the collection stands on."""
        argument = self.entries[key].argument
        return self.workshop(argument).below(argument)

    def bases(self, key: Key) -> list[str]:
        """The vendors that a fragment of the collection fits."""
        argument = self.entries[key].argument
        return self.workshop(argument).bases(argument)

    def in_order(self) -> list[Key]:
        """All keys: policies first, then vendors with what they extend first, then fragments."""
        return sorted(self.entries, key=lambda key: (_ORDER.index(key.kind), self._depth(key), key.name, key.folder))

    def _depth(self, key: Key) -> int:
        depth, seen = 0, {key}
        entry = self.entries.get(key)
        while entry is not None and entry.file.header.extends is not None:
            key = key._replace(name=entry.file.header.extends.text)
            if key in seen:
                break
            seen.add(key)
            depth, entry = depth + 1, self.entries.get(key)
        return depth

    def texts(self, key: Key) -> frozenset[tuple[str, str, str]]:
        """The texts of a file and of all beside it that it builds on: what its table depends on."""
        found: dict[tuple[str, str], str] = {}
        pending = [(key.kind, key.name)]
        if self.policy is not None:
            pending.append(("policy", self.policy))
        while pending:
            kind, name = pending.pop()
            entry = self.entries.get(Key(kind, name, key.folder))
            if (kind, name) not in found and entry is not None:
                found[kind, name] = entry.text
                pending += _builds_on(entry.file)
        return frozenset((*names, text) for names, text in found.items())


def matched(before: Collection, after: Collection) -> list[tuple[Key | None, Key | None]]:
    """The files of two collections by pairs: those of one kind, name and folder, then those that were moved."""
    pairs: list[tuple[Key | None, Key | None]] = []
    gone = [key for key in before.in_order() if key not in after.entries]
    come = [key for key in after.in_order() if key not in before.entries]
    for key in after.in_order():
        if key in before.entries:
            pairs.append((key, key))
            continue
        moved = [other for other in gone if other[:2] == key[:2]]
        alike = [other for other in come if other[:2] == key[:2]]
        if len(moved) == len(alike) == 1:
            gone.remove(moved[0])
            pairs.append((moved[0], key))
        else:
            pairs.append((None, key))
    return [*pairs, *((key, None) for key in gone)]


def _builds_on(file: File) -> Iterable[tuple[str, str]]:
    header = file.header
    if header.extends is not None:
        yield (header.kind, header.extends.text)
    yield from (("fragment", name.text) for name in header.fragments)
    policies = [setting.values[0].text for setting in header.settings if setting.key == "policy"]
    if policies:
        yield ("policy", policies[0])
    elif header.kind == "vendor" and header.extends is None:
        yield ("policy", DEFAULT_POLICY)


def gathered(
    label: str, arguments: Mapping[str, str], loader: Callable[[str], Loader], policy: str | None = None
) -> Collection:
    """Read the headers of rule files.

    Args:
        label: What to call them.
        arguments: What their loader knows them by, each with the folder by which it is told from its namesakes.
        loader: Makes the loader for a file and those beside it.
        policy: A policy to use instead of those that vendors name.
    """
    collection = Collection(label, {}, loader=loader, policy=policy)
    for argument, folder in arguments.items():
        workshop = collection.workshop(argument)
        loaded = workshop.loader.load(argument)
        try:
            file = workshop.file(argument)
        except RulesError:
            collection.unread.append(argument)
            continue
        key = Key(file.header.kind, file.header.name.text, folder)
        if key in collection.entries:
            collection.unread.append(argument)
        else:
            text = loaded.text if isinstance(loaded, Loaded) else ""
            collection.entries[key] = Entry(argument, file, text)
    return collection


def on_disk(path: str, policy: str | None = None) -> Collection:
    """The rule files of a folder, one rule file, or a name.

    Raises:
        UsageError: There are none.
        RulesError: The one file cannot be read.
    """
    place = Path(path)
    if place.is_dir():
        files = sorted(str(file) for file in place.glob(f"*{SUFFIX}"))
        if not files:
            raise UsageError("no-rules", f"there are no rule files in `{path}`", f"rule files end in `{SUFFIX}`")
        return gathered(path, dict.fromkeys(files, ""), lambda argument: FileLoader(start=place), policy)
    argument = path
    if place.is_file() and not path.endswith(SUFFIX) and "/" not in path:
        argument = f"./{path}"  # the loader would take it for a name
    loader = FileLoader()
    loaded = loader.load(argument)
    if isinstance(loaded, Diagnostic) and not place.exists():
        raise UsageError("unknown-rules", loaded.message, loaded.help or "")
    collection = Collection(path, {}, loader=lambda _: loader, policy=policy)
    file = collection.workshop(argument).file(argument)
    text = loaded.text if isinstance(loaded, Loaded) else ""
    collection.entries[Key(file.header.kind, file.header.name.text)] = Entry(argument, file, text)
    return collection


def only(collection: Collection) -> Key | None:
    """The one file of a collection; None where there are several."""
    return next(iter(collection.entries)) if len(collection.entries) == 1 and not collection.unread else None
