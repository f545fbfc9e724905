"""Where things stand in rule files: the file and line of a rule or map, its text, and the quirks that made it so."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from reknit.lang.contents import Key, edit_key, key_of
from reknit.lang.diagnostics import lines_of
from reknit.lang.resolved import FlatItems, ResolvedPolicy, ResolvedVendor
from reknit.lang.shelf import Origin
from reknit.lang.syntax import File, Item, Place, Quirk, Test

SAID: Final = "said"


class Site(msgspec.Struct, frozen=True):
    """A place in a rule file that says something of an item.

    Attributes:
        source: The file, by the name that is shown for it.
        line: Its first line.
        text: What stands there.
        verb: `said` where the item itself stands, else what a quirk does to it: add, override or remove.
        quirk: The name of that quirk, or an empty string.
        reason: What the quirk gives as its reason.
    """

    source: str
    line: int
    text: str
    verb: str = SAID
    quirk: str = ""
    reason: str = ""

    @property
    def where(self) -> str:
        """The file and line, as editors know them."""
        return f"{self.source}:{self.line}"


class Sites:
    """Where the items of a policy and a vendor stand.

    Args:
        policy: The resolved policy, a vendor's edits applied.
        vendor: The resolved vendor, if there is one.
        sources: The texts of all files that took part.
    """

    def __init__(self, policy: ResolvedPolicy, vendor: ResolvedVendor | None, sources: Mapping[str, str]) -> None:
        self._flats: list[FlatItems] = [policy] if vendor is None else [policy, vendor]
        self._lines = {source: lines_of(text) for source, text in sources.items()}
        self._items: dict[Key, Item] = {}
        self._origins: dict[Key, Origin] = {}
        self._found: dict[Key, Site | None] = {}
        for flat in self._flats:
            self._items |= flat.items
            self._origins |= flat.origins

    def names(self, kind: str) -> list[str]:
        """The names of all items of a kind, in order."""
        return [name for of, name in self._items if of == kind]

    def item(self, kind: str, name: str) -> Any:
        """The node of an item, or None."""
        return self._items.get((kind, name))

    def find(self, kind: str, name: str) -> Site | None:
        """Where the present form of an item stands; None where it is not known."""
        key = (kind, name)
        if key not in self._found:
            item, history = self._items.get(key), self.history(kind, name)
            edited = item is not None and self._origins[key].quirk is not None and history
            self._found[key] = None if item is None else history[-1] if edited else self._site(item.place)
        return self._found[key]

    def history(self, kind: str, name: str) -> tuple[Site, ...]:
        """What was said of an item, in the order in which it counts: where it stands first, then what quirks edit."""
        key = (kind, name)
        own = [self._site(item.place) for file in self._files() for item in _items(file) if key_of(item) == key]
        edits = [
            self._site(edit.item.place if edit.item is not None else edit.place, edit.verb, quirk)
            for quirk in self._quirks()
            for edit in quirk.edits
            if edit_key(edit) == key
        ]
        return tuple(dict.fromkeys([*own, *edits]))

    def _files(self) -> Iterator[File]:
        for flat in self._flats:
            yield from flat.chain
            yield from flat.fragments

    def _quirks(self) -> Iterable[Quirk]:
        return (quirk for flat in self._flats for _, quirk in flat.quirks)

    def _site(self, place: Place, verb: str = SAID, quirk: Quirk | None = None) -> Site:
        text = self._text(place)
        if quirk is None:
            return Site(place.source, place.line, text, verb)
        return Site(place.source, place.line, text, verb, quirk.name.text, quirk.reason)

    def _text(self, place: Place) -> str:
        lines = self._lines.get(place.source, [])[place.line - 1 : place.end_line]
        if not lines:
            return ""
        if len(lines) == 1:
            return lines[0][place.column - 1 : place.end_column - 1].rstrip()
        lines[-1] = lines[-1][: place.end_column - 1]
        # What stands in a quirk is indented as a whole; its clauses keep the place that they have to its keyword.
        rest = textwrap.dedent("\n".join(line.expandtabs(2) for line in lines[1:]))
        closing = rest.startswith("}") or rest.endswith("\n}")
        inner = rest if closing else textwrap.indent(rest, "  ")
        return f"{lines[0][place.column - 1 :]}\n{inner}".rstrip()


def _items(file: File) -> Iterator[Item]:
    return (item for item in file.items if not isinstance(item, Quirk | Test))
