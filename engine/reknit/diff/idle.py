"""Actions that do nothing in a cell, by what the cell's cases say: `set name` where no name is given, for one.

Two cells whose actions differ only in such, or in other words for the same thing, do the same: that is proved here
once, from what each action does, and tried on the machine by a test. What is not known to do nothing counts as doing
something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reknit.diff.commuting import SEALLESS, footprint, in_one_order
from reknit.table import ActionSpec, EventSpec, PolicyTable
from reknit.vocabulary.actions import ALL, BLOCK, CALLS, COMPLETE_CALLS
from reknit.vocabulary.words import OPAQUE, SINGLE

_HAS_NAME: Final = ("same", "grows", "piece", "other")
_MEANS_ONE: Final = ("last", "past", "open", "archived")
_OTHER: Final = "other"
_OPENING: Final = ("open", "reopen")


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
    facts = _Facts(event, answers)
    so_far = _SoFar()
    kept: list[ActionSpec] = []
    for action in actions:
        spelt = _spelt(action, facts, so_far)
        if not _is_idle(spelt, facts, so_far, for_good):
            kept.append(spelt)
            so_far.take(spelt, facts)
    return in_one_order(kept, facts.types, facts.means_a_call)


class _Facts:
    """What a cell says: its cases by question and by type, the types of fields."""

    def __init__(self, event: EventSpec, answers: Mapping[str, str]) -> None:
        self.about = event.about
        self.cases = answers
        self.by_type = {question.type: answers[question.name] for question in event.questions}
        self.types = {field.name: field.type for field in event.fields}
        known = self.by_type.get("id") in ("same", "seen")
        self.means_a_call = event.about == "tool" and (self.by_type.get("slot") in _MEANS_ONE or known)
        """A call is meant: a twin of it stays hidden, and its name is what the cases say."""
        self.means_none = event.about == "tool" and not known and self.by_type.get("slot") in ("none", "opaque")


class _SoFar:
    """What the actions before one have done."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        """Parts of the machine of which the cases may not hold any more."""
        self.opened = False
        self.closed: set[str] = set()
        self.fresh: set[str] = set()
        """What a block that was just opened does not have yet: an id, a name, text."""
        self.reason: tuple[str, ...] | None = None

    def take(self, action: ActionSpec, facts: _Facts) -> None:
        """An action is done."""
        verb, word = action.verb, action.words[0] if action.words else ""
        type_ = facts.types.get(word, "")
        self.changed |= footprint(action, facts.types).changes
        if verb == "archive":
            self.closed.add(word)
        elif verb in _OPENING:
            self.closed.clear()
        if verb == "open":
            self.opened = True
            self.fresh = {"text"} if word in SINGLE else {"id", "name"}
        elif verb in ("set", "fill", "append", "replace"):
            self.fresh.discard(type_)
        elif verb == "make":
            self.fresh.discard("id")
        elif verb not in ("note", "hold", "bind"):
            self.fresh.clear()
        if verb == "set" and word == "reason":
            self.reason = action.words
        elif verb not in _QUIET:
            self.reason = None


_QUIET: Final = ("note", "open", "append", "set", "fill", "bind", "merge", "bank", "complete", "hold", "fold", "make")
"""Verbs that leave the stop reason as it is."""


def _spelt(action: ActionSpec, facts: _Facts, so_far: _SoFar) -> ActionSpec:
    """One spelling for actions that do the same."""
    verb, words = action.verb, action.words
    type_ = facts.types.get(words[0], "") if words else ""
    if verb == "drop":  # it says that nothing else is done; what is done is the note
        verb = "note"
    elif verb == "reopen":  # which block is taken up again is said by the event
        words = ()
    elif verb == "set" and (len(words) == 2 or type_ == "reason"):
        case = words[1] if len(words) == 2 else facts.by_type.get("reason", _OTHER)
        words = ("reason",) if case == _OTHER else ("reason", case)
    elif verb in ("fill", "append", "replace") and type_ == "name" and _has_no_name(facts, so_far):
        verb = "set"
    elif verb == "fill" and type_ == "id" and "id" in so_far.fresh:
        verb = "set"
    elif verb == "replace" and type_ == "text" and facts.about in SINGLE and "text" in so_far.fresh:
        verb = "append"
    elif verb == "archive":
        if words[0] in SEALLESS or (words[0] == BLOCK and facts.by_type.get("meant") == OPAQUE):
            words = words[:1]
        elif len(words) == 1:
            words = (*words, "final")
    return ActionSpec(verb, words)


def _has_no_name(facts: _Facts, so_far: _SoFar) -> bool:
    """Whether the call that an action is about has no name yet, and one is given."""
    case = facts.by_type.get("name")
    if "name" in so_far.fresh:
        return case != "none"
    return facts.means_a_call and case == "given" and not so_far.changed & _NAME


def _is_idle(action: ActionSpec, facts: _Facts, so_far: _SoFar, for_good: bool) -> bool:
    if action.verb == "archive" and for_good and _covers(so_far.closed, action.words[0]):
        return True
    if action.verb == "set" and action.words == so_far.reason:
        return True
    return _brings_nothing(action, facts, so_far.opened) or _changes_nothing(action, facts, so_far.changed)


def _covers(closed: set[str], what: str) -> bool:
    """Whether nothing of a kind is open any more, once others were archived."""
    return ALL in closed or (what in closed and what != BLOCK) or (what == COMPLETE_CALLS and CALLS in closed)


def _brings_nothing(action: ActionSpec, facts: _Facts, opened: bool) -> bool:
    """Whether the event has nothing that the action could do something with, or there is nothing to do it to."""
    word = action.words[0] if action.words else ""
    type_, case = facts.types.get(word, ""), facts.cases.get(word)
    match action.verb:
        case "set" | "fill":
            nothing = case == "none" and type_ in ("id", "name", "message_id")
            return nothing or (type_ == "name" and not opened and facts.means_none)
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


_NAME: Final = {"names", "current"}
_ID: Final = {"ids", "current"}


def _changes_nothing(action: ActionSpec, facts: _Facts, changed: set[str]) -> bool:
    """Whether the action would put in place what is there; only of parts that nothing was done to before it."""
    word = action.words[0] if action.words else ""
    type_, case, slot = facts.types.get(word, ""), facts.cases.get(word), facts.by_type.get("slot")
    match action.verb:
        case "set" if word == "reason" and "said" in facts.by_type:
            said = facts.by_type.get("reason", _OTHER)
            says_it = len(action.words) == 1 or action.words[1] == said
            return facts.by_type["said"] == "same" and says_it and "reason" not in changed
        case "set" | "replace" if type_ == "name":
            return case == "same" and not changed & _NAME
        case "set":
            return case == "same" and type_ == "message_id" and "id" not in changed
        case "fill" if type_ == "name":
            return case in _HAS_NAME and not changed & _NAME
        case "fill":
            return type_ == "id" and case == "same" and not changed & _ID
        case "reopen":
            taken_up = slot in ("last", "open", "none", "fresh") and facts.by_type.get("id") != "seen"
            return taken_up and "standing" not in changed
    return False
