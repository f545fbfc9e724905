"""How the machine answers a guard's questions: one function for each question, giving the number of a case.

Each maker takes the position of the field that it looks at (-1 for questions about the machine alone) and the cases
in their order, and returns the asking function. `vocabulary.questions` says what the cases mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from reknit.gather import mended
from reknit.machine.blocks import Call, Kept, Prose

if TYPE_CHECKING:
    from reknit.machine.run import Machine

Asking = Callable[["Machine"], int]
Maker = Callable[[int, dict[str, int]], Asking]

_SHORT_EXTENDED: Final = 3
_SHORT_EQUAL: Final = 16


def relation(held: str, new: str, cumulative: bool) -> str:
    """`new` against what is held: none, equal, extends or differs.

    Short and letterless texts repeat by chance: they count only once the block is known to be cumulative.
    """
    if not held:
        return "none"
    if cumulative:
        return "differs" if not new.startswith(held) else "equal" if len(new) == len(held) else "extends"
    if len(new) < len(held) or len(held) < _SHORT_EXTENDED or not new.startswith(held):
        return "differs"
    if not any(character.isalnum() for character in held[:400]):
        return "differs"
    if len(new) > len(held):
        return "extends"
    return "equal" if len(held) >= _SHORT_EQUAL else "differs"


def _slot(at: int, case: dict[str, int]) -> Asking:
    return lambda machine: case[machine.slot_case]


def _id(at: int, case: dict[str, int]) -> Asking:
    return lambda machine: case[machine.id_case]


def _name(at: int, case: dict[str, int]) -> Asking:
    none, given, same, grows, piece, other = (
        case[word] for word in ("none", "given", "same", "grows", "piece", "other")
    )

    def ask(machine: Machine) -> int:
        name = machine.fields[at]
        if not name:
            return none
        call = machine.meant
        if not isinstance(call, Call) or not call.name:
            return given
        if name == call.name:
            return same
        tools = machine.tools
        if name.startswith(call.name) and call.name not in tools:
            return grows
        if not tools.given:
            # Nothing tells whether this is a name: in the place of a call without arguments, it goes on with its name.
            return piece if machine.slot_case == "open" and call.args.status() == "empty" else other
        if name not in tools and tools.begins(call.name + name):
            return piece
        return other

    return ask


def _text(at: int, case: dict[str, int]) -> Asking:
    empty, some = case["empty"], case["some"]
    return lambda machine: some if machine.fields[at] else empty


def _json(at: int, case: dict[str, int]) -> Asking:
    empty, opens, some = case["empty"], case["opens"], case["some"]

    def ask(machine: Machine) -> int:
        text = machine.fields[at]
        if not text:
            return empty
        return opens if text.lstrip(" \t\r\n")[:1] == "{" else some

    return ask


def _message_id(at: int, case: dict[str, int]) -> Asking:
    none, first, same, other = (case[word] for word in ("none", "first", "same", "other"))

    def ask(machine: Machine) -> int:
        ident = machine.fields[at]
        if not ident:
            return none
        if machine.message_id is None:
            return first
        return same if mended(ident) == machine.message_id else other

    return ask


def _word(at: int, case: dict[str, int]) -> Asking:
    other = case.get("other", 0)
    return lambda machine: case.get(machine.fields[at], other)


def _held(at: int, case: dict[str, int]) -> Asking:
    none, differs = case["none"], case["differs"]

    def ask(machine: Machine) -> int:
        block = machine.meant
        if not isinstance(block, Prose) or not block.text.length:
            return none
        new = machine.fields[at] or ""
        # Nearly every piece is shorter than what is held: nothing is joined for those.
        return differs if len(new) < block.text.length else case[relation(block.text.text, new, block.cumulative)]

    return ask


def _whole(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        kind = machine.event.about
        new = machine.fields[at] or ""
        held = [block.text for block in machine.blocks if isinstance(block, Prose) and block.kind == kind]
        length = sum(text.length for text in held)
        if not length:
            return case["none"]
        if len(new) < length or not new.startswith("".join(text.text for text in held)):
            return case["differs"]
        return case["equal" if len(new) == length else "extends"]

    return ask


def _signed(at: int, case: dict[str, int]) -> Asking:
    none, no, growing, yes = (case[word] for word in ("none", "no", "growing", "yes"))

    def ask(machine: Machine) -> int:
        block = machine.meant
        if block is None or isinstance(block, Kept):
            return none
        if block.signature is None:
            return no
        return growing if machine.signing is block else yes

    return ask


def _args(at: int, case: dict[str, int]) -> Asking:
    none = case["none"]

    def ask(machine: Machine) -> int:
        call = machine.meant if machine.meant is not None else machine.near
        return case[call.args.status()] if isinstance(call, Call) else none

    return ask


def _fit(at: int, case: dict[str, int]) -> Asking:
    unknown, yes, no = case["unknown"], case["yes"], case["no"]

    def ask(machine: Machine) -> int:
        call, name = machine.meant, machine.named()
        if not isinstance(call, Call) or call.name or not name or call.args.status() != "complete":
            return unknown
        tool = machine.tools.get(name)
        if tool is None:
            return unknown
        reading = machine.read(call)
        return yes if reading.case in ("exact", "lossless", "guessed") and tool.fits(reading.value) else no

    return ask


def _meant(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        block = machine.meant
        return case["none" if block is None or not block.open else block.kind]

    return ask


def _calls(at: int, case: dict[str, int]) -> Asking:
    none, some = case["none"], case["some"]
    return lambda machine: some if machine.has_calls() else none


def _blocks(at: int, case: dict[str, int]) -> Asking:
    none, some = case["none"], case["some"]
    return lambda machine: some if any(not block.hidden for block in machine.blocks) else none


def _said(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        if machine.stop_reason is None:
            return case["none"]
        return case["same" if machine.stop_reason == machine.fields[machine.at.reason] else "other"]

    return ask


def _finished(at: int, case: dict[str, int]) -> Asking:
    no, yes = case["no"], case["yes"]
    return lambda machine: yes if machine.finished else no


def _seal(at: int, case: dict[str, int]) -> Asking:
    return lambda machine: case[machine.ending.seal]


def _reading(at: int, case: dict[str, int]) -> Asking:
    return lambda machine: case[machine.read(machine.ending).case]


def _named(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        name, tools = machine.ending.name, machine.tools
        if not name:
            return case["none"]
        if not tools.given:
            return case["free"]
        return case["known" if name in tools else "unknown"]

    return ask


_READ: Final = ("empty", "exact", "lossless", "guessed")


def _fits(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        call = machine.ending
        reading = machine.read(call)
        if call.name or reading.case not in _READ:
            return case["none"]
        count = len(machine.tools.fitting(reading.value))
        return case["none" if count == 0 else "one" if count == 1 else "many"]

    return ask


def _schema(at: int, case: dict[str, int]) -> Asking:
    def ask(machine: Machine) -> int:
        call = machine.ending
        reading = machine.read(call)
        tool = machine.tools.get(call.name) if call.name else None
        if tool is None or reading.case not in _READ:
            return case["free"]
        return case[tool.verdict(reading.value)]

    return ask


def _nested(at: int, case: dict[str, int]) -> Asking:
    no, yes = case["no"], case["yes"]

    def ask(machine: Machine) -> int:
        call = machine.ending
        tool = machine.tools.get(call.name) if call.name else None
        reading = machine.read(call)
        if tool is None or reading.case not in _READ or tool.verdict(reading.value) != "mismatch":
            return no
        return yes if tool.verdict(tool.denested(reading.value)) == "valid" else no

    return ask


def _twin(at: int, case: dict[str, int]) -> Asking:
    return lambda machine: case[machine.compare_twin(machine.ending)]


def _ids(at: int, case: dict[str, int]) -> Asking:
    real, made = case["real"], case["made"]
    return lambda machine: made if machine.ending.made else real


MAKERS: Final[dict[str, Maker]] = {
    "slot": _slot,
    "id": _id,
    "name": _name,
    "text": _text,
    "json": _json,
    "message_id": _message_id,
    "of": _word,
    "reason": _word,
    "how": _word,
    "error_kind": _word,
    "held": _held,
    "whole": _whole,
    "signed": _signed,
    "args": _args,
    "fit": _fit,
    "meant": _meant,
    "calls": _calls,
    "blocks": _blocks,
    "said": _said,
    "finished": _finished,
    "seal": _seal,
    "reading": _reading,
    "named": _named,
    "fits": _fits,
    "schema": _schema,
    "nested": _nested,
    "twin": _twin,
    "ids": _ids,
}
"""The maker of each type with cases and of each asked question; a test holds it equal to the vocabulary."""
