"""Every executable call equals the fragments that arrived for it: sealed, parsed, fitting.

Two ways to hold the engine to it. Intended calls are cut up, interleaved and sent, and have to come back as they were
intended. And of any stream whatever, each executable call is read again from the fragments that `feed` told, by means
that know nothing of the engine.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from effort import EFFORT, law
from hypothesis import given, note
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pool import KITS, SEED, TOOLS, pieces, tables, vendors, walk

import reknit
from reknit import Reconstructor
from reknit.machine import Machine, Runtime
from reknit.machine.blocks import Call
from reknit.updates import BlockArchived, BlockChanged, Delta, Update


class Intended(NamedTuple):
    """A call as the model meant it, and how it is sent.

    Attributes:
        id: Its id.
        name: Of its tool.
        arguments: Its arguments.
        fragments: Their text, in pieces.
        id_on: Pieces on which the id is sent; always on the first.
        name_on: Pieces on which the name is sent.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    fragments: list[str]
    id_on: frozenset[int]
    name_on: frozenset[int]


VALUES = st.recursive(
    st.text(max_size=8)
    | st.sampled_from(['"', "\\", "}{", '\\"}', "\n", "\U0001f600", "</think>", "[DONE]", "\x7f", "data: {"])
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_NO_SURROGATES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ARGUMENTS = {
    "Read": st.fixed_dictionaries({"file_path": _NO_SURROGATES}),
    "Grep": st.fixed_dictionaries({"pattern": _NO_SURROGATES, "path": _NO_SURROGATES}),
    "Now": st.just({}),
    "Any": st.dictionaries(_NO_SURROGATES, VALUES, max_size=3),
}


def _is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@st.composite
def intended(draw: st.DrawFn, number: int, repeated: bool) -> Intended:
    name = draw(st.sampled_from(sorted(ARGUMENTS)))
    arguments = draw(ARGUMENTS[name])
    indent, ascii_only = draw(st.sampled_from([None, 1])), draw(st.booleans())
    text = json.dumps(arguments, ensure_ascii=ascii_only, indent=indent)
    fragments = pieces(text, *draw(st.lists(st.integers(1, max(len(text) - 1, 1)), max_size=4)))
    fragments = draw(
        st.sampled_from([fragments, ["", *fragments], [*fragments, ""], [*fragments[:1], "", *fragments[1:]]])
    )
    every = range(len(fragments)) if repeated else ()
    # A name may come late, as long as the arguments have not come to their end: by then the call may count as ended.
    late = draw(st.sampled_from([0, 0, 1])) if not _is_whole(fragments[0]) else 0
    return Intended(
        f"call-{number}",
        name,
        arguments,
        fragments,
        frozenset([0, *every]),
        frozenset([late, *(n for n in every if n >= late)]),
    )


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[list[Intended], list[tuple[int, int]]]:
    """Calls, and (call, piece) in the order in which they are sent: each call's pieces in order, calls in between."""
    repeated = draw(st.booleans())
    calls = [draw(intended(number, repeated)) for number in range(draw(st.integers(1, 4)))]
    waiting = dict.fromkeys(range(len(calls)), 0)
    order: list[tuple[int, int]] = []
    while waiting:
        number = draw(st.sampled_from(sorted(waiting)))
        order.append((number, waiting[number]))
        waiting[number] += 1
        if waiting[number] == len(calls[number].fragments):
            del waiting[number]
    return calls, order


def chat(calls: list[Intended], order: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """The calls as chat completion chunks."""
    for number, piece in order:
        call = calls[number]
        function: dict[str, Any] = {"arguments": call.fragments[piece]}
        sent: dict[str, Any] = {"index": number, "function": function}
        if piece in call.id_on:
            sent["id"] = call.id
        if piece in call.name_on:
            function["name"] = call.name
        yield {"choices": [{"index": 0, "delta": {"tool_calls": [sent]}}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def messages(calls: list[Intended], order: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """The calls as events of the messages protocol; blocks are stopped after their last piece."""
    for number, piece in order:
        call = calls[number]
        if piece == 0:
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield {"type": "content_block_start", "index": number, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": call.fragments[piece]}
        yield {"type": "content_block_delta", "index": number, "delta": delta}
        if piece == len(call.fragments) - 1:
            yield {"type": "content_block_stop", "index": number}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    yield {"type": "message_stop"}


SENT = {"openai-chat": chat, "anthropic-messages": messages}


def same_value(first: Any, second: Any) -> bool:
    """Equal as JSON: `1`, `1.0` and `true` are three values."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


VENDORS = [name for name in vendors() if reknit.table_for(name).program.protocol in SENT]


@pytest.mark.parametrize("vendor", VENDORS)
@law(300, among=len(VENDORS))
@given(sent=interleaved(), with_tools=st.booleans())
def test_interleaved_calls_come_back_as_they_were_meant(
    vendor: str, sent: tuple[list[Intended], list[tuple[int, int]]], with_tools: bool
) -> None:
    calls, order = sent
    protocol = reknit.table_for(vendor).program.protocol
    reconstructor = Reconstructor(vendor, TOOLS if with_tools else None, seed=SEED)
    for frame in SENT[protocol](calls, order):
        note(repr(frame))
        reconstructor.feed(frame)
    if protocol == "openai-chat":
        reconstructor.feed("[DONE]")
    message = reconstructor.close()
    starts = list(dict.fromkeys(number for number, _ in order))
    assert [call.id for call in message.calls] == [calls[number].id for number in starts]
    for number, call in zip(starts, message.calls, strict=True):
        assert call.name == calls[number].name
        assert same_value(call.input, calls[number].arguments)
        assert call.invalid is None
        verdict = message.verdicts[call.id]
        assert verdict.executable
        assert verdict.grade == "exact"
        assert verdict.seal in ("explicit", "sequential", "final")
    assert message.stop_reason == "tool_use"
    assert message.complete
    # A call whose arguments were whole counts as ended when the next one starts; what comes for it then is noted.
    assert {one.reason for one in message.notes} <= {"resumed-call", "repeated-stop"}
    if order == sorted(order):
        assert not message.notes


NESTED: list[dict[str, Any]] = [
    {"a": {"a": {"a": 1}}},
    {"k": {"k": {}}, "l": {"k": {}}},
    {"a": [{"a": []}, {"a": []}]},
    {},
]


@pytest.mark.parametrize("arguments", NESTED, ids=json.dumps)
def test_pieces_that_begin_like_what_came_before_are_pieces(arguments: dict[str, Any]) -> None:
    """A piece that repeats all that is held may be a snapshot; where the whole is good JSON, it was none."""
    text = json.dumps(arguments, separators=(",", ":"))
    for first in range(1, len(text)):
        for second in range(first, len(text)):
            fragments = pieces(text, first, second)
            call = Intended("t", "f", arguments, fragments, frozenset([0]), frozenset([0]))
            message = reknit.reconstruct(
                chat([call], [(0, at) for at in range(len(fragments))]), "openai-chat", seed=SEED
            )
            assert message.calls[0].input == arguments, fragments
            assert message.verdicts["t"].grade == "exact", fragments


@law(150)
@given(sent=interleaved(), at=st.integers(0, 100), with_tools=st.booleans())
def test_a_stream_that_is_cut_executes_only_what_was_whole(
    sent: tuple[list[Intended], list[tuple[int, int]]], at: int, with_tools: bool
) -> None:
    calls, order = sent
    frames = list(chat(calls, order))[:-1]
    taken = at % (len(frames) + 1)
    message = reknit.reconstruct(frames[:taken], "openai-chat", TOOLS if with_tools else None, seed=SEED)
    assert not message.complete
    last = max((number for number, _ in order[:taken]), default=-1)
    for call in message.calls:
        meant = next(one for one in calls if one.id == call.id)
        if message.executable(call):
            # Only the start of another call can have sealed it.
            assert message.verdicts[call.id].seal == "sequential"
            assert calls.index(meant) != order[taken - 1][0] or last > -1
            assert same_value(call.input, meant.arguments)
        else:
            assert call.invalid == "truncated"


# -- any stream --------------------------------------------------------------------------------------------------------


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def read_again(text: str) -> Any:
    """JSON by the standard library, without its leniency."""
    return json.loads(text, parse_constant=_no_constant)


def told(updates: list[Update]) -> dict[int, str]:
    """The arguments of each block as the updates told them."""
    found: dict[int, str] = defaultdict(str)
    for update in updates:
        if isinstance(update, Delta) and update.field == "input":
            found[update.block] += update.text
        elif isinstance(update, BlockChanged) and update.field == "input":
            found[update.block] = update.value
    return found


def schema_of(name: str) -> dict[str, Any]:
    return next((tool.get("input_schema", {}) for tool in TOOLS if tool["name"] == name), {})


REPAIRED = {"lossless", "guessed"}


@pytest.mark.parametrize("name", tables())
def test_an_executable_call_of_any_stream_is_what_its_fragments_say(name: str) -> None:
    table = tables()[name]
    runtime = Runtime(table.policy)
    executed = 0
    for number in range(round(150 * EFFORT)):
        for kit, tools in KITS.items():
            machine = Machine(runtime, tools, SEED)
            steps = walk(table.policy, ("calls", number), 30)
            for event, fields in steps:
                machine.step(event, fields)
            fragments = told(machine.updates)
            adopted = {
                one.block for one in machine.notes.listed(dict.fromkeys(range(99), 0)) if one.reason == "arguments-late"
            }
            for call in machine.blocks:
                if not isinstance(call, Call) or call.hidden or not call.executable:
                    continue
                executed += 1
                # What a repetition of the call brought is told with the call, when it is judged again.
                text = call.args.text if adopted else fragments[call.ordinal]
                # What came with the start of the call stands where no pieces came.
                text = text or call.args.given
                text = text.strip("\ufeff \t\r\n")
                why = f"{kit}, {steps}"
                assert call.seal in ("explicit", "sequential", "final", "limit"), why
                assert call.name, why
                if call.grade == "exact":
                    assert same_value(read_again(text), call.input), why
                elif text:
                    notes = {one.reason for one in machine.notes.listed({}) if one.block in (None, call.ordinal)}
                    assert call.grade in REPAIRED, why
                    assert any(reason.startswith("args-") for reason in notes), why
                else:
                    assert call.input == {}, why
                if tools.given:
                    assert call.name in [tool["name"] for tool in TOOLS], why
                    assert Draft202012Validator(schema_of(call.name)).is_valid(call.input), why
    assert executed > 10 * EFFORT


def mended(value: Any) -> Any:
    text = json.dumps(value).encode("utf-16", "surrogatepass")
    return json.loads(text.decode("utf-16"), object_hook=lambda one: {key: _text(inner) for key, inner in one.items()})


def _text(value: Any) -> Any:
    if isinstance(value, list):
        return [_text(inner) for inner in value]
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


# -- what `feed` tells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tables())
def test_the_last_that_was_told_of_a_finished_block_is_what_the_message_holds(name: str) -> None:
    table = tables()[name]
    runtime = Runtime(table.policy)
    for number in range(round(60 * EFFORT)):
        for kit, tools in KITS.items():
            machine = Machine(runtime, tools, SEED)
            steps = walk(table.policy, ("told", number), 30)
            for event, fields in steps:
                machine.step(event, fields)
            values: dict[int, Any] = {}
            for update in machine.updates:
                if isinstance(update, BlockArchived):
                    values[update.block] = dict(update.value)
                elif isinstance(update, BlockChanged) and update.block in values:
                    values[update.block][update.field] = update.value
            for block in machine.blocks:
                if not block.hidden and not block.open:
                    # Halves of surrogate pairs are joined or replaced in the message alone.
                    assert mended(values[block.ordinal]) == block.value(), f"{kit}: block {block.ordinal} of {steps}"
