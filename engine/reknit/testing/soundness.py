"""Whether tests say something that can be held against a play: known words and names, steps in a possible order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, quoted, suggestion
from reknit.lang.syntax import Expect, Given, Name, Test
from reknit.table import Table
from reknit.testing.expectations import FORMS, OF_STEP, REASON, RULE, STATE, Form, form_of, next_words, shape
from reknit.testing.givens import check_event, check_tools
from reknit.testing.stage import FED
from reknit.trial import Trial
from reknit.vocabulary.words import EXTERNAL_NOTES
from reknit.wire import SALVAGE

WIRE_NOTES: Final = (
    *("bad-frame", "bad-utf8", "frame-too-deep", "frame-too-long", "non-json-number", "raw-control-character"),
    *("unknown-field", "unterminated-event"),
    *(f"salvaged-{step}" for step in SALVAGE),
)
"""Reasons of the notes that wires make; a test holds it equal to what stands in their sources."""


def check_tests(trial: Trial) -> list[Diagnostic]:
    """Find what is wrong with the tests of a file, all of it, in the order of the file."""
    found: list[Diagnostic] = []
    for test in trial.tests:
        table = trial.table(test)
        if table is None:
            continue
        found += _order(test, trial.kind, table)
        found += check_tools(test)
        for step in test.steps:
            if isinstance(step, Expect):
                found += _expect(step, table)
            elif step.kind == "event":
                found += check_event(step, table.policy)
        if not any(isinstance(step, Expect) for step in test.steps):
            label = Label(test.place, "this test")
            help = "say what must come out, as in `expect no notes`"
            found.append(Diagnostic("E709", f"test {quoted(test.title)} expects nothing", label, help=help))
    return sorted(found, key=lambda diagnostic: (diagnostic.label.place.line, diagnostic.label.place.column))


# -- the order of steps ------------------------------------------------------------------------------------------------


def _order(test: Test, kind: str, table: Table) -> Iterator[Diagnostic]:
    fed = closed = False
    for step in test.steps:
        if isinstance(step, Expect):
            form = form_of(step)
            if form is not None and form.of == OF_STEP and not fed:
                yield _misplaced(
                    step, "nothing was given before it", "it is about what the last `given` above it brought"
                )
            continue
        if step.kind in FED:
            if closed:
                yield _misplaced(step, "the stream was closed above", "put it before `given close`")
                return
            if step.kind in ("frame", "marker", "raw") and kind == "policy":
                help = 'give canonical events, as in `given TEXT_DELTA { text: "Hi" }`'
                yield _misplaced(step, "a policy reads no frames", help)
            elif step.kind == "marker" and step.value != table.program.end:
                end = table.program.end
                help = f'it is `given "{end}"`' if end is not None else f"{quoted(table.program.name)} has none"
                yield _misplaced(step, f"{quoted(str(step.value))} is not the end marker", help)
            fed, closed = True, closed or step.kind == "close"
        elif fed:
            yield _misplaced(step, f"`given {step.kind}` comes after what is fed", "put it first in the test")
        elif step.kind == "vendor" and kind != "fragment":
            yield _misplaced(step, f"a {kind} file runs as it is", "take it out: only tests of fragments name a vendor")


def _misplaced(step: Given | Expect, message: str, help: str) -> Diagnostic:
    return Diagnostic("E704", message, Label(step.place, "this step"), help=help)


# -- expectations ------------------------------------------------------------------------------------------------------


def _expect(expect: Expect, table: Table) -> Iterator[Diagnostic]:
    form = form_of(expect)
    if form is None:
        yield _unknown(expect.words)
        return
    given = shape(expect)
    said = "expect " + " ".join(word.text for word in expect.words)
    if given not in form.takes:
        takes = " or ".join(form.takes)
        yield Diagnostic(
            "E702",
            f"{quoted(said)} takes {takes}",
            Label(expect.place, f"{given} here"),
            help=f"as in `{form.example}`",
        )
    elif isinstance(expect.value, dict) and form.keys is not None:
        for key in expect.value:
            if key not in form.keys:
                label = Label(expect.place, "in this record")
                yield Diagnostic(
                    "E703", f"{quoted(said)} has no {quoted(key)}", label, help=suggestion(key, form.keys, 12)
                )
    yield from _names(expect, form, table)


def _unknown(words: tuple[Name, ...]) -> Diagnostic:
    """Point at the first word that cannot follow those before it."""
    known: list[str] = []
    for number, word in enumerate(words):
        before = tuple(one.text for one in words[:number])
        known = next_words(before)
        if known and word.text not in known and not any(one.isupper() for one in known):
            said = quoted(" ".join(["expect", *before, word.text]))
            return Diagnostic(
                "E701",
                f"unknown expectation {said}",
                Label(word.place, "not known"),
                help=suggestion(word.text, known, 12),
            )
        if not known:
            said = quoted(" ".join(["expect", *before]))
            return Diagnostic(
                "E701", f"{said} takes no further word", Label(word.place, "too much"), help="take it out"
            )
    rest = next_words(tuple(word.text for word in words))
    said = quoted(" ".join(["expect", *(word.text for word in words)]))
    examples = [form.example for key, form in FORMS.items() if key[: len(words)] == tuple(word.text for word in words)]
    help = suggestion("", rest, 12) if len(rest) > 1 else f"as in `{examples[0]}`"
    return Diagnostic(
        "E701", f"{said} does not say of what", Label(words[-1].place, "a word is missing after this"), help=help
    )


def _names(expect: Expect, form: Form, table: Table) -> Iterator[Diagnostic]:
    """Find names that nothing has: an expectation of what can never be there would hold, or fail, for no reason."""
    pattern = next((key for key, known in FORMS.items() if known is form), ())
    word = expect.words[-1]
    if RULE in pattern:
        yield from _known("rule", word, rules_of(table))
    elif STATE in pattern:
        yield from _known("state", word, [state.name for state in table.policy.states])
    elif REASON in pattern and word.text not in (reasons := reasons_of(table)):
        help = suggestion(word.text, sorted(reasons))
        message = f"nothing makes a note {quoted(word.text)}"
        yield Diagnostic("E707", message, Label(word.place, "no such reason"), help=help)
    if isinstance(expect.value, dict) and REASON in pattern and isinstance(rule := expect.value.get("rule"), str):
        known = {*rules_of(table), *(one.name for one in table.program.maps), "wire", "frame", "choices", "notes"}
        if rule not in known:
            label = Label(expect.place, "in this record")
            yield Diagnostic("E707", f"no rule is named {quoted(rule)}", label, help=suggestion(rule, sorted(known)))


def _known(what: str, word: Name, known: list[str]) -> Iterator[Diagnostic]:
    if word.text not in known:
        help = suggestion(word.text, known)
        yield Diagnostic(
            "E707", f"no {what} is named {quoted(word.text)}", Label(word.place, f"no such {what}"), help=help
        )


def rules_of(table: Table) -> list[str]:
    """The names of all rules of a table, in a fixed order."""
    return list(dict.fromkeys(outcome.rule for outcome in table.policy.outcomes))


def reasons_of(table: Table) -> set[str]:
    """The reasons of all notes that a table can make."""
    policy = table.policy
    actions = [action for outcome in policy.outcomes for action in outcome.actions]
    said = {action.words[0] for action in actions if action.verb in ("note", "drop")}
    return {*said, *(f"args-{repair}" for repair in policy.repairs), *EXTERNAL_NOTES, *WIRE_NOTES, "more-notes"}
