"""What a test gives: tools in short notation, and canonical events that have to be what their policy declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from reknit.errors import UsageError
from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import Given, Test
from reknit.table import EventSpec, PolicyTable
from reknit.tools.registry import Tools
from reknit.vocabulary.questions import TYPES


def tools_of(test: Test) -> Tools:
    """The tools that a test gives; without any, nothing is known of tools.

    Raises:
        UsageError: Something is no tool.
    """
    given = [step.value for step in test.steps if isinstance(step, Given) and step.kind == "tools"]
    if not given:
        return Tools(None)
    return Tools([_tool(name, schema) for record in given for name, schema in record.items()])


def _tool(name: str, schema: Any) -> dict[str, Any]:
    if isinstance(schema, list):
        if not all(isinstance(field, str) for field in schema):
            raise UsageError("tool-shape", f"the fields of tool `{name}` are names", f'as in `"{name}": ["file_path"]`')
        fields = {"properties": {field: {} for field in schema}, "required": schema, "additionalProperties": False}
        schema = {"type": "object", **fields}
    if not isinstance(schema, Mapping):
        help = f'as in `"{name}": ["file_path"]`, all of them required'
        raise UsageError("tool-shape", f"tool `{name}` needs a list of fields or a schema", help)
    return {"name": name, "input_schema": schema}


def check_tools(test: Test) -> Iterator[Diagnostic]:
    """Find tools that are none."""
    for step in test.steps:
        if isinstance(step, Given) and step.kind == "tools":
            try:
                tools_of(Test(test.title, (step,)))
            except UsageError as error:
                sentence = str(error).split("\n")[0]
                yield Diagnostic("E708", sentence, Label(step.place, "these tools"), help=error.help or None)
    try:
        tools_of(test)
    except UsageError as error:
        if error.code == "tool-twice":
            yield Diagnostic(
                "E708", str(error).split("\n")[0], Label(test.place, "in this test"), help=error.help or None
            )


_TEXTS: Final = ("id", "name", "text", "json", "message_id", "word", "reason")
_CHECKS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    **{name: (lambda value: isinstance(value, str), "a text") for name in _TEXTS},
    "slot": (lambda value: isinstance(value, str) or _is_whole(value), "a whole number or a text"),
    "count": (lambda value: _is_whole(value) and value >= 0, "a whole number that is not negative"),
    "value": (lambda value: True, "any value"),
}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_event(step: Given, policy: PolicyTable) -> Iterator[Diagnostic]:
    """Find what a given event is not: declared, made by maps, complete, and of the right types."""
    assert step.event is not None
    name, place = step.event.text, step.event.place
    spec = policy.events.get(name)
    if spec is None:
        known = [event.name for event in policy.events.values() if event.about != "ending"]
        yield Diagnostic(
            "E705", f"unknown event {quoted(name)}", Label(place, "not declared"), help=suggestion(name, known)
        )
        return
    if spec.about == "ending":
        label = Label(place, "cannot be given")
        yield Diagnostic(
            "E705", f"{quoted(name)} is raised by the machine itself", label, help="give what ends the call"
        )
        return
    fields = {field.name: field for field in spec.fields}
    for key, value in step.value.items():
        if key not in fields:
            help = suggestion(key, fields)
            yield Diagnostic(
                "E705", f"{quoted(name)} has no field {quoted(key)}", Label(step.place, "this event"), help=help
            )
        elif value is not None:
            yield from _check_value(step, spec, key, fields[key].type, value)
    for field in spec.fields:
        if not field.optional and step.value.get(field.name) is None:
            message = f"{quoted(name)} is no event without its field {quoted(field.name)}"
            yield Diagnostic("E705", message, Label(step.place, "this event"), help=f"add `{field.name}: ...`")


def _check_value(step: Given, spec: EventSpec, key: str, type_: str, value: Any) -> Iterator[Diagnostic]:
    subject = f"{quoted(key)} of {quoted(spec.name)}"
    if type_ in _CHECKS:
        check, what = _CHECKS[type_]
        if not check(value):
            yield Diagnostic("E705", f"{subject} has to be {what}", Label(step.place, "this event"))
        return
    cases = TYPES[type_].cases
    if not isinstance(value, str) or value not in cases:
        said = str(value)
        help = suggestion(said, cases)
        yield Diagnostic("E705", f"{subject} is never {quoted(said)}", Label(step.place, "this event"), help=help)
