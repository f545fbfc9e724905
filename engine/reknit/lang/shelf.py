"""The items of a chain of files while edits are applied to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from reknit.lang.contents import Key, edit_key, key_of, keyword_of, name_place
from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import Edit, File, Item, Map, Quirk, Rule, Setting

MAX_FINDINGS: Final = 50


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the present form of an item comes from: a file, and the quirk of it that said so, if one did."""

    source: str
    quirk: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """An edit that was applied, by which quirk of which file, and the item before and after it; None for no item."""

    file: File
    quirk: Quirk
    edit: Edit
    before: Item | Setting | None
    after: Item | Setting | None


class Shelf:
    """Items by kind and name, in the order written: an override keeps its place, an addition goes last."""

    def __init__(self) -> None:
        self.items: dict[Key, Item] = {}
        self.origins: dict[Key, Origin] = {}
        self.applied: list[Applied] = []
        self.found: list[Diagnostic] = []

    def put(self, item: Item, file: File) -> None:
        """Put an item of a file; what the file builds on must not have one of that name."""
        key = key_of(item)
        there = self.items.get(key)
        if there is not None and self.origins[key] != Origin(file.source):
            self.report(_exists_below(item, there, file))
            return
        self.items[key] = item
        self.origins[key] = Origin(file.source)

    def edit(self, edit: Edit, quirk: Quirk, file: File) -> None:
        """Apply one edit of a quirk."""
        key = edit_key(edit)
        there = self.items.get(key)
        item: Any = edit.item
        if edit.verb == "add":
            if there is not None:
                self.report(_added_twice(edit, quirk, there))
                return
        else:
            if there is None or not _same_keyword(edit, there):
                self.report(self._missing(edit, quirk, there))
                return
            if edit.verb == "remove":
                del self.items[key], self.origins[key]
                self.applied.append(Applied(file, quirk, edit, there, None))
                return
            item = overridden(there, item)
        self.applied.append(Applied(file, quirk, edit, there, item))
        self.items[key] = item
        self.origins[key] = Origin(file.source, quirk.name.text)

    def report(self, diagnostic: Diagnostic) -> None:
        """Keep a finding, unless there are more than anybody would read."""
        if len(self.found) < MAX_FINDINGS:
            self.found.append(diagnostic)

    def _missing(self, edit: Edit, quirk: Quirk, there: Item | None) -> Diagnostic:
        kind, name = edit_key(edit)
        word = edit_keyword(edit)
        verb = "overrides" if edit.verb == "override" else "removes"
        what = word if kind == "deviations" else f"{word} {quoted(name)}"
        message = f"quirk {quoted(quirk.name.text)} {verb} {what}, which does not exist"
        if there is not None:
            other = keyword_of(there)
            message = f"quirk {quoted(quirk.name.text)} {verb} {word} {quoted(name)}, which is a {other}"
            help: str | None = f"say `{edit.verb} {other} {name}`"
        else:
            known = [at for of, at in self.items if of == kind] if len(self.found) < MAX_FINDINGS else []
            help = suggestion(name, known)
        return Diagnostic("E501", message, Label(edit.name.place, f"nothing to {edit.verb}"), help=help)


def overridden(there: Item, item: Item) -> Item:
    """Give what an override leaves: rules and maps clause kind by clause kind, anything else as a whole."""
    if isinstance(there, Rule) and isinstance(item, Rule):
        goes = item.to is not None or item.stays
        return replace(
            item,
            on=item.on or there.on,
            states=item.states or there.states,
            actions=item.actions or there.actions,
            to=item.to if goes else there.to,
            stays=item.stays if goes else there.stays,
        )
    if isinstance(there, Map) and isinstance(item, Map):
        return replace(
            item,
            at=item.at or there.at,
            where=item.where or there.where,
            emits=item.emits or there.emits,
            ahead=item.ahead or there.ahead,
        )
    return item


def edit_keyword(edit: Edit) -> str:
    """Give the word that names the kind of what an edit changes."""
    if edit.kind == "setting" or edit.item is None:
        return "salvage" if edit.kind == "setting" else edit.kind
    item: Any = edit.item
    return keyword_of(item)


def _same_keyword(edit: Edit, there: Item) -> bool:
    # Rules and fallbacks share their names, but one is not put in the other's place by a slip.
    return edit_keyword(edit) == keyword_of(there)


def _exists_below(item: Item, there: Item, file: File) -> Diagnostic:
    word, (kind, name) = keyword_of(item), key_of(item)
    what = "`deviations`" if kind == "deviations" else f"{word} {quoted(name)}"
    help = f"say `override {word} ...` in a quirk" if file.header.kind != "fragment" else "give it another name"
    return Diagnostic(
        "E108",
        f"{what} exists already in what this builds on",
        Label(name_place(item), "the second one"),
        (Label(name_place(there), "the first one"),),
        help=help,
    )


def _added_twice(edit: Edit, quirk: Quirk, there: Item) -> Diagnostic:
    word, name = edit_keyword(edit), edit_key(edit)[1]
    return Diagnostic(
        "E502",
        f"quirk {quoted(quirk.name.text)} adds {word} {quoted(name)}, which exists already",
        Label(edit.name.place, "added here"),
        (Label(name_place(there), "it is here"),),
        help=f"say `override {word} {name}`, or give it another name",
    )
