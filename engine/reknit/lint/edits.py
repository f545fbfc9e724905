"""Edits without effect: those that change nothing, and those of which a later edit leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from reknit.lang.contents import Key, edit_key
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.shelf import Applied, edit_keyword
from reknit.lang.syntax import Edit, Map, Name, Rule
from reknit.lint.subject import Subject

_CLAUSES: Final = {"on": "on", "states": "from", "actions": "do", "at": "at", "where": "where", "emits": "emit"}


def dead_edits(subject: Subject) -> Iterator[Diagnostic]:
    """Find edits that leave an item as it is, and fragments none of whose edits does more."""
    fragments: dict[str, list[Applied]] = {}
    for one in subject.applied:
        if one.file.header.kind == "fragment":
            fragments.setdefault(one.file.header.name.text, []).append(one)
        if one.file.source == subject.file.source and _is_dead(one):
            yield Diagnostic(
                "",
                f"quirk {quoted(one.quirk.name.text)} says of {_what(one.edit)} what was said already",
                Label(one.edit.name.place, "nothing is changed by this"),
                help="take the edit out, or change what is different here",
            )
    for name in subject.file.header.fragments:
        applied = fragments.get(name.text, [])
        if applied and all(map(_is_dead, applied)):
            yield Diagnostic(
                "",
                f"fragment {quoted(name.text)} changes nothing here",
                Label(name.place, "all of its edits say what was said already"),
                help="take it out",
            )


def _is_dead(one: Applied) -> bool:
    return one.before is not None and one.before == one.after


def shadowed_edits(subject: Subject) -> Iterator[Diagnostic]:
    """Find overrides in this file, or in what it adds by `with`, that leave nothing of an earlier quirk's edit."""
    if subject.file.header.kind == "fragment":
        return  # a fragment is made to override what vendors say; who adds it to a vendor is told
    alive: dict[Key, list[tuple[Applied, set[str]]]] = {}
    for one in subject.applied:
        earlier = alive.setdefault(edit_key(one.edit), [])
        if one.after is None:
            earlier.clear()  # taking out what an earlier quirk added or changed says itself that nothing is left
            continue
        said = _said(one.edit)
        if one.edit.verb == "override":
            for before, left in list(earlier):
                left -= said
                if left:
                    continue
                earlier.remove((before, left))
                place = _blamed(subject, one)
                # Where an edit says the same again, that is told of the later one.
                if place is not None and not _is_dead(one):
                    yield _shadow(before, one, place)
        earlier.append((one, said))


def _said(edit: Edit) -> set[str]:
    """Give what an edit says of its item: kinds of clauses for rules and maps, else the whole."""
    item: Any = edit.item
    if not isinstance(item, Rule | Map):
        return {"all"}
    said = {word for field, word in _CLAUSES.items() if getattr(item, field, ())}
    if isinstance(item, Rule):
        return said | ({"to"} if item.to is not None or item.stays else set())
    return said | ({"before"} if item.ahead is not None else set())


def _blamed(subject: Subject, one: Applied) -> Name | None:
    """Give where this file brought an edit in: the edit itself, or the fragment named in its header."""
    if one.file.source == subject.file.source:
        return one.edit.name
    if one.file.header.kind != "fragment":
        return None
    return next((name for name in subject.file.header.fragments if name.text == one.file.header.name.text), None)


def _shadow(before: Applied, after: Applied, at: Name) -> Diagnostic:
    label = "this says it all again" if at is after.edit.name else "this fragment says it all again"
    others = [Label(before.edit.name.place, "nothing is left of this")]
    if at is not after.edit.name:
        others.append(Label(after.edit.name.place, "it is overridden here"))
    return Diagnostic(
        "",
        f"quirk {quoted(after.quirk.name.text)} leaves nothing of what quirk {quoted(before.quirk.name.text)} "
        f"says of {_what(before.edit)}",
        Label(at.place, label),
        tuple(others),
        help="say it in one place: take one of the two out, or build on a file that has not got the first",
    )


def _what(edit: Edit) -> str:
    word = edit_keyword(edit)
    return f"`{word}`" if edit.kind in ("setting", "deviations") else f"{word} {quoted(edit.name.text)}"
