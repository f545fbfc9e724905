"""What each action does. A maker takes the action's words and the event, and returns the doing function.

`vocabulary.actions` says what the verbs mean; the compiler has proved that they are used where they can be. Nothing
here decides anything: which action runs is the table's affair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from reknit.machine.blocks import Call, Kept, Prose
from reknit.table import EventSpec
from reknit.updates import BlockChanged, BlockReopened, Delta, UsageChanged
from reknit.vocabulary.actions import ALL, BLOCK, CALLS, COMPLETE_CALLS, TWIN
from reknit.vocabulary.words import OPAQUE, SINGLE, TEXT, THINKING, TOOL, USAGE_FIELDS

if TYPE_CHECKING:
    from reknit.machine.run import Machine

Doing = Callable[["Machine"], None]
Maker = Callable[[tuple[str, ...], EventSpec], Doing]


def _at(event: EventSpec, name: str) -> int:
    return next((n for n, field in enumerate(event.fields) if field.name == name), -1)


def _typed(event: EventSpec, type_: str) -> int:
    return next((n for n, field in enumerate(event.fields) if field.type == type_), -1)


def _open(words: tuple[str, ...], event: EventSpec) -> Doing:
    what, slot = words[0], _typed(event, "slot")

    def do(machine: Machine) -> None:
        given = machine.fields[slot] if slot >= 0 else None
        if what in SINGLE:
            machine.open_prose(what, given)
        elif what == OPAQUE:
            machine.open_kept(given)
        else:
            machine.open_call(given, twin=what == TWIN)

    return do


def _append(words: tuple[str, ...], event: EventSpec) -> Doing:
    at = _at(event, words[0])
    type_ = event.fields[at].type if at >= 0 else ""
    if words[0] == "signature":
        return lambda machine: machine.sign(machine.fields[at])
    if type_ == "name":
        return lambda machine: machine.rename_on(machine.target_call(), machine.fields[at])
    if type_ == "value":
        return lambda machine: machine.cite(machine.fields[at])

    def prose(machine: Machine) -> None:
        text, block = machine.fields[at], machine.current or machine.meant
        if text and isinstance(block, Prose):
            machine.signing = None
            block.text.append(text)
            machine.updates.append(Delta(block.ordinal, block.kind, text))

    if event.about in SINGLE:
        return prose

    def do(machine: Machine) -> None:
        text = machine.fields[at]
        block = machine.current or machine.meant or machine.near
        if not text or block is None:
            return
        machine.signing = None
        if isinstance(block, Call):
            block.args.append(text)
            block.reading = None
            if not block.hidden:
                machine.updates.append(Delta(block.ordinal, "input", text))
        elif isinstance(block, Kept):
            block.json.append(text)
            machine.updates.append(Delta(block.ordinal, "input", text))

    return do


def _propose(words: tuple[str, ...], event: EventSpec) -> Doing:
    at = _at(event, words[0])

    def do(machine: Machine) -> None:
        call = machine.target_call()
        call.args.given = machine.fields[at] or ""
        call.reading = None

    return do


def _replace(words: tuple[str, ...], event: EventSpec) -> Doing:
    at = _at(event, words[0])
    type_ = event.fields[at].type if at >= 0 else ""
    if type_ == "name":
        return lambda machine: machine.rename(machine.target_call(), machine.fields[at] or "")

    def do(machine: Machine) -> None:
        block, text = machine.current or machine.meant, machine.fields[at] or ""
        if isinstance(block, Prose):
            machine.restate(block, text)
        elif isinstance(block, Call):
            machine.restate_call(block, text)

    return do


def _mark(words: tuple[str, ...], event: EventSpec) -> Doing:
    def do(machine: Machine) -> None:
        block = machine.current or machine.meant
        if isinstance(block, Prose):
            block.cumulative = True

    return do


def _set(words: tuple[str, ...], event: EventSpec) -> Doing:
    name = words[0]
    at = _at(event, name)
    if len(words) > 1:
        return lambda machine: machine.stop(words[1])
    type_ = event.fields[at].type if at >= 0 else ""
    if type_ == "reason":
        return lambda machine: machine.stop(machine.fields[at])
    if type_ == "message_id":
        return lambda machine: machine.set_message_id(machine.fields[at])
    if type_ == "id":
        return lambda machine: machine.identify(machine.target_call(), machine.fields[at])
    if type_ == "name":
        return lambda machine: machine.rename(machine.target_call(), machine.fields[at] or "")

    return lambda machine: machine.set_model(machine.fields[at])


def _fill(words: tuple[str, ...], event: EventSpec) -> Doing:
    at = _at(event, words[0])

    def do(machine: Machine) -> None:
        call, value = machine.target_call(), machine.fields[at]
        if not value:
            return
        if words[0] == "id":
            if not call.id or call.made:
                machine.identify(call, value)
        elif not call.name:
            machine.rename(call, value)

    return do


def _make(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.make_id(machine.target_call())


def _bind(words: tuple[str, ...], event: EventSpec) -> Doing:
    slot = _typed(event, "slot")

    def do(machine: Machine) -> None:
        if slot >= 0 and machine.fields[slot] is not None:
            machine.slots[TOOL][machine.fields[slot]] = machine.target_call()

    return do


def _archive(words: tuple[str, ...], event: EventSpec) -> Doing:
    what, seal = words[0], words[1] if len(words) > 1 else "final"

    def do(machine: Machine) -> None:
        if what == BLOCK:
            block = machine.current or machine.meant
            if isinstance(block, Call) and block.open:
                machine.end_call(block, seal)
            elif block is not None and block.open:
                machine.archive(block)
            return
        if what in (TEXT, ALL) and machine.text_open is not None:
            machine.archive(machine.text_open)
        if what in (THINKING, ALL) and machine.thinking_open is not None:
            machine.archive(machine.thinking_open)
        if what in (OPAQUE, ALL):
            for kept in list(machine.kept_open):
                machine.archive(kept)
        if what in (CALLS, ALL):
            for call in list(machine.calls_open):
                machine.end_call(call, seal)
        elif what == COMPLETE_CALLS:
            for call in list(machine.calls_open):
                if call.args.status() in ("complete", "given"):
                    machine.end_call(call, seal)

    return do


def _reopen(words: tuple[str, ...], event: EventSpec) -> Doing:
    def do(machine: Machine) -> None:
        block = machine.meant
        if block is None or block.open:
            return
        block.open = True
        if isinstance(block, Call):
            block.unread()
            machine.calls_open.append(block)
            machine.last_call = block
        elif isinstance(block, Prose) and block.kind == TEXT:
            machine.text_open = block
        if not block.hidden:
            machine.updates.append(BlockReopened(block.ordinal))

    return do


def _hold(words: tuple[str, ...], event: EventSpec) -> Doing:
    of, slot, at = _typed(event, "of"), _typed(event, "slot"), _at(event, "signature")

    def do(machine: Machine) -> None:
        key = (machine.fields[of] or THINKING, machine.fields[slot] if slot >= 0 else None)
        machine.held_signatures[key] = machine.held_signatures.get(key, "") + machine.fields[at]

    return do


def _fold(words: tuple[str, ...], event: EventSpec) -> Doing:
    at = _at(event, words[0])

    def do(machine: Machine) -> None:
        block, value = machine.current or machine.meant, machine.fields[at]
        if isinstance(block, Kept) and isinstance(value, dict):
            block.fold(value)

    return do


def _merge(words: tuple[str, ...], event: EventSpec) -> Doing:
    fields = [(n, field.name) for n, field in enumerate(event.fields) if field.name in USAGE_FIELDS]

    def do(machine: Machine) -> None:
        if machine.ledger.merge({name: machine.fields[n] for n, name in fields}):
            machine.updates.append(UsageChanged(machine.ledger.usage()))

    return do


def _bank(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.ledger.bank()


def _infer(words: tuple[str, ...], event: EventSpec) -> Doing:
    if words[0] == "reason":
        return lambda machine: machine.stop("tool_use" if machine.has_calls() else "end_turn")

    def do(machine: Machine) -> None:
        call = machine.ending
        fitting = machine.tools.fitting(machine.read(call).value)
        if len(fitting) == 1:
            call.name, call.inferred = fitting[0], True
            machine.updates.append(BlockChanged(call.ordinal, "name", call.name))
            machine.judge_again()

    return do


def _complete(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: setattr(machine, "complete", True)


def _fail(words: tuple[str, ...], event: EventSpec) -> Doing:
    kind, code, text = (_at(event, name) for name in ("kind", "code", "message"))

    def do(machine: Machine) -> None:
        fields = machine.fields
        machine.fail_with(
            (fields[kind] if kind >= 0 else None) or "other",
            (fields[code] if code >= 0 else None) or "",
            (fields[text] if text >= 0 else None) or "",
        )

    return do


def _note(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.note(words[0])


def _accept(words: tuple[str, ...], event: EventSpec) -> Doing:
    def do(machine: Machine) -> None:
        call = machine.ending
        reading = machine.read(call)
        if reading.case not in ("empty", "exact", "lossless", "guessed"):
            return  # nothing was read that could stand: the call stays invalid, whatever a rule says
        call.input, call.invalid = reading.value, None
        call.grade = {"empty": "lossless"}.get(reading.case, reading.case)
        if reading.repair:
            machine.note(f"args-{reading.repair}")

    return do


def _decode(words: tuple[str, ...], event: EventSpec) -> Doing:
    def do(machine: Machine) -> None:
        call = machine.ending
        tool = machine.tools.get(call.name)
        if tool is not None:
            reading = machine.read(call)
            call.reading = reading._replace(case="lossless", value=tool.denested(reading.value))
            machine.judge_again()

    return do


def _reject(words: tuple[str, ...], event: EventSpec) -> Doing:
    def do(machine: Machine) -> None:
        call = machine.ending
        call.input, call.invalid = machine.read(call).value, words[0]
        call.grade = "truncated" if words[0] == "truncated" else None

    return do


def _keep(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.keep_twin(machine.ending)


def _withdraw(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.withdraw(machine.ending)


def _adopt(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.adopt(machine.ending)


def _conflict(words: tuple[str, ...], event: EventSpec) -> Doing:
    return lambda machine: machine.conflict(machine.ending, words[0])


MAKERS: Final[dict[str, Maker]] = {
    "open": _open,
    "append": _append,
    "propose": _propose,
    "replace": _replace,
    "mark": _mark,
    "set": _set,
    "fill": _fill,
    "make": _make,
    "bind": _bind,
    "archive": _archive,
    "reopen": _reopen,
    "hold": _hold,
    "fold": _fold,
    "merge": _merge,
    "bank": _bank,
    "infer": _infer,
    "complete": _complete,
    "fail": _fail,
    "drop": _note,
    "note": _note,
    "accept": _accept,
    "decode": _decode,
    "reject": _reject,
    "keep": _keep,
    "withdraw": _withdraw,
    "adopt": _adopt,
    "conflict": _conflict,
}
"""The maker of each verb; a test holds it equal to the vocabulary."""


def make(verb: str, words: tuple[str, ...], event: EventSpec) -> Doing:
    """The doing function of an action on an event."""
    return MAKERS[verb](words, event)
