"""Ways to mutate a policy: one small edit of its nodes each, as a slip or a careless change would make it.

Each operator lists all places where it applies, in the order of the file; nothing here is random.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reknit.lang.contents import key_of
from reknit.lang.syntax import (
    Action,
    Case,
    Classify,
    Derive,
    Deviations,
    Escalate,
    Event,
    Flush,
    Group,
    Item,
    Merge,
    Name,
    Repair,
    Rule,
    State,
    Test,
    ToolClass,
    Trigger,
)
from reknit.vocabulary.escalations import SUBJECTS
from reknit.vocabulary.merges import MERGES
from reknit.vocabulary.questions import ASKS, TYPES
from reknit.vocabulary.words import CLASS_SETTINGS, INVALID_REASONS, SEALS, STOP_REASONS


class Mutant(NamedTuple):
    """A policy with one edit: what was done, by which operator, and all its items."""

    operator: str
    label: str
    items: tuple[Item, ...]


Edits = Iterator[tuple[str, dict[int, Any]]]
"""What is done in words, and the new items by position; None takes an item out."""


def all_mutants(items: Sequence[Item]) -> dict[str, list[Mutant]]:
    """Every mutant of a policy, by operator."""
    items = tuple(item for item in items if not isinstance(item, Test))
    found: dict[str, list[Mutant]] = {}
    for operator in OPERATORS:
        name = operator.__name__.strip("_").replace("_", "-")
        for label, edits in operator(items):
            mutated = [edits.get(n, item) for n, item in enumerate(items)]
            found.setdefault(name, []).append(Mutant(name, label, tuple(one for one in mutated if one is not None)))
    return found


def _of(items: Sequence[Item], kind: type) -> Iterator[tuple[int, Any]]:
    return ((n, item) for n, item in enumerate(items) if isinstance(item, kind))


def _without(values: Sequence[Any], at: int) -> tuple[Any, ...]:
    return (*values[:at], *values[at + 1 :])


def _with(values: Sequence[Any], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])


# -- whole items -------------------------------------------------------------------------------------------------------


def remove_an_item(items: Sequence[Item]) -> Edits:
    kinds = (Rule, Flush, Merge, Derive, Repair, ToolClass, Classify, Escalate, Group)
    for n, item in enumerate(items):
        if isinstance(item, kinds):
            yield f"remove {' '.join(key_of(item))}", {n: None}


def rename_a_rule(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        yield f"rename {rule.name}", {n: replace(rule, name=Name(f"{rule.name}-renamed"))}


def turn_level(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        yield f"{rule.name}: rule <-> fallback", {n: replace(rule, fallback=not rule.fallback)}


# -- what a rule takes -------------------------------------------------------------------------------------------------


def remove_a_trigger(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        for at, trigger in enumerate(rule.on):
            if len(rule.on) > 1:
                yield f"{rule.name}: no {trigger.event} ({at})", {n: replace(rule, on=_without(rule.on, at))}


def _triggers(trigger: Trigger) -> Iterator[tuple[str, Trigger]]:
    """A trigger with one case less, one case more, or one condition less."""
    for at, case in enumerate(trigger.pattern):
        rest = _without(trigger.pattern, at)
        yield f"any {case.field}", replace(trigger, pattern=rest)
        for word in range(len(case.cases)):
            if len(case.cases) > 1:
                gone = Case(case.field, _without(case.cases, word))
                yield f"{case.field} not {case.cases[word]}", replace(trigger, pattern=_with(trigger.pattern, at, gone))
        for other in _cases(case.field.text):
            if other not in [name.text for name in case.cases]:
                more = Case(case.field, (*case.cases, Name(other)))
                yield f"{case.field} also {other}", replace(trigger, pattern=_with(trigger.pattern, at, more))


def _cases(question: str) -> Iterable[str]:
    found = TYPES.get(question) or ASKS.get(question)
    return found.cases if found is not None else ()


def change_a_case(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        for at, trigger in enumerate(rule.on):
            for said, other in _triggers(trigger):
                yield f"{rule.name}: {trigger.event} {said}", {n: replace(rule, on=_with(rule.on, at, other))}


def hand_a_case_on(items: Sequence[Item]) -> Edits:
    """One case of a rule goes to another rule on the same event: the commonest careless edit that checks."""
    rules = list(_of(items, Rule))
    for (n, rule), (m, other) in itertools.permutations(rules, 2):
        events = {trigger.event.text for trigger in other.on}
        for at, trigger in enumerate(rule.on):
            if trigger.event.text not in events or (trigger.event.text == "any"):
                continue
            for spot, case in enumerate(trigger.pattern):
                for word in case.cases if len(case.cases) > 1 else ():
                    kept = Case(case.field, tuple(name for name in case.cases if name != word))
                    given = replace(trigger, pattern=_with(trigger.pattern, spot, Case(case.field, (word,))))
                    left = replace(trigger, pattern=_with(trigger.pattern, spot, kept))
                    edits = {n: replace(rule, on=_with(rule.on, at, left)), m: replace(other, on=(*other.on, given))}
                    yield f"{rule.name} gives {trigger.event} {case.field} {word} to {other.name}", edits


def hand_a_rule_on(items: Sequence[Item]) -> Edits:
    """A rule goes, another one takes its input."""
    for (n, rule), (m, other) in itertools.permutations(list(_of(items, Rule)), 2):
        if {t.event.text for t in rule.on} <= {t.event.text for t in other.on}:
            yield f"{other.name} takes all of {rule.name}", {n: None, m: replace(other, on=(*other.on, *rule.on))}


def change_states(items: Sequence[Item]) -> Edits:
    states = [state.name for _, state in _of(items, State)]
    groups = {group.name.text: group.states for _, group in _of(items, Group)}
    for n, rule in _of(items, Rule):
        for at in range(len(rule.states)):
            if len(rule.states) > 1:
                yield f"{rule.name}: not from {rule.states[at]}", {n: replace(rule, states=_without(rule.states, at))}
        there = {name.text for one in rule.states for name in groups.get(one.text, (one,))}
        for state in states if rule.states else ():
            if state.text not in there:
                yield f"{rule.name}: also from {state}", {n: replace(rule, states=(*rule.states, state))}
    for n, group in _of(items, Group):
        for at in range(len(group.states)):
            yield (
                f"group {group.name} without {group.states[at]}",
                {n: replace(group, states=_without(group.states, at))},
            )


def change_the_target(items: Sequence[Item]) -> Edits:
    states = [state.name for _, state in _of(items, State)]
    for n, rule in _of(items, Rule):
        for state in states:
            if rule.to != state:
                yield f"{rule.name}: to {state}", {n: replace(rule, to=state, stays=False)}
        if not rule.stays:
            yield f"{rule.name}: stay", {n: replace(rule, to=None, stays=True)}


# -- what a rule does --------------------------------------------------------------------------------------------------


def drop_an_action(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        for at, action in enumerate(rule.actions):
            yield f"{rule.name}: no {_said(action)}", {n: replace(rule, actions=_without(rule.actions, at))}


def swap_actions(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        for at in range(len(rule.actions) - 1):
            one, two = rule.actions[at], rule.actions[at + 1]
            actions = _with(_with(rule.actions, at, two), at + 1, one)
            yield f"{rule.name}: {_said(two)} before {_said(one)}", {n: replace(rule, actions=actions)}


_OTHERS: dict[str, Sequence[tuple[str, ...]]] = {
    "open": [("text",), ("thinking",), ("tool",), ("twin",), ("opaque",)],
    "archive": [("block", seal) for seal in SEALS],
    "reject": [(reason,) for reason in INVALID_REASONS],
    "conflict": [(reason,) for reason in INVALID_REASONS],
    "set": [("reason", word) for word in STOP_REASONS],
    "fill": [("id",), ("name",)],
    "note": [("another-reason",)],
    "drop": [("another-reason",)],
}
_OTHER_VERBS: dict[str, Sequence[str]] = {
    "note": ["drop"],
    "drop": ["note"],
    "fill": ["set", "replace"],
    "set": ["fill"],
    "append": ["replace"],
    "replace": ["append"],
    "propose": ["append", "replace"],
    "keep": ["withdraw"],
    "withdraw": ["keep"],
    "fail": ["complete"],
    "complete": ["fail"],
}


def change_an_action(items: Sequence[Item]) -> Edits:
    for n, rule in _of(items, Rule):
        for at, action in enumerate(rule.actions):
            verb, words = action.verb.text, tuple(word.text for word in action.words)
            others = [Action(action.verb, tuple(map(Name, other))) for other in _OTHERS.get(verb, ()) if other != words]
            others += [Action(Name(other), action.words) for other in _OTHER_VERBS.get(verb, ())]
            if verb == "reject":
                others.append(Action(Name("accept"), ()))
            if verb == "accept":
                others.append(Action(Name("reject"), (Name("bad_json"),)))
            for other in others:
                edit = {n: replace(rule, actions=_with(rule.actions, at, other))}
                yield f"{rule.name}: {_said(action)} -> {_said(other)}", edit


def add_an_action(items: Sequence[Item]) -> Edits:
    added = [
        Action(Name("note"), (Name("more"),)),
        Action(Name("complete"), ()),
        Action(Name("set"), (Name("reason"), Name("tool_use"))),
    ]
    for n, rule in _of(items, Rule):
        for action in added:
            yield f"{rule.name}: also {_said(action)}", {n: replace(rule, actions=(*rule.actions, action))}


def _said(action: Action) -> str:
    return " ".join([action.verb.text, *(word.text for word in action.words)])


# -- boundaries --------------------------------------------------------------------------------------------------------


def change_a_flush(items: Sequence[Item]) -> Edits:
    for n, flush in _of(items, Flush):
        for at, trigger in enumerate(flush.before):
            if len(flush.before) > 1:
                said = trigger.opens or trigger.event
                yield f"flush {flush.name} not before {said}", {n: replace(flush, before=_without(flush.before, at))}
            for said, other in _triggers(trigger):
                edit = {n: replace(flush, before=_with(flush.before, at, other))}
                yield f"flush {flush.name} before {trigger.event}: {said}", edit
        for seal in SEALS:
            if flush.seal is None or flush.seal.text != seal:
                yield f"flush {flush.name} sealed {seal}", {n: replace(flush, seal=Name(seal))}
        for what in ("calls", "complete-calls", "all", "opaque"):
            if flush.what.text != what:
                yield f"flush {flush.name} is {what}", {n: replace(flush, what=Name(what))}


# -- declarations ------------------------------------------------------------------------------------------------------


def change_a_declaration(items: Sequence[Item]) -> Edits:
    for n, event in _of(items, Event):
        for at in range(len(event.asks)):
            yield f"{event.name} does not ask {event.asks[at]}", {n: replace(event, asks=_without(event.asks, at))}
        for at, field in enumerate(event.fields):
            yield f"{event.name} has no {field.name}", {n: replace(event, fields=_without(event.fields, at))}
            other = replace(field, optional=not field.optional)
            yield (
                f"{event.name}: {field.name} optional or not",
                {n: replace(event, fields=_with(event.fields, at, other))},
            )
    for n, state in _of(items, State):
        for at in range(len(state.holds)):
            yield (
                f"state {state.name} without {state.holds[at].kind}",
                {n: replace(state, holds=_without(state.holds, at))},
            )
        for flag in ("", "start", "final"):
            if state.flag != flag:
                yield f"state {state.name} is {flag or 'plain'}", {n: replace(state, flag=flag)}


# -- the books, trust --------------------------------------------------------------------------------------------------


def change_the_books(items: Sequence[Item]) -> Edits:
    for n, merge in _of(items, Merge):
        for method in MERGES:
            if method != merge.method.text:
                yield f"merge {merge.name} by {method}", {n: replace(merge, method=Name(method))}
    for n, derive in _of(items, Derive):
        for at in range(len(derive.minus)):
            yield (
                f"derive {derive.name} without {derive.minus[at]}",
                {n: replace(derive, minus=_without(derive.minus, at))},
            )
        yield f"derive {derive.name} from output", {n: replace(derive, source=Name("output"))}


def change_trust(items: Sequence[Item]) -> Edits:
    classes = [one.name for _, one in _of(items, ToolClass)]
    for n, repair in _of(items, Repair):
        grade = "guessed" if repair.grade.text == "lossless" else "lossless"
        yield f"repair {repair.name} as {grade}", {n: replace(repair, grade=Name(grade))}
    for n, deviations in _of(items, Deviations):
        for reason in ("headless-call", "cut-stream", "args-fences", "reason-corrected"):
            excepted = (*deviations.excepted, Name(reason))
            yield f"deviations except {reason}", {n: replace(deviations, excepted=excepted)}
            yield f"deviations fail except {reason}", {n: Deviations(Name("fail"), excepted)}
        yield "deviations fail", {n: replace(deviations, name=Name("fail"))}
    for n, one in _of(items, ToolClass):
        for key, words in CLASS_SETTINGS.items():
            for word in words:
                value: Any = {"true": True, "false": False}.get(word, word)
                settings = [pair for pair in one.settings if pair[0].text != key]
                if (Name(key), value) not in one.settings:
                    yield f"class {one.name} {key}: {word}", {n: replace(one, settings=(*settings, (Name(key), value)))}
    for n, classify in _of(items, Classify):
        for name in classes:
            if name != classify.tool_class:
                yield f"classify {classify.name} as {name}", {n: replace(classify, tool_class=name)}
        if classify.pattern is not None:
            for pattern in (f"{classify.pattern}*", f"{classify.pattern}All", "*"):
                yield f"classify {classify.name} is {pattern}", {n: replace(classify, pattern=Name(pattern))}
    for n, escalate in _of(items, Escalate):
        for name in classes:
            if name != escalate.tool_class:
                yield f"escalate {escalate.name} to {name}", {n: replace(escalate, tool_class=name)}
        for subject, cases in SUBJECTS.items():
            for case in cases:
                other = replace(escalate, subject=Name(subject), case=Name(case))
                if other.name != escalate.name:
                    yield f"escalate {escalate.name} when {subject} {case}", {n: other}


# -- what changes nothing ----------------------------------------------------------------------------------------------


def reorder(items: Sequence[Item]) -> Edits:
    for n in range(0, len(items) - 1, 7):
        yield f"{' '.join(key_of(items[n]))} after the next item", {n: items[n + 1], n + 1: items[n]}


OPERATORS: tuple[Callable[[Sequence[Item]], Edits], ...] = (
    remove_an_item,
    rename_a_rule,
    turn_level,
    remove_a_trigger,
    change_a_case,
    hand_a_case_on,
    hand_a_rule_on,
    change_states,
    change_the_target,
    drop_an_action,
    swap_actions,
    change_an_action,
    add_an_action,
    change_a_flush,
    change_a_declaration,
    change_the_books,
    change_trust,
    reorder,
)
