"""What differs in the files themselves: tests, quirks, lints that are let be, and which policy is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from reknit.diff.changes import Change
from reknit.diff.sides import Side
from reknit.lang.contents import key_of
from reknit.lang.diagnostics import quoted
from reknit.lang.syntax import KINDS, Item, Quirk

_KINDS: Final = ("test", "quirk", "allow")


def file_changes(before: Side, after: Side) -> Iterator[Change]:
    """Find what differs in two versions of one file beside what it compiles to."""
    if before.rules.name.text != after.rules.name.text and before.vendor is not None:
        names = before.rules.name.text, after.rules.name.text
        message = f"policy {quoted(names[1])} is used in the place of {quoted(names[0])}"
        yield Change("POLICY_CHANGED", "none", names[1], message, before=names[0], after=names[1])
    if (before.kind, before.name) != (after.kind, after.name):
        return
    for kind in _KINDS:
        old, new = _items(before, kind), _items(after, kind)
        for name in dict.fromkeys([*old, *new]):
            change = _change(kind, name, old.get(name), new.get(name))
            if change is not None:
                yield change


def _items(side: Side, kind: str) -> dict[str, Item]:
    return {key_of(item)[1]: item for item in side.file.items if KINDS[type(item)] == kind}


def _content(item: Item | None) -> Any:
    """What an item says; the order of a quirk's edits says nothing."""
    return (item.reason, sorted(map(repr, item.edits))) if isinstance(item, Quirk) else item


def _change(kind: str, name: str, old: Item | None, new: Item | None) -> Change | None:
    if _content(old) == _content(new):
        return None
    places = tuple(item.place for item in (old, new) if item is not None)
    what = "changed"
    if old is None or new is None:
        what = "new" if old is None else "gone"
    elif kind == "allow":
        return None
    id = f"{kind.upper()}_{ {'new': 'ADDED', 'gone': 'REMOVED', 'changed': 'CHANGED'}[what] }"
    said: list[Any] = [getattr(item, "reason", None) for item in (old, new)]
    reason = said[1] or said[0]
    message = f"{kind} {quoted(name)} {'has' if what == 'changed' else 'is'} {what}"
    if reason and kind != "test":
        message += f": {reason}"
    direction = "tests" if kind == "test" else "none"
    return Change(id, direction, name, message, before=said[0], after=said[1], places=places)  # type: ignore[arg-type]
