"""Frames to events: a vendor's maps, laid over the frame as one tree of paths.

A frame is walked once, along the paths that maps name; keys that no map reads cost nothing. What is found becomes
events in the order in which the maps are written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from reknit.excerpt import excerpt
from reknit.paths import Step, getter, parse_path
from reknit.table import EmitSpec, EnumSpec, EventSpec, ExprSpec, MapSpec, PolicyTable, Program, WhereSpec
from reknit.vocabulary.filters import FILTERS
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.vocabulary.questions import TYPES

Reading: TypeAlias = Callable[[Any, Any], Any]
"""(frame, what `at` found) to a value."""

_MISTYPED: Final = object()


class Mapped(NamedTuple):
    """An event out of a frame: its name, its fields in the order of the policy, and the map that made it."""

    event: str
    fields: tuple[Any, ...]
    map: str


class Mistyped(NamedTuple):
    """A value that a field cannot take; it counts as absent."""

    map: str
    field: str
    excerpt: str


class _Emit(NamedTuple):
    event: str
    once: int
    binds: tuple[tuple[Reading, Callable[[Any], Any], bool, str, bool] | None, ...]


class _Map(NamedTuple):
    name: str
    alternatives: int
    wheres: tuple[Reading, ...]
    emits: tuple[_Emit, ...]


class _Node:
    """A place in the tree of paths: the maps that end here, and where it goes on."""

    __slots__ = ("ends", "every", "keys", "positions")

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.keys: dict[str, _Node] = {}
        self.positions: dict[int, _Node] = {}
        self.every: _Node | None = None

    def down(self, step: Step) -> _Node:
        if step is None:
            if self.every is None:
                self.every = _Node()
            return self.every
        branch: dict[Any, _Node] = self.keys if isinstance(step, str) else self.positions
        return branch.setdefault(step, _Node())


class Mapping:
    """A program made ready to run; shared by all streams of the vendor.

    Args:
        program: The vendor's program.
        policy: The policy whose events it makes.
    """

    def __init__(self, program: Program, policy: PolicyTable) -> None:
        self._enums = program.enums
        self._maps: list[_Map] = []
        self._codes: list[int] = []
        self._root = _Node()
        self._lean = _Node()
        self._onces = 0
        self.uses_event_name = False
        self._ignores = [self._wheres(guard.where) for guard in program.ignores]
        for number, spec in enumerate(program.maps):
            self._add(number, spec, policy)

    def _add(self, number: int, spec: MapSpec, policy: PolicyTable) -> None:
        emits = tuple(self._emit(emit, policy.events[emit.event]) for emit in spec.emits)
        self._maps.append(_Map(spec.name, len(spec.at), self._wheres(spec.where), emits))
        for alternative, path in enumerate(spec.at):
            _, steps = parse_path(path)
            code = number * 64 + alternative
            roots = [self._root] if emits and all(emit.once >= 0 for emit in emits) else [self._root, self._lean]
            for root in roots:
                node = root
                for step in steps:
                    node = node.down(step)
                node.ends.append(code)

    def new_stream(self) -> MappingState:
        """What one stream has to remember."""
        return MappingState(self._onces)

    def ignored(self, frame: Any) -> bool:
        """Whether a frame carries nothing on purpose."""
        return any(all(where(frame, None) for where in wheres) for wheres in self._ignores)

    def events(self, frame: Any, state: MappingState) -> list[Mapped | Mistyped] | None:
        """The events of a frame; None when no map takes it and it is not ignored."""
        hits: list[tuple[int, Any]] = []
        _walk(self._lean if state.waiting == 0 else self._root, frame, hits)
        made: list[Mapped | Mistyped] = []
        taken = False
        if len(hits) > 1:
            hits.sort(key=_code)
        chosen = -1
        for code, found in hits:
            number = code >> 6
            one = self._maps[number]
            if one.alternatives > 1:
                if number == chosen >> 6 and code != chosen:
                    continue
                if found == "" and code & 63 < one.alternatives - 1:
                    continue
                chosen = code
            for where in one.wheres:
                if not where(frame, found):
                    break
            else:
                taken = True
                for emit in one.emits:
                    if emit.once >= 0 and state.done[emit.once]:
                        continue
                    self._make(emit, one.name, frame, found, made, state)
        if not taken and not self.ignored(frame):
            return None
        return made

    def _make(
        self, emit: _Emit, name: str, frame: Any, found: Any, made: list[Mapped | Mistyped], state: MappingState
    ) -> None:
        values: list[Any] = []
        something = not emit.binds
        for bind in emit.binds:
            if bind is None:
                values.append(None)
                continue
            read, fits, optional, field, is_slot = bind
            value = read(frame, found)
            if value is not None:
                value = fits(value)
                if value is _MISTYPED:
                    made.append(Mistyped(name, field, excerpt(read(frame, found))))
                    value = None
                elif not is_slot or len(emit.binds) == 1:
                    something = True
            if value is None and not optional:
                return
            values.append(value)
        if something:
            if emit.once >= 0:
                state.done[emit.once] = True
                state.waiting -= 1
            made.append(Mapped(emit.event, tuple(values), name))

    # -- compiling -----------------------------------------------------------------------------------------------------

    def _emit(self, spec: EmitSpec, event: EventSpec) -> _Emit:
        binds: list[tuple[Reading, Callable[[Any], Any], bool, str, bool] | None] = []
        for field, expr in zip(event.fields, spec.binds, strict=True):
            if expr is None:
                binds.append(None)
                continue
            binds.append((self._read(expr), _FITS[field.type], field.optional, field.name, field.type == "slot"))
        once = -1
        if spec.once:
            once = self._onces
            self._onces += 1
        return _Emit(spec.event, once, tuple(binds))

    def _wheres(self, specs: tuple[WhereSpec, ...]) -> tuple[Reading, ...]:
        return tuple(self._where(spec) for spec in specs)

    def _where(self, spec: WhereSpec) -> Reading:
        get, relative = self._path(spec.path)
        values, tests, negated = spec.values, [JSON_TYPES[name] for name in spec.types], spec.negated
        if not tests and not negated and len(values) == 1 and isinstance(values[0], str):
            only = values[0]
            if relative:
                return lambda _, found: get(found) == only
            return lambda frame, _: get(frame) == only

        def holds(frame: Any, found: Any) -> bool:
            value = get(found if relative else frame)
            hit = any(value == one and not isinstance(value, bool) for one in values) or any(
                test(value) for test in tests
            )
            return hit is not negated

        return holds

    def _path(self, text: str) -> tuple[Callable[[Any], Any], bool]:
        relative, steps = parse_path(text)
        if "$event" in steps:
            self.uses_event_name = True
        return getter(steps), relative

    def _read(self, spec: ExprSpec) -> Reading:
        read = self._operand(spec)
        for name, argument in spec.filters:
            read = self._filtered(read, name, argument)
        return read

    def _operand(self, spec: ExprSpec) -> Reading:
        if spec.kind == "constant":
            constant = spec.constant
            return lambda frame, found: constant
        if spec.kind == "object":
            members = [(key, self._read(value)) for key, value in spec.members]

            def build(frame: Any, found: Any) -> Any:
                data = {key: read(frame, found) for key, read in members}
                return {key: value for key, value in data.items() if value is not None}

            return build
        get, relative = self._path(spec.path)
        if spec.path == "@":
            return lambda frame, found: found
        if relative:
            return lambda frame, found: get(found)
        return lambda frame, found: get(frame)

    def _filtered(self, read: Reading, name: str, argument: str) -> Reading:
        if name == "enum":
            enum = self._enums[argument]
            return lambda frame, found: _enum(enum, read(frame, found))
        apply = FILTERS[name].apply
        if name == "or":
            return lambda frame, found: apply(read(frame, found), argument)

        def filtered(frame: Any, found: Any) -> Any:
            value = read(frame, found)
            return None if value is None else apply(value, argument)

        return filtered


class MappingState:
    """What one stream has to remember of its maps: which of the events that are made once have been."""

    __slots__ = ("done", "waiting")

    def __init__(self, onces: int) -> None:
        self.done = [False] * onces
        self.waiting = onces


def _enum(enum: EnumSpec, value: Any) -> Any:
    if value is None:
        return None
    word = value if isinstance(value, str) else str(value) if isinstance(value, int | float) else None
    if word is None:
        return value
    case = enum.cases.get(word)
    if case is not None:
        return case
    return word if enum.passes else enum.other


def _code(hit: tuple[int, Any]) -> int:
    return hit[0]


def _walk(node: _Node, value: Any, hits: list[tuple[int, Any]]) -> None:
    for code in node.ends:
        hits.append((code, value))
    kind = type(value)
    if kind is dict:
        keys = node.keys
        if len(keys) <= len(value):
            for key, below in keys.items():
                inner = value.get(key)
                if inner is not None:
                    _walk(below, inner, hits)
        else:
            for key, inner in value.items():
                if inner is not None:
                    child = keys.get(key)
                    if child is not None:
                        _walk(child, inner, hits)
    elif kind is list:
        for at, below in node.positions.items():
            if at < len(value) and value[at] is not None:
                _walk(below, value[at], hits)
        if node.every is not None:
            for inner in value:
                if inner is not None:
                    _walk(node.every, inner, hits)


# -- what each type of field takes -------------------------------------------------------------------------------------


def _fits_text(value: Any) -> Any:
    return value if type(value) is str else _MISTYPED


def _fits_slot(value: Any) -> Any:
    if type(value) is int or type(value) is str:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    return _MISTYPED


def _fits_count(value: Any) -> Any:
    if type(value) is int and 0 <= value < 2**63:
        return value
    if type(value) is float and value.is_integer() and 0 <= value < 2**53:
        return int(value)
    return _MISTYPED


def _fits_cases(type_: str) -> Callable[[Any], Any]:
    cases = frozenset(TYPES[type_].cases)
    return lambda value: value if type(value) is str and value in cases else _MISTYPED


_FITS: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("id", "name", "text", "json", "message_id", "word", "reason"), _fits_text),
    "slot": _fits_slot,
    "count": _fits_count,
    "value": lambda value: value,
    "of": _fits_cases("of"),
    "how": _fits_cases("how"),
    "error_kind": lambda value: value if type(value) is str and value in TYPES["error_kind"].cases else "other",
}
"""What a field of each type takes: the value, or a mark that it cannot be."""
