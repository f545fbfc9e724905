"""What differs in how far calls and streams are trusted: repairs and grades, deviations, classes, escalations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from fnmatch import translate

from reknit.diff.cells import answers_of
from reknit.diff.changes import Change, Direction
from reknit.diff.leaning import class_leaning, guard, rank_leaning
from reknit.diff.parts import Parts, came_or_went, in_words, paired
from reknit.diff.sides import Side
from reknit.diff.wording import class_words, listed
from reknit.lang.diagnostics import quoted
from reknit.machine.safety import Safety
from reknit.table import EscalateSpec, PolicyTable
from reknit.vocabulary.escalations import SUBJECTS
from reknit.vocabulary.words import GRADES


def names_of(pattern: str) -> list[str]:
    """Some names that a pattern takes, the shortest first."""
    plain = re.sub(r"\[!?(.)[^]]*\]", r"\1", pattern).replace("?", "a")
    tried = dict.fromkeys([plain.replace("*", ""), plain.replace("*", "a"), plain.replace("*", "zz")])
    compiled = re.compile(translate(pattern))
    return [name for name in tried if name and compiled.match(name)]


class Trust(Parts):
    """How far two policies trust."""

    def __init__(self, before: Side, after: Side) -> None:
        super().__init__(before, after)
        self._old, self._new = before.policy, after.policy

    def changes(self) -> Iterator[Change]:
        """Everything that differs."""
        yield from self._repairs()
        yield from self._deviations()
        yield from self._classes()
        yield from self._classifies()
        yield from self._escalations()

    def _repairs(self) -> Iterator[Change]:
        grades = [str(grade) for grade in GRADES]
        for name, old, new in paired(self._old.repairs, self._new.repairs):
            if old == new:
                continue
            direction: Direction = "loosens" if old is None else "tightens"
            said = "is made" if old is None else "is made no more"
            if old is not None and new is not None:
                direction = "loosens" if grades.index(new) < grades.index(old) else "tightens"
                said = "gives another grade"
            id = came_or_went("REPAIR", old, new, "GRADE")
            yield self.change(id, direction, ("repair", name), f"repair {quoted(name)} {said}", (old, new))

    def _deviations(self) -> Iterator[Change]:
        key = ("deviations", "deviations")
        old, new = self._old.deviations, self._new.deviations
        if old != new:
            direction: Direction = "tightens" if new == "fail" else "loosens"
            message = "what is repaired or dropped " + ("ends the stream" if new == "fail" else "is only noted")
            excepted = self._new.excepted if new == "fail" else self._old.excepted
            message += f", except {listed(excepted)}" if excepted else ""
            yield self.change("DEVIATIONS_CHANGED", direction, key, message, (old, new))
            return
        live = new == "fail"
        for reason in sorted(set(self._new.excepted) ^ set(self._old.excepted)):
            added = reason in self._new.excepted
            id = "DEVIATIONS_EXCEPTION_ADDED" if added else "DEVIATIONS_EXCEPTION_REMOVED"
            message = f"note {quoted(reason)} {'does not end the stream' if added else 'is no exception any more'}"
            direction = ("loosens" if added else "tightens") if live else "none"
            change = self.change(id, direction, key, message, (None, reason) if added else (reason, None))
            yield Change(
                id, direction, reason, message, change.before, change.after, quirk=change.quirk, places=change.places
            )

    def _classes(self) -> Iterator[Change]:
        classes = [{one.name: one for one in policy.classes} for policy in (self._old, self._new)]
        for name, old, new in paired(*classes):
            key, words = ("class", name), in_words(class_words, old, new)
            if old is None or new is None:
                # Which calls have it is told by the patterns and conditions that name it.
                message = f"class {quoted(name)} is {'new' if old is None else 'gone'}"
                yield self.change(came_or_went("CLASS", old, new), "none", key, message, words)
            elif old != new:
                direction = class_leaning(old, new)
                id = "CLASS_WIDENED" if direction == "loosens" else "CLASS_NARROWED"
                what = "may do more" if direction == "loosens" else "may do less"
                yield self.change(id, direction, key, f"class {quoted(name)} {what}", words)

    # -- which class a call has ----------------------------------------------------------------------------------------

    def _classifies(self) -> Iterator[Change]:
        patterns = [{one.pattern or "else": one.tool_class for one in p.classifies} for p in (self._old, self._new)]
        for name, old, new in paired(*patterns):
            if old == new:
                continue
            tried = ["nobody"] if name == "else" else names_of(name)
            pairs = [(Safety(self._old).of(one, {}), Safety(self._new).of(one, {})) for one in tried]
            first, second = (", ".join(dict.fromkeys(pair[side] for pair in pairs)) for side in (0, 1))
            what = "all other tools" if name == "else" else f"tools {quoted(name)}"
            direction = rank_leaning(self._freer(*pair) for pair in pairs)
            message = f"{what}: {first} -> {second}" if first != second else f"{what} stay {second}"
            yield self.change(came_or_went("CLASSIFY", old, new), direction, ("classify", name), message, (old, new))

    def _freer(self, old: str, new: str) -> int:
        """Whether a class is freer (1) or stricter (-1) than another one, each by its own side's settings."""
        first = next((guard(one) for one in self._old.classes if one.name == old), None)
        second = next((guard(one) for one in self._new.classes if one.name == new), None)
        if first is None or second is None or first == second:
            return 0
        return 1 if second < first else -1

    def _escalations(self) -> Iterator[Change]:
        for name, old, new in paired(_conditions(self._old), _conditions(self._new)):
            if old == new:
                continue
            one = old or new
            assert one is not None
            when = quoted(f"{one.subject} {one.case}")
            words = in_words(lambda one: f"to {one.tool_class}", old, new)
            direction: Direction = "tightens" if old is None else "loosens"
            message = f"a call is {'more guarded' if old is None else 'not guarded any more'} when {when}"
            if old is not None and new is not None:
                sign = self._freer(old.tool_class, new.tool_class)
                direction = "loosens" if sign > 0 else "tightens" if sign < 0 else "behaviour"
                message = f"a call is of another class when {when}"
            if self._is_idle(name, old, new):
                direction, message = "none", f"{message}: no call changes, others say so already"
            yield self.change(came_or_went("ESCALATION", old, new), direction, ("escalate", name), message, words)

    def _is_idle(self, name: str, old: EscalateSpec | None, new: EscalateSpec | None) -> bool:
        """Whether an escalation changes the class of no call, beside those before and beside those after: a proof."""
        return all(_changes_no_call(policy, name, old, new) for policy in (self._old, self._new))


def _changes_no_call(policy: PolicyTable, name: str, old: EscalateSpec | None, new: EscalateSpec | None) -> bool:
    """Whether an escalation may be exchanged for another one in a policy, for every call that there can be."""
    rank = {one.name: n for n, one in enumerate(policy.classes)}
    others = [one for key, one in _conditions(policy).items() if key != name]
    for known in calls_known(policy):
        floors = [
            max((rank.get(one.tool_class, -1) for one in found if known[one.subject] == one.case), default=-1)
            for found in ([*others, *([old] if old else [])], [*others, *([new] if new else [])])
        ]
        # A call of the freest class is the one on which every other floor shows.
        if floors[0] != floors[1] and max(floors) > 0:
            return False
    return True


def _conditions(policy: PolicyTable) -> dict[str, EscalateSpec]:
    return {f"{one.subject}-{one.case}": one for one in policy.escalations}


def calls_known(policy: PolicyTable) -> list[dict[str, str]]:
    """All that escalations may know of a call at once: whether its arguments are accepted and how, with which seal."""
    does = {(action.verb, *action.words) for outcome in policy.outcomes for action in outcome.actions}
    grades = {"exact", "lossless", *policy.repairs.values()}
    found: dict[tuple[str, str], None] = {}
    for event in policy.events.values():
        for row in policy.cells[event.name].values() if event.about == "ending" else ():
            for number, outcome in enumerate(row):
                if outcome >= 0:
                    answers = answers_of(event, number)
                    accepts = any(action.verb == "accept" for action in policy.outcomes[outcome].actions)
                    reading = {"empty": "lossless"}.get(answers.get("reading", ""), answers.get("reading", ""))
                    args = {"exact", reading} & grades if reading else grades
                    seals = [answers["seal"]] if "seal" in answers else [*SUBJECTS["seal"]]
                    # A call that was accepted may still be doomed by a twin of it.
                    found |= dict.fromkeys(itertools.product([*(sorted(args) if accepts else ()), "invalid"], seals))
    ids = [case for case in SUBJECTS["id"] if case != "made" or ("make", "id") in does or ("keep", "call") in does]
    names = [case for case in SUBJECTS["name"] if case != "inferred" or ("infer", "name") in does]
    return [
        {"args": args, "seal": seal, "id": ident, "name": name}
        for (args, seal), ident, name in itertools.product(found, ids, names)
    ]
