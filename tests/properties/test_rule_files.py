"""No rule file whatever makes the runtime raise or hang: what passes the checks runs.

Rules of the standard policy are given other actions. The checker may refuse the file; if it takes it, the policy has
to get through any events.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from effort import EFFORT
from pool import KITS, SEED, walk

import reknit
from reknit import RulesError, Table
from reknit.assembly import assemble_message
from reknit.machine import Leaf, Machine, Runtime
from reknit.table import PolicyTable
from reknit.vocabulary.actions import FIELD, REASON, VERBS

MOST_JUDGEMENTS = 2000
"""So many cells in one event are a hang: an event is one cell, and one or a few more for each call that it ends."""


def _vendor(edits: str) -> str:
    header = 'vendor tried extends openai-chat "rules that nobody would write"'
    return f'reknit 1\n\n{header}\n\nquirk q "to see what happens"\n{edits}\n'


def compiled(text: str, folder: Path) -> Table | None:
    """The table of a rule file, or None where the checks refuse it. Nothing else may happen."""
    path = folder / "tried.rules"
    path.write_text(text, encoding="utf-8")
    try:
        return reknit.table_for(path)
    except RulesError:
        return None


def endure(table: Table, walks: int) -> None:
    """Run any events through a table, and ask for the message at each end."""
    runtime = Runtime(table.policy)
    for number in range(walks):
        for kit, tools in KITS.items():
            machine = Machine(runtime, tools, SEED)
            taken = 0

            def count(_: Machine, leaf: Leaf) -> None:
                nonlocal taken
                taken += 1
                assert taken < MOST_JUDGEMENTS, f"rule {leaf.rule} goes on for ever"

            machine.watch = count
            for event, fields in walk(table.policy, ("rules", number), 20):
                taken = 0
                try:
                    machine.step(event, fields)
                except Exception as error:
                    raise AssertionError(f"{event} {fields} with {kit}: {type(error).__name__}: {error}") from error
            message = assemble_message(machine, table)
            assert type(message).model_validate_json(message.model_dump_json()) == message


@cache
def standard() -> PolicyTable:
    return reknit.table_for("openai-chat").policy


@cache
def rules() -> dict[str, list[str]]:
    """The rules of the standard policy, each with the fields that all its events have."""
    found: dict[str, set[str]] = {}
    policy = standard()
    for event, by_state in policy.cells.items():
        fields = {field.name for field in policy.events[event].fields}
        for row in by_state.values():
            for number in set(row) - {-1}:
                rule = policy.outcomes[number].rule
                found[rule] = found.get(rule, fields) & fields
    return {rule: sorted(fields) for rule, fields in sorted(found.items()) if rule != "late"}


def any_action(chooser: random.Random, fields: list[str]) -> str | None:
    verb = chooser.choice(sorted(VERBS))
    words = []
    for allowed in VERBS[verb].words:
        known: list[str] = []
        for word in allowed:
            known += fields if word == FIELD else ["why-not"] if word == REASON else [word]
        if not known:
            return None
        words.append(chooser.choice(known))
    return " ".join([verb, *words[: len(words) - chooser.randint(0, VERBS[verb].optional)]])


def any_edits(chooser: random.Random) -> str:
    rule = chooser.choice(list(rules()))
    actions = [any_action(chooser, rules()[rule]) for _ in range(chooser.randint(1, 3))]
    return "\n".join([f"  override rule {rule}", *(f"    do {action}" for action in actions if action)])


def test_rules_with_any_actions_are_refused_or_run(tmp_path: Path) -> None:
    chooser = random.Random("actions")
    ran = 0
    for _ in range(round(10 * EFFORT)):
        edits = any_edits(chooser)
        table = compiled(_vendor(edits), tmp_path)
        if table is not None:
            ran += 1
            try:
                endure(table, walks=4)
            except AssertionError as error:
                pytest.fail(f"{error}\n{edits}")
    assert ran


# What was once found by trying: each is refused by the checks, or runs.
ONCE_FOUND = {
    "an ended call is kept as a twin that it is not": "  override rule call-good\n    do keep call",
    "a name is inferred where there is one": "  override rule call-good\n    do infer name",
    "arguments are decoded again and again": "  override rule call-incomplete\n    do decode nested",
    "calls are archived while one ends": "  override rule call-unknown\n    do archive calls",
    "complete calls are archived while one ends": "  override rule call-unknown\n    do archive complete-calls",
    "a block is opened while a call ends": "  override rule call-good\n    do open text",
    "a reason is set where none is said": "  override rule call-ambiguous\n    do set reason",
    "a name is appended where none came": "  override rule tool-nothing\n    do append name",
    "a slot takes the place of arguments": "  override rule tool-id-late\n    do replace slot",
    "a slot is set": "  override rule tool-name-late\n    do set slot",
    "a signature is held where none came": "  override rule sign-empty\n    do hold signature",
    "a slot is bound to no call": "  override rule tool-nothing\n    do bind slot",
    "an object is set as the model": "  override rule opaque-orphan\n    do set delta",
    "a text is cut before nothing": '  override map content\n    emit TEXT_DELTA { text: @ | before "" }',
    "a text is cut after nothing": '  override map content\n    emit TEXT_DELTA { text: @ | after "" }',
}


@pytest.mark.parametrize("edits", ONCE_FOUND.values(), ids=list(ONCE_FOUND))
def test_what_once_broke_the_runtime_is_refused_or_runs(edits: str, tmp_path: Path) -> None:
    table = compiled(_vendor(edits), tmp_path)
    if table is not None:
        endure(table, walks=15)
        for frame in frames():
            reknit.reconstruct([frame], table, seed=SEED)


def frames() -> Iterator[dict[str, Any]]:
    yield {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    yield {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]}
