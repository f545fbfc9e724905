"""The blocks of one message while they grow: opening, binding, signing, comparing, ending.

Everything here is mechanism. Which of it happens on which event is said by the table alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from reknit.gather import mended, savable
from reknit.machine.blocks import Call, Growing, Kept, Prose
from reknit.machine.ledger import Ledger
from reknit.machine.notes import Notebook
from reknit.message import StreamFault
from reknit.table import PolicyTable
from reknit.tools.registry import Tools
from reknit.updates import BlockArchived, BlockChanged, BlockOpened, Delta, Update
from reknit.vocabulary.repairs import Reading, read
from reknit.vocabulary.words import OPAQUE, TEXT, THINKING, TOOL

MOST_BLOCKS: Final = 20_000
"""Blocks of one message, hidden ones included."""

MOST_OPEN_CALLS: Final = 512
"""Calls that may be open at once."""


class Growth:
    """Blocks, slots and ids of one message, and what `feed` has to tell of them."""

    def __init__(self, policy: PolicyTable, tools: Tools, seed: str) -> None:
        self.tools = tools
        self.updates: list[Update] = []
        self.notes = Notebook()
        self.ledger = Ledger(policy)
        self.blocks: list[Growing] = []
        self.slots: dict[str, dict[Any, Growing]] = {TEXT: {}, THINKING: {}, TOOL: {}, OPAQUE: {}}
        self.ids: dict[str, Call] = {}
        self.text_open: Prose | None = None
        self.thinking_open: Prose | None = None
        self.calls_open: list[Call] = []
        self.kept_open: list[Kept] = []
        self.last_call: Call | None = None
        self.current: Growing | None = None
        self.meant: Growing | None = None
        self.near: Call | None = None
        self.signing: Growing | None = None
        self.held_signatures: dict[tuple[str, Any], str] = {}
        self.message_id: str | None = None
        self.model: str | None = None
        self.stop_reason: str | None = None
        self.finished = False
        self.complete = False
        self.error: StreamFault | None = None
        self._rungs: Mapping[str, str] = policy.repairs
        self._seed = seed
        self._made = 0
        self._again = False
        self._calls = 0

    # -- opening -------------------------------------------------------------------------------------------------------

    def open_prose(self, kind: str, slot: Any) -> None:
        """Open a text or thinking block."""
        block = Prose(kind, len(self.blocks))
        self.blocks.append(block)
        if kind == TEXT:
            self.text_open = block
        else:
            self.thinking_open = block
        if slot is not None:
            self.slots[kind][slot] = block
        self.current = block
        self.signing = None
        self.updates.append(BlockOpened(block.ordinal, kind))
        self._take_held_signature(block, slot)

    def open_kept(self, slot: Any) -> None:
        """Open a block that is kept as it comes."""
        block = Kept(len(self.blocks))
        self.blocks.append(block)
        self.kept_open.append(block)
        if slot is not None:
            self.slots[OPAQUE][slot] = block
        self.current = block
        self.signing = None
        self.updates.append(BlockOpened(block.ordinal, OPAQUE))

    def open_call(self, slot: Any, twin: bool) -> None:
        """Open a call; a twin stays hidden until it is compared with the call meant."""
        call = Call(len(self.blocks))
        if twin and isinstance(self.meant, Call):
            call.hidden = True
            call.first = self.meant.first or self.meant
        else:
            self._calls += 1
        self.blocks.append(call)
        self.calls_open.append(call)
        self.last_call = call
        if slot is not None:
            self.slots[TOOL][slot] = call
        self.current = call
        self.signing = None
        if not call.hidden:
            self.updates.append(BlockOpened(call.ordinal, "tool_use"))
            self._take_held_signature(call, slot)

    def _take_held_signature(self, block: Prose | Call, slot: Any) -> None:
        if self.held_signatures:
            kind = TOOL if isinstance(block, Call) else block.kind
            held = self.held_signatures.pop((kind, slot), None)
            if held is not None:
                block.signature = held

    # -- the message ---------------------------------------------------------------------------------------------------

    def set_message_id(self, ident: str | None) -> None:
        """Give the message its id."""
        self.message_id = mended(ident) if ident else self.message_id

    def set_model(self, model: str | None) -> None:
        """Say which model it is from."""
        self.model = mended(model) if model else self.model

    # -- ids and names -------------------------------------------------------------------------------------------------

    def target_call(self) -> Call:
        """The call just opened, else the call meant; a hidden stray where the event means none."""
        for block in (self.current, self.meant, self.near):
            if isinstance(block, Call):
                return block
        stray = Call(len(self.blocks))
        stray.hidden = True
        return stray

    def identify(self, call: Call, ident: str | None) -> None:
        """Give a call the vendor's id."""
        if not ident:
            return
        ident = mended(ident)
        if call.made and self.ids.get(call.id) is call:
            del self.ids[call.id]
        call.id, call.made = ident, False
        self.ids.setdefault(ident, call)
        if not call.hidden:
            self.updates.append(BlockChanged(call.ordinal, "id", ident))

    def make_id(self, call: Call) -> None:
        """Give a call a made-up id: from the seed and a count, never one that was seen."""
        while True:
            self._made += 1
            digest = hashlib.sha256(f"{self._seed}/{self._made}".encode("utf-8", "surrogatepass")).hexdigest()
            ident = f"call_{digest[:24]}"
            if ident not in self.ids:
                break
        call.id, call.made = ident, True
        self.ids[ident] = call
        if not call.hidden:
            self.updates.append(BlockChanged(call.ordinal, "id", ident))

    def rename(self, call: Call, name: str) -> None:
        """Give a call its name."""
        name = mended(name)
        if name and name != call.name:
            call.name, call.inferred = name, False
            if not call.hidden:
                self.updates.append(BlockChanged(call.ordinal, "name", name))

    def rename_on(self, call: Call, piece: str | None) -> None:
        """Add a piece to the name of a call."""
        self.rename(call, call.name + (piece or ""))

    # -- growing -------------------------------------------------------------------------------------------------------

    def sign(self, piece: str) -> None:
        """Add a piece of a signature to the block just opened, else to the block meant."""
        block = self.current or self.meant
        if block is None or isinstance(block, Kept) or not piece:
            return
        block.signature = (block.signature or "") + piece
        self.signing = block
        if block.open:
            self.updates.append(Delta(block.ordinal, "signature", piece))
        else:
            self.updates.append(BlockChanged(block.ordinal, "signature", block.signature))

    def restate(self, block: Prose, text: str) -> None:
        """Hold a snapshot in the place of the text; only what is new in it is told."""
        held = block.text.text
        if text.startswith(held):
            tail = text[len(held) :]
            if tail:
                block.text.append(tail)
                self.updates.append(Delta(block.ordinal, block.kind, tail))
        else:
            block.text.take()
            block.text.append(text)
            self.updates.append(BlockChanged(block.ordinal, block.kind, text))

    def restate_call(self, call: Call, text: str) -> None:
        """Hold other arguments."""
        call.args = type(call.args)()
        call.args.append(text)
        call.reading = None
        if not call.hidden:
            self.updates.append(BlockChanged(call.ordinal, "input", text))

    def cite(self, citation: Any) -> None:
        """Attach a citation to the text block just opened, else to the one meant."""
        block = self.current or self.meant
        if isinstance(block, Prose):
            block.citations = [*(block.citations or []), citation]

    # -- ending --------------------------------------------------------------------------------------------------------

    def archive(self, block: Growing) -> None:
        """Finish a block that is no call."""
        block.open = False
        if block is self.text_open:
            self.text_open = None
        elif block is self.thinking_open:
            self.thinking_open = None
        elif isinstance(block, Kept) and block in self.kept_open:
            self.kept_open.remove(block)
        if isinstance(block, Prose) and not savable(block.text.text):
            self.note("lone-surrogate", block)
        self.updates.append(BlockArchived(block.ordinal, block.value()))

    def note(self, reason: str, block: Growing | None = None) -> None:
        """Note what happened to a block; without one, to the block just opened, else the one meant."""
        raise NotImplementedError

    def end_call(self, call: Call, seal: str) -> None:
        """Finish a call: the table judges it, once all its arguments are there."""
        call.open = False
        call.unread()
        call.seal = seal
        self.calls_open.remove(call)
        self.judge(call)
        self.tell(call)

    def judge(self, call: Call) -> None:
        """Have the table judge an ended call."""
        raise NotImplementedError

    def judge_again(self) -> None:
        """What is known of the call being judged has changed: ask the table once more."""
        self._again = True

    def tell(self, call: Call) -> None:
        """Tell that a call is finished, and how it was judged."""
        if not call.hidden:
            self.updates.append(
                BlockArchived(call.ordinal, call.value(), call.seal, call.grade, call.safety, call.executable)
            )

    def read(self, call: Call) -> Reading:
        """How the call's arguments read; parsed once."""
        if call.reading is None:
            text = call.args
            call.reading = read(text.text, text.latest, text.status() == "partial", self._rungs)
        return call.reading

    def has_calls(self) -> bool:
        """Whether the message has a call."""
        return self._calls > 0

    def named(self) -> str:
        """The name that the event gives, or an empty string."""
        raise NotImplementedError

    # -- twins ---------------------------------------------------------------------------------------------------------

    def compare_twin(self, call: Call) -> str:
        """An ended twin against the call that it may repeat: none, empty, same, fills or differs."""
        first = call.first
        if first is None:
            return "none"
        if call.name and first.name and call.name != first.name:
            return "differs"
        mine, its = self.read(call), self.read(first)
        if mine.case == "empty":
            return "empty"
        parsed = ("exact", "lossless", "guessed")
        if mine.case in parsed and (its.case == "empty" or (its.value == {} and its.case in parsed)):
            return "same" if its.case != "empty" and mine.value == {} else "fills"
        if mine.case in parsed and its.case in parsed:
            return "same" if mine.value == its.value else "differs"
        return "same" if call.args.text == first.args.text else "differs"

    def keep_twin(self, call: Call) -> None:
        """The twin is a call of its own: it is shown, and judged as one."""
        call.first, call.hidden = None, False
        self._calls += 1
        if self.ids.get(call.id) is not call:
            self.make_id(call)
        self.updates.append(BlockOpened(call.ordinal, "tool_use", call.id, call.name))
        if call.args.length:
            self.updates.append(Delta(call.ordinal, "input", call.args.text))
        self._again = True

    def withdraw(self, call: Call) -> None:
        """The twin stays out of the message; its slot goes back to the first call."""
        first = call.first
        if first is not None:
            for slot, block in self.slots[TOOL].items():
                if block is call:
                    self.slots[TOOL][slot] = first
            if self.last_call is call:
                self.last_call = first

    def adopt(self, call: Call) -> None:
        """The first call takes over the twin's arguments."""
        first = call.first
        if first is not None:
            first.args, first.reading = call.args, None
            self._judge_again(first)

    def conflict(self, call: Call, reason: str) -> None:
        """The first call is invalid for good."""
        first = call.first
        if first is not None:
            first.doomed = reason
            self._judge_again(first)

    def _judge_again(self, first: Call) -> None:
        if not first.open:
            seal = first.seal
            first.unread()
            first.seal = seal
            self.judge(first)
            self.tell(first)
