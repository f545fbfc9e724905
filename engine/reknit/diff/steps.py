"""Candidate steps: the events of a policy with concrete values, for each combination of cases that values can give.

Names of events are the policy's own: what a step is good for is told by its fields and by what it is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from reknit.diff.play import Step
from reknit.diff.samples import NAMES, READINGS, REPAIRED, VALUES, Kit
from reknit.table import EventSpec, PolicyTable

_FEW: Final[dict[str, tuple[Any, ...]]] = {
    "slot": (None, 0),
    "id": (None, "c1"),
    "name": (None, "read", "re"),
    "text": VALUES["text"][:2],
    "json": VALUES["json"][:3],
    "reason": ("tool_use",),
    "error_kind": ("other",),
    "message_id": ("m1",),
}
"""Values that are tried on the way to somewhere; all of them are tried as the last step."""

_MOVES: Final[dict[str, tuple[Any, ...]]] = {
    "slot": (None, 0),
    "id": ("c2",),
    "name": ("read",),
    "text": VALUES["text"][:1],
    "reason": ("end_turn", "tool_use", "max_tokens"),
    "how": ("clean",),
    "error_kind": ("other",),
    "json": ("{",),
    "of": ("thinking",),
    "message_id": ("m1",),
}
"""Values that lead out of one family of events into another state."""

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "prose": ("text", "thinking", "signature"),
    "calls": ("tool",),
    "others": ("opaque", "any", "message"),
}
"""Events that work on the same blocks, by what they are about; a way to a cell seldom leads through two families."""


class Steps:
    """The candidate steps of a policy."""

    def __init__(self, policy: PolicyTable) -> None:
        self.policy = policy
        self._events = [event for event in policy.events.values() if event.about != "ending"]

    @cached_property
    def all(self) -> list[Step]:
        """Every event with every combination of the values that there are."""
        return [step for event in self._events for step in _steps(event, VALUES)]

    def core(self, family: str) -> list[Step]:
        """The events of a family, with few values."""
        few = {**VALUES, **_FEW}
        return [step for event in self._events if event.about in FAMILIES[family] for step in _steps(event, few)]

    def moves(self, family: str) -> list[Step]:
        """One or two steps of each event of the other families: what leads into other states."""
        moves = {**VALUES, **_MOVES}
        others = [event for event in self._events if event.about not in FAMILIES[family]]
        return [step for event in others for step in _steps(event, moves)]

    def named(self, event: EventSpec, fields: Mapping[str, Any]) -> Step:
        """A step with its fields by name."""
        return (event.name, tuple(fields.get(field.name) for field in event.fields))

    # -- kinds of events, by their fields ------------------------------------------------------------------------------

    def _with(self, *types: str, about: str | None = None) -> list[EventSpec]:
        found = [event for event in self._events if about in (None, event.about)]
        return [event for event in found if all(type_ in [field.type for field in event.fields] for type_ in types)]

    def starts(self, names: Sequence[str | None] = NAMES) -> list[Step]:
        """Starts of a call: with and without an id, with each name and without."""
        return [
            _filled(event, {"id": ident, "name": name})
            for event in self._with("id", "name", about="tool")
            for name in names
            for ident in ("c1", None)
        ]

    def pieces(self, json: str) -> list[Step]:
        """Arguments of a call, by each event that brings some."""
        return [_filled(event, {"json": json}) for event in self._with("json", about="tool")]

    def ends(self) -> list[Step]:
        """What ends a call: a stop, a reason, the end of the stream, the next call."""
        stops = [step for event in self._with(about="any") for step in [_filled(event, {})]]
        reasons = [_filled(event, {"reason": word}) for event in self._with("reason") for word in VALUES["reason"]]
        hows = [_filled(event, {"how": how}) for event in self._with("how") for how in VALUES["how"]]
        nexts = [_filled(event, {"id": "c2", "name": "read"}) for event in self._with("id", "name", about="tool")]
        return [*reasons[1:2], *reasons[:1], *stops, *nexts, *hows, *reasons[2:]]

    def counts(self, values: Mapping[str, int]) -> list[Step]:
        """Reports of usage: the events that have all the fields named."""
        wanted = [event for event in self._with("count") if values.keys() <= {field.name for field in event.fields}]
        return [self.named(event, values) for event in wanted]

    def single(self, event: str) -> Iterator[Step]:
        """An event with one of its fields after the other, and with what it is none without."""
        if (spec := self.policy.events.get(event)) is not None:
            for field in spec.fields:
                yield from (_filled_at(spec, field.name, value) for value in VALUES[field.type])

    def calls(self, kit: Kit, names: Sequence[str | None] = NAMES) -> Iterator[tuple[Step, ...]]:
        """Short lives of one call: its start or none, its arguments in each reading, its end in each way."""
        texts = [text for texts in READINGS.values() for text in texts]
        bodies: list[tuple[Step, ...]] = [()]
        bodies += [(step,) for text in texts if text for step in self.pieces(text)]
        for pieces in REPAIRED.values():
            bodies += list(itertools.product(*[self.pieces(piece)[:1] for piece in pieces]))
        known = [name for name in names if name in (None, "nobody") or name in (kit.tools or ("read", *names[:1]))]
        heads: list[tuple[Step, ...]] = [(start,) for start in self.starts(known)]
        for head, body, end in itertools.product([*heads, ()], bodies, self.ends()):
            if head or body:
                yield (*head, *body, end)

    def twins(self) -> Iterator[tuple[Step, ...]]:
        """Lives of a call that is begun again, at once or after another one: with the same arguments, others, none."""
        texts = ("", '{"k":1}', '{"k":2}', "{")
        starts = self.starts(("read", "grep"))
        others = [_filled(event, {"id": "c2", "name": "read"}) for event in self._with("id", "name", about="tool")]
        for slot, again_in in ((None, None), (0, 1)):
            heads, twins = ([_in(step, self.policy, at) for step in starts] for at in (slot, again_in))
            first, second = ([self._body(text, at) for text in texts] for at in (slot, again_in))
            between = [()] if slot is not None else [(), *((other,) for other in others)]
            for head, body, other, twin, more in itertools.product(heads, first, between, twins, second):
                for end in self.ends()[: 4 if not other else 1]:
                    yield (head, *body, *other, twin, *more, end)

    def _body(self, json: str, slot: int | None) -> tuple[Step, ...]:
        return tuple(_in(step, self.policy, slot) for step in self.pieces(json)[:1]) if json else ()


def _steps(event: EventSpec, values: Mapping[str, tuple[Any, ...]]) -> Iterator[Step]:
    counted = False
    lists: list[tuple[Any, ...]] = []
    for field in event.fields:
        tried = values[field.type]
        if field.type == "count":
            # One count is as good as another for the machine; how they are merged is tried apart.
            tried, counted = ((None,), True) if counted else ((2,), True)
        lists.append(tried)
    for combination in itertools.product(*lists):
        yield (event.name, combination)


def _in(step: Step, policy: PolicyTable, slot: int | None) -> Step:
    """The step in a slot."""
    fields = policy.events[step[0]].fields
    return (
        step[0],
        tuple(slot if field.type == "slot" else value for field, value in zip(fields, step[1], strict=True)),
    )


def _filled_at(event: EventSpec, name: str, value: Any) -> Step:
    """A step with one field, and with the first value of those that it is none without."""
    values = []
    for field in event.fields:
        first = next((one for one in VALUES[field.type] if one is not None), None)
        values.append(value if field.name == name else None if field.optional else first)
    return (event.name, tuple(values))


def _filled(event: EventSpec, by_type: Mapping[str, Any]) -> Step:
    """A step with values by type; fields that an event is none without get their first value."""
    fields = []
    for field in event.fields:
        value = by_type.get(field.type)
        if value is None and not field.optional and field.type not in by_type:
            value = next(value for value in VALUES[field.type] if value is not None)
        fields.append(value)
    return (event.name, tuple(fields))
