"""A witness: a sequence of events that two policies answer in different ways. It is one only because it was played.

Both sides play the same steps on their real machines, and then the stream is closed. What they may differ in is what a
caller can see: what each step brings (updates), and the message at the end, with the classes of its calls and when
those may start. The names of rules are not looked at: a rule that is called something else does the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reknit.diff.atlas import Way
from reknit.diff.play import EndlessError, Step, advance, close, started, tools_of
from reknit.diff.samples import Kit
from reknit.diff.seeing import Seen, apart, message_of, plain_update
from reknit.machine import Machine, Runtime
from reknit.table import PolicyTable


@dataclass(frozen=True, slots=True)
class Witness:
    """Steps that two sides answer in different ways.

    Attributes:
        kit: The tools that are known.
        steps: Events, each with its fields by name.
        after: How many steps are taken when the first difference shows; one more than there are, if only at the end.
        before_says: What the side before gives there, in words.
        after_says: What the side after gives there.
        fails: Whether a machine fails over it: there is no message then, and no rule test of it.
    """

    kit: Kit
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    after: int
    before_says: str
    after_says: str
    fails: bool = False


class Pair:
    """Two policies, ready to play the same steps.

    Args:
        before: The policy of the side before; steps are its own.
        after: The policy of the side after.
        real: The two sides that are compared, where these are them with only one change: a witness of that change has
            to be one of theirs, too.
    """

    def __init__(self, before: PolicyTable, after: PolicyTable, real: Pair | None = None) -> None:
        self._real = real
        self.policies = (before, after)
        self.runtimes = (Runtime(before), Runtime(after))
        self._classes = tuple({one.name: one for one in policy.classes} for policy in self.policies)
        self._alike = {
            name
            for name, event in before.events.items()
            if name in after.events and event.fields == after.events[name].fields
        }
        self._names = {name: [one.name for one in event.fields] for name, event in before.events.items()}

    def differs(self, way: Way) -> Witness | None:
        """The witness that a sequence of steps is, if the sides answer it in different ways."""
        first, second = self.seen(0, way), self.seen(1, way)
        if first == second:
            return None
        if self._real is not None:
            return self._real.differs(way)
        steps = tuple((event, self.by_name(event, fields)) for event, fields in way.steps)
        at = next((n for n, (one, two) in enumerate(zip(first.steps, second.steps, strict=False)) if one != two), None)
        if at is None:
            sights = (first.end, second.end) if first.end != second.end else (first.so_far, second.so_far)
            return Witness(way.kit, steps, len(steps) + int(first.end != second.end), *apart(*sights))
        fails = not first.end or not second.end
        return Witness(way.kit, steps, at + 1, *apart(first.steps[at], second.steps[at]), fails)

    def by_name(self, event: str, fields: Sequence[Any]) -> dict[str, Any]:
        """The fields of a step by name, those that are there."""
        return {name: value for name, value in zip(self._names[event], fields, strict=True) if value is not None}

    def machine(self, side: int, kit: Kit) -> Machine:
        """A machine of a side at its beginning."""
        return started(self.runtimes[side], tools_of(kit))

    def take(self, side: int, machine: Machine, step: Step) -> None:
        """Have the machine of a side take a step of the side before."""
        event, fields = step
        if side == 0 or event in self._alike:
            advance(machine, step)
        else:
            spec = self.policies[side].events.get(event)
            if spec is not None:
                named = self.by_name(event, fields)
                advance(machine, (event, tuple(named.get(one.name) for one in spec.fields)))

    def seen(self, side: int, way: Way) -> Seen:
        """Play a sequence on one side."""
        machine = self.machine(side, way.kit)
        brought: list[tuple[Any, ...]] = []
        try:
            for step in way.steps:
                self.take(side, machine, step)
                brought.append(self.told(side, machine))
            so_far = message_of(machine, self._classes[side])
            close(machine)
            brought.append(self.told(side, machine))
            return Seen(tuple(brought), message_of(machine, self._classes[side]), so_far)
        except Exception as error:  # a table may make its machine fail: that is an answer, too
            return Seen((*brought, (_failure(error),)), {}, {})

    def told(self, side: int, machine: Machine) -> tuple[Any, ...]:
        """What the machine has to tell since it was asked last."""
        updates, machine.updates = machine.updates, []
        return tuple(plain_update(update, self._classes[side]) for update in updates)


def _failure(error: Exception) -> str:
    if isinstance(error, EndlessError):
        return f"rule {error} goes on for ever"
    return f"the machine fails: {type(error).__name__}"
