"""Judging what is said of two tables by other means than those of `reknit.diff`: by streams of the engine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from reknit.diff import Witness
from reknit.diff.samples import KITS, Kit
from reknit.diff.steps import Steps
from reknit.lang.syntax import Given, Test
from reknit.stream import Stream
from reknit.table import PolicyTable, Table
from reknit.testing.givens import tools_of
from reknit.tools.registry import Tools

_MOST_TURNS: Final = 64

NamedStep = tuple[str, Any]
"""An event with its fields by name."""


class EndlessError(Exception):
    """A step without end."""


def is_true(witness: Witness, before: Table, after: Table) -> bool:
    """Whether two streams of the engine answer a witness in different ways."""
    tools = tools_in(witness.kit)
    return played(before, tools, witness.steps) != played(after, tools, witness.steps)


@cache
def tools_in(kit: Kit) -> Tools:
    return Tools(None) if kit.tools is None else tools_of(Test("", (Given("tools", None, dict(kit.tools)),)))


def played(table: Table, tools: Tools, steps: Sequence[NamedStep]) -> list[Any]:
    """What a caller gets: all updates, the message at the end and before it; no names of rules, classes in full."""
    stream = Stream(table, tools, "test")
    machine = stream.machine
    turns = [0]

    def count(*_: Any) -> None:
        turns[0] += 1
        if turns[0] > _MOST_TURNS * (len(steps) + 1):
            raise EndlessError

    machine.watch = count
    told: list[Any] = []
    try:
        for event, fields in steps:
            machine.named_step(event, fields)
            told.append(_nameless(machine.updates, table.policy))
            machine.updates = []
        told.append(_message(stream))
        told.append(_nameless(stream.close(), table.policy))
        told.append(_message(stream))
    except Exception as error:
        told.append(type(error).__name__)
    return told


def _message(stream: Stream) -> Any:
    message = stream.message().model_dump(exclude={"fingerprint"})
    for note in message["notes"]:
        del note["rule"]
    classes = [_class(stream.table.policy, verdict["safety"]) for verdict in message["verdicts"].values()]
    return message, classes


def _nameless(updates: Sequence[Any], policy: PolicyTable) -> list[Any]:
    plain = [msgspec.to_builtins(update, enc_hook=lambda one: one.model_dump()) for update in updates]
    for one in plain:
        if "note" in one:
            one["note"].pop("rule", None)
        if one.get("safety"):
            one["class"] = _class(policy, one["safety"])
    return plain


def _class(policy: PolicyTable, name: str) -> Any:
    return next((msgspec.to_builtins(one) for one in policy.classes if one.name == name), None)


def random_difference(before: Table, after: Table, plays: int, seed: int) -> list[NamedStep] | None:
    """A random sequence that both sides answer in different ways, or None."""
    for kit, steps in random_plays(before.policy, plays, seed):
        if played(before, tools_in(kit), steps) != played(after, tools_in(kit), steps):
            return steps
    return None


def random_plays(policy: PolicyTable, count: int, seed: int) -> Iterator[tuple[Kit, list[NamedStep]]]:
    """Sequences of up to eight steps, half of them around calls."""
    steps = Steps(policy)
    fields = {name: [one.name for one in event.fields] for name, event in policy.events.items()}
    calls = [*steps.core("calls"), *steps.starts(), *steps.ends()]
    calls += [step for text in ('{"k":1}', '{"k":2}', "{", "}", '{"k":1,}') for step in steps.pieces(text)]
    rng = random.Random(seed)
    for number in range(count):
        pool = steps.all if number % 2 else calls
        chosen = [rng.choice(pool) for _ in range(rng.randint(1, 8))]
        yield (
            rng.choice(KITS),
            [
                (name, {key: value for key, value in zip(fields[name], values, strict=True) if value is not None})
                for name, values in chosen
            ],
        )
