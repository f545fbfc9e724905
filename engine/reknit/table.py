"""The compiled policy and vendor program: frozen, JSON, with a fingerprint. All that the runtime knows of rules.

A `Table` is made by `compile` from rule files, or read from JSON without a rule file or parser in sight. Cells are
stored dense: for each event and state one outcome number for each combination of cases, in mixed radix over the
event's questions; -1 where the combination cannot occur.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from reknit.errors import TableError

LANGUAGE: Final = "1"
"""The version of the rule language that this engine compiles and runs."""

ENDING_STATE: Final = "any"
"""The one state of events that the machine raises itself, whatever state it is in."""


class FieldSpec(msgspec.Struct, frozen=True):
    """A field of an event: its name, its type, and whether the event is one without it."""

    name: str
    type: str
    optional: bool


class QuestionSpec(msgspec.Struct, frozen=True):
    """A question of an event with its cases in the order of the radix; `field` is the field it is about, if one."""

    name: str
    type: str
    cases: tuple[str, ...]
    field: bool


class EventSpec(msgspec.Struct, frozen=True):
    """An event: its target, fields and questions (fields with cases first, then what it asks)."""

    name: str
    about: str
    fields: tuple[FieldSpec, ...]
    questions: tuple[QuestionSpec, ...]


class HoldingSpec(msgspec.Struct, frozen=True):
    """A kind of block that a state holds: exactly one, or any number."""

    kind: str
    many: bool


class StateSpec(msgspec.Struct, frozen=True):
    """A state: what it holds, and whether it is the start, a final one, or neither."""

    name: str
    holds: tuple[HoldingSpec, ...]
    flag: str


class ActionSpec(msgspec.Struct, frozen=True, order=True):
    """A verb and its words; `flush` marks an action that a flush put there."""

    verb: str
    words: tuple[str, ...] = ()
    flush: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """What a cell does: its rule, all its actions (flushes included), and the next state."""

    rule: str
    actions: tuple[ActionSpec, ...]
    to: str


class DeriveSpec(msgspec.Struct, frozen=True):
    """A usage field that is another one less some."""

    field: str
    source: str
    minus: tuple[str, ...]


class ClassSpec(msgspec.Struct, frozen=True):
    """A class of tools: when its calls may start, whether together, and what discarding does."""

    name: str
    start: str
    parallel: bool
    discard: str


class ClassifySpec(msgspec.Struct, frozen=True):
    """Tools whose name matches a pattern (None: all others) have a class."""

    pattern: str | None
    tool_class: str


class EscalateSpec(msgspec.Struct, frozen=True):
    """Calls of which something is so are treated at least as a class."""

    tool_class: str
    subject: str
    case: str


class PolicyTable(msgspec.Struct, frozen=True):
    """A compiled policy.

    Attributes:
        name: Of the policy.
        events: By name.
        states: In the order of the file; one is the start.
        outcomes: What cells do, each once.
        cells: event -> state -> outcome number for each combination of cases.
        merges: usage field -> merge.
        derives: Usage fields computed from others.
        repairs: Rungs of the argument ladder in use, with their grades.
        deviations: `note` or `fail`.
        excepted: Reasons of notes that do not fail a stream.
        classes: From the freest to the most guarded.
        classifies: Name patterns.
        escalations: Conditions.
    """

    name: str
    events: dict[str, EventSpec]
    states: tuple[StateSpec, ...]
    outcomes: tuple[Outcome, ...]
    cells: dict[str, dict[str, tuple[int, ...]]]
    merges: dict[str, str]
    derives: tuple[DeriveSpec, ...]
    repairs: dict[str, str]
    deviations: str
    excepted: tuple[str, ...]
    classes: tuple[ClassSpec, ...]
    classifies: tuple[ClassifySpec, ...]
    escalations: tuple[EscalateSpec, ...]

    @property
    def start(self) -> str:
        """The name of the start state."""
        return next(state.name for state in self.states if state.flag == "start")


class WhereSpec(msgspec.Struct, frozen=True):
    """A condition: a path is (not) one of some values or JSON types."""

    path: str
    negated: bool
    values: tuple[str | int | float, ...]
    types: tuple[str, ...]


class ExprSpec(msgspec.Struct, frozen=True):
    """How a field gets its value: `kind` is path, constant or object; then filters, each with its argument."""

    kind: str
    path: str = ""
    constant: str | int | float = ""
    members: tuple[tuple[str, ExprSpec], ...] = ()
    filters: tuple[tuple[str, str], ...] = ()


class EmitSpec(msgspec.Struct, frozen=True):
    """An event that a map makes; binds stand in the order of the event's fields, None for a field not bound."""

    event: str
    once: bool
    binds: tuple[ExprSpec | None, ...]


class MapSpec(msgspec.Struct, frozen=True):
    """A map: alternatives of a place, conditions, events."""

    name: str
    at: tuple[str, ...]
    where: tuple[WhereSpec, ...]
    emits: tuple[EmitSpec, ...]


class GuardSpec(msgspec.Struct, frozen=True):
    """A named list of conditions: an ignored frame, or one by which a protocol is recognised."""

    name: str
    where: tuple[WhereSpec, ...]


class EnumSpec(msgspec.Struct, frozen=True):
    """A vendor's words for cases; `other` is the case for all further words, None when they pass as they are."""

    cases: dict[str, str]
    other: str | None
    passes: bool


class SplitSpec(msgspec.Struct, frozen=True):
    """Tagged text that is taken out of an event's text into another event."""

    name: str
    source: str
    opening: str
    closing: str
    into: str
    place: str
    outside_code: bool
    implied_open: bool


class Program(msgspec.Struct, frozen=True):
    """A compiled vendor file: from frames to events.

    Attributes:
        name: Of the vendor file.
        protocol: The protocol that it speaks.
        wire: The framing.
        end: The end marker, or None.
        salvage: Salvage steps in use.
        choices: Where a frame's alternatives stand and the path of their number, or None.
        maps: In the order in which they run.
        ignores: Frames that carry nothing on purpose.
        detects: Frames by which the protocol is recognised.
        enums: By name.
        splits: In the order of the file.
    """

    name: str
    protocol: str
    wire: str
    end: str | None
    salvage: tuple[str, ...]
    choices: tuple[str, str] | None
    maps: tuple[MapSpec, ...]
    ignores: tuple[GuardSpec, ...]
    detects: tuple[GuardSpec, ...]
    enums: dict[str, EnumSpec]
    splits: tuple[SplitSpec, ...]


class Table(msgspec.Struct, frozen=True):
    """A policy and a vendor program that belong together; `fingerprint` is over both and the language version."""

    language: str
    policy: PolicyTable
    program: Program
    fingerprint: str

    def to_json(self) -> bytes:
        """The table as JSON, the same bytes for the same table."""
        return msgspec.json.encode(self, order="sorted")


def fingerprint(policy: PolicyTable, program: Program) -> str:
    """16 hex digits over the policy, the program and the language version."""
    body = msgspec.json.encode([LANGUAGE, policy, program], order="sorted")
    return hashlib.sha256(body).hexdigest()[:16]


def assemble(policy: PolicyTable, program: Program) -> Table:
    """A table with its fingerprint."""
    return Table(LANGUAGE, policy, program, fingerprint(policy, program))


def load(data: bytes | str) -> Table:
    """Read a table that `to_json` wrote.

    Raises:
        TableError: It is not one, its language is another, or its fingerprint does not fit.
    """
    try:
        table = msgspec.json.decode(data, type=Table)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise TableError(f"not a compiled table: {error}") from None
    if table.language != LANGUAGE:
        raise TableError(f"the table is written in language version {table.language!r}, this engine runs {LANGUAGE!r}")
    if table.fingerprint != fingerprint(table.policy, table.program):
        raise TableError("the table's fingerprint does not fit its content")
    return table


def as_data(value: Any) -> Any:
    """A part of a table as plain data."""
    return msgspec.to_builtins(value)
