"""Concrete values that bring about each case, small enough to read in a test: what witnesses are made of.

A guard asks for cases; a machine takes values. Here stands, once, which values are tried for each type of field, which
argument texts give which reading, and which lists of tools tell names and schemas apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reknit.vocabulary.words import ERROR_KINDS, STOP_REASONS

SHORT: Final = "a"
LONG: Final = "the same words again"
"""Long enough to count as repeated when it comes again."""

LONGER: Final = "the same words again, and more"
"""Extends `LONG`."""

VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "slot": (None, 0, 1),
    "id": (None, "c1", "c2"),
    "name": (None, "read", "re", "ad", "grep"),
    "text": (SHORT, LONG, LONGER, ""),
    "json": ('{"k":1}', "{", "}", ""),
    "message_id": (None, "m1", "m2"),
    "word": ("w",),
    "reason": (*STOP_REASONS, "eos"),
    "how": ("clean", "closed"),
    "of": ("thinking", "text", "tool"),
    "error_kind": ERROR_KINDS,
    "count": (None, 2, 1, 0),
    "value": ({"type": "x", "data": "a"},),
}
"""Values of each type of field, those first that matter most: `re` begins `read`, `re` and `ad` make it."""

READINGS: Final[dict[str, tuple[str, ...]]] = {
    "empty": ("", " "),
    "exact": ('{"k":1}', '{"p":1}', '{"z":1}', '{"k":1,"z":1}', '{"list":"[1]"}', "{}"),
    "several": ('{"k":1}{"k":2}',),
    "partial": ('{"k":',),
    "broken": ("}",),
}
"""Argument texts by how they read with any ladder of repairs."""

REPAIRED: Final[dict[str, tuple[str, ...]]] = {
    "control-characters": ('{"k":"a\tb"}',),
    "null": ("null",),
    "double-encoded": ('"{\\"k\\":1}"',),
    "fences": ('```json\n{"k":1}\n```',),
    "snapshot": ('{"k"', '{"k":1}'),
    "repeated": ('{"k":1}{"k":1}',),
    "placeholder": ('{}{"k":1}',),
    "lone-surrogates": ('{"k":"\\ud83d"}',),
    "unknown-escapes": ('{"k":"\\d"}',),
    "trailing-comma": ('{"k":1,}',),
    "literals": ('{"k":True}',),
    "python-literal": ("{'k': 1}",),
}
"""For each rung of the ladder, pieces of an argument text that it reads and that no rung before it does."""

_PLAN: Final = {
    "type": "object",
    "properties": {"list": {"type": "array"}},
    "required": ["list"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Kit:
    """What is known of tools, by a name: a list in the notation of `given tools`, or None."""

    name: str
    tools: Mapping[str, Any] | None = field(compare=False)


NO_TOOLS: Final = Kit("no list of tools", None)
FEW_TOOLS: Final = Kit("tools", {"read": ["k"], "grep": ["p"], "find": ["p"], "plan": _PLAN, "now": []})
"""One fits `k`, two fit `p`, one takes a list, one takes nothing."""

LAX_TOOLS: Final = Kit("lax tools", {"read": ["k"], "now": [], "some": {"type": "object", "minProperties": 1}})
"""Two fit no arguments at all; one of them is not content with none."""

KITS: Final = (NO_TOOLS, FEW_TOOLS, LAX_TOOLS)


def kit_of(names: Iterable[str]) -> Kit:
    """A kit of one tool that takes `k`, under each name: for classes, which go by names."""
    names = list(names)
    return Kit(" ".join(["tools", *names]), {name: ["k"] for name in names})


NAMES: Final = ("read", None, "grep", "plan", "now", "some", "nobody")
"""Names of tools, of every kit and of none."""
