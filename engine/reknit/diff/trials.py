"""What to try to show a change that is not about cells: reports of usage, arguments to repair, calls to class."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from reknit.diff.atlas import Atlas, Way
from reknit.diff.changes import Change
from reknit.diff.leaning import notes_of
from reknit.diff.play import Cell
from reknit.diff.samples import KITS, NO_TOOLS, REPAIRED, kit_of
from reknit.diff.steps import Steps
from reknit.diff.trust import names_of
from reknit.table import DeriveSpec, PolicyTable

_MOST_NOTED: Final = 400
"""So many ways to a note are tried."""

NOT_BY_EVENTS: Final = "events alone do not show it"


def ways_to_show(change: Change, atlas: Atlas, after: PolicyTable) -> Iterator[Way]:
    """Sequences that may show a change, the shortest first; none where events cannot."""
    kind = change.id.split("_")[0]
    if kind == "MERGE":
        yield from _merges(change.subject, atlas.steps, (*atlas.policy.derives, *after.derives))
    elif kind == "DERIVE":
        yield from _derives(change.subject, atlas.steps, (*atlas.policy.derives, *after.derives))
    elif kind == "REPAIR":
        yield from _repairs(change.subject, atlas.steps)
    elif kind == "DEVIATIONS":
        yield from _notes(change, atlas)
    elif kind in ("CLASS", "CLASSIFY", "ESCALATION"):
        yield from _calls(change, atlas.steps, after)
    elif kind in ("EVENT", "STATE"):
        yield from (Way(NO_TOOLS, (step,)) for step in atlas.steps.single(change.subject))
        yield from itertools.islice((way for _, way in atlas.reaching(lambda cell: True)), _MOST_NOTED * 4)


def _merges(field: str, steps: Steps, derives: tuple[DeriveSpec, ...]) -> Iterator[Way]:
    reports = {value: steps.counts({field: value}) for value in (2, 1, 0)}
    for length in (1, 2, 3):
        for values in itertools.product(reports, repeat=length):
            for chosen in itertools.product(*(reports[value][:1] for value in values)):
                yield Way(NO_TOOLS, chosen)
    # A field that is not shown itself is seen in what is computed from it.
    for derive in derives:
        if field in (derive.source, *derive.minus):
            sources = steps.counts({derive.source: 9})[:1] if field != derive.source else []
            for values in itertools.product((2, 1, 0), repeat=2):
                chosen = tuple(step for value in values for step in reports[value][:1])
                yield Way(NO_TOOLS, (*sources, *chosen))


def _derives(field: str, steps: Steps, derives: tuple[DeriveSpec, ...]) -> Iterator[Way]:
    fields = {name: value for one in derives for name, value in ((one.source, 90), *((name, 3) for name in one.minus))}
    singles = [step for name, value in fields.items() for step in steps.counts({name: value})[:1]]
    singles += steps.counts({field: 7})[:1]
    for length in (1, 2, 3, 4):
        for chosen in itertools.combinations(singles, length):
            yield Way(NO_TOOLS, chosen)


def _repairs(name: str, steps: Steps) -> Iterator[Way]:
    pieces = [steps.pieces(piece)[:1] for piece in REPAIRED.get(name, ())]
    for start, end in itertools.product(steps.starts(("read",)), steps.ends()):
        for body in itertools.product(*pieces):
            yield Way(NO_TOOLS, (start, *body, end))


def _notes(change: Change, atlas: Atlas) -> Iterator[Way]:
    """Ways to cells that note something, or what the change is about."""
    policy, about = atlas.policy, change.subject
    reasons = [notes_of(outcome.actions) for outcome in policy.outcomes]
    noting = {n for n, found in enumerate(reasons) if found and (about in found or change.id == "DEVIATIONS_CHANGED")}

    def is_noting(cell: Cell) -> bool:
        return policy.cells[cell.event][cell.state][cell.number] in noting

    if about.startswith("args-"):
        yield from _repairs(about.removeprefix("args-"), atlas.steps)
    if noting:
        yield from itertools.islice((way for _, way in atlas.reaching(is_noting)), _MOST_NOTED)


def _calls(change: Change, steps: Steps, after: PolicyTable) -> Iterator[Way]:
    """Calls of the tools that a change is about, then of all others."""
    patterns = [one for policy in (steps.policy, after) for one in policy.classifies]
    named: dict[str, None] = {}
    if change.id.startswith("CLASSIFY"):
        named |= dict.fromkeys(["nobody"] if change.subject == "else" else names_of(change.subject))
    for one in patterns:
        if change.id.startswith("ESCALATION") or (change.id.startswith("CLASS_") and one.tool_class == change.subject):
            named |= dict.fromkeys(["nobody"] if one.pattern is None else names_of(one.pattern))
    bodies = [tuple(steps.pieces('{"k":1}')[:1]), ()]
    for start, body, end in itertools.product(steps.starts(list(named)), bodies, steps.ends()):
        yield Way(NO_TOOLS, (start, *body, end))
    for kit in (NO_TOOLS, *(kit_of([name]) for name in named)):
        yield from (Way(kit, life) for life in steps.calls(kit, [*named, None]))
    for kit in KITS:
        yield from (Way(kit, life) for life in steps.calls(kit))
