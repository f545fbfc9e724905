"""Nodes of a policy: events, states, rules, and the books and safety that go with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reknit.lang import syntax
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.reading import Node, Reading, leaves, trees
from reknit.lang.syntax import Item, Name, Place


def _event(reading: Reading, tree: Node) -> Item:
    about = trees(tree, "about")
    asks = trees(tree, "asks")
    fields = []
    for field in trees(tree, "field"):
        name, type_ = leaves(field, "NAME")
        fields.append(syntax.Field(reading.name(name), reading.name(type_), bool(leaves(field, "OPTIONAL"))))
    return syntax.Event(
        reading.name(leaves(tree, "EVENT")[0]),
        reading.names(about[0])[0] if about else None,
        tuple(fields),
        reading.names(asks[0]) if asks else (),
        reading.place(tree),
    )


def _state(reading: Reading, tree: Node) -> Item:
    holdings = [holding for holds in trees(tree, "holds") for holding in trees(holds, "holding")]
    held = tuple(syntax.Holding(reading.names_of(held)[0], bool(leaves(held, "MANY"))) for held in holdings)
    flag = leaves(tree, "STATE_FLAG")
    return syntax.State(reading.names_of(tree)[0], held, str(flag[0]) if flag else "", reading.place(tree))


def _group(reading: Reading, tree: Node) -> Item:
    return syntax.Group(reading.names_of(tree)[0], reading.names(trees(tree, "names")[0]), reading.place(tree))


def _flush(reading: Reading, tree: Node) -> Item:
    seal = trees(tree, "sealed")
    triggers = tuple(_trigger(reading, trigger) for trigger in trees(tree, "trigger", "trigger_open"))
    return syntax.Flush(
        reading.names_of(tree)[0], reading.names(seal[0])[0] if seal else None, triggers, reading.place(tree)
    )


def _trigger(reading: Reading, tree: Node) -> syntax.Trigger:
    if tree.data == "trigger_open":
        place = reading.place(tree)
        word = Place(place.source, place.line, place.column, place.line, place.column + len("open"))
        return syntax.Trigger(Name("open", word), (), reading.names_of(tree)[0])
    cases = []
    for pattern in trees(tree, "pattern"):
        for case in trees(pattern, "case"):
            field, *words = reading.names_of(case)
            cases.append(syntax.Case(field, tuple(words)))
    return syntax.Trigger(reading.name(leaves(tree)[0]), tuple(cases))


def _rule(reading: Reading, tree: Node) -> Item:
    name = reading.names_of(tree)[0]
    clauses = trees(tree)
    froms, tos = trees(tree, "from"), trees(tree, "to")
    reading.once(
        f"{tree.data} {quoted(name.text)}",
        [(clause.data, reading.place(clause)) for clause in clauses if clause.data in ("from", "to", "stay")],
        help="a rule has one `from`, with commas between states, and one `to` or `stay`",
    )
    stays = trees(tree, "stay")
    if tos and stays:
        first, second = sorted((reading.place(tos[0]), reading.place(stays[0])), key=lambda at: (at.line, at.column))
        reading.found.append(
            Diagnostic(
                "E109",
                f"{tree.data} {quoted(name.text)} has both `to` and `stay`",
                Label(second, "the second one"),
                (Label(first, "the first one"),),
                help="keep one of them: a rule goes to one state or stays where it is",
            )
        )
    return syntax.Rule(
        name,
        tuple(_trigger(reading, on) for on in trees(tree, "on")),
        tuple(state for clause in froms for state in reading.names(clause)),
        tuple(_action(reading, do) for do in trees(tree, "do")),
        reading.names(tos[0])[0] if tos else None,
        bool(stays),
        tree.data == "fallback",
        reading.place(tree),
    )


def _action(reading: Reading, tree: Node) -> syntax.Action:
    verb, *words = (reading.name(leaf) for leaf in leaves(tree))
    return syntax.Action(verb, tuple(words), reading.place(tree))


def _merge(reading: Reading, tree: Node) -> Item:
    name, method = reading.names_of(tree)
    return syntax.Merge(name, method, reading.place(tree))


def _derive(reading: Reading, tree: Node) -> Item:
    name, source = reading.names_of(tree)
    return syntax.Derive(name, source, reading.names(trees(tree, "names")[0]), reading.place(tree))


def _repair(reading: Reading, tree: Node) -> Item:
    name, grade = reading.names_of(tree)
    return syntax.Repair(name, grade, reading.place(tree))


def _deviations(reading: Reading, tree: Node) -> Item:
    excepted = tuple(name for clause in trees(tree, "except") for name in reading.names(clause))
    return syntax.Deviations(reading.names_of(tree)[0], excepted, reading.place(tree))


def _class(reading: Reading, tree: Node) -> Item:
    record = trees(tree, "record")[0]
    settings = tuple((reading.name(leaves(pair)[0]), reading.data(pair.children[1])) for pair in trees(record))
    reading.once("a class", [(key.text, key.place) for key, _ in settings])
    return syntax.ToolClass(reading.names_of(tree)[0], settings, reading.place(tree))


def _classify(reading: Reading, tree: Node) -> Item:
    pattern, tool_class = leaves(tree)
    known = None if pattern.type == "ELSE" else reading.name(pattern)
    return syntax.Classify(known, reading.name(tool_class), reading.place(tree))


def _escalate(reading: Reading, tree: Node) -> Item:
    tool_class, subject, case = reading.names_of(tree)
    return syntax.Escalate(tool_class, subject, case, reading.place(tree))


POLICY_MAKERS: Final[dict[str, Callable[[Reading, Node], Item]]] = {
    "event": _event,
    "state": _state,
    "group": _group,
    "flush": _flush,
    "rule": _rule,
    "merge": _merge,
    "derive": _derive,
    "repair": _repair,
    "deviations": _deviations,
    "class": _class,
    "classify": _classify,
    "escalate": _escalate,
    "fallback": _rule,
}
"""What makes the node of each kind of item, by its keyword."""
