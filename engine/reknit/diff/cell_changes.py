"""Cells that do something else as changes; those that only say so; rules that came, went or are renamed."""

from __future__ import annotations

from collections.abc import Iterator

from reknit.diff.cells import FLUSH, OUTCOME, RULE, UNREACHED, WORDING, Comparison, Group, answers_of, apart
from reknit.diff.changes import DIRECTIONS, Change, Direction
from reknit.diff.leaning import deed_leaning
from reknit.diff.sides import Side
from reknit.diff.witness import Witness
from reknit.diff.wording import counted, deed_words, listed
from reknit.lang.diagnostics import quoted
from reknit.lang.syntax import Place
from reknit.table import ActionSpec, PolicyTable


def cell_change(group: Group, before: Side, after: Side, witness: Witness | None, unshown: str) -> Change:
    """The change that a group of cells is."""
    make = _flush_change if group.cause.kind == FLUSH else _outcome_change
    id, subject, message, words, places = make(group, before, after)
    return Change(
        id=id,
        direction=_direction(group),
        subject=subject,
        message=message,
        before=words[0],
        after=words[1],
        cells=len(group.cells),
        states=group.states,
        example=_example(group, before),
        witness=witness,
        unshown=unshown,
        quirk=after.quirk("rule", group.cause.rules[1]),
        places=tuple(dict.fromkeys(places)),
    )


_Told = tuple[str, str, str, tuple[str | None, str | None], list[Place]]


def _outcome_change(group: Group, before: Side, after: Side) -> _Told:
    cause = group.cause
    to = group.to if cause.to == (None, None) else cause.to
    deeds = zip(apart(*group.deeds), to, cause.rules, strict=True)
    words = [f"{deed_words(actions, to)}    ({rule})" for actions, to, rule in deeds]
    places = _places((before, "rule", cause.rules[0]), (after, "rule", cause.rules[1]))
    message = f"{quoted(cause.event)}{_where(group, before)}"
    return "CELL_OUTCOME", cause.event, message, (words[0], words[1]), places


def _flush_change(group: Group, before: Side, after: Side) -> _Told:
    cause = group.cause
    names = [_flush_name(action) for action in (*cause.before, *cause.after)]
    id, said = "FLUSH_CHANGED", "is not what it was"
    if not cause.before or not cause.after:
        id = "FLUSH_REMOVED" if cause.before else "FLUSH_ADDED"
        said = "comes no more" if cause.before else "comes now"
    message = f"flush {quoted(names[0])} {said} before {quoted(cause.event)}{_where(group, before)}"
    words = [deed_words(actions, None) if actions else None for actions in (cause.before, cause.after)]
    places = [place for side in (before, after) for name in names for place in _places((side, "flush", name))]
    return id, names[0], message, (words[0], words[1]), places


def _flush_name(action: ActionSpec) -> str:
    return "-".join(action.words)


def _where(group: Group, before: Side) -> str:
    states = f" in {listed(group.states)}" if group.states else ""
    example = _example(group, before)
    return f"{states}, {counted(len(group.cells), 'cell')}" + (f", for example `{example}`" if example else "")


def _example(group: Group, before: Side) -> str:
    answers = answers_of(before.policy.events[group.cause.event], group.cells[0].number)
    inner = ", ".join(f"{name}: {case}" for name, case in answers.items())
    return f"{{ {inner} }}" if inner else ""


def _direction(group: Group) -> Direction:
    """Where a cause leans; of cells that lean in several directions, those that loosen tell."""
    leanings = {deed_leaning(before, after) for before, after in group.effects}
    return next(direction for direction in DIRECTIONS if direction in leanings)


def _places(*wanted: tuple[Side, str, str]) -> list[Place]:
    return [place for side, kind, name in wanted if (place := side.place(kind, name)) is not None]


# -- what does the same ------------------------------------------------------------------------------------------------


def quiet_changes(comparison: Comparison, before: Side, after: Side) -> Iterator[Change]:
    """Cells that do the same in other words, or by another rule."""
    merged: dict[tuple[str, tuple[str, str]], list[Group]] = {}
    told = {group.cause.event for group in comparison.groups if group.cause.kind in (FLUSH, OUTCOME)}
    for group in comparison.groups:
        if group.cause.kind in (WORDING, RULE) or (group.cause.kind == UNREACHED and group.cause.event not in told):
            merged.setdefault((group.cause.kind, group.cause.rules), []).append(group)
    for (kind, rules), groups in merged.items():
        cells = sum(len(group.cells) for group in groups)
        words = [deed_words(actions, to) for actions, to in zip(apart(*groups[0].deeds), groups[0].to, strict=True)]
        id, said = "CELL_WORDING", f"of rule {quoted(rules[1])} do the same in other words"
        if kind == UNREACHED:
            id, words = "CELL_UNREACHED", list(rules)
            said = f"of rule {quoted(rules[0])} are those of {quoted(rules[1])}, and no stream reaches them"
        if kind == RULE:
            id, words = "CELL_RULE", list(rules)
            said = f"of rule {quoted(rules[0])} are taken by {quoted(rules[1])}, which does the same"
        places = tuple(_places((before, "rule", rules[0]), (after, "rule", rules[1])))
        message = f"{counted(cells, 'cell')} {said}"
        yield Change(id, "none", rules[1], message, words[0], words[1], cells=cells, places=places)


def rule_changes(comparison: Comparison, before: Side, after: Side) -> Iterator[Change]:
    """Rules that came, went, or are called something else."""
    old, new = _cells_of(before.policy), _cells_of(after.policy)
    for name, other in comparison.renamed.items():
        message = f"rule {quoted(name)} is called {quoted(other)}"
        places = tuple(_places((before, "rule", name), (after, "rule", other)))
        yield Change("RENAMED_ONLY", "none", other, message, name, other, cells=old[name], places=places)
    for name in old:
        if name not in new and name not in comparison.renamed:
            heirs = {group.cause.rules[1] for group in comparison.groups if group.cause.rules[0] == name} - {""}
            message = f"rule {quoted(name)} is gone"
            message += f"; its cells are taken by {listed(sorted(heirs))}" if heirs else ""
            places = tuple(_places((before, "rule", name)))
            yield Change("RULE_REMOVED", "none", name, message, cells=old[name], places=places)
    for name in new:
        if name not in old and name not in comparison.renamed.values():
            givers = {group.cause.rules[0] for group in comparison.groups if group.cause.rules[1] == name} - {""}
            message = f"rule {quoted(name)} is new"
            message += f"; it takes cells of {listed(sorted(givers))}" if givers else ""
            places, quirk = tuple(_places((after, "rule", name))), after.quirk("rule", name)
            yield Change("RULE_ADDED", "none", name, message, cells=new[name], quirk=quirk, places=places)


def _cells_of(policy: PolicyTable) -> dict[str, int]:
    """How many cells each rule takes."""
    counts: dict[int, int] = {}
    for by_state in policy.cells.values():
        for row in by_state.values():
            for number in row:
                counts[number] = counts.get(number, 0) + 1
    found: dict[str, int] = {}
    for number, outcome in enumerate(policy.outcomes):
        found[outcome.rule] = found.get(outcome.rule, 0) + counts.get(number, 0)
    return found
