"""What a rule may do: verbs, the words that each takes, and what each opens or closes.

The effects are what the proof of `holds` is made of: `prove` follows them through every cell. The machine gives each
verb its meaning; a test holds the two lists equal.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from reknit.vocabulary.words import INVALID_REASONS, OPAQUE, SEALS, SINGLE, STOP_REASONS, TEXT, THINKING, TOOL

FIELD: Final = "<field>"
"""Stands for any field of the event."""

REASON: Final = "<reason>"
"""Stands for any kebab-case word: the reason of a note."""


class Verb(NamedTuple):
    """A verb: what it does, and what may follow it.

    Attributes:
        doc: One sentence.
        words: For each position, the words that may stand there.
        optional: How many words at the end may be left out.
        about: The targets of events on which it may be used; empty: all.
    """

    doc: str
    words: tuple[tuple[str, ...], ...]
    optional: int = 0
    about: tuple[str, ...] = ()


TWIN: Final = "twin"
CALL: Final = "call"
BLOCK: Final = "block"
CALLS: Final = "calls"
COMPLETE_CALLS: Final = "complete-calls"
ALL: Final = "all"

FLUSHABLE: Final = (TEXT, THINKING, OPAQUE, CALLS, COMPLETE_CALLS, ALL)
"""What `flush` and `archive` may name; `archive` also `block`, the call or opaque block meant."""

BLOCK_VERBS: Final = ("open", "reopen", "archive")

VERBS: Final[dict[str, Verb]] = {
    "open": Verb(
        "open a block and bind the event's slot to it; a twin is a call that may be a repetition of the one meant: it "
        "stays out of the message until it ends and is compared",
        ((TEXT, THINKING, TOOL, OPAQUE, TWIN),),
    ),
    "append": Verb("append a field's value to the block just opened, else to the block meant", ((FIELD,),)),
    "propose": Verb(
        "let a field's value stand for the arguments of the call meant until a piece comes", (("json",),), 0, (TOOL,)
    ),
    "replace": Verb("put a field's value in the place of what the block meant holds of it", ((FIELD,),)),
    "mark": Verb("mark the block meant: its pieces repeat what came before", (("cumulative",),), 0, (TEXT, THINKING)),
    "set": Verb(
        "set a field of the call just opened or of the message; a stop reason may be named",
        ((FIELD, "reason"), STOP_REASONS),
        1,
    ),
    "fill": Verb(
        "set the id or name of the call meant where it has none, or a made-up one", (("id", "name"),), 0, (TOOL,)
    ),
    "make": Verb("give the call just opened, else the call meant, a made-up id", (("id",),), 0, (TOOL, "ending")),
    "bind": Verb("bind the event's slot to the call meant", (("slot",),), 0, (TOOL,)),
    "archive": Verb("finish blocks; calls with the seal that is named", ((BLOCK, *FLUSHABLE), tuple(SEALS)), 1),
    "reopen": Verb("take the archived block meant up again", ((TEXT, CALL),)),
    "hold": Verb("keep a signature until its block comes", (("signature",),), 0, ("signature",)),
    "fold": Verb(
        "fold an object into the opaque block: texts are appended, lists extended, other values set",
        ((FIELD,),),
        0,
        (OPAQUE,),
    ),
    "merge": Verb("merge a report into the books, field by field", (("usage",),)),
    "bank": Verb("close the books so far, so that what follows is counted on top", (("usage",),)),
    "infer": Verb(
        "infer the stop reason from the blocks, or the name of the ended call from the one tool that fits",
        (("reason", "name"),),
    ),
    "complete": Verb("the message is complete", ()),
    "fail": Verb("the message failed, with the event's error", ()),
    "drop": Verb("drop what the event brought, with a note", ((REASON,),)),
    "note": Verb("note what happened", ((REASON,),)),
    "accept": Verb("the ended call's arguments stand as they were read", (), 0, ("ending",)),
    "decode": Verb(
        "texts that hold the JSON of an object or list become it, where the schema wants one",
        (("nested",),),
        0,
        ("ending",),
    ),
    "reject": Verb("the ended call is invalid, for a reason", (INVALID_REASONS,), 0, ("ending",)),
    "keep": Verb("the ended twin is a call of its own after all, and is judged as one", (("call",),), 0, ("ending",)),
    "withdraw": Verb("the ended twin was a repetition: it stays out of the message", (("call",),), 0, ("ending",)),
    "adopt": Verb(
        "the first call takes over the arguments of the ended twin and is judged again",
        (("arguments",),),
        0,
        ("ending",),
    ),
    "conflict": Verb("the first call becomes invalid for the reason", (INVALID_REASONS,), 0, ("ending",)),
}


class Effect(NamedTuple):
    """Kinds that an action opens, and kinds that it closes (`must`: they have to be open; `may`: if they are)."""

    opens: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


def effect(verb: str, words: tuple[str, ...], meant: str | None = None) -> Effect:
    """What an action opens and closes; `meant` is the kind of the block meant, where the cell says it."""
    what = words[0] if words else ""
    if verb == "open":
        return Effect(opens=(TOOL if what == TWIN else what,))
    if verb == "reopen":
        return Effect(opens=(TOOL if what == CALL else what,))
    if verb == "archive":
        if what in SINGLE:
            return Effect(must=(what,))
        if what in (CALLS, OPAQUE):
            return Effect(may=(TOOL if what == CALLS else OPAQUE,))
        if what == ALL:
            return Effect(may=(TEXT, THINKING, TOOL, OPAQUE))
    return Effect()
