"""What tools there are: their names and schemas, which of them a set of arguments fits, and what is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import Field, create_model
from referencing import Registry

from reknit.errors import UsageError
from reknit.vocabulary.repairs import parse


class Tool:
    """A tool that a model may call.

    Args:
        name: What the model calls it.
        description: What it is for.
        input_schema: JSON Schema (2020-12) of its arguments, an object schema.

    Raises:
        UsageError: The name is empty or the schema is none.
    """

    __slots__ = ("_closed", "_listed", "_required", "_validator", "description", "input_schema", "name")

    def __init__(self, name: str, description: str = "", input_schema: Mapping[str, Any] | None = None) -> None:
        schema = dict(input_schema) if input_schema is not None else {"type": "object"}
        if not isinstance(name, str) or not name:
            raise UsageError("tool-name", "a tool needs a name", 'give it `"name": "..."`')
        try:
            Draft202012Validator.check_schema(schema)
        except (SchemaError, RecursionError) as error:
            said = error.message if isinstance(error, SchemaError) else "it refers to itself"
            raise UsageError(
                "tool-schema", f"the input schema of tool `{name}` is no JSON Schema: {said[:200]}"
            ) from None
        self.name = name
        self.description = description
        self.input_schema = schema
        # An empty registry: a remote `$ref` is an error here, never a request.
        self._validator = Draft202012Validator(schema, registry=Registry())
        required = schema.get("required")
        self._required = frozenset(required) if isinstance(required, list) else frozenset()
        properties = schema.get("properties")
        self._listed = frozenset(properties) if isinstance(properties, dict) else None

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Every required field is there and every field is listed; a tool without required fields fits only `{}`."""
        if not self._required:
            return not arguments
        given = arguments.keys()
        return self._required <= given and (self._listed is None or given <= self._listed)

    def denested(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with texts that hold the JSON of an object or list decoded where the schema wants one."""
        properties = self.input_schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        return {key: _decoded(value, known.get(key)) for key, value in arguments.items()}

    def verdict(self, arguments: Mapping[str, Any]) -> str:
        """valid, missing (a required field at the top is not there) or mismatch."""
        try:
            if self._validator.is_valid(arguments):
                return "valid"
        except Exception:  # an unresolvable reference in the schema: nothing can be said for the arguments
            return "mismatch"
        return "mismatch" if self._required <= arguments.keys() else "missing"


def _decoded(value: Any, schema: Any) -> Any:
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    if not isinstance(value, str) or wanted not in ("object", "array"):
        return value
    try:
        inner = parse(value)
    except ValueError:
        return value
    return inner if isinstance(inner, dict if wanted == "object" else list) else value


ToolLike: TypeAlias = Tool | Mapping[str, Any] | Callable[..., Any]


class Tools:
    """The tools of one turn, by name.

    Args:
        tools: Tools, dicts (`{"name", "description", "input_schema"}`, or the function form that chat APIs take), or
            Python functions; None when no list was given, and nothing can be said about names or schemas.

    Raises:
        UsageError: Something is no tool, or two have one name.
    """

    def __init__(self, tools: Iterable[ToolLike] | None = None) -> None:
        self.given = tools is not None
        self._by_name: dict[str, Tool] = {}
        for one in tools or ():
            tool = as_tool(one)
            if tool.name in self._by_name:
                raise UsageError("tool-twice", f"two tools are named `{tool.name}`", "rename one of them")
            self._by_name[tool.name] = tool

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._by_name.get(name)

    def begins(self, name: str) -> bool:
        """Whether some tool's name begins with `name`."""
        return any(known.startswith(name) for known in self._by_name)

    def fitting(self, arguments: Mapping[str, Any]) -> list[str]:
        """The names of the tools that the arguments fit."""
        return [name for name, tool in self._by_name.items() if tool.fits(arguments)]


def as_tool(one: ToolLike) -> Tool:
    """A tool from a dict or a Python function.

    Raises:
        UsageError: It is neither, or its parts are of the wrong type.
    """
    if isinstance(one, Tool):
        return one
    if isinstance(one, Mapping):
        inner = one.get("function")
        spec = inner if isinstance(inner, Mapping) else one
        schema = spec.get("input_schema", spec.get("inputSchema", spec.get("parameters")))
        name, description = spec.get("name"), spec.get("description")
        if not isinstance(name, str) or not (schema is None or isinstance(schema, Mapping)):
            raise UsageError("tool-shape", "a tool is a dict with `name`, `description` and `input_schema`")
        return Tool(name, description if isinstance(description, str) else "", schema)
    if callable(one):
        return _from_function(one)
    raise UsageError("tool-shape", f"a {type(one).__name__} is no tool", "give a dict, a Tool or a function")


def _from_function(function: Callable[..., Any]) -> Tool:
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        fields[name] = (hint, Field() if parameter.default is parameter.empty else Field(default=parameter.default))
    try:
        schema = create_model(function.__name__, **fields).model_json_schema()
    except Exception as error:
        raise UsageError("tool-function", f"no schema for `{function.__name__}`: {str(error)[:200]}") from None
    return Tool(function.__name__, inspect.getdoc(function) or "", schema)
