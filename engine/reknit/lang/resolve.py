"""From a named rule file to everything that counts for it: what it extends, its fragments, and all edits applied.

Order of application, along a chain from its root: the fragments of a file in the order named, then the file's own
items, then its quirks. A vendor's edits of rules go to the policy that it uses, after the policy's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from reknit.lang.contents import POLICY_KINDS, Key, edit_key, key_of
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.files import Loader
from reknit.lang.parser import parse
from reknit.lang.resolved import Resolution, ResolvedPolicy, ResolvedVendor, T
from reknit.lang.shelf import Applied, Shelf, edit_keyword
from reknit.lang.syntax import NOWHERE, Allow, Edit, File, Item, Name, Place, Quirk, Setting, Test

MAX_CHAIN: Final = 16
DEFAULT_POLICY: Final = "standard"

__all__ = [
    "DEFAULT_POLICY",
    "MAX_CHAIN",
    "Resolution",
    "ResolvedPolicy",
    "ResolvedVendor",
    "read_file",
    "resolve_policy",
    "resolve_vendor",
]


def read_file(name_or_path: str, loader: Loader) -> Resolution[File]:
    """Read one file of any kind, without what it builds on."""
    library = _Library(loader)
    return library.resolution(library.file(name_or_path))


def resolve_policy(name_or_path: str, loader: Loader) -> Resolution[ResolvedPolicy]:
    """Resolve a policy by itself."""
    library = _Library(loader)
    work = _policy(library, name_or_path, NOWHERE)
    return library.resolution(None if work is None else work.policy())


def resolve_vendor(
    name_or_path: str, loader: Loader, policy: str | None = None, fragments: Sequence[str] = ()
) -> Resolution[ResolvedVendor]:
    """Resolve a vendor and the policy that it uses.

    Args:
        name_or_path: The vendor file.
        loader: Finds it and what it builds on.
        policy: A policy to use instead of the one that the vendor names; the vendor's edits go to it.
        fragments: Fragments to apply after the vendor's own edits, in this order.
    """
    library = _Library(loader)
    program = _Work(library, "vendor")
    if not program.read(name_or_path, NOWHERE) or not program.read_fragments([Name(name) for name in fragments]):
        return library.resolution(None)
    chosen = program.settings.get("policy")
    place = NOWHERE
    if policy is None:
        policy = DEFAULT_POLICY if chosen is None else chosen.values[0].text
        place = program.chain[-1].header.name.place if chosen is None else chosen.values[0].place
    work = _policy(library, policy, place)
    if work is None:
        library.found += program.shelf.found
        return library.resolution(None)
    work.take(program.edits)
    library.found += program.shelf.found
    return library.resolution(program.vendor(work.policy()))


def _policy(library: _Library, name_or_path: str, place: Place) -> _Work | None:
    work = _Work(library, "policy")
    return work if work.read(name_or_path, place) else None


class _Library:
    """The files of one resolution, each loaded and parsed once, and all that was wrong."""

    def __init__(self, loader: Loader) -> None:
        self.found: list[Diagnostic] = []
        self.sources: dict[str, str] = {}
        self._loader = loader
        self._files: dict[str, File | None] = {}

    def file(self, name: str, kind: str | None = None, place: Place = NOWHERE) -> File | None:
        """Load and parse a file of a kind; `place` is where it was named."""
        loaded = self._loader.load(name, kind)
        if isinstance(loaded, Diagnostic):
            if place is not NOWHERE and not loaded.label.place.source:
                loaded = replace(loaded, label=Label(place, loaded.label.text or "named here"))
            self.found.append(loaded)
            return None
        if loaded.source not in self._files:
            self.sources[loaded.source] = loaded.text
            self._files[loaded.source], found = parse(loaded.text, loaded.source)
            self.found += found
        return self._files[loaded.source]

    def resolution(self, value: T | None) -> Resolution[T]:
        # Two files may build on one that is wrong in itself; that is told once.
        return Resolution(value, tuple(dict.fromkeys(self.found)), self.sources)


class _Work:
    """A chain of files of one kind while it is made flat."""

    def __init__(self, library: _Library, kind: str) -> None:
        self.chain: list[File] = []
        self.fragments: list[File] = []
        self.settings: dict[str, Setting] = {}
        self.salvage: tuple[Name, ...] = ()
        self.shelf = Shelf()
        self.quirks: list[tuple[File, Quirk]] = []
        self.edits: list[tuple[File, Quirk | None, Edit | Item]] = []
        self._library = library
        self._kind = kind

    def read(self, name: str, place: Place) -> bool:
        """Read the chain from the file asked for to its root, then apply it from the root; whether all was found."""
        complete = True
        seen: dict[str, Place] = {}
        wanted: Name | None = Name(name, place)
        while wanted is not None:
            file = self._file(wanted, self._kind)
            if file is None:
                complete = False
                break
            if file.source in seen or len(self.chain) >= MAX_CHAIN:
                self._library.found.append(_circular(wanted, file, file.source in seen))
                complete = False
                break
            seen[file.source] = wanted.place
            self.chain.insert(0, file)
            wanted = file.header.extends
        for file in self.chain:
            complete = self._apply(file) and complete
        return complete

    def take(self, edits: list[tuple[File, Quirk | None, Edit | Item]]) -> None:
        """Apply the edits that a vendor makes to its policy."""
        for file, quirk, change in edits:
            if isinstance(change, Edit):
                if quirk is not None:
                    self.shelf.edit(change, quirk, file)
                    if (file, quirk) not in self.quirks[-1:]:
                        self.quirks.append((file, quirk))
            else:
                self.shelf.put(change, file)

    def policy(self) -> ResolvedPolicy:
        self._library.found += self.shelf.found
        return ResolvedPolicy(**self._items())

    def vendor(self, policy: ResolvedPolicy) -> ResolvedVendor:
        def said(key: str) -> tuple[Name, ...]:
            setting = self.settings.get(key)
            return () if setting is None else setting.values

        choices = said("choices")
        return ResolvedVendor(
            **self._items(),
            policy=policy,
            protocol=next(iter(said("protocol")), None),
            wire=next(iter(said("wire")), None),
            end=next(iter(said("end")), None),
            salvage=self.salvage,
            choices=(choices[0], choices[1]) if choices else None,
        )

    def _items(self) -> dict[str, Any]:
        own = self.chain[-1]
        return {
            "name": own.header.name,
            "reason": own.header.reason,
            "chain": tuple(self.chain),
            "fragments": tuple(self.fragments),
            "items": self.shelf.items,
            "origins": self.shelf.origins,
            "tests": tuple((own, item) for item in own.items if isinstance(item, Test)),
            "quirks": tuple(self.quirks),
            "applied": tuple(self.shelf.applied),
        }

    def _file(self, name: Name, kind: str) -> File | None:
        file = self._library.file(name.text, kind, name.place)
        if file is not None and file.header.kind != kind:
            self._library.found.append(_other_kind(name, file, kind))
            return None
        return file

    def _apply(self, file: File) -> bool:
        for setting in file.header.settings:
            self.settings[setting.key] = setting
            if setting.key == "salvage":
                self.salvage = setting.values
        complete = self.read_fragments(file.header.fragments)
        self._apply_items(file, file.header.name)
        return complete

    def read_fragments(self, names: Sequence[Name]) -> bool:
        """Read fragments and apply them in this order; whether all were found."""
        complete = True
        for name in names:
            fragment = self._file(name, "fragment")
            if fragment is None:
                complete = False
                continue
            self.fragments.append(fragment)
            self._apply_items(fragment, name)
        return complete

    def _apply_items(self, file: File, user: Name) -> None:
        quirks = [item for item in file.items if isinstance(item, Quirk)]
        for item in file.items:
            if isinstance(item, Quirk | Allow | Test):
                continue
            if self._belongs(key_of(item)[0], item.place, user):
                self.shelf.put(item, file)
            elif self._kind == "vendor":
                self.edits.append((file, None, item))
        for quirk, edit in _edits_once(quirks, self.shelf):
            kind = edit_key(edit)[0]
            if not self._belongs(kind, edit.name.place, user):
                if self._kind == "vendor":
                    self.edits.append((file, quirk, edit))
            elif kind == "setting":
                self._edit_salvage(edit, quirk, file)
            else:
                self.shelf.edit(edit, quirk, file)
        self.quirks += [(file, quirk) for quirk in quirks]

    def _belongs(self, kind: str, place: Place, user: Name) -> bool:
        """Whether an item is for this side; a policy cannot use what reads frames, a vendor passes rules on."""
        if self._kind == "vendor":
            return kind not in POLICY_KINDS
        if kind in POLICY_KINDS:
            return True
        self.shelf.report(
            Diagnostic(
                "E503",
                f"fragment {quoted(user.text)} edits what reads frames, which a policy has not",
                Label(user.place, "used here"),
                (Label(place, "this edit"),),
                help="use the fragment in a vendor file",
            )
        )
        return False

    def _edit_salvage(self, edit: Edit, quirk: Quirk, file: File) -> None:
        before = Setting("salvage", self.salvage)
        self._change_salvage(edit, quirk)
        self.shelf.applied.append(Applied(file, quirk, edit, before, Setting("salvage", self.salvage)))

    def _change_salvage(self, edit: Edit, quirk: Quirk) -> None:
        setting: Any = edit.item
        if edit.verb == "override":
            self.salvage = setting.values
            return
        known = {name.text: name for name in self.salvage}
        for name in setting.values:
            if name.text in known:
                self.shelf.report(
                    Diagnostic(
                        "E502",
                        f"quirk {quoted(quirk.name.text)} adds {quoted(name.text)} to `salvage`, where it is already",
                        Label(name.place, "added here"),
                        (Label(known[name.text].place, "it is here"),),
                        help="take it out",
                    )
                )
            else:
                self.salvage = (*self.salvage, name)


def _edits_once(quirks: list[Quirk], shelf: Shelf) -> Iterator[tuple[Quirk, Edit]]:
    """Give the edits of one file; two of them to one item would make their order count, and are told instead."""
    first: dict[Key, Edit] = {}
    for quirk in quirks:
        for edit in quirk.edits:
            key = edit_key(edit)
            if key in first and key[0] != "setting":
                shelf.report(
                    Diagnostic(
                        "E504",
                        f"{edit_keyword(edit)} {quoted(key[1])} is edited twice in one file",
                        Label(edit.name.place, "the second edit"),
                        (Label(first[key].name.place, "the first one"),),
                        help="put both into one edit",
                    )
                )
                continue
            first.setdefault(key, edit)
            yield quirk, edit


def _circular(name: Name, file: File, seen: bool) -> Diagnostic:
    kind = file.header.kind
    if not seen:
        return Diagnostic(
            "E106",
            f"a chain of more than {MAX_CHAIN} files extends one another",
            Label(name.place, "one too many"),
            help="extend a file nearer to the root",
        )
    return Diagnostic(
        "E106",
        f"{kind} {quoted(name.text)} extends itself",
        Label(name.place, "leads back here"),
        help=f"name the {kind} that was there first",
    )


def _other_kind(name: Name, file: File, kind: str) -> Diagnostic:
    found = file.header.kind
    header = Label(file.header.name.place, f"this is a {found}")
    message = f"{quoted(file.header.name.text)} is a {found}, not a {kind}"
    if not name.place.source:
        return Diagnostic("E503", message, header)
    return Diagnostic("E503", message, Label(name.place, f"a {kind} is meant here"), (header,))
