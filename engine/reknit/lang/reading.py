"""A parser's tree as places, names, texts and plain data, and what these can be wrong in.

The tree is lark's, but lark is not needed here: a leaf is a text that knows its `type`, anything else is a tree with
`data` and `children`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.literals import number_value, text_value
from reknit.lang.syntax import Name, Place
from reknit.lang.tokens import MAX_FINDINGS

if TYPE_CHECKING:
    from lark import Token, Tree

Leaf: TypeAlias = "Token"
Node: TypeAlias = "Tree[Any]"

_MISSING: Final = {
    "on": "say which event it takes, as in `on TEXT_DELTA { text: some }`",
    "to": "say where it goes, as in `to text`, or `stay`",
    "at": "say what it reads, as in `at .choices[0].delta.content`; `at .` is the whole frame",
    "emit": "say what it makes, as in `emit TEXT_DELTA { text: @ }`",
}


def is_leaf(child: Any) -> bool:
    """Tell a word, text or sign from a tree."""
    return isinstance(child, str)


def leaves(tree: Node, *types: str) -> list[Leaf]:
    """Give the leaves that stand directly in a tree, of some types or of all."""
    children: list[Any] = tree.children
    return [child for child in children if is_leaf(child) and (not types or child.type in types)]


def trees(tree: Node, *kinds: str) -> list[Node]:
    """Give the trees that stand directly in a tree, of some kinds or of all."""
    children: list[Any] = tree.children
    return [child for child in children if not is_leaf(child) and (not kinds or child.data in kinds)]


class Reading:
    """Reads the trees of one file; `found` holds what was wrong in what it read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found: list[Diagnostic] = []

    def place(self, tree: Node) -> Place:
        """Give the span of a tree."""
        meta = tree.meta
        if meta.empty:  # a tree of no tokens
            return Place(self.source, 1, 1, 1, 1)
        return Place(self.source, meta.line, meta.column, meta.end_line, meta.end_column)

    def at(self, leaf: Leaf) -> Place:
        """Give the span of a leaf."""
        line, column, end_line, end_column = leaf.line, leaf.column, leaf.end_line, leaf.end_column
        return Place(self.source, line or 1, column or 1, end_line or 1, end_column or 1)

    def text(self, leaf: Leaf) -> str:
        """Give the contents of a text."""
        value, trouble = text_value(str(leaf), self.at(leaf))
        if trouble is not None:
            self.found.append(trouble)
        return value

    def number(self, leaf: Leaf) -> int | float:
        """Give the value of a number."""
        value = number_value(str(leaf))
        if not math.isfinite(value):
            label = Label(self.at(leaf), "out of range")
            self.found.append(Diagnostic("E104", f"the number {quoted(str(leaf))} is too large", label))
            return 0
        return value

    def name(self, leaf: Leaf) -> Name:
        """Give a word as it stands, or the contents of a text."""
        return Name(self.text(leaf) if leaf.type == "STRING" else str(leaf), self.at(leaf))

    def names(self, tree: Node) -> tuple[Name, ...]:
        """Give all names of a tree, those in its lists of names too."""
        names: list[Name] = []
        children: list[Any] = tree.children
        for child in children:
            names += [self.name(child)] if is_leaf(child) else self.names(child)
        return tuple(names)

    def names_of(self, tree: Node) -> tuple[Name, ...]:
        """Give the names that stand directly in a tree."""
        return tuple(self.name(leaf) for leaf in leaves(tree, "NAME"))

    def data(self, child: Any) -> Any:
        """Give a value as plain data; a bare word is a text."""
        if is_leaf(child):
            if child.type == "STRING":
                return self.text(child)
            return self.number(child) if child.type == "NUMBER" else str(child)
        if child.data == "constant":
            return {"true": True, "false": False, "null": None}[str(child.children[0])]
        if child.data == "list":
            return [self.data(value) for value in child.children]
        record: dict[str, Any] = {}
        places: list[tuple[str, Place]] = []
        for pair in child.children:
            key, value = pair.children
            name = self.name(key)
            places.append((name.text, name.place))
            record[name.text] = self.data(value)
        self.once("a record", places)
        return record

    def once(self, owner: str, clauses: Iterable[tuple[str, Place]], help: str | None = None) -> None:
        """See that no clause or key stands twice."""
        first: dict[str, Place] = {}
        for clause, place in clauses:
            if clause not in first:
                first[clause] = place
                continue
            if len(self.found) >= MAX_FINDINGS:
                return
            self.found.append(
                Diagnostic(
                    "E109",
                    f"{owner} has {quoted(clause)} twice",
                    Label(place, "the second one"),
                    (Label(first[clause], "the first one"),),
                    help=help,
                )
            )

    def needs(self, kind: str, name: Name, there: Iterable[str], *wanted: str) -> None:
        """See that at least one of the wanted clauses is there."""
        words = set(there)
        if words.intersection(wanted):
            return
        clause = " or ".join(f"`{word}`" for word in wanted)
        self.found.append(
            Diagnostic(
                "E110",
                f"{kind} {quoted(name.text)} has no {clause}",
                Label(name.place, f"this {kind}"),
                help=_MISSING[wanted[0]],
            )
        )
