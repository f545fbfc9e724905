"""What a file of each kind may hold, and that its names are its own."""

from __future__ import annotations

from typing import Any, Final

from reknit.lang.diagnostics import LINTS, Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import KINDS, Allow, Edit, File, Item, Place, Quirk, Rule

PROGRAM_KINDS: Final = frozenset({"map", "ignore", "detect", "enum", "split"})
"""What turns frames into events; the items of a vendor file."""

POLICY_KINDS: Final = frozenset(
    {"event", "state", "group", "flush", "rule", "merge", "derive", "repair", "deviations"}
    | {"class", "classify", "escalate"}
)
"""What turns events into a message and says what its calls may do; the items of a policy file."""

_ANYWHERE: Final = frozenset({"quirk", "allow", "test"})

_BELONGS: Final = {
    "policy": POLICY_KINDS | _ANYWHERE,
    "vendor": PROGRAM_KINDS | _ANYWHERE,
    "fragment": PROGRAM_KINDS | POLICY_KINDS | _ANYWHERE,
}

Key = tuple[str, str]
"""What an item is known by: its kind, and its name."""


def key_of(item: Item) -> Key:
    """Give the key under which an item is known; of `deviations` there is one."""
    kind = KINDS[type(item)]
    named: Any = item
    name = named.title if kind == "test" else named.name.text
    return (kind, "deviations" if kind == "deviations" else name)


def keyword_of(item: Item) -> str:
    """Give the word that an item begins with."""
    return "fallback" if isinstance(item, Rule) and item.fallback else KINDS[type(item)]


def name_place(item: Item) -> Place:
    """Give the place of an item's name, where it has one."""
    named: Any = item
    return item.place if KINDS[type(item)] in ("test", "deviations") else named.name.place


def contents_diagnostics(file: File) -> list[Diagnostic]:
    """Find items that do not belong in a file of this kind, and items of one name."""
    found: list[Diagnostic] = []
    seen: dict[Key, Item] = {}
    kind = file.header.kind
    for item in file.items:
        key = key_of(item)
        if key[0] not in _BELONGS[kind]:
            found.append(_stranger(item, kind))
            continue
        if isinstance(item, Allow) and item.name.text not in LINTS:
            found.append(_unknown_lint(item))
            continue
        if isinstance(item, Quirk) and kind == "policy":
            found += [_stray_edit(edit) for edit in item.edits if edit_key(edit)[0] not in POLICY_KINDS]
        if key in seen:
            found.append(_twin(item, seen[key]))
        else:
            seen[key] = item
    return found


def edit_key(edit: Edit) -> Key:
    """Give the key of what an edit changes; rules and fallbacks share one namespace."""
    if edit.item is not None and edit.kind != "setting":
        item: Any = edit.item
        return key_of(item)
    return ("rule" if edit.kind == "fallback" else edit.kind, edit.name.text)


def _stranger(item: Item, kind: str) -> Diagnostic:
    word = keyword_of(item)
    if kind == "vendor" and word in ("state", "group"):
        help = "states and their groups are a policy's; extend the policy in a file of its own"
    elif kind == "vendor":
        help = f"a vendor changes its policy in a quirk: `add {word} ...` or `override {word} ...`"
    else:
        help = "what reads frames belongs in a vendor file"
    place = Place(item.place.source, item.place.line, item.place.column, item.place.line, item.place.column + len(word))
    return Diagnostic("E107", f"a {kind} file holds no {quoted(word)}", Label(place, "does not belong here"), help=help)


def _unknown_lint(item: Allow) -> Diagnostic:
    name = item.name
    label = Label(name.place, "no such lint")
    return Diagnostic("E113", f"no lint is named {quoted(name.text)}", label, help=suggestion(name.text, LINTS, 12))


def _stray_edit(edit: Edit) -> Diagnostic:
    word = edit.name.text if edit.kind == "setting" else edit.kind
    return Diagnostic(
        "E107",
        f"a policy file edits no {quoted(word)}",
        Label(edit.name.place, "does not belong here"),
        help="what reads frames is edited in a vendor file",
    )


def _twin(item: Item, first: Item) -> Diagnostic:
    kind, name = key_of(item)
    if kind == "deviations":
        message = "`deviations` is said twice"
    elif keyword_of(item) != keyword_of(first):
        message = f"{quoted(name)} is the name of a rule and of a fallback"
    else:
        message = f"{keyword_of(item)} {quoted(name)} is there twice"
    help = {
        "test": "give each test a title of its own",
        "flush": "put all events into one `flush`, parted by commas",
        "allow": "put both reasons into one",
    }.get(kind, "give it another name, or take one of them out")
    return Diagnostic(
        "E108",
        message,
        Label(name_place(item), "the second one"),
        (Label(name_place(first), "the first one"),),
        help=help,
    )
