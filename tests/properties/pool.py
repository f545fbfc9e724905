"""What the laws are tried on: tools, argument texts and their pieces, events of a policy with any fields."""

from __future__ import annotations

import hashlib
import itertools
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

import reknit
from reknit.machine import ENDING
from reknit.shipped import rules_folder
from reknit.table import PolicyTable, Table
from reknit.tools.registry import Tools
from reknit.vocabulary.questions import TYPES
from reknit.vocabulary.words import ERROR_KINDS, STOP_REASONS

SEED = "a law"
"""From which all made-up ids of the laws are derived."""

Step = tuple[str, tuple[Any, ...]]
"""An event: its name, and its fields in the order of the policy."""


def _object(required: Sequence[str], **properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": type_} for name, type_ in properties.items()},
        "required": list(required),
    }


TOOLS: list[dict[str, Any]] = [
    {"name": "Read", "input_schema": _object(["file_path"], file_path="string")},
    {"name": "ReadAll", "input_schema": _object(["folder"], folder="string", deep="boolean")},
    {"name": "Grep", "input_schema": _object(["pattern", "path"], pattern="string", path="string")},
    {"name": "Find", "input_schema": _object(["pattern", "path"], pattern="string", path="string")},
    {"name": "Now", "input_schema": _object([])},
    {"name": "Any"},
]
"""Among them: a name that begins another one, two tools that fit the same arguments, one that takes none."""

KITS: dict[str, Tools] = {"tools": Tools(TOOLS), "no list of tools": Tools(None), "an empty list": Tools([])}


def made_ids(seed: str = SEED, count: int = 3) -> list[str]:
    """The ids that the machine makes up first, as a vendor who has seen them might send them back."""
    return [f"call_{hashlib.sha256(f'{seed}/{n}'.encode()).hexdigest()[:24]}" for n in range(1, count + 1)]


DOCUMENTS = [
    "{}",
    '{"file_path": "main.py"}',
    '{"file_path": "main.py"}',
    '{"file_path": "other.py"}',
    '{"pattern":"TODO","path":"."}',
    '{"folder":"a","deep":true}',
    '{"a": {"a": {"b": [1, 2, {"c": "}{][\\\\"}]}}}',
    '{"q": "hello \\n \\"world\\" \\u00e9\\ud83d\\ude00 \U0001f600 \\\\"}',
    '  {"n": -1.5e3, "z": null}\n',
    '{"big": 123456789012345678901234567890}',
    '{"file_path": 1}',
    '{"file_path": "a"}{"file_path": "b"}',
    '{"pattern": "a", "path": "[\\"b\\"]"}',
    '```json\n{"file_path": "main.py"}\n```',
    '"{\\"file_path\\": \\"main.py\\"}"',
    "[1]",
    "null",
    "{'a': 1, b: True,}",
]
"""Argument texts as vendors send them, good ones and not so good ones."""


def pieces(text: str, *cuts: int) -> list[str]:
    """A text cut at positions; positions beyond its ends cut nothing."""
    places = sorted({min(max(cut, 0), len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:stop] for start, stop in itertools.pairwise(places)]


FRAGMENTS = sorted(
    {piece for text in DOCUMENTS for cut in (1, 3, len(text) // 2, len(text) - 1) for piece in pieces(text, cut)}
)

TEXTS = [None, "", " ", "a", "\n", "é", "the same words again", "the same words again and more", "\x00", "\ud83d", "<"]

_VALUES: dict[str, list[Any]] = {
    "slot": [None, None, None, None, None, 0, 0, 0, 1, 1, 2, "0"],
    "id": [None, None, "", "t1", "t1", "t2", "t3"],
    "name": [None, None, "", "Read", "Read", "ReadAll", "All", "Re", "ad", "Grep", "Now", "nobody", "é"],
    "text": TEXTS,
    "json": [None, "", *FRAGMENTS],
    "message_id": [None, "", "m1", "m1", "m2"],
    "word": [None, "", "model-x"],
    "reason": [None, *STOP_REASONS, "other", "eos", ""],
    "how": [None, "clean", "closed"],
    "of": [None, "thinking", "text", "tool"],
    "error_kind": [None, *ERROR_KINDS],
    "count": [None, 0, 1, 800, 2**62],
    "value": [
        None,
        {},
        {"type": "x", "a": "b"},
        {"type": "text"},
        {"type": "redacted_thinking", "data": 1},
        [1],
        "s",
        0,
    ],
}
"""Values that a field of each type may have; `None` is no value. Those that matter most stand there twice."""

assert set(_VALUES) == set(TYPES), "a type of field that no law is tried on"


def field_values(type_: str) -> list[Any]:
    """Values that a field of a type may have."""
    return _VALUES[type_]


Choose = Callable[[Sequence[Any]], Any]
"""Takes one of several values: by hypothesis, which shrinks, or by a seeded generator, which is fast."""


def named(policy: PolicyTable, event: str, /, **fields: Any) -> Step:
    """An event with its fields by name."""
    return event, tuple(fields.get(field.name) for field in policy.events[event].fields)


def stretch(policy: PolicyTable, choose: Choose) -> list[Step]:
    """A few events that belong together: one event with any fields, or a call whose arguments arrive in pieces."""
    if "TOOL_INPUT_DELTA" in policy.events and choose((False, False, False, True)):
        return _call(policy, choose)
    spec = policy.events[choose(_names(policy))]
    return [(spec.name, tuple(choose(_VALUES[field.type]) for field in spec.fields))]


def _call(policy: PolicyTable, choose: Choose) -> list[Step]:
    slot, ident, name = (choose(_VALUES[type_]) for type_ in ("slot", "id", "name"))
    text = choose(DOCUMENTS)
    starts = choose((0, 1, 1, 1, 2))
    steps = [named(policy, "TOOL_USE_START", slot=slot, id=ident, name=name)] * starts
    if "TOOL_INPUT_GIVEN" in policy.events and choose((False, False, False, True)):
        steps.append(named(policy, "TOOL_INPUT_GIVEN", slot=slot, json=choose(DOCUMENTS)))
    for piece in pieces(text, choose((0, 1, 4, len(text) - 1)), choose((0, len(text) // 2))):
        steps.append(named(policy, "TOOL_INPUT_DELTA", slot=slot, json=piece))
    if choose((False, False, True)):
        steps.append(named(policy, "BLOCK_STOP", slot=slot))
    return steps


@cache
def _often(names: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    ends = ("STREAM_END", "STREAM_ERROR")
    times = {name: 1 if name in ends else 6 if about == "tool" else 4 for name, about in names}
    return tuple(name for name, about in names if name != ENDING for _ in range(times[name]))


def _names(policy: PolicyTable) -> tuple[str, ...]:
    return _often(tuple((spec.name, spec.about) for spec in policy.events.values()))


def walk(policy: PolicyTable, seed: object, most: int) -> list[Step]:
    """Events at random, always the same for a seed."""
    choose = random.Random(str(seed)).choice
    steps: list[Step] = []
    while len(steps) < most:
        steps += stretch(policy, choose)
    return steps


def sequences(policy: PolicyTable, most: int = 16) -> st.SearchStrategy[list[Step]]:
    """Events at random, by hypothesis."""
    one = st.composite(lambda draw: stretch(policy, lambda values: draw(st.sampled_from(values))))()
    return st.lists(one, max_size=most).map(lambda stretches: [step for steps in stretches for step in steps])


def _headed(kind: str) -> list[str]:
    headers = (path.read_text(encoding="utf-8") for path in sorted(rules_folder().glob("*.rules")))
    return re.findall(rf"^{kind} ([\w-]+)", "\n".join(headers), re.MULTILINE)


def vendors() -> list[str]:
    """The names of all shipped vendor files, by what their headers say."""
    return _headed("vendor")


def tables() -> dict[str, Table]:
    """Tables with all the policies that shipped rules make, each once: a quirk of a vendor may edit its policy."""
    found: dict[str, Table] = {}
    for table in map(reknit.table_for, vendors()):
        if all(table.policy != other.policy for other in found.values()):
            found[f"{table.policy.name} of {table.program.name}"] = table
    for name in _headed("policy"):
        if name not in {table.policy.name for table in found.values()}:
            found[name] = reknit.table_for("openai-chat", policy=name)
    return found
