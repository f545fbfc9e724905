"""The closed list of what a test may expect: the words, the form of the value, and an example of each.

An expectation says something of the message when the stream has ended, of its blocks in order, or of a step: what the
last step before it brought.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from reknit.lang.syntax import Expect
from reknit.testing.views import BLOCK_KINDS

TEXT: Final = "a text"
RECORD: Final = "a record"
TRUTH: Final = "`true` or `false`"
NULL: Final = "`null`"
NOTHING: Final = "no value"
OTHER: Final = "a value of another form"

OF_BLOCKS: Final = "blocks"
OF_END: Final = "end"
OF_STEP: Final = "step"

REASON: Final = "REASON"
RULE: Final = "RULE"
STATE: Final = "STATE"
OPEN_WORDS: Final = (REASON, RULE, STATE)
"""Stand for the reason of a note, the name of a rule, the name of a state."""


class Form(NamedTuple):
    """One kind of expectation.

    Attributes:
        of: What it is about: the blocks of the message in order, the message at the end, or a step.
        takes: The forms that its value may have.
        example: It, as it may stand in a rule file.
        keys: The keys that its record may have; None for any.
    """

    of: str
    takes: tuple[str, ...]
    example: str
    keys: tuple[str, ...] | None = ()


_TOOL: Final = (
    *("id", "name", "input", "invalid", "raw_input", "signature"),
    *("class", "grade", "seal", "executable"),
)
_BLOCKS: Final[dict[str, tuple[tuple[str, ...], str, tuple[str, ...] | None]]] = {
    "text": ((TEXT, RECORD, NOTHING), '"Hello"', ("text", "citations", "signature")),
    "thinking": ((TEXT, RECORD, NOTHING), '{ text: "Hm", signature: "s" }', ("text", "signature")),
    "redacted": ((RECORD, NOTHING), '{ data: "..." }', ("data",)),
    "opaque": ((RECORD, NOTHING), '{ type: "server_tool_use" }', None),
    "tool": ((RECORD, NOTHING), '{ id: "t1", name: "Read", input: {} }', _TOOL),
}
USAGE: Final = ("input", "output", "cache_read", "cache_write", "reasoning")
NOTE: Final = ("rule", "count", "block", "first", "last")
ERROR: Final = ("kind", "code", "message")
_DELTAS: Final = ("text", "thinking", "signature", "input")


def _forms() -> dict[tuple[str, ...], Form]:
    forms: dict[tuple[str, ...], Form] = {}
    for kind, (takes, value, keys) in _BLOCKS.items():
        forms[(kind,)] = Form(OF_BLOCKS, takes, f"expect {kind} {value}", keys)
    forms |= {
        ("no", "blocks"): Form(OF_BLOCKS, (NOTHING,), "expect no blocks"),
        ("stop",): Form(OF_END, (TEXT, NULL), 'expect stop "end_turn"'),
        ("complete",): Form(OF_END, (TRUTH,), "expect complete true"),
        ("usage",): Form(OF_END, (RECORD,), "expect usage { input: 3, output: 1 }", USAGE),
        ("error",): Form(OF_END, (RECORD, NOTHING), "expect error { kind: overloaded }", ERROR),
        ("no", "error"): Form(OF_END, (NOTHING,), "expect no error"),
        ("note", REASON): Form(OF_END, (RECORD, NOTHING), "expect note headless-call { count: 1 }", NOTE),
        ("no", "notes"): Form(OF_END, (NOTHING,), "expect no notes"),
        ("no", "note", REASON): Form(OF_END, (NOTHING,), "expect no note headless-call"),
        ("fired", RULE): Form(OF_END, (NOTHING,), "expect fired text-open"),
        ("state", STATE): Form(OF_STEP, (NOTHING,), "expect state text"),
        ("reopened",): Form(OF_STEP, (NOTHING,), "expect reopened"),
        ("no", "reopened"): Form(OF_STEP, (NOTHING,), "expect no reopened"),
    }
    for kind, (takes, value, keys) in _BLOCKS.items():
        forms[("archived", kind)] = Form(OF_STEP, takes, f"expect archived {kind} {value}", keys)
        if kind != "redacted":  # it is known to be that only when it is whole
            takes, value = ((RECORD, NOTHING), ' { id: "t1" }') if kind == "tool" else ((NOTHING,), "")
            forms[("opened", kind)] = Form(OF_STEP, takes, f"expect opened {kind}{value}", ("id", "name"))
    for what in ("archived", "opened"):
        forms[("no", what)] = Form(OF_STEP, (NOTHING,), f"expect no {what}")
        for kind in BLOCK_KINDS:
            if (what, kind) in forms:
                forms[("no", what, kind)] = Form(OF_STEP, (NOTHING,), f"expect no {what} {kind}")
    forms[("no", "delta")] = Form(OF_STEP, (NOTHING,), "expect no delta")
    for field in _DELTAS:
        forms[("delta", field)] = Form(OF_STEP, (TEXT,), f'expect delta {field} "Hel"')
        forms[("no", "delta", field)] = Form(OF_STEP, (NOTHING,), f"expect no delta {field}")
    return forms


FORMS: Final = _forms()
"""Every expectation by its words."""


def form_of(expect: Expect) -> Form | None:
    """The form of an expectation; None where its words say none."""
    words = tuple(word.text for word in expect.words)
    form = FORMS.get(words)
    if form is not None:
        return form
    return next((FORMS[key] for word in OPEN_WORDS if (key := (*words[:-1], word)) in FORMS), None)


def next_words(words: tuple[str, ...]) -> list[str]:
    """The words that may follow some words."""
    size = len(words)
    return list(dict.fromkeys(key[size] for key in FORMS if len(key) > size and key[:size] == words))


def shape(expect: Expect) -> str:
    """The form of an expectation's value."""
    value = expect.value
    if value is None:
        # Only the places tell `expect stop null` from `expect stop`.
        last = expect.words[-1].place
        end = (expect.place.end_line, expect.place.end_column)
        return NOTHING if end == (last.end_line, last.end_column) else NULL
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, str):
        return TEXT
    return RECORD if isinstance(value, dict) else OTHER
