"""A policy's items to its table: cells with flushes woven in, proved, and everything beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reknit.compile.cells import (
    IMPOSSIBLE,
    MOST_CELLS,
    Grid,
    answers_at,
    describe,
    enumerate_cells,
    events_of,
    matching,
    size,
    states_of,
)
from reknit.compile.findings import Fault, grid_findings, open_blocks, unreached_state
from reknit.lang.causes import one_a_cause
from reknit.lang.check import PolicyCheck, PolicyParts, class_settings
from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import Classify, Escalate, Item, Place, Rule
from reknit.prove import Flushes, in_order, weave
from reknit.table import (
    ActionSpec,
    ClassifySpec,
    ClassSpec,
    DeriveSpec,
    EscalateSpec,
    EventSpec,
    Outcome,
    PolicyTable,
)
from reknit.vocabulary.escalations import SUBJECTS
from reknit.vocabulary.words import CLASS_SETTINGS


def compile_policy(name: str, items: Iterable[Item], place: Place) -> tuple[PolicyTable | None, list[Diagnostic]]:
    """Compile a policy from its effective items.

    Args:
        name: Of the policy.
        items: All its items, quirks already applied.
        place: Where to point when something is missing altogether.

    Returns:
        The table, or None with the reasons.
    """
    check = PolicyCheck(items)
    parts = check.run()
    found = check.found
    safety = _safety(parts, place, found)
    if found or not parts.states:
        if not found:
            message, help = f"policy {quoted(name)} has no states", "declare one, as in `state idle start`"
            found.append(Diagnostic("E209", message, Label(place, "this policy"), help=help))
        return None, one_a_cause(found)
    cells = sum(size(event) * len(states_of(event, tuple(parts.states.values()))) for event in parts.events.values())
    if cells > MOST_CELLS:
        message = f"the policy has {cells} cells, and may have {MOST_CELLS}"
        widest = parts.event_nodes[max(parts.events, key=lambda name: size(parts.events[name]))]
        label = Label(widest.name.place, f"this event alone has {size(parts.events[widest.name.text])} a state")
        return None, [Diagnostic("E305", message, label, help="ask fewer questions on it, or give it fewer fields")]
    states = tuple(parts.states.values())
    grid = enumerate_cells(parts.events, states, parts.rules, parts.groups)
    found.extend(grid_findings(grid, parts))
    outcomes, numbered = _outcomes(grid, parts, found)
    if found:
        return None, found
    found.extend(_unreached(parts, outcomes, numbered))
    table = PolicyTable(
        name=name,
        events=parts.events,
        states=states,
        outcomes=outcomes,
        cells=numbered,
        merges={node.name.text: node.method.text for node in parts.merges},
        derives=tuple(DeriveSpec(n.name.text, n.source.text, tuple(m.text for m in n.minus)) for n in parts.derives),
        repairs={node.name.text: node.grade.text for node in parts.repairs},
        deviations=parts.deviations.name.text if parts.deviations else "note",
        excepted=tuple(sorted(n.text for n in parts.deviations.excepted)) if parts.deviations else (),
        classes=safety,
        classifies=tuple(
            ClassifySpec(node.pattern.text if node.pattern is not None else None, node.tool_class.text)
            for node in parts.classifies
        ),
        escalations=tuple(EscalateSpec(n.tool_class.text, n.subject.text, n.case.text) for n in parts.escalations),
    )
    return (None if found else table), found


# -- outcomes: actions with their flushes ------------------------------------------------------------------------------


def _outcomes(
    grid: Grid, parts: PolicyParts, found: list[Diagnostic]
) -> tuple[tuple[Outcome, ...], dict[str, dict[str, tuple[int, ...]]]]:
    outcomes: dict[Outcome, int] = {}
    numbered: dict[str, dict[str, tuple[int, ...]]] = {}
    faults: dict[tuple[str, str], Fault] = {}
    ahead = _ahead(parts)
    for name, by_state in grid.cells.items():
        event = parts.events[name]
        first = _first(parts, event)
        has_meant = any(question.name == "meant" for question in event.questions)
        numbered[name] = {}
        for state in states_of(event, tuple(parts.states.values())):
            woven: dict[tuple[int, tuple[ActionSpec, ...], str | None], int] = {}
            row: list[int] = []
            for index, number in enumerate(by_state[state.name]):
                if number < 0:
                    row.append(IMPOSSIBLE)
                    continue
                waiting = first.get(index, ())
                meant = answers_at(event, index)["meant"] if has_meant else None
                key = (number, waiting, meant)
                if key not in woven:
                    rule = grid.rules[number]
                    target = parts.states.get(rule.to.text) if rule.to is not None else state
                    end = None if event.about == "ending" else target
                    result = weave(_actions(rule), Flushes(waiting, ahead), state, end, meant)
                    if result.fault:
                        slot = (rule.name.text, result.fault)
                        witness = describe(event, answers_at(event, index), state.name)
                        seen = faults.get(slot)
                        faults[slot] = (rule, seen[1] if seen else witness, seen[2] + 1 if seen else 1)
                    outcome = Outcome(rule.name.text, result.actions, target.name if target else state.name)
                    woven[key] = outcomes.setdefault(outcome, len(outcomes))
                row.append(woven[key])
            numbered[name][state.name] = tuple(row)
    found.extend(open_blocks(faults))
    return tuple(outcomes), numbered


def _actions(rule: Rule) -> tuple[ActionSpec, ...]:
    return tuple(ActionSpec(node.verb.text, tuple(word.text for word in node.words)) for node in rule.actions)


def _ahead(parts: PolicyParts) -> dict[str, tuple[ActionSpec, ...]]:
    by_kind: dict[str, list[ActionSpec]] = {}
    for flush in parts.flushes:
        for trigger in flush.before:
            if trigger.opens is not None:
                by_kind.setdefault(trigger.opens.text, []).append(
                    _archive(flush.what.text, flush.seal.text if flush.seal else None)
                )
    return {kind: in_order(actions) for kind, actions in by_kind.items()}


def _first(parts: PolicyParts, event: EventSpec) -> Mapping[int, tuple[ActionSpec, ...]]:
    by_index: dict[int, list[ActionSpec]] = {}
    for flush in parts.flushes:
        action = _archive(flush.what.text, flush.seal.text if flush.seal else None)
        for trigger in flush.before:
            if trigger.opens is None and event in events_of(trigger, parts.events):
                for index in matching(event, trigger.pattern):
                    by_index.setdefault(index, []).append(action)
    return {index: in_order(actions) for index, actions in by_index.items()}


def _archive(what: str, seal: str | None) -> ActionSpec:
    return ActionSpec("archive", (what,) if seal is None else (what, seal), flush=True)


# -- reachability and safety -------------------------------------------------------------------------------------------


def _unreached(
    parts: PolicyParts, outcomes: tuple[Outcome, ...], cells: Mapping[str, Mapping[str, tuple[int, ...]]]
) -> list[Diagnostic]:
    start = next(state.name for state in parts.states.values() if state.flag == "start")
    reached, pending = {start}, [start]
    while pending:
        state = pending.pop()
        for by_state in cells.values():
            for number in set(by_state.get(state, ())):
                if number >= 0 and outcomes[number].to not in reached:
                    reached.add(outcomes[number].to)
                    pending.append(outcomes[number].to)
    return [unreached_state(node.name) for name, node in parts.state_nodes.items() if name not in reached]


def _safety(parts: PolicyParts, place: Place, found: list[Diagnostic]) -> tuple[ClassSpec, ...]:
    classes: list[ClassSpec] = []
    for node in parts.classes:
        settings = class_settings(node, found)
        if "start" not in settings and any(key.text == "start" for key, _ in node.settings):
            continue
        if "start" not in settings:
            found.append(
                Diagnostic(
                    "E601",
                    f"class {quoted(node.name.text)} does not say when its calls start",
                    Label(node.name.place, "this class"),
                    help="add `start: confirm`",
                )
            )
            continue
        classes.append(
            ClassSpec(
                node.name.text, settings["start"], settings.get("parallel") == "true", settings.get("discard", "block")
            )
        )
    names = [node.name.text for node in parts.classes]
    users: list[Classify | Escalate] = [*parts.classifies, *parts.escalations]
    for user in users:
        if user.tool_class.text not in names:
            help = suggestion(user.tool_class.text, names)
            found.append(
                Diagnostic(
                    "E602",
                    f"unknown class {quoted(user.tool_class.text)}",
                    Label(user.tool_class.place, "no such class"),
                    help=help,
                )
            )
    if parts.classes and not any(node.pattern is None for node in parts.classifies):
        found.append(
            Diagnostic(
                "E602",
                "tools that match no pattern have no class",
                Label(place, "this policy"),
                help=f"add `classify else as {_careful(classes)}`",
            )
        )
    for escalation in parts.escalations:
        cases = SUBJECTS.get(escalation.subject.text)
        if cases is None:
            help = suggestion(escalation.subject.text, SUBJECTS)
            found.append(
                Diagnostic(
                    "E603",
                    f"nothing is known of {quoted(escalation.subject.text)}",
                    Label(escalation.subject.place, "no such subject"),
                    help=help,
                )
            )
        elif escalation.case.text not in cases:
            help = suggestion(escalation.case.text, cases)
            found.append(
                Diagnostic(
                    "E603",
                    f"{quoted(escalation.subject.text)} is never {quoted(escalation.case.text)}",
                    Label(escalation.case.place, "no such case"),
                    help=help,
                )
            )
    return _by_freedom(classes)


def _by_freedom(classes: Iterable[ClassSpec]) -> tuple[ClassSpec, ...]:
    """Classes from the freest to the most guarded, whatever the order of the file."""
    return tuple(
        sorted(classes, key=lambda one: (CLASS_SETTINGS["start"].index(one.start), not one.parallel, one.name))
    )


def _careful(classes: Iterable[ClassSpec]) -> str:
    """The most guarded class whose calls may start at all."""
    names = [one.name for one in _by_freedom(classes) if one.start != "never"]
    return names[-1] if names else "NAME"
