"""From the parser's tree to the nodes of a file."""

from __future__ import annotations

from typing import Any, Final

from reknit.lang import syntax
from reknit.lang.build_policy import POLICY_MAKERS
from reknit.lang.build_program import PROGRAM_MAKERS
from reknit.lang.diagnostics import Diagnostic, quoted
from reknit.lang.reading import Node, Reading, is_leaf, leaves, trees
from reknit.lang.syntax import Header, Item, Setting

_MAKERS: Final = POLICY_MAKERS | PROGRAM_MAKERS
_SETTINGS: Final = {
    "protocol": "protocol",
    "uses_policy": "policy",
    "uses_wire": "wire",
    "end_marker": "end",
    "salvage": "salvage",
    "choices": "choices",
}


class Builder:
    """Builds the nodes of one file from the trees of its parts."""

    def __init__(self, source: str) -> None:
        self._reading = Reading(source)

    @property
    def found(self) -> list[Diagnostic]:
        """What was wrong in what was built so far."""
        return self._reading.found

    def header(self, tree: Node) -> Header:
        """Build the header of a whole file's tree."""
        reading = self._reading
        header = next(child for child in trees(tree) if child.data.endswith("_header"))
        kind = header.data.removesuffix("_header")
        name = reading.names_of(header)[0]
        extends = trees(header, "extends")
        fragments = trees(header, "with")
        settings = tuple(
            Setting(_SETTINGS[child.data], reading.names(child), reading.place(child))
            for child in trees(header, *_SETTINGS)
        )
        reading.once(f"{kind} {quoted(name.text)}", [(setting.key, setting.place) for setting in settings])
        names = [fragment for tree in fragments for fragment in reading.names(tree)]
        reading.once("`with`", [(fragment.text, fragment.place) for fragment in names])
        return Header(
            kind,
            name,
            reading.names_of(extends[0])[0] if extends else None,
            tuple(names),
            reading.text(leaves(header, "STRING")[0]),
            settings,
            reading.place(header),
        )

    def items(self, tree: Node) -> list[Item]:
        """Build the items of a whole file's tree, or of the rest of one."""
        return [
            self._item(child, whole=True)
            for child in trees(tree)
            if child.data != "version" and not child.data.endswith("_header")
        ]

    def _item(self, tree: Node, *, whole: bool) -> Item:
        if tree.data == "quirk":
            return self._quirk(tree)
        if tree.data == "test":
            return self._test(tree)
        if tree.data == "allow":
            name, reason = leaves(tree)
            return syntax.Allow(self._reading.name(name), self._reading.text(reason), self._reading.place(tree))
        item = _MAKERS[tree.data](self._reading, tree)
        if whole:
            self._see_whole(item, tree)
        return item

    def _see_whole(self, item: Item, tree: Node) -> None:
        """See that an item that overrides nothing has the clauses that it cannot do without."""
        clauses = [clause.data for clause in trees(tree)]
        if isinstance(item, syntax.Rule):
            self._reading.needs(tree.data, item.name, clauses, "on")
            self._reading.needs(tree.data, item.name, clauses, "to", "stay")
        elif isinstance(item, syntax.Map):
            self._reading.needs("map", item.name, clauses, "at")
            self._reading.needs("map", item.name, clauses, "emit")

    def _quirk(self, tree: Node) -> syntax.Quirk:
        name, reason = leaves(tree)
        edits = tuple(self._edit(edit) for edit in trees(tree))
        return syntax.Quirk(self._reading.name(name), self._reading.text(reason), edits, self._reading.place(tree))

    def _edit(self, tree: Node) -> syntax.Edit:
        reading = self._reading
        place = reading.place(tree)
        if tree.data == "remove":
            kind, name = leaves(tree)
            return syntax.Edit("remove", None, str(kind), reading.name(name), place)
        node = trees(tree)[0]
        if node.data == "salvage_edit":
            setting = Setting("salvage", reading.names(node), reading.place(node))
            return syntax.Edit(tree.data, setting, "setting", syntax.Name("salvage", setting.place), place)
        item = self._item(node, whole=tree.data == "add")
        name_of: Any = item  # whatever can be edited has a name
        return syntax.Edit(tree.data, item, syntax.KINDS[type(item)], name_of.name, place)

    def _test(self, tree: Node) -> syntax.Test:
        title = self._reading.text(leaves(tree)[0])
        steps = tuple(self._given(step) if step.data == "given" else self._expect(step) for step in trees(tree))
        return syntax.Test(title, steps, self._reading.place(tree))

    def _given(self, tree: Node) -> syntax.Given:
        reading = self._reading
        what = trees(tree)[0]
        kind = what.data.removeprefix("given_")
        children: list[Any] = what.children
        event = None
        if kind == "event":
            event, children = reading.name(children[0]), children[1:]
        nothing: Any = {} if kind == "event" else None
        return syntax.Given(kind, event, reading.data(children[0]) if children else nothing, reading.place(tree))

    def _expect(self, tree: Node) -> syntax.Expect:
        children: list[Any] = tree.children
        values = [child for child in children if not (is_leaf(child) and child.type == "NAME")]
        value = self._reading.data(values[0]) if values else None
        return syntax.Expect(self._reading.names_of(tree), value, self._reading.place(tree))
