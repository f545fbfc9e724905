"""Frames to events: a vendor's maps, laid over the frame as one tree of paths.

A frame is walked once, along the paths that maps name; keys that no map reads cost nothing. What is found becomes
events in the order in which the maps run. Walks and emits are closures, made once for each program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from reknit.excerpt import excerpt
from reknit.paths import getter, parse_path
from reknit.pathtree import PathTree
from reknit.table import EmitSpec, EnumSpec, EventSpec, ExprSpec, MapSpec, PolicyTable, Program, WhereSpec
from reknit.vocabulary.filters import FILTERS, to_text
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.vocabulary.questions import TYPES

Mapped: TypeAlias = tuple[str, tuple[Any, ...], str]
"""An event out of a frame: its name, its fields in the order of the policy, and the map that made it."""


class Mistyped(NamedTuple):
    """A value that a field cannot take; it counts as absent."""

    map: str
    field: str
    excerpt: str


Made: TypeAlias = list[Mapped | Mistyped]
Reading: TypeAlias = Callable[[Any, Any], Any]
"""(frame, what `at` found) to a value."""
Emitting: TypeAlias = Callable[[Any, Any, Made], None]

_MISTYPED: Final = object()
_ALTERNATIVES: Final = 64
"""Hits are numbered map by map, this far apart; further alternatives of one `at` are more than anybody writes."""


class _Map(NamedTuple):
    alternatives: int
    wheres: tuple[Reading, ...]
    emits: tuple[tuple[int, Emitting], ...]


class MappingState:
    """What one stream has to remember of its maps: which of the events that are made once have been."""

    __slots__ = ("done", "waiting")

    def __init__(self, onces: int) -> None:
        self.done = [False] * onces
        self.waiting = onces


class Mapping:
    """A program made ready to run; shared by all streams of the vendor.

    Args:
        program: The vendor's program.
        policy: The policy whose events it makes.
    """

    def __init__(self, program: Program, policy: PolicyTable) -> None:
        self._enums = program.enums
        self._maps: list[_Map] = []
        self._onces = 0
        self.uses_event_name = False
        self._ignores = [self._wheres(guard.where) for guard in program.ignores]
        full, lean = PathTree(), PathTree()
        for number, spec in enumerate(program.maps):
            self._add(number, spec, policy, full, lean)
        self._full, self._lean = full.walk(), lean.walk()

    def new_stream(self) -> MappingState:
        """What one stream has to remember."""
        return MappingState(self._onces)

    def ignored(self, frame: Any) -> bool:
        """Whether a frame carries nothing on purpose."""
        return any(all(where(frame, None) for where in wheres) for wheres in self._ignores)

    def events(self, frame: Any, state: MappingState) -> Made | None:
        """The events of a frame; None when no map takes it and it is not ignored."""
        hits: list[tuple[int, Any]] = []
        made: Made = []
        (self._full if state.waiting else self._lean)(frame, hits.append)
        taken = False
        if len(hits) > 1:
            hits.sort(key=_code)
        chosen = -1
        for code, found in hits:
            alternatives, wheres, emits = self._maps[code // _ALTERNATIVES]
            if alternatives > 1:
                if chosen // _ALTERNATIVES == code // _ALTERNATIVES and code != chosen:
                    continue
                if found == "" and code % _ALTERNATIVES < alternatives - 1:
                    continue
                chosen = code
            for where in wheres:
                if not where(frame, found):
                    break
            else:
                taken = True
                for once, emit in emits:
                    if once < 0:
                        emit(frame, found, made)
                    elif not state.done[once]:
                        before = len(made)
                        emit(frame, found, made)
                        if len(made) > before and type(made[-1]) is tuple:
                            state.done[once] = True
                            state.waiting -= 1
        return made if taken or self.ignored(frame) else None

    # -- compiling -----------------------------------------------------------------------------------------------------

    def _add(self, number: int, spec: MapSpec, policy: PolicyTable, full: PathTree, lean: PathTree) -> None:
        emits: list[tuple[int, Emitting]] = []
        for emit in spec.emits:
            once = -1
            if emit.once:
                once = self._onces
                self._onces += 1
            emits.append((once, self._emit(emit, policy.events[emit.event], spec.name)))
        self._maps.append(_Map(len(spec.at), self._wheres(spec.where), tuple(emits)))
        for alternative, path in enumerate(spec.at):
            code = number * _ALTERNATIVES + alternative
            # A map whose events are all made once is not looked for any more when every such event was made.
            trees = [full] if emits and all(once >= 0 for once, _ in emits) else [full, lean]
            for tree in trees:
                node = tree
                for step in parse_path(path)[1]:
                    node = node.down(step)
                node.ends.append(code)

    def _emit(self, spec: EmitSpec, event: EventSpec, map_name: str) -> Emitting:
        width = len(event.fields)
        binds = [
            (at, self._read(expr), _FITS[field.type], field.optional, field.name)
            for at, (field, expr) in enumerate(zip(event.fields, spec.binds, strict=True))
            if expr is not None
        ]
        slots = [bind for bind in binds if event.fields[bind[0]].type == "slot"]
        others = [bind for bind in binds if event.fields[bind[0]].type != "slot"]
        if not others:
            others, slots = slots, []
        name, blank = spec.event, [None] * width
        if len(binds) == 1 and spec.binds[binds[0][0]] == _FOUND:
            return _emit_found(name, width, binds[0], map_name)

        def emit(frame: Any, found: Any, made: Made) -> None:
            values: list[Any] | None = None
            for at, read, fits, optional, field in others:
                value = read(frame, found)
                if value is not None:
                    fit = fits(value)
                    if fit is _MISTYPED:
                        made.append(Mistyped(map_name, field, excerpt(value)))
                    else:
                        if values is None:
                            values = blank.copy()
                        values[at] = fit
                        continue
                if not optional:
                    return
            if values is None:
                # Nothing but perhaps the slot is there: no event, unless the map binds nothing at all.
                if others:
                    return
                values = blank.copy()
            for at, read, fits, optional, field in slots:
                value = read(frame, found)
                if value is not None:
                    value = fits(value)
                    if value is _MISTYPED:
                        made.append(Mistyped(map_name, field, excerpt(read(frame, found))))
                        value = None
                if value is None and not optional:
                    return
                values[at] = value
            made.append((name, tuple(values), map_name))

        return emit

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
        if not values and not negated and len(tests) == 1 and spec.path == "@":
            test = tests[0]
            return lambda _, found: test(found)

        def holds(frame: Any, found: Any) -> bool:
            value = get(found if relative else frame)
            hit = any(value == one and not isinstance(value, bool) for one in values)
            return (hit or any(test(value) for test in tests)) is not negated

        return holds

    def _path(self, text: str) -> tuple[Callable[[Any], Any], bool]:
        relative, steps = parse_path(text)
        if "$event" in steps:
            self.uses_event_name = True
        return getter(steps), relative

    def _read(self, spec: ExprSpec) -> Reading:
        read = self._operand(spec)
        run: list[tuple[Callable[[Any, str], Any], str]] = []
        for name, argument in spec.filters:
            if name == "or":
                read, run = _with_default(_filtered(read, run), argument), []
            elif name == "enum":
                run.append((_enum_filter(self._enums[argument]), argument))
            else:
                run.append((FILTERS[name].apply, argument))
        return _filtered(read, run)

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
        if not relative:
            return lambda frame, found: get(frame)
        steps = parse_path(spec.path)[1]
        if len(steps) == 1 and isinstance(steps[0], str):
            key = steps[0]
            return lambda frame, found: found.get(key) if type(found) is dict else None
        return lambda frame, found: get(found)


_FOUND: Final = ExprSpec("path", path="@")


def _emit_found(
    name: str, width: int, bind: tuple[int, Reading, Callable[[Any], Any], bool, str], map_name: str
) -> Emitting:
    """The commonest emit: one field, bound to what `at` found."""
    at, _, fits, _, field = bind
    ahead, behind = (None,) * at, (None,) * (width - at - 1)

    def emit(frame: Any, found: Any, made: Made) -> None:
        value = fits(found)
        if value is _MISTYPED:
            made.append(Mistyped(map_name, field, excerpt(found)))
        else:
            made.append((name, (*ahead, value, *behind), map_name))

    return emit


def _filtered(read: Reading, run: list[tuple[Callable[[Any, str], Any], str]]) -> Reading:
    if not run:
        return read
    filters = tuple(run)
    if len(filters) == 1:
        only, word = filters[0]

        def once(frame: Any, found: Any) -> Any:
            value = read(frame, found)
            return None if value is None else only(value, word)

        return once

    def filtered(frame: Any, found: Any) -> Any:
        value = read(frame, found)
        if value is None:
            return None
        for apply, argument in filters:
            value = apply(value, argument)
            if value is None:
                return None
        return value

    return filtered


def _with_default(read: Reading, word: str) -> Reading:
    def otherwise(frame: Any, found: Any) -> Any:
        value = read(frame, found)
        return word if value is None else value

    return otherwise


def _enum_filter(enum: EnumSpec) -> Callable[[Any, str], Any]:
    def apply(value: Any, _: str) -> Any:
        word = to_text(value)
        if word is None:
            return value
        case = enum.cases.get(word)
        if case is not None:
            return case
        # Without an `else` a word that is not listed passes as it is: what cannot take it says so in a note.
        return word if enum.other is None else enum.other

    return apply


def _code(hit: tuple[int, Any]) -> int:
    return hit[0]


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
