"""What is wrong with a table, said so that its author can mend it: one finding a cause, each with a witness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from reknit.compile.cells import Gap, Grid, Overlap
from reknit.lang.check import PolicyParts
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Name, Rule
from reknit.table import ENDING_STATE

Fault: TypeAlias = tuple[Rule, str, int]
"""A rule that breaks the promise of a state, the first input on which it does, and on how many."""

_MOST_WITNESSES: Final = 3


def grid_findings(grid: Grid, parts: PolicyParts) -> list[Diagnostic]:
    """Say which inputs two rules take, which none takes, and which rules and states are there for nothing."""
    by_name = {rule.name.text: rule for rule in parts.rules}
    found = [_overlap(by_name[name], overlaps, by_name) for name, overlaps in _by_second(grid.overlaps).items()]
    # Nothing can arrive in a state that no rule goes to; that it is there at all is told by itself.
    aims = {rule.to.text for rule in parts.rules if rule.to is not None}
    lost = {name for name, node in parts.state_nodes.items() if node.flag != "start" and name not in aims}
    found += _gaps(grid.gaps, lost, parts)
    if grid.gaps:
        found += [unreached_state(parts.state_nodes[name].name) for name in sorted(lost)]
    overlapping = {name for overlap in grid.overlaps for name in (overlap.first, overlap.second)}
    found += [_dead(rule) for rule in grid.dead if rule.name.text not in overlapping]
    return found


def _by_second(overlaps: Iterable[Overlap]) -> dict[str, list[Overlap]]:
    """The overlaps by the rule that comes later: one rule that is too wide is one mistake."""
    grouped: dict[str, list[Overlap]] = {}
    for overlap in overlaps:
        grouped.setdefault(overlap.second, []).append(overlap)
    return grouped


def _overlap(rule: Rule, overlaps: list[Overlap], by_name: Mapping[str, Rule]) -> Diagnostic:
    names = [overlap.first for overlap in overlaps]
    message = f"rules {quoted(rule.name.text)} and {quoted(names[0])} both take the same input"
    if len(names) > 1:
        message = f"rule {quoted(rule.name.text)} takes input that {len(names)} other rules take"
    notes = [
        f"for example {one.witness}{f', and {one.count - 1} more' if one.count > 1 else ''}"
        for one in overlaps[:_MOST_WITNESSES]
    ]
    return Diagnostic(
        "E301",
        message,
        Label(rule.name.place, "this rule"),
        tuple(Label(by_name[name].name.place, "and this one") for name in names),
        tuple(notes),
        "narrow one of them with a case, or take a state out of its `from`",
    )


def _gaps(gaps: Iterable[Gap], lost: set[str], parts: PolicyParts) -> list[Diagnostic]:
    """One finding for events that are left out in the same states: what is missing there is most likely one rule."""
    grouped: dict[tuple[str, ...], list[Gap]] = {}
    for gap in gaps:
        states = {state: missing for state, missing in gap.states.items() if state not in lost}
        if states:
            grouped.setdefault(tuple(states), []).append(Gap(gap.event, states))
    return [_gap(states, group, parts) for states, group in grouped.items()]


def _gap(states: tuple[str, ...], gaps: list[Gap], parts: PolicyParts) -> Diagnostic:
    events = [gap.event for gap in gaps]
    named = ", ".join(map(quoted, events[:_MOST_WITNESSES]))
    named += f" and {len(events) - _MOST_WITNESSES} more" if len(events) > _MOST_WITNESSES else ""
    inside = f" in state{'s' if len(states) > 1 else ''} {', '.join(map(quoted, states))}"
    if states == (ENDING_STATE,):
        inside = ""
    missing = [one for gap in gaps for one in gap.states.values()]
    count = sum(number for _, number in missing)
    more = f", and {count - 1} more" if count > 1 else ""
    first, *others = (parts.event_nodes[event].name.place for event in events)
    if len(events) > _MOST_WITNESSES and len(states) == 1 and states[0] in parts.state_nodes:
        first, others = parts.state_nodes[states[0]].name.place, []
    return Diagnostic(
        "E302",
        f"no rule takes {named}{inside}",
        Label(first, "this event" if len(others) == len(events) - 1 else "this state"),
        tuple(Label(place, "and this one") for place in others),
        (f"for example {missing[0][0]}{more}",),
        "add a rule, or `drop` it on purpose so that the loss has a name",
    )


def _dead(rule: Rule) -> Diagnostic:
    kind = "fallback" if rule.fallback else "rule"
    why = "its cases cannot occur in the states it names"
    if rule.fallback:
        why = "rules take all that it would take"
    return Diagnostic(
        "E303",
        f"{kind} {quoted(rule.name.text)} can never fire",
        Label(rule.name.place, "no input reaches it"),
        (),
        (why,),
        "take it out, or change what it is on or from",
    )


def open_blocks(faults: Mapping[tuple[str, str], Fault]) -> list[Diagnostic]:
    """Say which rules break the promise of a state; rules that break it in one way are one finding."""
    by_fault: dict[str, list[Fault]] = {}
    for (_, fault), entry in faults.items():
        by_fault.setdefault(fault, []).append(entry)
    found = []
    for fault, entries in by_fault.items():
        rule, witness, count = entries[0]
        others = tuple(Label(other.name.place, "and this one") for other, _, _ in entries[1:])
        more = f", and {count - 1} more" if count > 1 else ""
        subject = (
            f"rule {quoted(rule.name.text)}" if not others else f"rule {quoted(rule.name.text)} and {len(others)} more"
        )
        verb = fault if not others else fault.replace("leaves", "leave", 1).replace("enters", "enter", 1)
        found.append(
            Diagnostic(
                "E304",
                f"{subject} {verb}",
                Label(rule.name.place, "this rule"),
                others,
                (f"for example {witness}{more}",),
                _mend(fault),
            )
        )
    return found


def _mend(fault: str) -> str:
    words = fault.split()
    if fault.startswith("leaves") and "opens" in words:
        return f"`flush {words[2]} before open {words[-2]}` closes the block first"
    if fault.startswith("leaves"):
        return f"archive the {words[2]} block, or go to a state that holds it"
    if fault.startswith("may leave"):
        return "`flush all` before the event, or go to a state that holds them"
    if fault.startswith("enters"):
        return "a `flush` closes the block although the rule keeps the state; name another state, or narrow the flush"
    return "take the action out, or narrow the rule to the states that hold the block"


def unreached_state(name: Name) -> Diagnostic:
    """Say that no rule leads to a state."""
    message = f"nothing reaches state {quoted(name.text)}"
    return Diagnostic("E306", message, Label(name.place, "this state"), help="let a rule go to it, or take it out")
