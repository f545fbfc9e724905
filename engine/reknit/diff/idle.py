"""Actions that do nothing in a cell, by what the cell's cases say: `set name` where no name is given, for one.

Two cells whose actions differ only in such, or in other words for the same thing, do the same: that is proved here
once, from what each action does, and tried on the machine by a test. What is not known to do nothing counts as doing
something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from reknit.diff.commuting import in_one_order
from reknit.table import ActionSpec, EventSpec, PolicyTable
from reknit.vocabulary.actions import ALL, BLOCK, CALLS, COMPLETE_CALLS
from reknit.vocabulary.words import OPAQUE, TEXT, THINKING

SEALLESS: Final = (TEXT, THINKING, OPAQUE)
"""Kinds whose blocks end without a seal."""

_HAS_NAME: Final = ("same", "grows", "piece", "other")
_OTHER: Final = "other"
_OPENING: Final = ("open", "reopen")


class _Facts(NamedTuple):
    """What a cell says: its cases by question and by type, the types of fields."""

    about: str
    cases: Mapping[str, str]
    by_type: Mapping[str, str]
    types: Mapping[str, str]


def ends_for_good(policy: PolicyTable) -> bool:
    """Whether what is archived stays so until an action takes it up again: no judgement of a call opens anything."""
    endings = [event.name for event in policy.events.values() if event.about == "ending"]
    numbers = {number for name in endings for row in policy.cells[name].values() for number in row if number >= 0}
    return not any(action.verb in _OPENING for number in numbers for action in policy.outcomes[number].actions)


def effective(
    event: EventSpec, answers: Mapping[str, str], actions: tuple[ActionSpec, ...], for_good: bool = False
) -> tuple[ActionSpec, ...]:
    """The actions of a cell without those that do nothing in it, each in one fixed spelling.

    Args:
        event: Of the cell.
        answers: Its case of each question.
        actions: All actions, flushes included.
        for_good: Whether the policy `ends_for_good`.

    Returns:
        What is done; that a flush does it is not said any more.
    """
    by_type = {question.type: answers[question.name] for question in event.questions}
    facts = _Facts(event.about, answers, by_type, {field.name: field.type for field in event.fields})
    kept: list[ActionSpec] = []
    untouched, opened = True, False
    closed: set[str] = set()
    for action in actions:
        spelt = _spelt(action, facts)
        if spelt.verb == "archive" and for_good:
            if _covers(closed, spelt.words[0]):
                continue
            closed.add(spelt.words[0])
        elif spelt.verb in _OPENING:
            closed.clear()
        if _brings_nothing(spelt, facts, opened) or (untouched and _changes_nothing(spelt, facts)):
            continue
        kept.append(spelt)
        # From here on, what the cases say of the machine may not hold any more.
        untouched = untouched and (spelt.verb == "note" or (spelt.verb == "archive" and spelt.words[0] in SEALLESS))
        opened = opened or spelt.verb == "open"
    return in_one_order(kept, facts.types, _repeats_a_call(facts))


def _covers(closed: set[str], what: str) -> bool:
    """Whether nothing of a kind is open any more, once others were archived."""
    return (what in closed and what != BLOCK) or ALL in closed or (what == COMPLETE_CALLS and CALLS in closed)


def _repeats_a_call(facts: _Facts) -> bool:
    """Whether a twin that is opened here stays out of the message: there is a call that it may repeat."""
    means_one = facts.by_type.get("slot") in ("last", "past", "open", "archived")
    return facts.about == "tool" and (means_one or facts.by_type.get("id") in ("same", "seen"))


def _spelt(action: ActionSpec, facts: _Facts) -> ActionSpec:
    """One spelling for actions that do the same."""
    verb, words = action.verb, action.words
    if verb == "drop":  # it says that nothing else is done; what is done is the note
        verb = "note"
    elif verb == "reopen":  # which block is taken up again is said by the event
        words = ()
    elif verb == "set" and (len(words) == 2 or facts.types.get(words[0]) == "reason"):
        case = words[1] if len(words) == 2 else facts.by_type.get("reason", _OTHER)
        words = ("reason",) if case == _OTHER else ("reason", case)
    elif verb == "archive":
        if words[0] in SEALLESS or (words[0] == BLOCK and facts.by_type.get("meant") == OPAQUE):
            words = words[:1]
        elif len(words) == 1:
            words = (*words, "final")
    return ActionSpec(verb, words)


def _brings_nothing(action: ActionSpec, facts: _Facts, opened: bool) -> bool:
    """Whether the event has nothing that the action could do something with, or there is nothing to do it to."""
    word = action.words[0] if action.words else ""
    type_, case = facts.types.get(word, ""), facts.cases.get(word)
    match action.verb:
        case "set" | "fill":
            nothing = case == "none" and type_ in ("id", "name", "message_id")
            return nothing or (type_ == "name" and not opened and _means_no_call(facts))
        case "append":
            return case == "empty" and type_ in ("text", "json")
        case "bind":
            return facts.by_type.get("slot") in ("none", "last", "past")
        case "adopt" | "conflict" | "withdraw":
            return facts.by_type.get("twin") == "none"
        case "merge":
            return "count" not in facts.types.values()
        case "archive":
            return word == BLOCK and facts.by_type.get("meant") == "none" and not opened
    return False


def _means_no_call(facts: _Facts) -> bool:
    return (
        facts.about == "tool"
        and facts.by_type.get("slot") in ("none", "opaque")
        and facts.by_type.get("id", "none") not in ("same", "seen")
    )


def _changes_nothing(action: ActionSpec, facts: _Facts) -> bool:
    """Whether the action would put in place what is there; only so long as nothing was done before it."""
    word = action.words[0] if action.words else ""
    type_, case, slot = facts.types.get(word, ""), facts.cases.get(word), facts.by_type.get("slot")
    match action.verb:
        case "set" if word == "reason" and "said" in facts.by_type:
            said = facts.by_type.get("reason", _OTHER)
            return facts.by_type["said"] == "same" and (len(action.words) == 1 or action.words[1] == said)
        case "set":
            return case == "same" and type_ in ("message_id", "name")
        case "fill":
            return (type_ == "id" and case == "same") or (type_ == "name" and case in _HAS_NAME)
        case "replace":
            return type_ == "name" and case == "same"
        case "reopen":
            taken_up = slot in ("last", "open") or (slot in ("none", "fresh") and facts.by_type.get("id") != "seen")
            return taken_up and facts.by_type.get("id") != "seen"
    return False
