"""What there is to tell of an event, of cells and of a rule: as data, for a person or a program to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from reknit.explain.patterns import Pattern, Space
from reknit.explain.sites import Site
from reknit.explain.subject import Subject
from reknit.lang.syntax import Flush, Rule
from reknit.table import ActionSpec, EventSpec, FieldSpec, Outcome, QuestionSpec
from reknit.vocabulary.questions import ABOUT, ASKS, TYPES, Question

STAY = ""
"""Stands where a cell keeps its state."""

_Done: TypeAlias = tuple[tuple[ActionSpec, ...], str]


class Deed(msgspec.Struct, frozen=True):
    """What is done in some cells.

    Attributes:
        states: In which of the rule's states; empty where it is the same in all.
        patterns: In which cells; empty where the states alone decide.
        actions: With the flushes that come first.
        to: The next state, or `STAY`.
        cells: How many cells.
    """

    states: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    actions: tuple[ActionSpec, ...]
    to: str
    cells: int


class Taking(msgspec.Struct, frozen=True):
    """A rule on one event.

    Attributes:
        event: Its name.
        rule: Its name.
        site: Where the rule stands, if that is known.
        fallback: Whether it is a last resort.
        patterns: The cells that it takes.
        deeds: What it does there.
        cells: How many cells.
    """

    event: str
    rule: str
    site: Site | None
    fallback: bool
    patterns: tuple[Pattern, ...]
    deeds: tuple[Deed, ...]
    cells: int


class FieldAccount(msgspec.Struct, frozen=True):
    """A field, or what an event asks besides, which has no `type`; `cases` is empty where none can be asked."""

    name: str
    type: str
    optional: bool
    doc: str
    cases: Mapping[str, str]


class EventAccount(msgspec.Struct, frozen=True):
    """An event: what it is about, what it brings and asks, what is archived before it, and which rules take it."""

    name: str
    about: str
    doc: str
    site: Site | None
    fields: tuple[FieldAccount, ...]
    asks: tuple[FieldAccount, ...]
    flushes: tuple[Site, ...]
    taken: tuple[Taking, ...]


class CellAccount(msgspec.Struct, frozen=True):
    """The cells that a question means.

    Attributes:
        event: Their event.
        states: In which they were looked for.
        taken: What happens in them, rule by rule.
        possible: How many of them can occur.
        impossible: How many cannot.
    """

    event: str
    states: tuple[str, ...]
    taken: tuple[Taking, ...]
    possible: int
    impossible: int


class RuleAccount(msgspec.Struct, frozen=True):
    """A rule or map.

    Attributes:
        kind: rule, or the kind of another item.
        name: Its name.
        history: Where it stands, and what quirks make of it, in order.
        taken: For a rule, its cells by event.
        tests: Title and place of the tests that make it fire; None where no tests were run.
    """

    kind: str
    name: str
    history: tuple[Site, ...]
    taken: tuple[Taking, ...] = ()
    tests: tuple[tuple[str, str], ...] | None = None


def event_account(subject: Subject, name: str) -> EventAccount:
    """All that there is to tell of an event."""
    spec = subject.policy.events[name]
    return EventAccount(
        name,
        spec.about,
        ABOUT.get(spec.about, ""),
        subject.sites.find("event", name),
        tuple(_field(field, spec) for field in spec.fields),
        tuple(_asked(question) for question in spec.questions if not question.field),
        tuple(_flushes(subject, name)),
        takings(subject, spec),
    )


def takings(
    subject: Subject, spec: EventSpec, states: Sequence[str] = (), cases: Mapping[str, Sequence[str]] | None = None
) -> tuple[Taking, ...]:
    """The rules that take an event, in the order in which their cells come first.

    Args:
        subject: The rules.
        spec: The event.
        states: Only in these states.
        cases: Only in these cases.
    """
    space = Space(spec, subject.policy)
    within = space.box(states, cases or {}) & space.possible()
    narrowed = bool(states or cases)
    by_rule: dict[str, dict[tuple[str, int], int]] = {}
    for key, count in space.outcomes_in(within).items():
        by_rule.setdefault(subject.policy.outcomes[key[1]].rule, {})[key] = count
    found = []
    for rule, counts in by_rule.items():
        wanted = within & _of_rule(space, rule, subject.policy.outcomes)
        taken = within if narrowed else None
        node = subject.sites.item("rule", rule)
        found.append(
            Taking(
                spec.name,
                rule,
                subject.sites.find("rule", rule),
                isinstance(node, Rule) and node.fallback,
                tuple(space.patterns(wanted, taken)),
                _deeds(subject, space, counts, wanted, taken),
                sum(counts.values()),
            )
        )
    return tuple(found)


def cell_account(
    subject: Subject, event: str, cases: Mapping[str, Sequence[str]], states: Sequence[str]
) -> CellAccount:
    """What happens in the cells of a pattern, in some states (none: in all)."""
    spec = subject.policy.events[event]
    space = Space(spec, subject.policy)
    meant = space.box(states, cases)
    possible = (meant & space.possible()).bit_count()
    taken = takings(subject, spec, states, cases)
    return CellAccount(event, tuple(states), taken, possible, meant.bit_count() - possible)


def rule_account(subject: Subject, name: str, tests: Iterable[tuple[str, str]]) -> RuleAccount:
    """All that there is to tell of a rule."""
    taken = [
        one
        for spec in subject.policy.events.values()
        if any(subject.policy.outcomes[number].rule == name for number in _numbers(subject, spec))
        for one in takings(subject, spec)
        if one.rule == name
    ]
    return RuleAccount("rule", name, subject.sites.history("rule", name), tuple(taken), tuple(tests))


def _numbers(subject: Subject, spec: EventSpec) -> set[int]:
    return {number for row in subject.policy.cells[spec.name].values() for number in row if number >= 0}


def _deeds(
    subject: Subject, space: Space, counts: Mapping[tuple[str, int], int], wanted: int, taken: int | None
) -> tuple[Deed, ...]:
    outcomes = subject.policy.outcomes
    in_state: dict[str, set[_Done]] = {}
    cells: dict[_Done, int] = {}
    for (state, number), count in counts.items():
        done = _done(state, outcomes[number])
        in_state.setdefault(state, set()).add(done)
        cells[done] = cells.get(done, 0) + count
    if len(cells) == 1:
        ((actions, to),) = cells
        return (Deed((), (), actions, to, cells[actions, to]),)
    if all(len(done) == 1 for done in in_state.values()):
        by_deed = {done: tuple(state for state, those in in_state.items() if done in those) for done in cells}
        return tuple(Deed(states, (), *done, cells[done]) for done, states in by_deed.items())
    deeds = []
    for done in cells:
        patterns = space.patterns(wanted & _of_deed(space, done, outcomes), taken)
        deeds.append(Deed((), tuple(patterns), *done, cells[done]))
    return tuple(deeds)


def _of_rule(space: Space, rule: str, outcomes: Sequence[Outcome]) -> int:
    return space.where(lambda _, outcome: outcome.rule == rule, outcomes)


def _of_deed(space: Space, done: _Done, outcomes: Sequence[Outcome]) -> int:
    return space.where(lambda state, outcome: _done(state, outcome) == done, outcomes)


def _done(state: str, outcome: Outcome) -> _Done:
    return outcome.actions, STAY if outcome.to == state else outcome.to


# -- the parts of an event ---------------------------------------------------------------------------------------------


def _field(field: FieldSpec, spec: EventSpec) -> FieldAccount:
    known = TYPES.get(field.type, Question("", {}))
    asked = next((question.cases for question in spec.questions if question.name == field.name), ())
    return FieldAccount(field.name, field.type, field.optional, known.doc, _meanings(known, asked))


def _asked(question: QuestionSpec) -> FieldAccount:
    known = ASKS.get(question.type, Question("", {}))
    return FieldAccount(question.name, "", False, known.doc, _meanings(known, question.cases))


def _meanings(known: Question, asked: Iterable[str]) -> dict[str, str]:
    return {case: known.cases.get(case, "") for case in asked}


def _flushes(subject: Subject, event: str) -> Iterable[Site]:
    spec = subject.policy.events[event]
    opened = {
        action.words[0] if action.words[0] != "twin" else "tool"
        for number in _numbers(subject, spec)
        for action in subject.policy.outcomes[number].actions
        if action.verb == "open"
    }
    for name in subject.sites.names("flush"):
        flush, site = subject.sites.item("flush", name), subject.sites.find("flush", name)
        if isinstance(flush, Flush) and site is not None and _applies(flush, event, opened, spec):
            yield site


def _applies(flush: Flush, event: str, opened: set[str], spec: EventSpec) -> bool:
    for trigger in flush.before:
        if trigger.opens is not None:
            if trigger.opens.text in opened:
                return True
        elif trigger.event.text == event or (trigger.event.text == "any" and spec.about != "ending"):
            return True
    return False
