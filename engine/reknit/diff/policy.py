"""What differs between two policies besides their cells: events, states, the books. What is trusted: `trust`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reknit.diff.changes import Change, Direction
from reknit.diff.parts import Parts, came_or_went, in_words, paired
from reknit.diff.sides import Side
from reknit.diff.wording import derive_words, event_words, state_words
from reknit.lang.diagnostics import quoted
from reknit.table import DeriveSpec, EventSpec
from reknit.vocabulary.questions import TYPES
from reknit.vocabulary.words import USAGE_FIELDS

_SHOWN = tuple(field for field in USAGE_FIELDS if field != "prompt")
"""Usage fields that a message shows; `prompt` is only derived from."""

_LATEST = "latest"
"""How reports are merged of which no rule says how."""


class Declarations(Parts):
    """Events, states and the books of two policies."""

    def __init__(self, before: Side, after: Side) -> None:
        super().__init__(before, after)
        self._old, self._new = before.policy, after.policy

    def changes(self, renamed: Mapping[str, str]) -> Iterator[Change]:
        """Everything that differs; `renamed` are states that have another name, before to after."""
        yield from self._events()
        yield from self._states(renamed)
        yield from self._merges()
        yield from self._derives()

    def _events(self) -> Iterator[Change]:
        for name, old, new in paired(self._old.events, self._new.events):
            if old is not None and new is not None and _same_event(old, new):
                continue
            # An event on one side only is one that only the maps of that side can make.
            what: tuple[Direction, str] = ("mapping", "is new" if old is None else "is gone")
            if old is not None and new is not None:
                what = _event_leaning(old, new)
            words = in_words(event_words, old, new)
            id, message = came_or_went("EVENT", old, new), f"event {quoted(name)} {what[1]}"
            yield self.change(id, what[0], ("event", name), message, words)

    def _states(self, renamed: Mapping[str, str]) -> Iterator[Change]:
        old_states = {renamed.get(state.name, state.name): state for state in self._old.states}
        for name, old, new in paired(old_states, {state.name: state for state in self._new.states}):
            key, words = ("state", name), in_words(state_words, old, new)
            if old is None or new is None:
                message = f"state {quoted(name)} is {'new' if old is None else 'gone'}"
                yield self.change(came_or_went("STATE", old, new), "behaviour", key, message, words)
            elif (set(old.holds), old.flag) != (set(new.holds), new.flag):
                what = "is another kind of state" if old.flag != new.flag else "holds other blocks"
                # On both sides every input has its cell: what a state may hold shows in cells, or not at all.
                direction: Direction = "behaviour" if old.flag != new.flag else "none"
                yield self.change("STATE_CHANGED", direction, key, f"state {quoted(name)} {what}", words)
            elif old.name != name:
                message = f"state {quoted(old.name)} is called {quoted(name)}"
                yield self.change("RENAMED_ONLY", "none", key, message, (old.name, name))

    # -- the books -----------------------------------------------------------------------------------------------------

    def _merges(self) -> Iterator[Change]:
        for name, old, new in paired(self._old.merges, self._new.merges):
            if old == new:
                continue
            told = self._is_shown(name) and (old or _LATEST) != (new or _LATEST)
            message = f"reports of {quoted(name)} are merged {old or _LATEST} -> {new or _LATEST}"
            id = came_or_went("MERGE", old, new)
            yield self.change(id, "usage" if told else "none", ("merge", name), message, (old, new))

    def _derives(self) -> Iterator[Change]:
        old_derives, new_derives = (
            {derive.field: derive for derive in policy.derives} for policy in (self._old, self._new)
        )
        for name, old, new in paired(old_derives, new_derives):
            if old == new:
                continue
            direction: Direction = "usage" if self._is_shown(name) else "none"
            if old is not None and new is not None and _terms(old) == _terms(new):
                direction = "none"
            elif old is not None and new is not None and old.source == new.source:
                moved = {field for field in set(old.minus) ^ set(new.minus) if self._is_shown(field)}
                direction = direction if moved else "none"
            words = in_words(derive_words, old, new)
            message = f"{quoted(name)} is computed in another way"
            yield self.change(came_or_went("DERIVE", old, new), direction, ("derive", name), message, words)
        alike = set(self._old.derives) == set(self._new.derives)
        orders = [[derive.field for derive in policy.derives] for policy in (self._old, self._new)]
        if alike and orders[0] != orders[1] and _chained(self._new.derives):
            words = (", ".join(orders[0]), ", ".join(orders[1]))
            yield self.change(
                "DERIVE_CHANGED", "usage", ("derive", orders[1][0]), "fields are computed in order", words
            )

    def _is_shown(self, field: str) -> bool:
        """Whether a field has a part in what a message shows."""
        events = (*self._old.events.values(), *self._new.events.values())
        if field not in {one.name for event in events for one in event.fields} | {
            one.field for one in self._new.derives
        }:
            return False
        derives = (*self._old.derives, *self._new.derives)
        return field in _SHOWN or any(field in (one.source, one.field, *one.minus) for one in derives)


def _terms(derive: DeriveSpec) -> tuple[str, frozenset[str]]:
    # A field is computed only where it was not reported: then there is nothing of it to take away.
    return derive.source, frozenset(derive.minus) - {derive.field}


def _chained(derives: tuple[DeriveSpec, ...]) -> bool:
    """Whether one derived field is computed from another one: then their order counts."""
    fields = [derive.field for derive in derives]
    return any(field in (one.source, *one.minus) for one in derives for field in fields if field != one.field)


def _event_leaning(old: EventSpec, new: EventSpec) -> tuple[Direction, str]:
    """What is not the same about an event, and who notices."""
    if old.about != new.about:
        return "behaviour", "has another target"
    first, second = ({(field.name, field.type) for field in event.fields} for event in (old, new))
    if first != second:
        quiet = first < second and all(not TYPES[type_].cases for _, type_ in second - first)
        return "mapping" if quiet else "behaviour", "has other fields"
    if set(old.fields) != set(new.fields):
        # Maps make an event only with the fields that it is none without; the machine does not ask.
        return "mapping", "is none without other fields"
    if old.fields != new.fields:
        return "behaviour", "has its fields in another order"
    return "none", "has other questions"


def _same_event(old: EventSpec, new: EventSpec) -> bool:
    """Whether an event is declared alike; the order of fields counts only among those of one type."""
    if old.about != new.about or set(old.fields) != set(new.fields) or set(old.questions) != set(new.questions):
        return False
    return all(_of_type(old, type_) == _of_type(new, type_) for type_ in {field.type for field in old.fields})


def _of_type(event: EventSpec, type_: str) -> list[str]:
    return [field.name for field in event.fields if field.type == type_]
