"""Parts of a table in the words of a rule file, one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from reknit.lang.diagnostics import quoted
from reknit.table import (
    ActionSpec,
    ClassSpec,
    DeriveSpec,
    EmitSpec,
    EnumSpec,
    EventSpec,
    ExprSpec,
    MapSpec,
    Outcome,
    SplitSpec,
    StateSpec,
    WhereSpec,
)

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


def plain(value: Any) -> str:
    """A JSON value as a rule file writes it, in one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))}: {plain(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(plain, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if _NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in backticks, parted by commas; only so many of them."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(quoted(name) for name in names[:most]) + more


def counted(number: int, word: str) -> str:
    """A number of things in words."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def action_words(action: ActionSpec) -> str:
    """An action; one that a flush put there says so."""
    said = " ".join([action.verb, *action.words])
    return f"{said} (flush)" if action.flush else said


def deed_words(actions: Iterable[ActionSpec], to: str | None) -> str:
    """What a cell does: its actions, and where it goes; None for a state that stays."""
    said = "; ".join(map(action_words, actions)) or "nothing"
    return said if to is None else f"{said} -> {to}"


def outcome_words(outcome: Outcome, state: str) -> str:
    """What an outcome does in a state."""
    return deed_words(outcome.actions, None if outcome.to == state else outcome.to)


# -- the parts of a policy ---------------------------------------------------------------------------------------------


def event_words(event: EventSpec) -> str:
    """An event as it is declared."""
    about = "" if event.about == "message" else f" about {event.about}"
    fields = ", ".join(f"{field.name}: {field.type}{'?' if field.optional else ''}" for field in event.fields)
    asks = ", ".join(question.name for question in event.questions if not question.field)
    return f"{event.name}{about} {{ {fields} }}" + (f" asks {asks}" if asks else "")


def state_words(state: StateSpec) -> str:
    """A state as it is declared."""
    holds = ", ".join(f"{held.kind}{'*' if held.many else ''}" for held in state.holds)
    return " ".join(part for part in (state.name, f"holds {holds}" if holds else "", state.flag) if part)


def derive_words(derive: DeriveSpec) -> str:
    """How a usage field is computed."""
    return f"{derive.source} minus {', '.join(derive.minus)}"


def class_words(spec: ClassSpec) -> str:
    """What a class of tools may do."""
    return f"start: {spec.start}, parallel: {str(spec.parallel).lower()}, discard: {spec.discard}"


# -- the parts of a vendor program -------------------------------------------------------------------------------------


def where_words(where: WhereSpec) -> str:
    """A condition."""
    said = " or ".join([*(plain(value) for value in where.values), *where.types])
    return f"where {where.path} is {'not ' if where.negated else ''}{said}"


def guard_words(wheres: Iterable[WhereSpec]) -> str:
    """Several conditions."""
    return "; ".join(map(where_words, wheres))


def expr_words(expr: ExprSpec) -> str:
    """How a field gets its value."""
    if expr.kind == "path":
        said = expr.path
    elif expr.kind == "object":
        said = "{ " + ", ".join(f"{key}: {expr_words(value)}" for key, value in expr.members) + " }"
    else:
        said = plain(expr.constant)
    return " | ".join([said, *(f"{name} {argument}".rstrip() for name, argument in expr.filters)])


def emit_words(emit: EmitSpec, event: EventSpec | None) -> str:
    """An event that a map makes."""
    names = [field.name for field in event.fields] if event is not None else []
    binds = [f"{name}: {expr_words(expr)}" for name, expr in zip(names, emit.binds, strict=False) if expr is not None]
    inner = f" {{ {', '.join(binds)} }}" if binds else " {}"
    return f"emit {'once ' if emit.once else ''}{emit.event}{inner}"


def map_words(spec: MapSpec, events: Mapping[str, EventSpec]) -> str:
    """A map."""
    parts = [f"at {' else '.join(spec.at)}", *map(where_words, spec.where)]
    return "; ".join([*parts, *(emit_words(emit, events.get(emit.event)) for emit in spec.emits)])


def enum_words(enum: EnumSpec) -> dict[str, str]:
    """A vendor's words with their cases; `else` stands for all others."""
    other = "same" if enum.passes else enum.other if enum.other is not None else "no value"
    return {**{plain(word): case for word, case in enum.cases.items()}, "else": other}


def split_words(split: SplitSpec) -> str:
    """A split."""
    place = "" if split.place == "anywhere" else f" only {split.place}"
    code = " outside code" if split.outside_code else ""
    implied = " implied open" if split.implied_open else ""
    tags = f"{plain(split.opening)} {plain(split.closing)}"
    return f"from {split.source} at {tags} into {split.into}{place}{code}{implied}"
