"""A vendor's items to its program: maps, filters, enums, splits, each checked against the policy that it feeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reknit.lang.causes import one_a_cause
from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import (
    Constant,
    Detect,
    Emit,
    Enum,
    Expr,
    Ignore,
    Item,
    Made,
    Map,
    Name,
    Path,
    Place,
    Split,
    Where,
    Word,
)
from reknit.paths import MOST_STEPS, parse_path
from reknit.table import (
    EmitSpec,
    EnumSpec,
    EventSpec,
    ExprSpec,
    GuardSpec,
    MapSpec,
    PolicyTable,
    Program,
    SplitSpec,
    WhereSpec,
)
from reknit.vocabulary.filters import FILTERS
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.vocabulary.questions import TYPES
from reknit.wire import WIRES
from reknit.wire.salvage import SALVAGE

SPLIT_PLACES = ("head", "line")
"""Where a tag counts when `only` says so: at the head of the text, or at the head of a line."""


class ProgramCheck:
    """Compiles the items of one vendor; `found` holds what is wrong."""

    def __init__(self, policy: PolicyTable) -> None:
        self.found: list[Diagnostic] = []
        self._policy = policy
        self._enums: dict[str, Enum] = {}
        self._told: list[Name] = []

    def run(self, items: Iterable[Item]) -> dict[str, list[object]]:
        """Compile all items, in the order given, by kind."""
        items = list(items)
        self._enums = {item.name.text: item for item in items if isinstance(item, Enum)}
        made: dict[str, list[object]] = {"maps": [], "ignores": [], "detects": [], "splits": []}
        for item in self._in_order(items):
            if isinstance(item, Map):
                made["maps"].append(self._map(item))
            elif isinstance(item, Ignore):
                made["ignores"].append(GuardSpec(item.name.text, self._wheres(item.where, relative=False)))
            elif isinstance(item, Detect):
                made["detects"].append(GuardSpec(item.name.text, self._wheres(item.where, relative=False)))
            elif isinstance(item, Split):
                made["splits"].append(self._split(item))
        return made

    def _in_order(self, items: list[Item]) -> list[Item]:
        """The items as written, but maps that say `before` ahead of the map that they name."""
        maps = [item for item in items if isinstance(item, Map)]
        names = {item.name.text for item in maps}
        ordered = [item for item in maps if item.ahead is None]
        waiting = [(item, item.ahead) for item in maps if item.ahead is not None]
        placed = True
        while placed:
            placed, left = False, []
            for item, ahead in waiting:
                at = next((n for n, other in enumerate(ordered) if other.name.text == ahead.text), None)
                if at is None:
                    left.append((item, ahead))
                else:
                    ordered.insert(at, item)
                    placed = True
            waiting = left
        for item, ahead in waiting:
            if ahead.text in names and ahead.text != item.name.text:
                message, label = f"map {quoted(ahead.text)} has no place of its own", "it waits for another one, too"
                help: str | None = "name a map that has no `before`"
            else:
                message, label = f"there is no map {quoted(ahead.text)} to run ahead of", "not known"
                help = suggestion(ahead.text, names - {item.name.text})
            self.report("E411", message, ahead.place, label, help)
        return [*ordered, *(item for item in items if not isinstance(item, Map))]

    def enums(self) -> dict[str, EnumSpec]:
        """The enums, compiled."""
        compiled = {}
        for name, node in self._enums.items():
            other = next((case for case in node.cases if case.word is None), None)
            compiled[name] = EnumSpec(
                {case.word: case.case.text for case in node.cases if case.word is not None and case.case is not None},
                other.case.text if other is not None and other.case is not None else None,
                other is not None and other.case is None,
            )
        return compiled

    def report(self, code: str, message: str, place: Place, text: str, help: str | None = None) -> None:
        """Record a finding."""
        self.found.append(Diagnostic(code, message, Label(place, text), help=help))

    def _map(self, node: Map) -> MapSpec:
        for path in node.at:
            self._path(path, relative=False, every=True)
        emits = tuple(self._emit(emit) for emit in node.emits)
        return MapSpec(
            node.name.text,
            tuple(path.text for path in node.at),
            self._wheres(node.where, relative=True),
            tuple(e for e in emits if e),
        )

    def _path(self, name: Name, relative: bool, every: bool) -> None:
        try:
            starts_at, steps = parse_path(name.text)
        except ValueError:
            help = f"a path has at most {MOST_STEPS} steps"
            self.report("E403", f"{quoted(name.text)} is no path, or too long", name.place, "this path", help)
            return
        if starts_at and not relative:
            self.report(
                "E403",
                "`@` is what `at` found, and means nothing here",
                name.place,
                "this path",
                "start the path with a dot",
            )
        if None in steps and not every:
            self.report(
                "E403",
                "`[*]` stands for many values where one is wanted",
                name.place,
                "this path",
                "put it into `at`, and use `@`",
            )

    def choices(self, paths: tuple[Name, ...]) -> None:
        """Check where a frame's choices stand: a list under keys, numbered by a path inside each of them."""
        if not paths:
            return
        for path in paths:
            self._path(path, relative=False, every=True)
        try:
            steps = parse_path(paths[0].text)[1]
        except ValueError:
            return
        if len(steps) < 2 or steps[-1] is not None or not all(isinstance(step, str) for step in steps[:-1]):
            help = "a list under keys, such as `.choices[*]`"
            self.report("E403", f"{quoted(paths[0].text)} names no list of choices", paths[0].place, "this path", help)
        if "[*]" in paths[-1].text:
            self.report("E403", "`[*]` stands for many values where one is wanted", paths[-1].place, "this path")

    def _wheres(self, nodes: tuple[Where, ...], relative: bool) -> tuple[WhereSpec, ...]:
        specs = []
        for node in nodes:
            self._path(node.path, relative=relative, every=False)
            for name in node.types:
                if name.text not in JSON_TYPES:
                    self.report(
                        "E407",
                        f"unknown JSON type {quoted(name.text)}",
                        name.place,
                        "not known",
                        suggestion(name.text, JSON_TYPES),
                    )
            specs.append(WhereSpec(node.path.text, node.negated, node.values, tuple(name.text for name in node.types)))
        return tuple(specs)

    def _emit(self, node: Emit) -> EmitSpec | None:
        event = self._policy.events.get(node.event.text)
        if event is None or event.about == "ending":
            known = [name for name, spec in self._policy.events.items() if spec.about != "ending"]
            if event is None:
                help = suggestion(node.event.text, known)
                self.report("E201", f"unknown event {quoted(node.event.text)}", node.event.place, "this event", help)
            else:
                help = "make what ends the call, such as its stop or the end of the message; that it is over follows"
                said = f"{quoted(node.event.text)} is raised by the machine alone"
                self.report("E409", said, node.event.place, "this event", help)
            return None
        bound: dict[str, ExprSpec] = {}
        fields = {field.name: field for field in event.fields}
        for name, expr in node.binds:
            if name.text not in fields:
                self.report(
                    "E402",
                    f"{quoted(event.name)} has no field {quoted(name.text)}",
                    name.place,
                    "no such field",
                    suggestion(name.text, fields),
                )
            else:
                bound[name.text] = self._expr(expr, event, fields[name.text].type)
        for field in event.fields:
            if not field.optional and field.name not in bound:
                self.report(
                    "E401",
                    f"{quoted(event.name)} needs its {quoted(field.name)}",
                    node.event.place,
                    "not bound",
                    f"bind `{field.name}: @`",
                )
        return EmitSpec(event.name, node.once, tuple(bound.get(field.name) for field in event.fields))

    def _expr(self, node: Expr, event: EventSpec, type_: str | None) -> ExprSpec:
        filters = tuple(self._filter(one.name, one.argument) for one in node.filters)
        self._enum_cases(filters, type_)
        operand = node.operand
        if isinstance(operand, Path):
            self._path(Name(operand.text, node.place), relative=True, every=False)
            return ExprSpec("path", path=operand.text, filters=filters)
        if isinstance(operand, Constant):
            return ExprSpec("constant", constant=operand.value, filters=filters)
        if isinstance(operand, Word):
            cases = TYPES[type_].cases if type_ is not None else {}
            if operand.text not in cases:
                self.report(
                    "E406",
                    f"{quoted(operand.text)} is no case of this field",
                    node.place,
                    "no such case",
                    suggestion(operand.text, cases),
                )
            return ExprSpec("constant", constant=operand.text, filters=filters)
        assert isinstance(operand, Made)
        return ExprSpec(
            "object",
            members=tuple((key, self._expr(value, event, None)) for key, value in operand.members),
            filters=filters,
        )

    def _enum_cases(self, filters: tuple[tuple[str, str], ...], type_: str | None) -> None:
        """Check that an enum gives nothing but cases of the field that it is used for; each of its words once."""
        cases = TYPES[type_].cases if type_ is not None else {}
        for name, argument in filters:
            node = self._enums.get(argument) if name == "enum" else None
            for one in node.cases if node is not None and cases else ():
                if one.case is not None and one.case.text not in cases and one.case not in self._told:
                    self._told.append(one.case)
                    said = f"{quoted(one.case.text)} is no case of what enum {quoted(argument)} is used for"
                    self.report("E406", said, one.case.place, "no such case", suggestion(one.case.text, cases))

    def _filter(self, name: Name, argument: Name | None) -> tuple[str, str]:
        known = FILTERS.get(name.text)
        if known is None:
            self.report(
                "E404", f"unknown filter {quoted(name.text)}", name.place, "not known", suggestion(name.text, FILTERS)
            )
        elif known.argument != (argument is not None):
            wants, help = "takes nothing", f"write `| {name.text}` alone"
            if known.argument:
                wants, help = "needs a word or text", f'as in `| {name.text} "..."`'
            self.report("E404", f"the filter {quoted(name.text)} {wants}", name.place, "this filter", help)
        elif name.text == "enum" and argument is not None and argument.text not in self._enums:
            self.report(
                "E405",
                f"unknown enum {quoted(argument.text)}",
                argument.place,
                "not known",
                suggestion(argument.text, self._enums) or f"declare it: `enum {argument.text} {{ ... }}`",
            )
        return name.text, argument.text if argument is not None else ""

    def _split(self, node: Split) -> SplitSpec:
        for name in (node.source, node.into):
            event = self._policy.events.get(name.text)
            if event is None or not any(field.type == "text" for field in event.fields):
                texts = [
                    name for name, spec in self._policy.events.items() if any(f.type == "text" for f in spec.fields)
                ]
                help = suggestion(name.text, texts)
                self.report("E408", f"{quoted(name.text)} is no event with a text", name.place, "cannot be split", help)
        if not node.opening or not node.closing:
            help = 'say where it begins and where it ends, as in `at "<think>" "</think>"`'
            self.report("E408", "a tag is empty", node.name.place, "this split", help)
        if node.only is not None and node.only.text not in SPLIT_PLACES:
            self.report(
                "E408",
                f"unknown place {quoted(node.only.text)}",
                node.only.place,
                "not known",
                suggestion(node.only.text, SPLIT_PLACES),
            )
        if node.outside is not None and node.outside.text != "code":
            self.report(
                "E408",
                f"unknown surroundings {quoted(node.outside.text)}",
                node.outside.place,
                "not known",
                "say `outside code`",
            )
        if node.implied is not None and node.implied.text != "open":
            self.report(
                "E408",
                f"{quoted(node.implied.text)} cannot be implied",
                node.implied.place,
                "not known",
                "say `implied open`",
            )
        return SplitSpec(
            node.name.text,
            node.source.text,
            node.opening,
            node.closing,
            node.into.text,
            node.only.text if node.only is not None else "anywhere",
            node.outside is not None,
            node.implied is not None,
        )


def compile_program(
    name: Name,
    settings: Mapping[str, tuple[Name, ...]],
    items: Iterable[Item],
    policy: PolicyTable,
) -> tuple[Program | None, list[Diagnostic]]:
    """Compile a vendor from its effective settings and items.

    Args:
        name: Of the vendor, as written in its header.
        settings: protocol, wire, end, salvage and choices, each with its words.
        items: All its items, quirks already applied.
        policy: The compiled policy that it feeds.

    Returns:
        The program, or None with the reasons.
    """
    check = ProgramCheck(policy)
    made = check.run(items)
    wire = next(iter(settings.get("wire", ())), None)
    if wire is None:
        check.report(
            "E410",
            f"vendor {quoted(name.text)} names no wire",
            name.place,
            "this vendor",
            "add `wire sse`, or extend a file that has one",
        )
    elif wire.text not in WIRES:
        check.report("E407", f"unknown wire {quoted(wire.text)}", wire.place, "not known", suggestion(wire.text, WIRES))
    if not made["maps"]:
        check.report(
            "E410",
            f"vendor {quoted(name.text)} has no maps",
            name.place,
            "this vendor",
            "add a map, or extend the file of a protocol",
        )
    for step in settings.get("salvage", ()):
        if step.text not in SALVAGE:
            check.report(
                "E407",
                f"unknown salvage step {quoted(step.text)}",
                step.place,
                "not known",
                suggestion(step.text, SALVAGE),
            )
    choices = settings.get("choices", ())
    check.choices(choices)
    if check.found or wire is None:
        return None, one_a_cause(check.found)
    end = next(iter(settings.get("end", ())), None)
    protocol = next(iter(settings.get("protocol", ())), name)
    return (
        Program(
            name=name.text,
            protocol=protocol.text,
            wire=wire.text,
            end=end.text if end is not None else None,
            salvage=tuple(sorted(step.text for step in settings.get("salvage", ()))),
            choices=(choices[0].text, choices[1].text) if len(choices) == 2 else None,
            maps=tuple(made["maps"]),  # type: ignore[arg-type]
            ignores=tuple(made["ignores"]),  # type: ignore[arg-type]
            detects=tuple(made["detects"]),  # type: ignore[arg-type]
            enums=check.enums(),
            splits=tuple(made["splits"]),  # type: ignore[arg-type]
        ),
        [],
    )
