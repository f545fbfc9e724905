"""The machine: canonical events in, blocks of one message out, moved by nothing but the cells of a table.

How it works. The machine is in one of the policy's states. An event comes with its fields. First the block meant is
found (by id, by slot, or the last one of the kind). Then the state's decision tree for the event asks the questions
that matter there, and ends in an outcome: a rule's name, its actions with the flushes woven in, and the next state.
The actions run; a call that they end raises one more event, CALL_END, which is judged by the same table in the same
way. There is no other transition and no other memory than blocks, slots, ids and the books: if a behaviour cannot be
found in a rule file, it does not exist.

Totality. The compiler has proved that every combination of cases that can occur has exactly one outcome, and that every
action finds the block that it needs. The machine answers only with combinations that can occur. So no event sequence
makes it raise or stop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from reknit.excerpt import excerpt
from reknit.gather import mended
from reknit.machine import answers, deeds
from reknit.machine.blocks import Call, Growing
from reknit.machine.growth import MOST_BLOCKS, MOST_OPEN_CALLS, Growth
from reknit.machine.safety import Safety
from reknit.machine.tree import Tree, grow
from reknit.message import StreamFault
from reknit.table import ENDING_STATE, EventSpec, Outcome, PolicyTable
from reknit.tools.registry import Tools
from reknit.updates import NoteAdded, StreamEnded
from reknit.vocabulary.words import ERROR_KINDS, OPAQUE, TEXT, THINKING, TOOL, ErrorKind

ENDING: Final = "CALL_END"
STREAM_END: Final = "STREAM_END"
STREAM_ERROR: Final = "STREAM_ERROR"

_MOST_JUDGEMENTS: Final = 8
"""So often a judgement may ask for another one; rules that ask for ever are stopped."""

RAISED: Final = (ENDING, STREAM_END, STREAM_ERROR)
"""Events that the engine raises itself; a policy has to declare them."""


class Leaf(NamedTuple):
    """The end of a decision: what is done, and where it leads."""

    rule: str
    doing: tuple[deeds.Doing, ...]
    to: str
    opens: bool


class Positions(NamedTuple):
    """Where an event's fields of certain types stand (-1 for none), and how the block that it means is found."""

    slot: int
    id: int
    name: int
    of: int
    reason: int
    resolve: Callable[[Machine, Any], None]

    @classmethod
    def of_event(cls, spec: EventSpec) -> Positions:
        """The positions in an event."""
        types = [field.type for field in spec.fields]
        slot, ident, name, of, reason = (
            types.index(type_) if type_ in types else -1 for type_ in ("slot", "id", "name", "of", "reason")
        )
        return cls(slot, ident, name, of, reason, _RESOLVERS.get(spec.about, Machine.mean_nothing))


class Runtime:
    """A policy made ready to run: decision trees, grown when first needed. Shared by all machines of the policy."""

    def __init__(self, policy: PolicyTable) -> None:
        self.policy = policy
        self.events = policy.events
        self.positions = {name: Positions.of_event(spec) for name, spec in policy.events.items()}
        self.safety = Safety(policy)
        self.fails = policy.deviations == "fail"
        self.excepted = frozenset(policy.excepted)
        self.final = frozenset(state.name for state in policy.states if state.flag == "final")
        self.trees: dict[str, dict[str, Tree]] = {state.name: {} for state in policy.states}
        self._leaves: dict[tuple[str, int], Leaf] = {}

    def tree(self, state: str, event: str) -> Tree:
        """The decision tree of a state and event."""
        trees = self.trees.setdefault(state, {})
        found = trees.get(event)
        if found is None:
            spec = self.events[event]
            found = trees[event] = grow(
                self.policy.cells[event][state],
                [len(question.cases) for question in spec.questions],
                lambda number: _asking(spec, number),
                lambda number: self._leaf(spec, number),
            )
        return found

    def _leaf(self, spec: EventSpec, number: int) -> Leaf:
        key = (spec.name, number)
        if key not in self._leaves:
            outcome: Outcome = self.policy.outcomes[number]
            doing = tuple(deeds.make(action.verb, action.words, spec) for action in outcome.actions)
            opens = any(action.verb == "open" for action in outcome.actions)
            self._leaves[key] = Leaf(outcome.rule, doing, outcome.to, opens)
        return self._leaves[key]


def _asking(spec: EventSpec, number: int) -> answers.Asking:
    question = spec.questions[number]
    at = next((n for n, field in enumerate(spec.fields) if field.name == question.name), -1)
    if at < 0:
        at = next((n for n, field in enumerate(spec.fields) if field.type in ("text", "json")), -1)
    return answers.MAKERS[question.type](at, {case: n for n, case in enumerate(question.cases)})


class Machine(Growth):
    """One message in the making.

    Args:
        runtime: Of its policy.
        tools: What may be called.
        seed: From which made-up ids are derived.
    """

    def __init__(self, runtime: Runtime, tools: Tools, seed: str) -> None:
        super().__init__(runtime.policy, tools, seed)
        self.runtime = runtime
        self.state = runtime.policy.start
        self.fields: tuple[Any, ...] = ()
        self.event: EventSpec = next(iter(runtime.events.values()))
        self.slot_case = "none"
        self.id_case = "none"
        self.ending: Call = Call(-1)
        self.rule = ""
        self.at = runtime.positions[self.event.name]
        self.watch: Callable[[Machine, Leaf], None] | None = None
        self._failure: tuple[str, str] | None = None
        self._failed = False

    # -- stepping ------------------------------------------------------------------------------------------------------

    def step(self, event: str, fields: tuple[Any, ...]) -> None:
        """Take one event; its fields stand in the order of the policy, None for what is not there."""
        runtime = self.runtime
        self.event = runtime.events[event]
        at = self.at = runtime.positions[event]
        self.fields = fields
        self.current = self.near = None
        at.resolve(self, None if at.slot < 0 else fields[at.slot])
        leaf = runtime.trees[self.state].get(event) or runtime.tree(self.state, event)
        while type(leaf) is tuple:
            leaf = leaf[1][leaf[0](self)]
        if at.reason >= 0:
            self.finished = True
        if leaf.opens and (len(self.blocks) >= MOST_BLOCKS or len(self.calls_open) >= MOST_OPEN_CALLS):
            self._failure = ("too-many-blocks", f"more than {MOST_BLOCKS} blocks, or {MOST_OPEN_CALLS} calls at once")
        else:
            self.rule = leaf.rule
            for do in leaf.doing:
                do(self)
            if self._failure is None:
                self.state = leaf.to
            if self.watch is not None:
                self.watch(self, leaf)
            if self.held_signatures and self.state in runtime.final:
                self._note_unbound()
        self._settle()

    def _settle(self) -> None:
        """End the stream where a deviation fails it: from the state in which it was noted, and once."""
        if self._failure is not None:
            code, message = self._failure
            self._failure, self._failed = None, True
            self.abort("malformed", code, message)

    def _note_unbound(self) -> None:
        held, self.held_signatures = self.held_signatures, {}
        for (kind, _), signature in held.items():
            self.note("unbound-signature", None, None, f"{kind} {signature}")

    def named_step(self, event: str, fields: Mapping[str, Any]) -> None:
        """Take one event with its fields by name; what the policy does not declare is left out."""
        spec = self.runtime.events.get(event)
        if spec is not None:
            self.step(event, tuple(fields.get(field.name) for field in spec.fields))

    def abort(self, kind: ErrorKind, code: str, message: str) -> None:
        """End the stream with an error of this side."""
        self.named_step(STREAM_ERROR, {"kind": kind, "code": code, "message": message})

    def judge(self, call: Call) -> None:
        """Raise CALL_END for a call, again as long as a judgement asks for it; a policy without it accepts no call."""
        if ENDING not in self.runtime.events:
            self._classify(call)
            return
        kept = self.event, self.at, self.fields, self.meant, self.current, self.rule, self.ending
        self.event, self.at = self.runtime.events[ENDING], self.runtime.positions[ENDING]
        self.fields, self.ending = (), call
        tree = self.runtime.tree(ENDING_STATE, ENDING)
        for _ in range(_MOST_JUDGEMENTS):
            self._again = False
            self.meant, self.current = call, None
            leaf = tree
            while type(leaf) is tuple:
                leaf = leaf[1][leaf[0](self)]
            self.rule = leaf.rule
            for do in leaf.doing:
                do(self)
            if self.watch is not None:
                self.watch(self, leaf)
            if not self._again:
                break
        if call.doomed is not None and call.invalid is None:
            call.invalid = call.doomed
        self._classify(call)
        self.event, self.at, self.fields, self.meant, self.current, self.rule, self.ending = kept

    def _classify(self, call: Call) -> None:
        call.executable = call.invalid is None and call.seal != "cut"
        known = {
            "id": "made" if call.made else "real",
            "name": "inferred" if call.inferred else "given",
            "args": "invalid" if call.invalid is not None else (call.grade or "exact"),
            "seal": call.seal,
        }
        call.safety = self.runtime.safety.of(call.name, known)

    # -- the block meant -----------------------------------------------------------------------------------------------

    def mean_text(self, slot: Any) -> None:
        """Find the text block meant."""
        if slot is None and self.text_open is not None:
            self.slot_case, self.meant = "last", self.text_open
        else:
            self._by_slot(TEXT, slot, self.text_open, self._tail(TEXT))

    def mean_thinking(self, slot: Any) -> None:
        """Find the thinking block meant."""
        if slot is None and self.thinking_open is not None:
            self.slot_case, self.meant = "last", self.thinking_open
        else:
            self._by_slot(THINKING, slot, self.thinking_open, self._tail(THINKING))

    def mean_opaque(self, slot: Any) -> None:
        """Find the opaque block meant."""
        self._by_slot(OPAQUE, slot, self.kept_open[-1] if self.kept_open else None, None)

    def mean_nothing(self, slot: Any) -> None:
        """The event is about the message as a whole."""
        self.meant = None

    def _by_slot(self, kind: str, slot: Any, last: Growing | None, past: Growing | None) -> None:
        if slot is None:
            if last is not None:
                self.slot_case, self.meant = "last", last
            elif past is not None:
                self.slot_case, self.meant = "past", past
            else:
                self.slot_case, self.meant = "none", None
            return
        block = self.slots[kind].get(slot)
        self.meant = block
        self.slot_case = "fresh" if block is None else "open" if block.open else "archived"

    def _tail(self, kind: str) -> Growing | None:
        """The last block of the message, if it is of a kind."""
        for block in reversed(self.blocks):
            if not block.hidden:
                return block if block.kind == kind else None
        return None

    def mean_signed(self, slot: Any) -> None:
        """Find the block that a signature belongs to."""
        kind = (self.fields[self.at.of] if self.at.of >= 0 else None) or THINKING
        if kind == TOOL:
            self._by_slot(TOOL, slot, self.calls_open[-1] if self.calls_open else None, self.last_call)
            return
        last = self.text_open if kind == TEXT else self.thinking_open
        past = next((block for block in reversed(self.blocks) if block.kind == kind), None) if last is None else None
        self._by_slot(kind, slot, last, past)

    def mean_any(self, slot: Any) -> None:
        """Find the open block meant, of whatever kind."""
        if slot is None:
            found: list[Growing] = [block for block in (self.text_open, self.thinking_open) if block is not None]
            found += [*self.calls_open[-1:], *self.kept_open[-1:]]
            last = max(found, key=lambda block: block.ordinal, default=None)
            self.slot_case, self.meant = ("none", None) if last is None else ("last", last)
            return
        bound = [by_slot[slot] for by_slot in self.slots.values() if slot in by_slot]
        still = [block for block in bound if block.open]
        if still:
            self.slot_case, self.meant = "open", max(still, key=lambda block: block.ordinal)
        else:
            self.slot_case, self.meant = ("archived" if bound else "fresh"), None

    def mean_call(self, slot: Any) -> None:
        """Find the call meant: by id, by slot, or the last one."""
        ident = self.fields[self.at.id] if self.at.id >= 0 else None
        last = self.calls_open[-1] if self.calls_open else None
        self._by_slot(TOOL, slot, last, self.last_call)
        base = self.meant
        if slot is not None:
            kept = self.slots[OPAQUE].get(slot)
            if kept is not None and kept.open and (base is None or base.ordinal < kept.ordinal):
                self.slot_case, self.meant, base = "opaque", kept, None
            elif base is None:
                self.near = last
        if not ident:
            self.id_case = "none"
            return
        owner = self.ids.get(mended(ident))
        if owner is not None and owner.made:
            # The vendor came upon an id that was made up here: the made-up one gives way.
            self.make_id(owner)
            owner = None
        if owner is None:
            self.id_case = "real" if isinstance(base, Call) and base.made else "fresh"
        elif isinstance(base, Call) and base.id == mended(ident):
            self.id_case = "same"
        else:
            self.id_case = "seen"
            self.meant = owner

    def named(self) -> str:
        """The name that the event gives, or an empty string."""
        return (self.fields[self.at.name] if self.at.name >= 0 else None) or ""

    # -- notes and the end ---------------------------------------------------------------------------------------------

    def note(self, reason: str, block: Growing | None = None, rule: str | None = None, said: Any = None) -> None:
        """Note what happened to a block, with an excerpt of what the event brought.

        Without a block, it is the one just opened, else the one meant.
        """
        block = block or self.current or self.meant
        if isinstance(block, Call) and block.first is not None:
            block = block.first
        ordinal = block.ordinal if block is not None and block.ordinal >= 0 else None
        shown = excerpt(said if said is not None else self._brought())
        note = self.notes.add(rule or self.rule, reason, ordinal, shown)
        if note is not None:
            self.updates.append(NoteAdded(note))
        if self.runtime.fails and not self._failed and self.error is None and reason not in self.runtime.excepted:
            self._failure = (reason, shown)

    def outside_note(self, rule: str, reason: str, shown: str) -> None:
        """Note what happened before there was an event: on the wire, or in a map."""
        self.current = self.meant = None
        self.note(reason, None, rule, shown)
        self._settle()

    def _brought(self) -> str:
        if self.event.name == ENDING:
            call = self.ending
            return f"{call.name} {call.args.text}".strip()
        shown = [
            value if isinstance(value, str) else repr(value)[:200]
            for field, value in zip(self.event.fields, self.fields, strict=False)
            if value is not None and field.type != "slot"
        ]
        return " ".join(shown)

    def stop(self, word: Any) -> None:
        """Set the stop reason."""
        self.stop_reason = mended(word) if isinstance(word, str) else None

    def fail_with(self, kind: str, code: str, message: str) -> None:
        """The stream failed."""
        known: ErrorKind = kind if kind in ERROR_KINDS else "other"
        self.error = StreamFault(kind=known, code=mended(str(code)), message=mended(str(message)))
        self.stop_reason = "error"
        self.complete = False

    def ended(self) -> StreamEnded:
        """What is told when nothing more will come."""
        return StreamEnded(self.stop_reason, self.complete, self.error)


_RESOLVERS: Final[dict[str, Callable[[Machine, Any], None]]] = {
    TEXT: Machine.mean_text,
    THINKING: Machine.mean_thinking,
    TOOL: Machine.mean_call,
    OPAQUE: Machine.mean_opaque,
    "signature": Machine.mean_signed,
    "any": Machine.mean_any,
}
