"""The nodes of a rule file, exactly as written, each with its place.

The parser builds them, `resolve` merges them along `extends`, `with` and quirks, `check` and `compile` read them.
Nodes compare by content; places are left out of comparison, so that two spellings of one file are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a source (its display name) and a span of it; lines and columns count from 1."""

    source: str
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Place("", 1, 1, 1, 1)


def _place() -> Any:
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the file with its place."""

    text: str
    place: Place = _place()

    def __str__(self) -> str:
        return self.text


# -- header ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of a vendor's header: protocol, policy, wire, end, salvage, choices; `values` are words or texts."""

    key: str
    values: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Header:
    """What the file is (`policy`, `vendor` or `fragment`), its name, and what it builds on."""

    kind: str
    name: Name
    extends: Name | None
    fragments: tuple[Name, ...]
    reason: str
    settings: tuple[Setting, ...]
    place: Place = _place()


# -- policy ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """A typed field of an event."""

    name: Name
    type: Name
    optional: bool


@dataclass(frozen=True, slots=True)
class Event:
    """A canonical event: its fields, the kind of block that it is about, and what else rules may ask on it."""

    name: Name
    about: Name | None
    fields: tuple[Field, ...]
    asks: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Holding:
    """A kind of block that is open in a state: exactly one, or any number with `many`."""

    kind: Name
    many: bool


@dataclass(frozen=True, slots=True)
class State:
    """A state; `flag` is start, final or empty."""

    name: Name
    holds: tuple[Holding, ...]
    flag: str
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Group:
    """A name for several states."""

    name: Name
    states: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Case:
    """`field: case | case`, one condition of a pattern."""

    field: Name
    cases: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Trigger:
    """An event with a pattern; the event `any` stands for all of them.

    For flushes also `open KIND`: then `event` is the word `open` and `opens` the kind of block.
    """

    event: Name
    pattern: tuple[Case, ...]
    opens: Name | None = None


@dataclass(frozen=True, slots=True)
class Flush:
    """What is archived before an event, whatever rule then takes it."""

    what: Name
    seal: Name | None
    before: tuple[Trigger, ...]
    place: Place = _place()

    @property
    def name(self) -> Name:
        """A flush is known by what it archives and the seal that it gives."""
        return self.what if self.seal is None else Name(f"{self.what.text}-{self.seal.text}", self.what.place)


@dataclass(frozen=True, slots=True)
class Action:
    """A verb and its words (names or quoted texts, both as `Name`)."""

    verb: Name
    words: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens on an event in given cases and states; `to` is None for `stay`, `fallback` marks the last resort.

    An overriding rule may leave clauses out: those of the overridden rule stand.
    """

    name: Name
    on: tuple[Trigger, ...]
    states: tuple[Name, ...]
    actions: tuple[Action, ...]
    to: Name | None
    stays: bool
    fallback: bool
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Merge:
    """How reports of one usage field are merged."""

    name: Name
    method: Name
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Derive:
    """A usage field computed from another one, less some, after merging."""

    name: Name
    source: Name
    minus: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Repair:
    """A rung of the ladder of argument repairs that this policy uses, with the grade that it gives."""

    name: Name
    grade: Name
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Deviations:
    """What a note does besides being kept: nothing (`note`) or ending the stream (`fail`), with exceptions."""

    name: Name
    excepted: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class ToolClass:
    """What a tool may do and when it may start; `settings` are pairs of words."""

    name: Name
    settings: tuple[tuple[Name, Any], ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Classify:
    """Which class the tools of a name pattern have; the pattern None is `else`."""

    pattern: Name | None
    tool_class: Name
    place: Place = _place()

    @property
    def name(self) -> Name:
        """A classification is known by its pattern."""
        return self.pattern if self.pattern is not None else Name("else", self.place)


@dataclass(frozen=True, slots=True)
class Escalate:
    """A call is treated at least as a class when something is so."""

    tool_class: Name
    subject: Name
    case: Name
    place: Place = _place()

    @property
    def name(self) -> Name:
        """An escalation is known by its condition."""
        return Name(f"{self.subject.text}-{self.case.text}", self.subject.place)


# -- vendor ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on a frame: a path is (not) one of some values (`texts`, `numbers`) or of some JSON types."""

    path: Name
    negated: bool
    values: tuple[str | int | float, ...]
    types: tuple[Name, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Filter:
    """A function of the closed vocabulary, with an optional word or text."""

    name: Name
    argument: Name | None


@dataclass(frozen=True, slots=True)
class Expr:
    """An operand and the filters that it passes through.

    `operand` is a `Path`, a constant, a bare `Word` (a case of the field) or a made object.
    """

    operand: Operand
    filters: tuple[Filter, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Path:
    """A path into the frame (`.a.b[0]`, `.a[*]`) or into what `at` found (`@.a`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A text or number of the file."""

    value: str | int | float


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: a case of the field that it is bound to."""

    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """An object put together from expressions."""

    members: tuple[tuple[str, Expr], ...]


Operand: TypeAlias = Path | Constant | Word | Made


@dataclass(frozen=True, slots=True)
class Emit:
    """The event that a map makes, and what its fields are bound to; `once` for the first time only."""

    event: Name
    once: bool
    binds: tuple[tuple[Name, Expr], ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Map:
    """From a place in the frame to events; `at` holds alternatives, the first that finds something counts.

    Maps run in the order written; `ahead` is the map ahead of which this one runs instead, or None.
    """

    name: Name
    at: tuple[Name, ...]
    where: tuple[Where, ...]
    emits: tuple[Emit, ...]
    ahead: Name | None = None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Ignore:
    """Frames that carry nothing on purpose."""

    name: Name
    where: tuple[Where, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Detect:
    """Frames by which this protocol is recognised."""

    name: Name
    where: tuple[Where, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class EnumCase:
    """`"word" => case`; the word None is `else`, the case None is `same` (the word itself passes)."""

    word: str | None
    case: Name | None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Enum:
    """A vendor's words for the cases of a field."""

    name: Name
    cases: tuple[EnumCase, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Split:
    """Tagged text taken out of an event's text into another event.

    `only` is a place word (`head`, `line`) or None for anywhere, `outside` a word such as `code`, `implied` the word
    `open` when the opening tag may be missing.
    """

    name: Name
    source: Name
    opening: str
    closing: str
    into: Name
    only: Name | None
    outside: Name | None
    implied: Name | None
    place: Place = _place()


# -- edits and tests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """`add ITEM`, `override ITEM` or `remove KIND NAME` (then `item` is None)."""

    verb: str
    item: Item | Setting | None
    kind: str
    name: Name
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Quirk:
    """A named, reasoned list of edits to what the file builds on."""

    name: Name
    reason: str
    edits: tuple[Edit, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Allow:
    """A lint whose findings do not count in this file, and the reason; it says nothing to files that build on it."""

    name: Name
    reason: str
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Given:
    """A step of a test: `kind` is event, frame, marker, raw, tools or close; `value` is plain data."""

    kind: str
    event: Name | None
    value: Any
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Expect:
    """An expectation: words and an optional value of plain data."""

    words: tuple[Name, ...]
    value: Any
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Test:
    """A test that stands in the rule file."""

    title: str
    steps: tuple[Given | Expect, ...]
    place: Place = _place()


_Machine: TypeAlias = Event | State | Group | Flush | Rule
_Books: TypeAlias = Merge | Derive | Repair | Deviations | ToolClass | Classify | Escalate
_Program: TypeAlias = Map | Ignore | Detect | Enum | Split
Item: TypeAlias = _Machine | _Books | _Program | Quirk | Allow | Test


@dataclass(frozen=True, slots=True)
class File:
    """A parsed rule file: `language` is its version, `source` its display name."""

    source: str
    language: str
    header: Header
    items: tuple[Item, ...]


KINDS: dict[type, str] = {
    Event: "event",
    State: "state",
    Group: "group",
    Flush: "flush",
    Rule: "rule",
    Merge: "merge",
    Derive: "derive",
    Repair: "repair",
    Deviations: "deviations",
    ToolClass: "class",
    Classify: "classify",
    Escalate: "escalate",
    Map: "map",
    Ignore: "ignore",
    Detect: "detect",
    Enum: "enum",
    Split: "split",
    Quirk: "quirk",
    Allow: "allow",
    Test: "test",
    Setting: "setting",
}
"""The keyword of each kind of item; rules and fallbacks share one namespace."""
