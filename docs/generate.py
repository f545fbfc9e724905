"""Writes `docs/reference.md` and `docs/vendors.md`: the first from the engine's vocabulary, the second from `rules/`.

    python docs/generate.py            write both
    python docs/generate.py --check    write nothing; exit with 1 and show what differs where a page is out of date

A word that the engine knows and this file has no sentence for is an error, and so is a sentence for a word that the
engine no longer knows: the pages say neither too little nor too much.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reknit import depth, detect, paths, stream
from reknit.compile.cells import MOST_CELLS
from reknit.compile.program import SPLIT_PLACES
from reknit.lang import parser, resolve, tokens
from reknit.lang.contents import edit_key
from reknit.lang.diagnostics import CODES
from reknit.lang.shelf import edit_keyword
from reknit.lang.syntax import Quirk
from reknit.machine import growth, notes
from reknit.testing.expectations import FORMS, OF_BLOCKS, OF_END, OF_STEP
from reknit.testing.soundness import WIRE_NOTES
from reknit.trial import Trial, prepare
from reknit.vocabulary.actions import FIELD, FLUSHABLE, REASON, VERBS, Verb
from reknit.vocabulary.escalations import SUBJECTS
from reknit.vocabulary.filters import FILTERS
from reknit.vocabulary.json_types import JSON_TYPES
from reknit.vocabulary.merges import MERGES
from reknit.vocabulary.questions import ABOUT, ASKS, TYPES, Question
from reknit.vocabulary.repairs import REPAIRS
from reknit.vocabulary.words import (
    CLASS_SETTINGS,
    ERROR_KINDS,
    EXTERNAL_NOTES,
    GRADES,
    INVALID_REASONS,
    KINDS,
    SEALS,
    STOP_REASONS,
    USAGE_FIELDS,
)
from reknit.wire import SALVAGE, WIRES, salvage
from reknit.wire.frames import Limits

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "rules"

MADE = "<!-- Made by docs/generate.py. Edits to this page are lost. -->"

Rows = Iterable[tuple[str, ...]]

# -- sentences for words that the engine lists without one -------------------------------------------------------------

INVALID = {
    "bad_json": "the arguments are no JSON object, and no repair in use reads them",
    "truncated": "nothing proves that the arguments are all there",
    "missing_required": "a field that the schema requires is not there",
    "schema_mismatch": "the arguments break the schema otherwise",
    "missing_name": "no name came, and the arguments fit no tool",
    "ambiguous_name": "no name came, and the arguments fit several tools",
    "unknown_tool": "the name is of no tool in the list",
    "multiple_objects": "several different objects came in one call",
    "id_conflict": "two different calls came under one id",
}
STOPS = {
    "end_turn": "the model has said all it wanted to say",
    "tool_use": "it waits for the results of its calls",
    "max_tokens": "the output limit was reached",
    "stop_sequence": "a stop sequence was written",
    "refusal": "it, or a filter, refused",
    "pause_turn": "the server paused a long turn; give the message back to go on",
    "error": "the stream failed",
}
ERRORS = {
    "overloaded": "the vendor has no room now",
    "rate_limit": "the caller sends too much, or a quota is used up",
    "connection": "the transport failed",
    "server": "the vendor failed otherwise, or its body was no stream",
    "invalid_request": "the request was wrong, or too large",
    "auth": "the key, its rights or its account",
    "malformed": "what came could not be read, or broke a bound",
    "stalled": "nothing came for too long; only the caller can know",
    "content": "a content policy stopped it",
    "other": "anything else",
}
SETTINGS = {
    "start": {
        "seal": "as soon as its arguments are proved to be all there",
        "confirm": "when the message is confirmed",
        "approval": "when a person approves",
        "never": "never",
    },
    "parallel": {"true": "together with others", "false": "one after another"},
    "discard": {"cancel": "it may be given up with its attempt", "block": "an attempt with it cannot be given up"},
}
FRAMINGS = {
    "sse": "Server-Sent Events: CR, LF or CRLF, comments, data over several lines, a byte order mark",
    "ndjson": "one JSON value a line",
}
PLACES = {"head": "at the head of the text alone", "line": "at the head of a line alone"}
TYPES_OF_JSON = {
    "string": "a text",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "object": "an object",
    "null": "null, or not there",
    "empty": "what carries nothing: null, an empty text, or a list or object of nothing but such",
}
FLUSHED = {
    "text": "the open text block",
    "thinking": "the open thinking block",
    "opaque": "open opaque blocks",
    "calls": "open calls",
    "complete-calls": "open calls whose arguments are one whole value",
    "all": "every open block",
}
WIRE_SAID = {
    "bad-frame": "a frame, or a line, that is no JSON was dropped",
    "bad-utf8": "bytes that are no UTF-8 were replaced",
    "frame-too-deep": "a frame nested too deeply was dropped",
    "frame-too-long": "a frame beyond the bound was dropped",
    "non-json-number": "a number that JSON has no word for became null",
    "raw-control-character": "a control character inside a text was not escaped",
    "unknown-field": "a line of a field that the framing does not know was dropped",
    "unterminated-event": "the last event had no end and was dropped",
}
ENGINE_SAID = {
    "protocol-recognised": "no vendor was named; the excerpt says which rules read the stream",
    "lone-surrogate": "a text had half a surrogate pair in it: U+FFFD stands in its place",
    "after-end": "something came after the end, and was dropped; standard rules say so in the same word",
    "more-notes": "there were too many different notes; this one counts the rest",
}
FAULTS = {
    "html-body": ("server", "the body is a page of markup"),
    "text-body": ("server", "the body is text, and no stream"),
    "bare-body": ("malformed", "the body is one JSON value that no map takes"),
    "body-too-long": ("malformed", "the body is beyond its bound"),
    "too-many-blocks": ("malformed", "the message has more blocks, or more calls at once, than it may have"),
    "no-events": ("malformed", "no vendor was named, and nothing came"),
    "unknown-protocol": ("malformed", "no vendor was named, and the first frames fit no protocol"),
    "ambiguous-protocol": ("malformed", "no vendor was named, and the first frames fit several protocols"),
}

LETTERS = {
    "E1": "syntax and files",
    "E2": "names and types",
    "E3": "the table",
    "E4": "maps",
    "E5": "edits",
    "E6": "classes of tools",
    "E7": "tests",
    "W": "lints",
}


class MismatchError(Exception):
    """The sentences of this file and the words of the engine are not the same."""


def said(words: Iterable[str], sentences: Mapping[str, str], what: str) -> Rows:
    """Rows of words with their sentences, which have to be exactly as many."""
    words = list(words)
    if set(words) != set(sentences):
        differ = sorted(set(words) ^ set(sentences))
        raise MismatchError(f"the sentences for {what} in docs/generate.py do not fit the engine: {', '.join(differ)}")
    return [(code(word), sentences[word]) for word in words]


# -- markdown ----------------------------------------------------------------------------------------------------------


def code(text: str) -> str:
    """A word as code."""
    return f"`{text}`"


def codes(words: Iterable[str]) -> str:
    """Words as code, parted by commas."""
    return ", ".join(map(code, words))


def table(head: tuple[str, ...], rows: Rows) -> Iterator[str]:
    """A table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def pairs(rows: Mapping[Any, str] | Rows, head: tuple[str, str]) -> Iterator[str]:
    """A table of words and what they mean."""
    if isinstance(rows, Mapping):
        rows = [(code(word), meaning) for word, meaning in rows.items()]
    return table(head, rows)


# -- reference.md ------------------------------------------------------------------------------------------------------


def reference() -> str:
    """The page of all words."""
    lines = [MADE, "", "# Reference: every word that rules are written in", ""]
    lines += [
        "The lists are closed: any other word is an error. [language.md](language.md) says how they are used.",
        "",
    ]
    for section in (_events, _actions, _calls, _vendor_words, _tests, _notes, _errors, _bounds, _diagnostics):
        lines += section()
    return "\n".join(lines).rstrip() + "\n"


def _question(name: str, question: Question, word: str) -> Iterator[str]:
    about = f" Only on events about {codes(question.about)}." if question.about else ""
    yield f"**`{name}`**: {question.doc}.{about}"
    yield ""
    if question.cases:
        yield from pairs(question.cases, ("case", "meaning"))
    else:
        yield f"A {word} without cases: no rule can ask about it."
        yield ""


def _events() -> Iterator[str]:
    yield from ("## What an event is about", "")
    yield "The *block meant* by an event is, in this order: the call that has its id; the block that its slot is bound"
    yield "to; without a slot, the last open block of the kind, else the last one archived."
    yield ""
    yield from pairs(ABOUT, ("`about`", "the block meant is one of"))
    yield from ("## Types of fields, and their cases", "")
    for name, question in TYPES.items():
        yield from _question(name, question, "type")
    yield from ("## Questions that an event may ask (`asks`)", "")
    for name, question in ASKS.items():
        yield from _question(name, question, "question")
    yield from ("## Kinds of blocks that a state may hold", "")
    yield from pairs(KINDS, ("kind", "meaning"))


def _actions() -> Iterator[str]:
    yield from ("## Actions", "")
    rows = [(_usage(name, verb), verb.doc, codes(verb.about) or "any") for name, verb in VERBS.items()]
    yield from table(("action", "what it does", "on events about"), rows)
    yield from ("## What `flush` and `archive` may name", "")
    yield from pairs(said(FLUSHABLE, FLUSHED, "what may be flushed"), ("word", "archives"))
    yield "`archive block` archives the block meant."
    yield ""


def _usage(name: str, verb: Verb) -> str:
    words = [_position(allowed) for allowed in verb.words]
    first_optional = len(words) - verb.optional
    shown = [f"[{word}]" if number >= first_optional else word for number, word in enumerate(words)]
    return code(" ".join([name, *shown]))


def _position(allowed: tuple[str, ...]) -> str:
    names = {FIELD: "FIELD", REASON: "REASON"}
    return " | ".join(names.get(word, word) for word in allowed)


def _calls() -> Iterator[str]:
    yield from ("## Seals: what proves that a call's arguments are all there", "")
    yield from pairs(SEALS, ("seal", "proof"))
    yield from ("## Grades: how the arguments were read", "")
    yield from pairs(GRADES, ("grade", "meaning"))
    yield from ("## Repairs of arguments (`repair NAME as GRADE`)", "")
    yield "Tried in this order; a policy says which it uses, and which grade each gives: `lossless` or `guessed`."
    yield ""
    yield from pairs({name: rung.doc for name, rung in REPAIRS.items()}, ("repair", "reads"))
    yield from ("## Why a call is invalid", "")
    yield from pairs(said(INVALID_REASONS, INVALID, "reasons of invalid calls"), ("reason", "meaning"))
    yield from ("## Classes of tools", "")
    rows = [
        (code(f"{setting}: {word}"), sentence)
        for setting, words in CLASS_SETTINGS.items()
        for word, (_, sentence) in zip(words, said(words, SETTINGS.get(setting, {}), f"`{setting}`"), strict=True)
    ]
    yield from table(("setting", "calls of the class start, run, or are given up"), rows)
    yield from ("## What an escalation may ask of an ended call", "")
    rows = [
        (code(f"{subject} {case}"), meaning) for subject, cases in SUBJECTS.items() for case, meaning in cases.items()
    ]
    yield from table(("`escalate to CLASS when`", "meaning"), rows)
    yield from ("## Fields of usage", "")
    yield from pairs(USAGE_FIELDS, ("field", "counts"))
    yield from ("## Merges of usage (`merge FIELD by NAME`)", "")
    yield from pairs({name: merge.doc for name, merge in MERGES.items()}, ("merge", "of several reports"))
    yield from ("## Stop reasons", "")
    yield from pairs(said(STOP_REASONS, STOPS, "stop reasons"), ("word", "meaning"))
    yield "Any other word passes through as it came; rules ask for it as the case `other`."
    yield ""


def _vendor_words() -> Iterator[str]:
    yield from ("## Wires", "")
    yield from pairs(said(WIRES, FRAMINGS, "wires"), ("`wire`", "framing"))
    yield from ("## Salvage steps", "")
    yield "What is read by one of them leaves a note `salvaged-STEP`."
    yield ""
    yield from pairs(SALVAGE, ("`salvage`", "what it does"))
    yield from ("## Filters", "")
    rows = [(code(f"{name} WORD" if one.argument else name), one.doc) for name, one in FILTERS.items()]
    yield from table(("filter", "gives"), rows)
    yield from ("## JSON types (`where PATH is TYPE`)", "")
    yield from pairs(said(JSON_TYPES, TYPES_OF_JSON, "JSON types"), ("type", "is"))
    yield from ("## Where a split counts (`only PLACE`)", "")
    yield from pairs(said(SPLIT_PLACES, PLACES, "places of splits"), ("place", "a tag counts"))
    yield "`outside code` passes over tags inside code; `implied open` begins inside, with or without the opening tag."
    yield ""


def _tests() -> Iterator[str]:
    titles = {
        OF_BLOCKS: "of the blocks of the message, in order",
        OF_END: "of the message at its end",
        OF_STEP: "of what the last `given` brought",
    }
    yield from ("## What a test may expect", "")
    for of, title in titles.items():
        yield f"**{title[0].upper()}{title[1:]}**"
        yield ""
        forms = {words: form for words, form in FORMS.items() if form.of == of and words[0] != "no"}
        rows = [
            (code(" ".join(["expect", *words])), code(form.example), codes(form.keys) if form.keys else "")
            for words, form in forms.items()
        ]
        yield from table(("expectation", "example", "keys of its record"), rows)
        denied = [" ".join(["expect", *words]) for words, form in FORMS.items() if form.of == of and words[0] == "no"]
        yield f"And that there is none: {codes(denied)}."
        yield ""


def _notes() -> Iterator[str]:
    yield from ("## Notes that the engine gives itself", "")
    yield "All other reasons stand in rule files, behind `note` and `drop`."
    yield ""
    plain = [word for word in WIRE_NOTES if not word.startswith("salvaged-")]
    rows: list[tuple[str, ...]] = [(code(word), "a map", meaning) for word, meaning in EXTERNAL_NOTES.items()]
    rows += [(*row[:1], "the wire", *row[1:]) for row in said(plain, WIRE_SAID, "notes of the wire")]
    rows += [(code(f"salvaged-{step}"), "the wire", f"the step `{step}` was needed") for step in SALVAGE]
    rows += [(code(f"args-{name}"), "a repair", f"the arguments were read by the repair `{name}`") for name in REPAIRS]
    rows += [(code(word), "the engine", meaning) for word, meaning in ENGINE_SAID.items()]
    yield from table(("reason", "noted by", "meaning"), rows)


def _errors() -> Iterator[str]:
    yield from ("## Kinds of errors", "")
    yield from pairs(said(ERROR_KINDS, ERRORS, "kinds of errors"), ("kind", "meaning"))
    yield from ("## Codes of errors that the engine gives itself", "")
    yield "All other codes are the vendor's, or the reason of a note where `deviations fail`."
    yield ""
    rows = [(code(word), code(kind), meaning) for word, (kind, meaning) in FAULTS.items()]
    yield from table(("code", "kind", "meaning"), rows)


def _bounds() -> Iterator[str]:
    limits = Limits()
    kib, mib = 1024, 1024 * 1024
    rows = [
        ("a rule file", f"{tokens.MAX_BYTES // kib} KiB, {parser.MAX_ITEMS:,} items"),
        ("a text in a rule file", f"{tokens.MAX_TEXT // kib} KiB"),
        ("a value in a rule file", f"{tokens.MAX_DEPTH} levels"),
        ("a number in a rule file", f"{tokens.MAX_NUMBER} characters"),
        ("findings told of one file", f"{tokens.MAX_FINDINGS}"),
        ("a chain of `extends`", f"{resolve.MAX_CHAIN} files"),
        ("cells of a policy, possible or not", f"{MOST_CELLS:,}"),
        ("steps of a path", f"{paths.MOST_STEPS}"),
        ("a frame", f"{limits.frame_bytes // mib} MiB, {depth.MAX_DEPTH} levels"),
        ("a body", f"{limits.body_bytes // mib} MiB"),
        ("places tried by the step `glued`", f"{salvage.MAX_TRIES}"),
        ("what is looked at to recognise a protocol", f"{detect.MOST_FRAMES} frames, {detect.MOST_BYTES // kib} KiB"),
        ("blocks of a message", f"{growth.MOST_BLOCKS:,}"),
        ("calls open at once", f"{growth.MOST_OPEN_CALLS}"),
        ("choices of a stream", f"{stream.MOST_CHOICES}"),
        ("different notes of a message", f"{notes.MOST_NOTES:,}"),
    ]
    yield from ("## Bounds", "")
    yield "Rule files and streams are untrusted. What is beyond a bound is an error of the file, a note, or ends the"
    yield "stream; the bounds of frame and body are arguments (`reknit.Limits`)."
    yield ""
    yield from table(("of", "at most"), rows)


def _diagnostics() -> Iterator[str]:
    yield from ("## Codes of findings in rule files", "")
    yield "A code is never given another meaning."
    yield ""
    for letter, title in LETTERS.items():
        rows = [(code(key), meaning) for key, meaning in sorted(CODES.items()) if key.startswith(letter)]
        if rows:
            yield f"**{letter}: {title}**"
            yield ""
            yield from table(("code", "finding"), rows)
    strange = sorted(key for key in CODES if not key.startswith(tuple(LETTERS)))
    if strange:
        raise MismatchError(f"codes without a heading in docs/generate.py: {', '.join(strange)}")


# -- vendors.md --------------------------------------------------------------------------------------------------------


def vendors() -> str:
    """The page of all shipped rule files."""
    trials = [prepare(str(path)) for path in sorted(RULES.glob("*.rules"))]
    for trial in trials:
        if not trial.sound or trial.file is None:
            raise MismatchError(f"{Path(trial.source).name} is not sound; `reknit check` says why")
    lines = [MADE, "", "# Rule files that are shipped", ""]
    lines += [
        "Take a vendor by `--vendor`, a policy by `--policy` or in a header, a fragment by `--with` or `with`.",
        "",
    ]
    lines += ["| file | what it is for |", "|---|---|"]
    for kind in ("vendor", "policy", "fragment"):
        for trial in _of(trials, kind):
            assert trial.file is not None
            lines += [f"| {kind} [`{trial.name}`](#{trial.name}) | {_cell(trial.file.header.reason)} |"]
    lines += [""]
    for kind, title in {"vendor": "Vendors", "policy": "Policies", "fragment": "Fragments"}.items():
        lines += [f"## {title}", ""]
        for trial in _of(trials, kind):
            lines += _page(trial)
    return "\n".join(lines).rstrip() + "\n"


def _of(trials: Iterable[Trial], kind: str) -> list[Trial]:
    return sorted((trial for trial in trials if trial.kind == kind), key=lambda trial: trial.name)


def _page(trial: Trial) -> Iterator[str]:
    file = trial.file
    assert file is not None
    yield f"### {trial.name}"
    yield ""
    yield f"{_sentence(file.header.reason)}"
    yield ""
    yield from [f"- {fact}" for fact in _facts(trial)]
    yield ""
    quirks = [item for item in file.items if isinstance(item, Quirk)]
    if quirks:
        rows = [(code(one.name.text), one.reason, "<br>".join(_edits(one))) for one in quirks]
        yield from table(("quirk", "reason", "edits"), rows)


def _facts(trial: Trial) -> Iterator[str]:
    file, compiled = trial.file, trial.table()
    assert file is not None
    assert compiled is not None
    header = file.header
    source = Path(trial.source).name
    yield f"file [`rules/{source}`](../rules/{source})"
    if header.extends is not None:
        yield f"extends {_link(header.extends.text)}"
    if header.fragments:
        yield f"with {', '.join(_link(name.text) for name in header.fragments)}"
    if header.kind == "vendor":
        program = compiled.program
        yield f"protocol `{program.protocol}`, wire `{program.wire}`, policy {_link(compiled.policy.name)}"
    elif header.kind == "fragment":
        yield f"fits {', '.join(map(_link, sorted(trial.tables)))}"
    text = (RULES / source).read_text(encoding="utf-8")
    yield from _origins(text)


_ORIGIN = re.compile(r"^# (Source|Who sends it): ((?:.*\n(?:# .*\n)*))", re.MULTILINE)
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


def _origins(text: str) -> Iterator[str]:
    """The first sentence of each comment that says where a fact comes from, or who sends such streams."""
    for match in _ORIGIN.finditer(text):
        words = " ".join(match[2].replace("\n# ", " ").split())
        first = _SENTENCE.match(words)
        yield f"{match[1].lower()}: {first[0].removesuffix('.') if first else words}"


def _edits(quirk: Quirk) -> Iterator[str]:
    for edit in quirk.edits:
        keyword, name = edit_keyword(edit), edit_key(edit)[1]
        yield code(f"{edit.verb} {keyword}" if keyword in (name, "salvage") else f"{edit.verb} {keyword} {name}")


def _link(name: str) -> str:
    return f"[`{name}`](#{name})"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# -- writing and checking ----------------------------------------------------------------------------------------------

PAGES = {"docs/reference.md": reference, "docs/vendors.md": vendors}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or say what differs."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    options.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check = options.parse_args(arguments).check
    stale = 0
    for name, make in PAGES.items():
        path = ROOT / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        made = make()
        if there == made:
            continue
        if not check:
            path.write_text(made, encoding="utf-8")
            print(f"{name}: written")
            continue
        stale += 1
        lines = difflib.unified_diff(
            there.splitlines(), made.splitlines(), name, "as the engine has it", lineterm="", n=0
        )
        print("\n".join(list(lines)[:40]))
    if stale:
        print("out of date: run `python docs/generate.py`")
    return 1 if stale else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MismatchError as error:
        sys.exit(f"error: {error}")
