"""Declarations that nothing uses, and enums that leave words unsaid."""

from __future__ import annotations

from collections.abc import Iterator

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Enum, Event, Flush, Group, Rule
from reknit.lint.subject import Subject
from reknit.table import ExprSpec


def enums_without_else(subject: Subject) -> Iterator[Diagnostic]:
    """Find enums of this file that say nothing about words that are not listed."""
    for node in subject.own(Enum):
        if all(case.word is not None for case in node.cases):
            yield Diagnostic(
                "",
                f"enum {quoted(node.name.text)} has no `else`",
                Label(node.name.place, "a word that is not listed is no value here"),
                help="add `else => same`, which lets the word itself pass, or `else` with a case",
            )


def unused_enums(subject: Subject) -> Iterator[Diagnostic]:
    """Find enums of this file that no map passes a word through."""
    used = {
        name
        for spec in subject.table.program.maps
        for emit in spec.emits
        for expr in emit.binds
        if expr is not None
        for name in _enums(expr)
    }
    for node in subject.own(Enum):
        if node.name.text not in used:
            yield Diagnostic(
                "",
                f"no map uses enum {quoted(node.name.text)}",
                Label(node.name.place, "not used"),
                help=f"pass a word through it, as in `@ | enum {node.name.text}`, or take it out",
            )


def _enums(expr: ExprSpec) -> Iterator[str]:
    yield from (argument for name, argument in expr.filters if name == "enum")
    for _, member in expr.members:
        yield from _enums(member)


def unused_groups(subject: Subject) -> Iterator[Diagnostic]:
    """Find groups of this file that no rule names."""
    used = {name.text for rule in subject.items(Rule) for name in rule.states}
    for node in subject.own(Group):
        if node.name.text not in used:
            yield Diagnostic(
                "",
                f"no rule uses group {quoted(node.name.text)}",
                Label(node.name.place, "not used"),
                help=f"say `from {node.name.text}` in a rule, or take it out",
            )


def unused_events(subject: Subject) -> Iterator[Diagnostic]:
    """Find events of this file that only `any` takes: they cannot mean anything."""
    rules, flushes = subject.items(Rule), subject.items(Flush)
    triggers = [*(one for rule in rules for one in rule.on), *(one for flush in flushes for one in flush.before)]
    named = {trigger.event.text for trigger in triggers}
    for node in subject.own(Event):
        if node.name.text not in named:
            yield Diagnostic(
                "",
                f"no rule names event {quoted(node.name.text)}",
                Label(node.name.place, "taken by `any` alone"),
                help=f"say `on {node.name.text}` in a rule, or take it out",
            )
