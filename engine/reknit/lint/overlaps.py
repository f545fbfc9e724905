"""Maps that make the same event of the same place: what the vendor sent once would count twice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Map
from reknit.lint.conditions import absolute, places, together
from reknit.lint.subject import Subject
from reknit.table import EmitSpec, ExprSpec, MapSpec

_POINTING: Final = frozenset({"slot", "id", "message_id", "of"})
"""Types of fields that say which block is meant; the same place may well be read for those."""


def overlapping_maps(subject: Subject) -> Iterator[Diagnostic]:
    """Find pairs of maps that one frame can run, and that make one event of one place."""
    nodes = {node.name.text: node for node in subject.items(Map)}
    for first, second in combinations(subject.table.program.maps, 2):
        own = [nodes[spec.name] for spec in (second, first) if subject.is_own(nodes[spec.name])]
        if not own or (shared := _shared(subject, first, second)) is None:
            continue
        event, path = shared
        node = own[0]
        other = nodes[first.name if node.name.text == second.name else second.name]
        yield Diagnostic(
            "",
            f"maps {quoted(first.name)} and {quoted(second.name)} both make {quoted(event)} of {quoted(path or '.')}",
            Label(node.name.place, "this map"),
            (Label(other.name.place, "and this one"),),
            ("one frame can run both, and what stands there once counts twice",),
            help="narrow one of them with a `where` that the other one does not meet",
        )


def _shared(subject: Subject, first: MapSpec, second: MapSpec) -> tuple[str, str] | None:
    """Give the event that two maps make of one place, and the place."""
    for one in first.emits:
        for other in second.emits:
            if one.event != other.event:
                continue
            for first_at in places(first):
                for second_at in places(second):
                    read = _read(subject, one, first_at)
                    common = sorted(read & _read(subject, other, second_at))
                    if common and together(first, first_at, second, second_at):
                        return one.event, common[0][1]
    return None


def _read(subject: Subject, emit: EmitSpec, at: str) -> set[tuple[str, str]]:
    """Give the fields of an event that carry something, each with the places that it is read from."""
    fields = subject.table.policy.events[emit.event].fields
    return {
        (field.name, path)
        for field, expr in zip(fields, emit.binds, strict=True)
        if expr is not None and field.type not in _POINTING
        for path in _paths(expr, at)
    }


def _paths(expr: ExprSpec, at: str) -> Iterator[str]:
    if expr.kind == "path":
        yield absolute(expr.path, at)
    for _, member in expr.members:
        yield from _paths(member, at)
