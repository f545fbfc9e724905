"""Where a machine stands: what its answers depend on, and all that it remembers.

`view` is the coarse one: two machines with one view are taken for one place when ways through a policy are explored.
`memory` is the exact one: two machines with one memory can never be told apart again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from reknit.diff.samples import LONG, LONGER, SHORT
from reknit.machine import Machine
from reknit.machine.blocks import Call, Growing, Kept, Prose

_KNOWN = (SHORT, LONG, LONGER)


def view(machine: Machine) -> Hashable:
    """What the answers to further questions depend on, roughly."""
    tail = next((block for block in reversed(machine.blocks) if not block.hidden), None)
    bound = [(kind, slot, _seen(block)) for kind, slots in machine.slots.items() for slot, block in slots.items()]
    return (
        machine.state,
        _seen(machine.text_open),
        _seen(machine.thinking_open),
        _seen(tail),
        tuple(sorted(bound, key=repr)),
        tuple(("made" if call.made else ident, _seen(call)) for ident, call in machine.ids.items()),
        _seen(machine.last_call),
        tuple((_seen(call), call.args.text[:12], _seen(call.first)) for call in machine.calls_open),
        len(machine.kept_open),
        machine.stop_reason,
        machine.message_id,
        bool(machine.held_signatures),
        machine.signing is not None,
    )


def _seen(block: Growing | None) -> Hashable:
    if isinstance(block, Prose):
        length = block.text.length
        text: Hashable = length
        if length > 1:
            text = block.text.text if block.text.text in _KNOWN else 2 if length < 16 else 3
        return (block.kind, block.open, text, block.signature is not None, block.cumulative)
    if isinstance(block, Call):
        return (block.open, "made" if block.made else block.id, block.name, block.args.status(), block.hidden)
    if isinstance(block, Kept):
        return (block.open, block.json.length > 0)
    return None


def memory(machine: Machine) -> str:
    """All that a machine remembers, except what rules are called."""
    ledger: Any = machine.ledger
    counter: Any = machine
    blocks = [_remembered(block) for block in machine.blocks]
    return repr(
        (
            machine.state,
            blocks,
            [(kind, slot, block.ordinal) for kind, slots in machine.slots.items() for slot, block in slots.items()],
            [(ident, call.ordinal) for ident, call in machine.ids.items()],
            [
                _ordinal(block)
                for block in (machine.text_open, machine.thinking_open, machine.last_call, machine.signing)
            ],
            [call.ordinal for call in machine.calls_open],
            [kept.ordinal for kept in machine.kept_open],
            machine.held_signatures,
            (machine.message_id, machine.model, machine.stop_reason, machine.finished, machine.complete, machine.error),
            (ledger._open, ledger._banked, counter._made, counter._calls),
            [(note.reason, note.block, note.count, note.first, note.last) for note in machine.notes.listed({})],
        )
    )


def _ordinal(block: Growing | None) -> int:
    return -1 if block is None else block.ordinal


def _remembered(block: Growing) -> Any:
    if isinstance(block, Prose):
        return (block.kind, block.open, block.cumulative, block.text.text, block.signature, block.citations)
    if isinstance(block, Kept):
        return (block.open, block.source, block.json.text)
    return (
        *(
            block.open,
            block.id,
            block.made,
            block.name,
            block.inferred,
            block.hidden,
            _ordinal(block.first),
            block.doomed,
        ),
        *(block.args.text, block.args.latest, block.args.given, block.args.length, block.signature),
        *(block.seal, block.grade, block.input, block.invalid, block.executable, block.safety),
    )
