"""What a guard may ask: questions with finitely many cases, and which answers can occur together.

A field's type is a question about its value; an event may ask further ones about the machine (`asks`). Because every
question has finitely many cases, overlap, gaps and differences between rules are found by enumeration. `possible`
says which combinations can occur at all; the machine never answers outside of it (a property test holds it to that).

The *block meant* by an event is, in this order: the call that has the event's id; the block that the event's slot is
bound to; without a slot, the last open block of the kind, else the last one archived.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from reknit.vocabulary.words import ERROR_KINDS, SEALS, STOP_REASONS


class Question(NamedTuple):
    """A question: its cases with their meaning, and the targets (`about`) on which it may be asked; empty: on all."""

    doc: str
    cases: dict[str, str]
    about: tuple[str, ...] = ()


ABOUT: Final[dict[str, str]] = {
    "text": "text blocks",
    "thinking": "thinking blocks",
    "tool": "tool calls",
    "opaque": "blocks kept as they came",
    "signature": "the block that a signature belongs to: its field `of` says of which kind",
    "any": "whichever block is meant",
    "message": "the message as a whole",
    "ending": "a call that has just been archived: raised by the machine, in any state",
}
"""What an event may be about; it decides which block is meant."""

_SLOT: Final = {
    "none": "no slot given, and there is no such block",
    "last": "no slot given, and a block of the kind is open: the last one is meant",
    "past": "no slot given, none is open, the last one is archived (text and thinking: and nothing came after it)",
    "fresh": "a slot that no block of the kind was ever bound to",
    "open": "a slot whose block is open",
    "archived": "a slot whose block is archived",
    "opaque": "a slot whose block is opaque and open (only on events about tools)",
}

TYPES: Final[dict[str, Question]] = {
    "slot": Question("where in the message a block stands, as the vendor counts", _SLOT),
    "id": Question(
        "the id of a call",
        {
            "none": "not given",
            "fresh": "never seen in this message",
            "real": "never seen, and the call meant has a made-up one",
            "same": "that of the call meant by slot or position",
            "seen": "that of another call",
        },
        ("tool",),
    ),
    "name": Question(
        "the name of a tool",
        {
            "none": "not given",
            "given": "given, and the call meant has none (or no call is meant)",
            "same": "that of the call meant",
            "grows": "begins with the name of the call meant, which is of no tool, and is longer",
            "piece": "not itself a tool, but the name of the call meant and it make the name of one, or its beginning; "
            "where no tools are known: the slot is that of an open call without arguments",
            "other": "another name than that of the call meant",
        },
        ("tool",),
    ),
    "text": Question("text, in pieces", {"empty": "nothing in it", "some": "something in it"}),
    "json": Question(
        "the argument text of a call, in pieces",
        {"empty": "nothing in it", "opens": "its first character begins an object", "some": "anything else"},
        ("tool", "opaque"),
    ),
    "message_id": Question(
        "the id of the message",
        {"none": "not given", "first": "the first one", "same": "given before", "other": "another than before"},
        ("message",),
    ),
    "of": Question(
        "the kind of block that a signature belongs to",
        {"thinking": "a thinking block", "text": "a text block", "tool": "a tool call"},
        ("signature",),
    ),
    "reason": Question(
        "why the message stopped",
        {
            **{word: f"the stop reason {word}" for word in STOP_REASONS},
            "other": "an unknown word, which passes through",
        },
        ("message",),
    ),
    "how": Question(
        "how the stream ended",
        {"clean": "its end marker was read", "closed": "the bytes ended, with no marker before"},
        ("message",),
    ),
    "error_kind": Question(
        "what kind of error", {word: f"the error kind {word}" for word in ERROR_KINDS}, ("message",)
    ),
    "word": Question("a text that nothing depends on", {}),
    "count": Question("a number of tokens", {}),
    "value": Question("any JSON value", {}),
}
"""Types of fields. A type without cases cannot be asked about."""

ASKS: Final[dict[str, Question]] = {
    "held": Question(
        "the new text against what the block meant holds; short and letterless texts count as equal or extending only "
        "in a block that was marked cumulative",
        {
            "none": "it holds nothing, or there is none",
            "equal": "the same again, at least 16 characters",
            "extends": "all that is held and more, at least 3 characters held",
            "differs": "anything else",
        },
        ("text", "thinking"),
    ),
    "whole": Question(
        "a closing snapshot against all that the message holds of its kind",
        {
            "none": "the message holds nothing of the kind",
            "equal": "the same",
            "extends": "all of it and more",
            "differs": "anything else",
        },
        ("text", "thinking"),
    ),
    "signed": Question(
        "the signature of the block meant",
        {"none": "there is no such block", "no": "unsigned", "growing": "its signature may go on", "yes": "signed"},
        ("thinking", "signature"),
    ),
    "args": Question(
        "the argument text of the call meant (with a fresh slot: of the last open call), by a linear scanner",
        {
            "none": "no call is meant",
            "empty": "nothing yet",
            "given": "what the start of the call brought, and nothing since",
            "partial": "a value that has not ended",
            "complete": "one whole value",
            "over": "more than one value",
        },
        ("tool",),
    ),
    "fit": Question(
        "whether the complete arguments of the nameless call meant fit the tool that is named",
        {
            "unknown": "no tools are known, the tool is not among them, or the arguments are not complete",
            "yes": "they do",
            "no": "they do not",
        },
        ("tool",),
    ),
    "meant": Question(
        "the kind of the block meant",
        {"none": "none is open", "text": "text", "thinking": "thinking", "tool": "a call", "opaque": "an opaque block"},
        ("any",),
    ),
    "calls": Question("tool calls in the message", {"none": "none", "some": "at least one"}),
    "blocks": Question("blocks in the message", {"none": "none", "some": "at least one"}),
    "said": Question(
        "the stop reason said before",
        {"none": "none", "same": "this one", "other": "another one"},
        ("message",),
    ),
    "finished": Question("whether the vendor said why the message stopped", {"no": "no", "yes": "yes"}),
    "seal": Question(
        "what proves that the arguments are all there", {str(seal): doc for seal, doc in SEALS.items()}, ("ending",)
    ),
    "reading": Question(
        "how the argument text reads, with the repairs that the policy uses",
        {
            "empty": "nothing there",
            "exact": "one object, as it came",
            "lossless": "one object, after a repair that loses nothing",
            "guessed": "one object, after a repair by a guess",
            "several": "several different objects",
            "partial": "a value that has not ended",
            "broken": "anything else",
        },
        ("ending",),
    ),
    "named": Question(
        "the name of the call",
        {
            "none": "it has none",
            "known": "that of a tool",
            "unknown": "of no tool in the list",
            "free": "it has one, and no list of tools was given",
        },
        ("ending",),
    ),
    "fits": Question(
        "how many tools the arguments of a nameless call fit: every required field is there and, where a schema lists "
        "its properties, every field is one of them; a tool without required fields fits only {}",
        {"none": "none, or this cannot be told", "one": "exactly one", "many": "several"},
        ("ending",),
    ),
    "schema": Question(
        "the arguments against the schema of the tool",
        {
            "free": "nothing to check",
            "valid": "valid",
            "missing": "a required field is missing",
            "mismatch": "invalid otherwise",
        },
        ("ending",),
    ),
    "nested": Question(
        "whether arguments that do not fit their schema would, if texts that hold the JSON of an object or list, where "
        "the schema wants one, were that object or list",
        {"no": "no", "yes": "yes"},
        ("ending",),
    ),
    "twin": Question(
        "a call that began under the id, or in the place, of an earlier one, against that one",
        {
            "none": "it is not such a call",
            "empty": "it brought nothing of its own",
            "same": "it brought the same again",
            "fills": "it brought the arguments that the first lacks",
            "differs": "it is another call",
        },
        ("ending",),
    ),
    "ids": Question("where the id of the call comes from", {"real": "the vendor", "made": "made up here"}, ("ending",)),
}
"""What an event may ask of the machine besides its fields."""

Answers = Mapping[str, str]
"""One case for each question of an event: field names and asked questions alike."""

_UNREAD: Final = ("several", "partial", "broken")


def possible(
    about: str, types: Mapping[str, str], answers: Answers, single: frozenset[str], many: frozenset[str]
) -> bool:
    """Whether `answers` can occur on an event.

    Args:
        about: What the event is about.
        types: The type of each of its fields; asked questions stand under their own name.
        answers: One case for each question.
        single: Kinds of which the state holds exactly one.
        many: Kinds of which the state may hold any number.
    """
    if about == "ending":
        return _ending_possible(answers)
    by_type = {types.get(key, key): case for key, case in answers.items()}
    slot = by_type.get("slot")
    kind = by_type.get("of", "thinking") if about == "signature" else about
    if slot is not None and not _slot_possible(about, kind, slot, single, many):
        return False
    meant = by_type.get("meant")
    if meant is not None and not _meant_possible(meant, slot, single, many):
        return False
    block = slot not in ("none", "fresh", "opaque")
    if about == "tool":
        return _tool_possible(by_type, slot, block, many)
    if not block and slot is not None:
        for question, absent in (("held", "none"), ("signed", "none")):
            if by_type.get(question, absent) != absent:
                return False
    if slot is not None and block and by_type.get("signed") == "none":
        return False
    if by_type.get("text") == "empty":
        if by_type.get("held", "none") not in ("none", "differs"):
            return False
        if by_type.get("whole", "none") not in ("none", "differs"):
            return False
    return not (kind == "tool" and by_type.get("signed") == "none" and block)


def _slot_possible(about: str, kind: str, slot: str, single: frozenset[str], many: frozenset[str]) -> bool:
    if slot == "opaque":
        return about == "tool" and "opaque" in many
    if about == "any":
        return slot != "past" and (slot not in ("last", "open") or bool(single | many))
    if kind in ("text", "thinking"):
        return slot not in ("none", "past") if kind in single else slot not in ("last", "open")
    return slot not in ("last", "open") or kind in many


def _meant_possible(meant: str, slot: str | None, single: frozenset[str], many: frozenset[str]) -> bool:
    if meant == "none":
        return slot in ("none", "fresh", "archived") and not (slot == "none" and single)
    return meant in single | many and slot in ("last", "open")


def _tool_possible(by_type: Mapping[str, str], slot: str | None, block: bool, many: frozenset[str]) -> bool:
    ident = by_type.get("id", "none")
    name = by_type.get("name", "none")
    args = by_type.get("args")
    fit = by_type.get("fit", "unknown")
    if ident == "same" and not block:
        return False
    if ident == "real" and not block:
        return False
    if ident == "seen" and slot == "none":
        return False
    meant = block or ident in ("same", "seen")
    if not meant and name not in ("none", "given"):
        return False
    if args is not None:
        if slot == "fresh" and ident != "seen":
            if args != "none" and "tool" not in many:
                return False
        elif (args == "none") == meant:
            return False
    return not (fit != "unknown" and (name != "given" or args not in (None, "complete") or not meant))


def _ending_possible(answers: Answers) -> bool:
    unread = answers.get("reading") in _UNREAD
    named = answers.get("named", "known")
    schema = answers.get("schema", "free")
    fits = answers.get("fits", "none")
    if named == "known" and not unread and "reading" in answers:
        if "schema" in answers and schema == "free":
            return False
    elif schema != "free":
        return False
    if answers.get("nested") == "yes" and schema != "mismatch":
        return False
    return fits == "none" or (named == "none" and not unread)
