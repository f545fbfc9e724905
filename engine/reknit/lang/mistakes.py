"""From a word that cannot stand where it is to what its author most likely meant.

Each piece of advice looks at a few tokens around the culprit and at what the table would have taken; the first that
knows better speaks. Nothing here replays the parser, so a wrong guess costs a worse message and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, nearest, quoted
from reknit.lang.situation import CLOSING, Advice, Situation
from reknit.lang.tokens import Token
from reknit.vocabulary.actions import VERBS

_LIKE_A_NAME: Final = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")

# Words of other languages, and the keywords that say the same here.
_SAME_AS: Final = {
    "in": ("from",),
    "when": ("on", "where", "from"),
    "if": ("on", "where"),
    "then": ("do",),
    "goto": ("to",),
    "next": ("to",),
    "stays": ("stay",),
    "equals": ("is",),
    "and": ("where",),
    "change": ("override",),
    "replace": ("override",),
    "delete": ("remove",),
    "drop": ("remove",),
    "assert": ("expect",),
    "default": ("else",),
}
_ITEM_WORDS: Final = {
    "import": "extends",
    "include": "with",
    "transition": "rule",
    "mapping": "map",
    "function": "rule",
}


def syntax_diagnostic(situation: Situation) -> Diagnostic:
    """Say what was found, and what was most likely meant."""
    advice = next((said for advise in _ADVISERS if (said := advise(situation)) is not None), None)
    if advice is None:
        advice = Advice("cannot stand here", _expected_help(situation))
    token = situation.token
    what = "end of the file" if token.kind == "end" else _shown(token)
    culprit = advice.culprit or token
    return Diagnostic(
        "E101", advice.message or f"unexpected {what}", Label(culprit.place, advice.label), help=advice.help
    )


def _shown(token: Token) -> str:
    return quoted(token.text) if token.kind != "text" else f"the text {quoted(token.text)}"


def _expected_help(situation: Situation) -> str | None:
    expected = situation.expected
    if situation.item != "quirk":  # the table cannot tell an item of a quirk from one that stands alone
        expected -= {"add", "override", "remove"}
    spoken = {
        "NAME": "a name",
        "EVENT": "an event",
        "PATH": "a path",
        "STRING": "a text in quotes",
        "NUMBER": "a number",
        "END": "the end of the file",
    }
    words = [quoted(word) for word in sorted(expected) if word not in spoken]
    if "END" in expected and "test" in expected:  # any item can follow; two dozen keywords help nobody
        words = [quoted(word) for word in sorted(expected) if word not in spoken and word in _CLAUSES]
        words.append("the next item")
    else:
        words += [spoken[word] for word in spoken if word in expected]
    if not words or len(words) > 10:
        return None
    return f"expected here: {', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else f"expected here: {words[0]}"


_CLAUSES: Final = frozenset(
    {"on", "from", "do", "to", "stay", "at", "else", "where", "is", "or", "emit", "add", "override", "remove"}
    | {"holds", "start", "final", "asks", "except", "only", "outside", "implied", "before", "sealed"}
    | {",", "|", "{", "*"}
)


# -- brackets -------------------------------------------------------------------------------------------


def _unclosed(situation: Situation) -> Advice | None:
    if not situation.open:
        return None
    opener = situation.open[-1]
    closing = CLOSING[opener.text]
    clause = situation.token.kind == "word" and situation.first_on_line and situation.token.text in _STARTERS
    if not situation.ends_item and not (clause and closing in situation.expected):
        return None
    where = "the file ends" if situation.token.kind == "end" else f"`{situation.token.text}`"
    return Advice("opened here", f"close it with `{closing}` before {where}", f"`{opener.text}` is not closed", opener)


_STARTERS: Final = frozenset({"on", "from", "do", "to", "stay", "at", "where", "emit", "add", "override", "remove"})


def _wrong_closing(situation: Situation) -> Advice | None:
    token = situation.token
    if token.kind != "sign" or token.text not in ("}", "]"):
        return None
    if not situation.open:
        return Advice("nothing is open here", "take it out")
    closing = CLOSING[situation.open[-1].text]
    if token.text != closing:
        return Advice(f"`{situation.open[-1].text}` is open here", f"close it with `{closing}`")
    if situation.near(-1).text == "," and situation.near(-1).kind == "sign":
        comma = situation.near(-1)
        return Advice("nothing follows it", "take the comma out", f"a comma before `{closing}`", comma)
    return None


# -- header, titles and reasons -------------------------------------------------------------------------


def _no_header(situation: Situation) -> Advice | None:
    if not {"policy", "vendor", "fragment"} <= situation.expected or situation.items & situation.expected:
        return None
    token = situation.token
    near = nearest(token.text, ("policy", "vendor", "fragment"))
    if near is not None:
        return Advice("no kind of file", f"did you mean `{near}`?")
    return Advice(
        "a header goes before this",
        "say what the file is: `policy NAME`, `vendor NAME` or `fragment NAME`, and in quotes what it is for",
    )


def _no_text(situation: Situation) -> Advice | None:
    """A reason, title or marker that was left out, or stands without its quotes."""
    if "STRING" not in situation.expected or situation.token.kind in ("text", "bad"):
        return None
    before = situation.near(-1)
    if {"NAME", "PATH"} & situation.expected and situation.item not in ("policy", "vendor", "fragment"):
        return None
    if before.text == "test" and before.begins_line:
        return Advice("a title goes before this", 'a test has a title in quotes, as in `test "usage comes last"`')
    if situation.item == "quirk" and situation.near(-2).text == "quirk":
        reason = f'a quirk says in quotes why it is needed, as in `quirk {before.text} "the reason"`'
        return Advice("the reason goes before this", reason)
    if situation.item == "allow" and situation.near(-2).text == "allow":
        reason = f'an allowance says in quotes why it is right here, as in `allow {before.text} "the reason"`'
        return Advice("the reason goes before this", reason)
    if {"extends", "with", ","} & situation.expected and situation.item in ("policy", "vendor", "fragment", "reknit"):
        if (near := _near_keyword(situation)) is not None:
            return near
        if situation.token.text == "," and situation.near(-2).text == "extends":
            return Advice("one file extends one other", "leave one name; fragments are added by `with`")
        return Advice("a text goes before this", "say in quotes what the file is for, at the end of its first line")
    if situation.token.kind == "word" and (situation.item == "enum" or not situation.first_on_line):
        return Advice("a text stands in quotes", f'write `"{situation.token.text}"`')
    return Advice("a text in quotes goes before this") if situation.expected == {"STRING"} else None


def _quoted_name(situation: Situation) -> Advice | None:
    token = situation.token
    if token.kind != "text" or "STRING" in situation.expected:
        return None
    inner = token.text[1:-1]
    if "NAME" in situation.expected and _LIKE_A_NAME.fullmatch(inner):
        return Advice("a name stands without quotes", f"write `{inner}`")
    if "PATH" in situation.expected and inner.startswith((".", "@")):
        return Advice("a path stands without quotes", f"write {quoted(inner)}")
    return None


# -- signs ----------------------------------------------------------------------------------------------


def _wrong_joint(situation: Situation) -> Advice | None:
    """A sign or word that joins two things, where another one does so here."""
    token, expected = situation.token, situation.expected
    joints = expected - {"sealed"}
    joint = next(iter(joints)) if len(joints) == 1 else ""
    if joint not in _JOINTS:
        return None
    if joint == ":" and token.text in (",", "}") and situation.near(-2).text in (",", "|"):
        return Advice("a field and its cases are joined by `:`", _PARTED_BY_BAR)
    if (near := _near_keyword(situation)) is not None:
        return near
    return Advice(f"`{joint}` goes before this" if token.kind != "sign" else "not this sign", _JOINTS[joint])


_JOINTS: Final = {
    "=>": 'a vendor\'s word and its case are joined by `=>`, as in `"stop" => end_turn`',
    "is": 'a condition is written with `is`, as in `where .type is "ping"`',
    "=": "a group and its states are joined by `=`, as in `group live = idle, text`",
    ":": "a name and what belongs to it are joined by `:`, as in `{ slot: open }`",
    "by": "as in `merge output by latest`, and `choices .choices[*] by .index`",
    "as": 'as in `classify "Read" as read_only`, and `repair close-brackets as guessed`',
    "when": "as in `escalate to human when grade guessed`",
    "before": "as in `flush text before TOOL_USE_START`",
    "into": 'as in `split think from TEXT_DELTA at "<think>" "</think>" into THINKING_DELTA`',
    "to": "as in `escalate to human when grade guessed`",
    "at": 'as in `split think from TEXT_DELTA at "<think>" "</think>" into THINKING_DELTA`',
    "from": "as in `derive input from prompt minus cached`",
    "minus": "as in `derive input from prompt minus cached`",
}
_PARTED_BY_BAR: Final = "several cases of one field are parted by `|`, as in `{ slot: fresh | archived }`"


def _wrong_separator(situation: Situation) -> Advice | None:
    token, expected = situation.token, situation.expected
    sign = token.text if token.kind in ("sign", "word") else ""
    if sign in ("|", ",") and "or" in expected:
        return Advice("values are parted by `or`", 'as in `where .type is "a" or "b"`')
    if sign in ("|", ",", "or") and "else" in expected and situation.near(-1).kind == "path":
        return Advice("paths are parted by `else`", "as in `at .reasoning else .thinking`")
    if sign in ("|", "or", "and") and "," in expected and "|" not in expected and not situation.open:
        return Advice("names are parted by commas", "as in `from idle, text`")
    if sign == "or" and "|" in expected:
        return Advice("cases are parted by `|`", _PARTED_BY_BAR)
    if sign == "," and sign not in expected and situation.near(1).place.line > token.place.line:
        return Advice("nothing parts one line from the next here", "take it out")
    starts_pair = situation.near(1).kind == "sign" and situation.near(1).text == ":"
    if situation.open and "," in expected and token.kind in ("word", "text") and starts_pair:
        return Advice("a comma goes before this", "fields are parted by commas, at the end of a line too")
    return None


# -- words ----------------------------------------------------------------------------------------------


def _dangling(situation: Situation) -> Advice | None:
    """A word that wants something after it at the end of a line; the keyword of the next line was taken for that."""
    last, taken = situation.near(-2), situation.near(-1)
    if taken.kind != "word" or taken.text not in situation.keywords or last.place.line == taken.place.line:
        return None
    if last.text not in ("is", "not", "or", "from", "to", "do", "on", "extends", "with", ",", "by", "as", "|", ":"):
        return None
    return Advice("nothing follows it on its line", None, f"{quoted(last.text)} is not complete", last)


def _clause_without_keyword(situation: Situation) -> Advice | None:
    token, expected = situation.token, situation.expected
    if "do" in expected and token.kind == "word" and token.text in VERBS:
        return Advice("an action goes after `do`")
    if "on" in expected and token.kind == "word" and token.text.isupper() and situation.first_on_line:
        return Advice("an event goes after `on`")
    if "emit" in expected and token.kind == "word" and token.text.isupper():
        return Advice("an event goes after `emit`")
    if "at" in expected and token.kind == "path":
        return Advice("a path goes after `at`, or after `where`")
    word, verb = token.text, situation.near(-1).text
    if "add" in expected and word in situation.items and "on" not in expected:
        return Advice("an item of a quirk goes after what is done with it", f"say `add {word}` or `override {word}`")
    if verb in ("add", "override", "remove") and word in situation.items and "map" in expected:
        help = f"a quirk can {verb} {', '.join(quoted(kind) for kind in sorted(expected))}"
        return Advice(f"a quirk cannot {verb} this", help)
    return None


def _wrong_letters(situation: Situation) -> Advice | None:
    """A name where an event belongs, or an event where a name belongs."""
    token, expected = situation.token, situation.expected
    before = situation.near(-1)
    if token.kind == "path" and before.kind == "word" and situation.near(-2).text in ("on", "before", ",", "given"):
        better = (before.text + token.text).upper().replace(".", "_").replace("-", "_")
        return Advice("an event is written in capitals", f"write {quoted(better)}")
    if token.kind != "word" or {"NAME", "EVENT"} <= expected:
        return None
    if token.text.isupper() and "NAME" in expected:
        return Advice("a name is written in small letters", f"write `{token.text.lower()}`")
    if not token.text.isupper() and "EVENT" in expected:
        better = token.text.upper().replace("-", "_")
        return Advice("an event is written in capitals", f"write `{better}`" if better != token.text else None)
    return None


def _near_keyword(situation: Situation) -> Advice | None:
    """A keyword that is misspelt, or said in the words of another language."""
    token = situation.token
    if token.kind != "word":
        return None
    words = [word for word in sorted(situation.expected) if word in situation.keywords]
    for meant in (*_SAME_AS.get(token.text, ()), _ITEM_WORDS.get(token.text, "")):
        if meant in words:
            return Advice("no word of the language", f"say `{meant}`")
    if token.text in situation.keywords:  # spelt right, but out of place
        return None
    near = nearest(token.text, words)
    return None if near is None else Advice("no word of the language", f"did you mean `{near}`?")


def _incomplete(situation: Situation) -> Advice | None:
    if not situation.ends_item or situation.item not in situation.items:
        return None
    if situation.near(-1).begins_line and "NAME" in situation.expected:
        return Advice(f"`{situation.item}` is not complete before this", "a name goes after its keyword")
    return Advice(f"`{situation.item}` is not complete before this", _expected_help(situation))


def _out_of_place(situation: Situation) -> Advice | None:
    """A keyword that is one, but not of this item."""
    token, item = situation.token, situation.item
    if token.kind == "word" and token.text in _STARTERS and item in situation.items and "END" in situation.expected:
        return Advice(f"no clause of `{item}`", _expected_help(situation))
    return None


def _number_as_name(situation: Situation) -> Advice | None:
    if situation.token.kind == "number" and "NAME" in situation.expected and "NUMBER" not in situation.expected:
        return Advice("a name begins with a small letter")
    return None


def _lone_value(situation: Situation) -> Advice | None:
    if situation.near(-1).text == "expect" and "NAME" in situation.expected:
        return Advice("what it is goes before its value", 'as in `expect text "Hello"`')
    return None


_ADVISERS: Final[tuple[Callable[[Situation], Advice | None], ...]] = (
    _unclosed,
    _wrong_closing,
    _no_header,
    _no_text,
    _incomplete,
    _lone_value,
    _quoted_name,
    _dangling,
    _wrong_separator,
    _wrong_joint,
    _clause_without_keyword,
    _wrong_letters,
    _number_as_name,
    _near_keyword,
    _out_of_place,
)
"""In this order: what is certain before what is likely."""
