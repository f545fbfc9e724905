"""Names and types of a policy: every word that a rule uses is declared, and every case is one of its question.

What is right is handed on as specs of the table; what is wrong as diagnostics, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import (
    Action,
    Case,
    Classify,
    Derive,
    Deviations,
    Escalate,
    Event,
    Flush,
    Group,
    Item,
    Merge,
    Name,
    Repair,
    Rule,
    State,
    ToolClass,
    Trigger,
)
from reknit.table import EventSpec, FieldSpec, HoldingSpec, QuestionSpec, StateSpec
from reknit.vocabulary.actions import FIELD, FLUSHABLE, REASON, VERBS
from reknit.vocabulary.merges import MERGES
from reknit.vocabulary.questions import ABOUT, ASKS, TYPES
from reknit.vocabulary.repairs import REPAIRS
from reknit.vocabulary.words import CLASS_SETTINGS, GRADES, KINDS, SEALS, SINGLE, USAGE_FIELDS


@dataclass(slots=True)
class PolicyParts:
    """The checked parts of a policy, sorted by kind."""

    events: dict[str, EventSpec] = field(default_factory=dict)
    event_nodes: dict[str, Event] = field(default_factory=dict)
    states: dict[str, StateSpec] = field(default_factory=dict)
    state_nodes: dict[str, State] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    flushes: list[Flush] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    derives: list[Derive] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    deviations: Deviations | None = None
    classes: list[ToolClass] = field(default_factory=list)
    classifies: list[Classify] = field(default_factory=list)
    escalations: list[Escalate] = field(default_factory=list)


class PolicyCheck:
    """Checks the items of one policy; `found` holds what is wrong."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.found: list[Diagnostic] = []
        self.parts = PolicyParts()
        self._items = list(items)
        self._untyped: set[tuple[str, str]] = set()
        """Fields whose type is not known: that is told once, at the field."""

    def run(self) -> PolicyParts:
        """Check everything, declarations first."""
        for item in self._items:
            if isinstance(item, Event):
                self._event(item)
            elif isinstance(item, State):
                self._state(item)
        for item in self._items:
            if isinstance(item, Group):
                self._group(item)
        for item in self._items:
            self._item(item)
        self._start()
        return self.parts

    def report(self, code: str, message: str, name: Name, text: str, help: str | None = None) -> None:
        """Record a finding at a word of the file."""
        self.found.append(Diagnostic(code, message, Label(name.place, text), help=help))

    def known(self, code: str, what: str, name: Name, words: Iterable[str]) -> bool:
        """Whether a word is in a list; a finding if not."""
        words = list(words)
        if name.text in words:
            return True
        help = suggestion(name.text, words, at_most=16)
        self.report(code, f"unknown {what} {quoted(name.text)}", name, "not known here", help)
        return False

    def _event(self, node: Event) -> None:
        about = node.about.text if node.about is not None else "message"
        if node.about is not None:
            self.known("E208", "target", node.about, ABOUT)
        fields: list[FieldSpec] = []
        questions: list[QuestionSpec] = []
        for declared in node.fields:
            if not self.known("E206", "type", declared.type, TYPES):
                self._untyped.add((node.name.text, declared.name.text))
                continue
            question = TYPES[declared.type.text]
            if question.about and about not in question.about:
                self.report(
                    "E206",
                    f"the type {quoted(declared.type.text)} is not for events about {quoted(about)}",
                    declared.type,
                    "does not belong here",
                    f"it belongs to events about {', '.join(quoted(word) for word in question.about)}",
                )
            fields.append(FieldSpec(declared.name.text, declared.type.text, declared.optional))
            if question.cases:
                cases = tuple(case for case in question.cases if case != "opaque" or about == "tool")
                questions.append(QuestionSpec(declared.name.text, declared.type.text, cases, True))
        for asked in node.asks:
            if not self.known("E202", "question", asked, ASKS):
                continue
            question = ASKS[asked.text]
            if question.about and about not in question.about:
                self.report(
                    "E206",
                    f"{quoted(asked.text)} cannot be asked on events about {quoted(about)}",
                    asked,
                    "does not belong here",
                    f"it belongs to events about {', '.join(quoted(word) for word in question.about)}",
                )
            questions.append(QuestionSpec(asked.text, asked.text, tuple(question.cases), False))
        self.parts.events[node.name.text] = EventSpec(node.name.text, about, tuple(fields), tuple(questions))
        self.parts.event_nodes[node.name.text] = node

    def _state(self, node: State) -> None:
        holds: list[HoldingSpec] = []
        for holding in node.holds:
            if self.known("E208", "kind of block", holding.kind, KINDS):
                if (holding.kind.text in SINGLE) == holding.many:
                    kind = holding.kind.text
                    must = "at most one is open" if holding.many else "any number may be open"
                    better = f"write `{kind}`" if holding.many else f"write `{kind}*`"
                    self.report("E208", f"of {quoted(kind)} {must}", holding.kind, "not so many", better)
                holds.append(HoldingSpec(holding.kind.text, holding.many))
        self.parts.states[node.name.text] = StateSpec(node.name.text, tuple(holds), node.flag)
        self.parts.state_nodes[node.name.text] = node

    def _group(self, node: Group) -> None:
        names = [name for name in node.states if self.known("E203", "state", name, self.parts.states)]
        self.parts.groups[node.name.text] = tuple(name.text for name in names)

    def _item(self, item: Item) -> None:
        parts = self.parts
        if isinstance(item, Rule):
            if self._rule(item):
                parts.rules.append(item)
        elif isinstance(item, Flush):
            if self._flush(item):
                parts.flushes.append(item)
        elif isinstance(item, Merge):
            if self.known("E208", "usage field", item.name, USAGE_FIELDS) and self.known(
                "E208", "merge", item.method, MERGES
            ):
                parts.merges.append(item)
        elif isinstance(item, Derive):
            if all(
                self.known("E208", "usage field", name, USAGE_FIELDS) for name in (item.name, item.source, *item.minus)
            ):
                parts.derives.append(item)
        elif isinstance(item, Repair):
            grades = [grade for grade in GRADES if grade in ("lossless", "guessed")]
            if self.known("E208", "repair", item.name, REPAIRS) and self.known("E208", "grade", item.grade, grades):
                parts.repairs.append(item)
        elif isinstance(item, Deviations):
            if self.known("E208", "effect of deviations", item.name, ("note", "fail")):
                parts.deviations = item
        elif isinstance(item, ToolClass):
            parts.classes.append(item)
        elif isinstance(item, Classify):
            parts.classifies.append(item)
        elif isinstance(item, Escalate):
            parts.escalations.append(item)

    def _start(self) -> None:
        starts = [node for node in self.parts.state_nodes.values() if node.flag == "start"]
        if len(starts) > 1:
            self.report(
                "E209", "two states are the start", starts[1].name, "and this one", "take `start` from one of them"
            )
        if not starts and self.parts.state_nodes:
            first = next(iter(self.parts.state_nodes.values()))
            self.report("E209", "no state is the start", first.name, "perhaps this one", "say `start` behind one state")

    # -- rules and flushes ---------------------------------------------------------------------------------------------

    def _rule(self, node: Rule) -> bool:
        before = len(self.found)
        for trigger in node.on:
            self._trigger(trigger)
        for name in node.states:
            self.known("E203", "state", name, [*self.parts.states, *self.parts.groups])
        if node.to is not None:
            self.known("E203", "state", node.to, self.parts.states)
        events = [self.parts.events[t.event.text] for t in node.on if t.event.text in self.parts.events]
        for action in node.actions:
            self._action(action, events)
        if node.to is not None and any(event.about == "ending" for event in events):
            self.report("E210", "a rule on the end of a call changes no state", node.to, "this state", "say `stay`")
        return len(self.found) == before

    def _flush(self, node: Flush) -> bool:
        before = len(self.found)
        self.known("E208", "kind to flush", node.what, FLUSHABLE)
        if node.seal is not None:
            self.known("E208", "seal", node.seal, SEALS)
        for trigger in node.before:
            if trigger.opens is not None:
                self.known("E208", "kind of block", trigger.opens, KINDS)
            else:
                self._trigger(trigger)
        return len(self.found) == before

    def _trigger(self, trigger: Trigger) -> None:
        if trigger.event.text == "any":
            return
        event = self.parts.events.get(trigger.event.text)
        if event is None:
            self.report(
                "E201",
                f"unknown event {quoted(trigger.event.text)}",
                trigger.event,
                "not declared in this policy",
                suggestion(trigger.event.text, self.parts.events),
            )
            return
        for case in trigger.pattern:
            self._case(event, case)

    def _case(self, event: EventSpec, case: Case) -> None:
        question = next((one for one in event.questions if one.name == case.field.text), None)
        if (event.name, case.field.text) in self._untyped:
            return
        if question is None:
            askable = [one.name for one in event.questions]
            help = suggestion(case.field.text, askable)
            if case.field.text in ASKS:
                help = f"say `asks {case.field.text}` on the event"
            self.report(
                "E202",
                f"{quoted(event.name)} has no {quoted(case.field.text)} to ask about",
                case.field,
                "no such question",
                help,
            )
            return
        for name in case.cases:
            if name.text not in question.cases:
                self.report(
                    "E205",
                    f"{quoted(question.name)} of {quoted(event.name)} is never {quoted(name.text)}",
                    name,
                    "no such case",
                    suggestion(name.text, question.cases),
                )

    def _action(self, action: Action, events: list[EventSpec]) -> None:
        if not self.known("E204", "action", action.verb, VERBS):
            return
        verb = VERBS[action.verb.text]
        if len(action.words) > len(verb.words) or len(action.words) < len(verb.words) - verb.optional:
            least, most = len(verb.words) - verb.optional, len(verb.words)
            many = str(most or "no") if least == most else f"{least} or {most}"
            takes = f"{quoted(action.verb.text)} takes {many} word{'' if most < 2 else 's'}"
            self.report("E207", takes, action.verb, f"has {len(action.words)}", _usage(action.verb.text))
            return
        for event in events:
            if verb.about and event.about not in verb.about:
                self.report(
                    "E210",
                    f"{quoted(action.verb.text)} has no meaning on {quoted(event.name)}",
                    action.verb,
                    "does not belong here",
                    f"it is for events about {' or '.join(quoted(about) for about in verb.about)}",
                )
                return
        if action.verb.text == "reopen":
            self._reopen(action, events)
        if action.verb.text == "set" and len(action.words) == 1:
            self._word(action, action.words[0], (FIELD,), events)
        for word, allowed in zip(action.words, verb.words, strict=False):
            self._word(action, word, allowed, events)

    def _reopen(self, action: Action, events: list[EventSpec]) -> None:
        """A block is taken up again by an event about its own kind: no other one means such a block."""
        word = action.words[0]
        about = {"text": "text", "call": "tool"}.get(word.text)
        for event in events:
            if about is not None and event.about != about:
                said = f"{quoted(f'reopen {word.text}')} has no meaning on {quoted(event.name)}"
                self.report("E210", said, word, f"the event is about {quoted(event.about)}")
                return

    def _word(self, action: Action, word: Name, allowed: tuple[str, ...], events: list[EventSpec]) -> None:
        if allowed == (REASON,) or word.text in allowed:
            return
        if FIELD in allowed:
            for event in events:
                names = [one.name for one in event.fields]
                if word.text not in names and (event.name, word.text) not in self._untyped:
                    self.report(
                        "E202",
                        f"{quoted(event.name)} has no field {quoted(word.text)}",
                        word,
                        "no such field",
                        suggestion(word.text, names),
                    )
                    return
            return
        self.report(
            "E207",
            f"{quoted(action.verb.text)} does not go with {quoted(word.text)}",
            word,
            "not one of its words",
            suggestion(word.text, allowed),
        )


def _usage(verb: str) -> str | None:
    """Spell out an action with the words that it takes."""
    if not VERBS[verb].words:
        return "take the words behind it out"
    spoken = {FIELD: "a field", REASON: "a reason"}
    words = [" or ".join(spoken.get(word, f"`{word}`") for word in allowed) for allowed in VERBS[verb].words]
    return f"behind {quoted(verb)} goes {', then '.join(words)}"


def class_settings(node: ToolClass, found: list[Diagnostic]) -> Mapping[str, str]:
    """The settings of a class of tools as words, checked against the closed list."""
    settings: dict[str, str] = {}
    for name, value in node.settings:
        word = str(value).lower() if isinstance(value, bool) else str(value)
        if name.text not in CLASS_SETTINGS:
            help = suggestion(name.text, CLASS_SETTINGS)
            found.append(
                Diagnostic(
                    "E601",
                    f"a class has no setting {quoted(name.text)}",
                    Label(name.place, "no such setting"),
                    help=help,
                )
            )
        elif word not in CLASS_SETTINGS[name.text]:
            help = suggestion(word, CLASS_SETTINGS[name.text])
            found.append(
                Diagnostic(
                    "E601", f"{quoted(name.text)} is never {quoted(word)}", Label(name.place, "this setting"), help=help
                )
            )
        else:
            settings[name.text] = word
    return settings
