"""A machine's blocks to a `Message`: what has ended as it was judged, what is still open as cut off."""

from __future__ import annotations

from typing import Any

from reknit.machine import Machine
from reknit.machine.blocks import Call
from reknit.message import Message, Verdict
from reknit.table import Table


def assemble_message(machine: Machine, table: Table, model: str | None = None, ident: str | None = None) -> Message:
    """The message so far.

    Args:
        machine: That holds it.
        table: That it runs.
        model: Used where the machine was not told.
        ident: Likewise, the id of the message.
    """
    content: list[dict[str, Any]] = []
    verdicts: dict[str, Verdict] = {}
    position: dict[int, int] = {}
    for block in machine.blocks:
        if block.hidden:
            continue
        position[block.ordinal] = len(content)
        content.append(block.value())
        if isinstance(block, Call):
            verdicts[block.id] = _verdict(block)
    return Message.model_validate(
        {
            "content": content,
            "stop_reason": machine.stop_reason,
            "usage": machine.ledger.usage(),
            "complete": machine.complete,
            "error": machine.error,
            "notes": machine.notes.listed(position),
            "verdicts": verdicts,
            "vendor": table.program.name,
            "protocol": table.program.protocol,
            "model": machine.model or model,
            "id": machine.message_id or ident,
            "fingerprint": table.fingerprint,
        }
    )


def _verdict(call: Call) -> Verdict:
    return Verdict(
        grade=call.grade,  # type: ignore[arg-type]
        seal=call.seal,  # type: ignore[arg-type]
        safety=call.safety,
        executable=call.executable,
        made_id=call.made,
        inferred_name=call.inferred,
    )
