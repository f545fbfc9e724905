"""What a tool may do: calls that start too early to be sure, and loosened safety that nobody gave a reason for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.shelf import Applied
from reknit.lang.syntax import Classify, Escalate, Rule, ToolClass
from reknit.lint.subject import Subject
from reknit.vocabulary.words import CLASS_SETTINGS

_FEW: Final = 4
"""A reason of fewer words than this says nothing that the edit does not."""


def early_starts(subject: Subject) -> Iterator[Diagnostic]:
    """Find classes whose calls start at their seal, where a rule takes sealed calls up again.

    Told where one of the two stands in this file: a policy that has both is told of it once, for all vendors.
    """
    rules = [rule for rule in subject.items(Rule) if rule.name.text in _reopening(subject)]
    used = {node.tool_class.text for node in subject.items(Classify)}
    for node in subject.items(ToolClass):
        if node.name.text not in used or _setting(node, "start", "confirm") != "seal" or not rules:
            continue
        own = subject.is_own(node)
        blamed = rules if own else [rule for rule in rules if subject.is_own(rule)]
        if not blamed:
            continue
        label = Label(node.name.place, "start at their seal")
        others = [Label(rule.name.place, "takes them up again") for rule in blamed]
        if not own:
            label, others = others[0], [*others[1:], label]
        takes = f"rule {quoted(blamed[0].name.text)} takes"
        if len(blamed) > 1:
            takes = f"{len(blamed)} rules take"
        yield Diagnostic(
            "",
            f"calls of class {quoted(node.name.text)} start at their seal, and {takes} sealed calls up again",
            label,
            tuple(others),
            ("such a call has run with arguments that were not all there, and runs again",),
            help="say `start: confirm`, or `allow early-start` and why these tools may run twice",
        )


def _reopening(subject: Subject) -> set[str]:
    """Give the rules that reopen calls on an event that this vendor's maps make; for a policy, on any event."""
    policy, program = subject.table.policy, subject.table.program
    events = {emit.event for spec in program.maps for emit in spec.emits} | {spec.into for spec in program.splits}
    found = set()
    for event, by_state in policy.cells.items():
        if subject.vendor is not None and event not in events:
            continue
        for number in {number for row in by_state.values() for number in row if number >= 0}:
            outcome = policy.outcomes[number]
            if any((action.verb, action.words) == ("reopen", ("call",)) for action in outcome.actions):
                found.add(outcome.rule)
    return found


def loosened_edits(subject: Subject) -> Iterator[Diagnostic]:
    """Find quirks of this file that free tools, and whose reason is a few words at most."""
    ranks = {node.name.text: _rank(node) for node in subject.items(ToolClass)}
    told: set[str] = set()
    for one in subject.applied:
        quirk = one.quirk
        if one.file.source != subject.file.source or quirk.name.text in told or len(quirk.reason.split()) >= _FEW:
            continue
        if _is_looser(one, ranks, subject):
            told.add(quirk.name.text)
            yield Diagnostic(
                "",
                f"quirk {quoted(quirk.name.text)} loosens safety, and its reason does not say why that is safe",
                Label(quirk.name.place, "its reason says too little"),
                (Label(one.edit.name.place, "this is loosened"),),
                help=f"say in the reason why this is safe, in {_FEW} words or more",
            )


def _is_looser(one: Applied, ranks: dict[str, tuple[int, bool]], subject: Subject) -> bool:
    before, after = one.before, one.after
    if isinstance(after, ToolClass) and isinstance(before, ToolClass):
        return _rank(after) < _rank(before)
    if isinstance(before, Escalate) and after is None:
        return True
    if isinstance(after, Classify | Escalate) and isinstance(before, Classify | Escalate):
        return ranks[after.tool_class.text] < ranks[before.tool_class.text]
    if isinstance(after, Classify):
        # The most guarded class wins, so a new pattern frees only tools that no other pattern has.
        rest = [ranks[node.tool_class.text] for node in subject.items(Classify) if node.pattern is None]
        return any(ranks[after.tool_class.text] < rank for rank in rest)
    return False


def _rank(node: ToolClass) -> tuple[int, bool]:
    """Give how guarded a class is, as the table sorts them."""
    return CLASS_SETTINGS["start"].index(_setting(node, "start", "confirm")), _setting(node, "parallel", "") != "true"


def _setting(node: ToolClass, name: str, otherwise: str) -> str:
    said = next((value for key, value in node.settings if key.text == name), otherwise)
    return str(said).lower() if isinstance(said, bool) else str(said)
