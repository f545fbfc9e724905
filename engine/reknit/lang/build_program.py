"""Nodes of a vendor's program: what turns frames into events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reknit.lang import syntax
from reknit.lang.diagnostics import quoted
from reknit.lang.reading import Node, Reading, is_leaf, leaves, trees
from reknit.lang.syntax import Item, Name


def _map(reading: Reading, tree: Node) -> Item:
    name = reading.names_of(tree)[0]
    ats = trees(tree, "at")
    reading.once(
        f"map {quoted(name.text)}",
        [("at", reading.place(at)) for at in ats],
        help="paths that stand in for each other are joined by `else`",
    )
    aheads = trees(tree, "ahead")
    reading.once(f"map {quoted(name.text)}", [("before", reading.place(ahead)) for ahead in aheads])
    return syntax.Map(
        name,
        tuple(path for at in ats for path in reading.names(at)),
        _wheres(reading, tree),
        tuple(_emit(reading, emit) for emit in trees(tree, "emit")),
        next((reading.names_of(ahead)[0] for ahead in aheads), None),
        reading.place(tree),
    )


def _wheres(reading: Reading, tree: Node) -> tuple[syntax.Where, ...]:
    return tuple(_where(reading, where) for where in trees(tree, "where"))


def _where(reading: Reading, tree: Node) -> syntax.Where:
    path, *rest = leaves(tree)
    values: list[str | int | float] = []
    types: list[Name] = []
    for leaf in rest:
        if leaf.type == "NAME":
            types.append(reading.name(leaf))
        elif leaf.type == "STRING":
            values.append(reading.text(leaf))
        elif leaf.type == "NUMBER":
            values.append(reading.number(leaf))
    negated = any(leaf.type == "NOT" for leaf in rest)
    return syntax.Where(reading.name(path), negated, tuple(values), tuple(types), reading.place(tree))


def _emit(reading: Reading, tree: Node) -> syntax.Emit:
    binds = tuple((reading.names_of(bind)[0], _expr(reading, trees(bind)[0])) for bind in trees(tree, "bind"))
    event = reading.name(leaves(tree, "EVENT")[0])
    reading.once(f"emit {quoted(event.text)}", [(name.text, name.place) for name, _ in binds])
    return syntax.Emit(event, bool(leaves(tree, "ONCE")), binds, reading.place(tree))


def _expr(reading: Reading, tree: Node) -> syntax.Expr:
    operand = tree.children[0]
    filters = trees(tree, "filter")
    return syntax.Expr(
        _operand(reading, operand), tuple(_filter(reading, node) for node in filters), reading.place(tree)
    )


def _operand(reading: Reading, child: Any) -> syntax.Operand:
    if not is_leaf(child):
        members = [(reading.name(leaves(node)[0]), _expr(reading, trees(node)[0])) for node in trees(child)]
        reading.once("a made object", [(name.text, name.place) for name, _ in members])
        return syntax.Made(tuple((name.text, expr) for name, expr in members))
    if child.type == "PATH":
        return syntax.Path(str(child))
    if child.type == "NAME":
        return syntax.Word(str(child))
    return syntax.Constant(reading.text(child) if child.type == "STRING" else reading.number(child))


def _filter(reading: Reading, tree: Node) -> syntax.Filter:
    name, *argument = (reading.name(leaf) for leaf in leaves(tree))
    return syntax.Filter(name, argument[0] if argument else None)


def _ignore(reading: Reading, tree: Node) -> Item:
    return syntax.Ignore(reading.names_of(tree)[0], _wheres(reading, tree), reading.place(tree))


def _detect(reading: Reading, tree: Node) -> Item:
    return syntax.Detect(reading.names_of(tree)[0], _wheres(reading, tree), reading.place(tree))


def _enum(reading: Reading, tree: Node) -> Item:
    name = reading.names_of(tree)[0]
    cases = []
    for case in trees(tree, "enum_case"):
        word, meaning = leaves(case)
        text = None if word.type == "ELSE" else reading.text(word) if word.type == "STRING" else str(word)
        cases.append(syntax.EnumCase(text, None if meaning.type == "SAME" else reading.name(meaning)))
    words = [(leaves(case)[0], reading.place(case)) for case in trees(tree, "enum_case")]
    reading.once(f"enum {quoted(name.text)}", [(str(word), place) for word, place in words])
    return syntax.Enum(name, tuple(cases), reading.place(tree))


def _split(reading: Reading, tree: Node) -> Item:
    name, source, opening, closing, into = leaves(tree)
    spelled = {"split_place": "only", "split_outside": "outside", "split_implied": "implied"}
    clauses = {spelled[clause.data]: reading.names(clause)[0] for clause in trees(tree)}
    reading.once(
        f"split {quoted(str(name))}", [(spelled[clause.data], reading.place(clause)) for clause in trees(tree)]
    )
    return syntax.Split(
        reading.name(name),
        reading.name(source),
        reading.text(opening),
        reading.text(closing),
        reading.name(into),
        clauses.get("only"),
        clauses.get("outside"),
        clauses.get("implied"),
        reading.place(tree),
    )


PROGRAM_MAKERS: Final[dict[str, Callable[[Reading, Node], Item]]] = {
    "map": _map,
    "ignore": _ignore,
    "detect": _detect,
    "enum": _enum,
    "split": _split,
}
"""What makes the node of each kind of item, by its keyword."""
