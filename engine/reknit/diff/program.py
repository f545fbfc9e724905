"""What differs between two vendor programs: how frames become events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reknit.diff.changes import Change, Direction
from reknit.diff.leaning import PROOF, rank_leaning
from reknit.diff.parts import Parts, Words, in_words, paired
from reknit.diff.sides import Side
from reknit.diff.wording import enum_words, guard_words, listed, map_words, split_words
from reknit.lang.diagnostics import quoted
from reknit.table import EmitSpec, GuardSpec, MapSpec, PolicyTable, Program


def program_changes(before: Side, after: Side) -> Iterator[Change]:
    """Find what differs in how two vendors read their frames."""
    old, new = before.program, after.program
    if old is not None and new is not None:
        yield from _Programs(before, after, old, new).changes()


class _Programs(Parts):
    def __init__(self, before: Side, after: Side, old: Program, new: Program) -> None:
        super().__init__(before, after)
        self._old, self._new = old, new

    def changes(self) -> Iterator[Change]:
        """Everything that differs."""
        yield from self._settings()
        yield from self._salvage()
        yield from self._maps()
        yield from self._guards("ignore", self._old.ignores, self._new.ignores, ("loosens", "tightens"))
        yield from self._guards("detect", self._old.detects, self._new.detects, ("mapping", "mapping"))
        yield from self._enums()
        yield from self._splits()

    def _alone(self, kind: str, name: str, new: bool, words: Words, direction: Direction = "mapping") -> Change:
        """An item that is on one side only."""
        id, message = (
            f"{kind.upper()}_{'ADDED' if new else 'REMOVED'}",
            f"{kind} {quoted(name)} is {'new' if new else 'gone'}",
        )
        return self.change(id, direction, (kind, name), message, words)

    # -- settings ------------------------------------------------------------------------------------------------------

    def _settings(self) -> Iterator[Change]:
        old, new = self._old, self._new
        choices = [None if one is None else f"{one[0]} by {one[1]}" for one in (old.choices, new.choices)]
        for id, name, words, said in (
            ("WIRE_CHANGED", "wire", (old.wire, new.wire), "frames stand on another wire"),
            ("END_CHANGED", "end", (old.end, new.end), "another marker ends a stream"),
            ("CHOICES_CHANGED", "choices", (choices[0], choices[1]), "choices stand in another place"),
            ("PROTOCOL_CHANGED", "protocol", (old.protocol, new.protocol), "another protocol is named"),
        ):
            if words[0] != words[1]:
                yield self.change(id, "mapping", ("setting", name), said, words)

    def _salvage(self) -> Iterator[Change]:
        for step in sorted(set(self._new.salvage) ^ set(self._old.salvage)):
            added = step in self._new.salvage
            message = f"salvage {quoted(step)} is tried{'' if added else ' no more'}"
            id, words = f"SALVAGE_{'ADDED' if added else 'REMOVED'}", (None, step) if added else (step, None)
            yield self.change(id, "loosens" if added else "tightens", ("salvage", step), message, words)

    # -- maps and guards -----------------------------------------------------------------------------------------------

    def _maps(self) -> Iterator[Change]:
        events = [side.policy.events for side in self.sides]
        old, new = ({one.name: one for one in program.maps} for program in (self._old, self._new))
        for name, one, two in paired(old, new):
            words = (
                None if one is None else map_words(one, events[0]),
                None if two is None else map_words(two, events[1]),
            )
            if one is None or two is None:
                yield self._alone("map", name, one is None, words)
            elif not _same_map(one, two, self.sides):
                message = f"map {quoted(name)} {_what_of_map(one, two)}"
                yield self.change("MAP_CHANGED", "mapping", ("map", name), message, words)
        yield from self._order("MAP_ORDER", "map", list(old), list(new))

    def _order(self, id: str, kind: str, old: list[str], new: list[str]) -> Iterator[Change]:
        first, second = [name for name in old if name in new], [name for name in new if name in old]
        if first == second:
            return
        moved = next(name for name, other in zip(first, second, strict=True) if name != other)
        message = f"{kind}s run in another order, from {quoted(moved)} on"
        yield self.change(id, "mapping", (kind, moved), message, (listed(first, 12), listed(second, 12)))

    def _guards(
        self,
        kind: str,
        before: Iterable[GuardSpec],
        after: Iterable[GuardSpec],
        directions: tuple[Direction, Direction],
    ) -> Iterator[Change]:
        old, new = ({one.name: one for one in guards} for guards in (before, after))
        for name, one, two in paired(old, new):
            words = in_words(lambda guard: guard_words(guard.where), one, two)
            if one is None or two is None:
                yield self._alone(kind, name, one is None, words, directions[0 if one is None else 1])
            elif _conditions(one) != _conditions(two):
                # Fewer conditions let through more frames.
                freer = _conditions(two) < _conditions(one)
                stricter = _conditions(one) < _conditions(two)
                direction = directions[0] if freer else directions[1] if stricter else "mapping"
                message = f"{kind} {quoted(name)} takes other frames"
                yield self.change(f"{kind.upper()}_CHANGED", direction, (kind, name), message, words)

    # -- words and tags ------------------------------------------------------------------------------------------------

    def _enums(self) -> Iterator[Change]:
        for name, one, two in paired(self._old.enums, self._new.enums):
            if one is None or two is None:
                words = in_words(lambda enum: _said(enum_words(enum)), one, two)
                yield self._alone("enum", name, one is None, words)
                continue
            old, new = enum_words(one), enum_words(two)
            changed = [word for word in dict.fromkeys([*old, *new]) if _case(old, word) != _case(new, word)]
            if changed:
                what = changed[0] if len(changed) == 1 else f"{len(changed)} words"
                message = f"in enum {quoted(name)}, {what} mean{'s' if len(changed) == 1 else ''} something else"
                words = (_said(old, changed), _said(new, changed))
                yield self.change("ENUM_CHANGED", self._enum_leaning(old, new, changed), ("enum", name), message, words)

    def _enum_leaning(self, old: Mapping[str, str], new: Mapping[str, str], changed: Iterable[str]) -> Direction:
        """Words for why a message stopped seal its calls: another word may prove more or less."""
        proofs = [_proofs(side.policy) for side in self.sides]
        steps = []
        for word in changed:
            cases = _case(old, word), _case(new, word)
            if all(case in (*proof, "same") for proof, case in zip(proofs, cases, strict=True)):
                known = [proof.get(case, proof.get("other", 0)) for proof, case in zip(proofs, cases, strict=True)]
                steps.append(known[1] - known[0])
        leaning = rank_leaning(steps)
        return "mapping" if leaning == "none" else leaning

    def _splits(self) -> Iterator[Change]:
        old, new = ({one.name: one for one in program.splits} for program in (self._old, self._new))
        for name, one, two in paired(old, new):
            words = in_words(split_words, one, two)
            if one is None or two is None:
                yield self._alone("split", name, one is None, words)
            elif one != two:
                message = f"split {quoted(name)} takes out other text"
                yield self.change("SPLIT_CHANGED", "mapping", ("split", name), message, words)
        yield from self._order("SPLIT_ORDER", "split", list(old), list(new))


def _case(words: Mapping[str, str], word: str) -> str:
    """What a word means; one that is not listed is as all others."""
    return words.get(word, words["else"])


def _proofs(policy: PolicyTable) -> dict[str, int]:
    """How far calls that are open may go, by the case of the reason why the message stopped."""
    proofs: dict[str, int] = {}
    for event in policy.events.values():
        at = next((n for n, question in enumerate(event.questions) if question.type == "reason"), None)
        if at is None:
            continue
        stride = 1
        for question in event.questions[at + 1 :]:
            stride *= len(question.cases)
        cases = event.questions[at].cases
        for row in policy.cells[event.name].values():
            for number, outcome in enumerate(row):
                if outcome >= 0:
                    case = cases[number // stride % len(cases)]
                    seals = [a.words[-1] for a in policy.outcomes[outcome].actions if a.verb == "archive"]
                    proofs[case] = max([proofs.get(case, 0), *(PROOF.get(seal, 0) for seal in seals)])
    return proofs


def _same_map(one: MapSpec, two: MapSpec, sides: tuple[Side, Side]) -> bool:
    if (one.at, set(one.where), len(one.emits)) != (two.at, set(two.where), len(two.emits)):
        return False
    pairs = zip(one.emits, two.emits, strict=True)
    return all(_binds(old, sides[0].policy) == _binds(new, sides[1].policy) for old, new in pairs)


def _binds(emit: EmitSpec, policy: PolicyTable) -> tuple[Any, ...]:
    """An emit with its binds by the names of fields, whatever their order in the event."""
    fields = policy.events[emit.event].fields
    bound = {field.name: expr for field, expr in zip(fields, emit.binds, strict=True) if expr is not None}
    return emit.event, emit.once, bound


def _what_of_map(one: MapSpec, two: MapSpec) -> str:
    parts = {
        "looks in another place": one.at != two.at,
        "asks other conditions": set(one.where) != set(two.where),
        "makes other events": one.emits != two.emits,
    }
    return " and ".join(what for what, differs in parts.items() if differs) or "makes other events"


def _conditions(guard: GuardSpec) -> frozenset[Any]:
    return frozenset(guard.where)


def _said(words: Mapping[str, str], only: Iterable[str] | None = None) -> str:
    shown = words if only is None else {word: words.get(word, f"{words['else']} (as else)") for word in only}
    return ", ".join(f"{word} => {case}" for word, case in shown.items())
