"""What is wrong with a rule file, said so that its author can mend it.

A diagnostic is one sentence in lower case without a full stop; the author's words stand in backticks, and the edit
that mends it stands in `help`. A code names a kind of mistake for good: it is never used for another one.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reknit.lang.syntax import Place

CODES: Final[dict[str, str]] = {
    "E101": "a word or sign that cannot stand here",
    "E102": "text that is no word of the language",
    "E103": "no language version, or one that is not known",
    "E104": "a file that is too large or too deep",
    "E105": "a file that cannot be read",
    "E106": "a file that builds on itself",
    "E107": "an item that does not belong in this kind of file",
    "E108": "two items of one name",
    "E109": "a clause or key that is given twice",
    "E110": "a clause that is missing",
    "E111": "a text with a bad escape",
    "E112": "two files of one kind and name in one folder",
    "E113": "an allowance of a lint that does not exist",
    "E114": "a file that the formatter would not keep as it is",
    "E201": "an unknown event",
    "E202": "an unknown field or question",
    "E203": "an unknown state",
    "E204": "an unknown action",
    "E205": "a case that a question never has",
    "E206": "an unknown type, or one that does not belong to what the event is about",
    "E207": "a word that an action does not take",
    "E208": "an unknown word of a closed list",
    "E209": "no start state, or more than one",
    "E210": "an action on an event where it has no meaning",
    "E301": "two rules that take the same input",
    "E302": "an input that no rule takes",
    "E303": "a rule that can never fire",
    "E304": "a block left open, or closed behind a rule's back",
    "E305": "more cells than a policy may have",
    "E306": "a state that nothing reaches",
    "E401": "a field of an event that a map has to bind and does not",
    "E402": "a field that the event does not have",
    "E403": "a path that leads nowhere it may",
    "E404": "an unknown filter, or one used wrongly",
    "E405": "an unknown enum",
    "E406": "a word that is no case of the field",
    "E407": "an unknown wire, salvage step or JSON type",
    "E408": "a split that cannot be",
    "E409": "an event that maps do not make",
    "E410": "a vendor file that says too little to run",
    "E411": "a map that runs ahead of one that has no fixed place",
    "E501": "an edit of something that does not exist",
    "E502": "an addition of something that exists",
    "E503": "a rule file that is not known, or of another kind",
    "E504": "two edits of one item in one file",
    "E601": "a wrong setting of a class of tools",
    "E602": "tools that no class covers, or a class that does not exist",
    "E603": "an unknown condition of an escalation",
    "E701": "an expectation that is not known",
    "E702": "an expectation whose value has the wrong form",
    "E703": "a key that an expectation does not have",
    "E704": "a step of a test that cannot stand where it does",
    "E705": "an event that cannot be given so",
    "E706": "a test of a fragment that does not say on which vendor",
    "E707": "an expectation of something that does not exist",
    "E708": "tools that are none",
    "E709": "a test that expects nothing",
    "E710": "an expectation that does not hold",
    "E711": "a stream that gives another message when it is fed in another way",
    "W101": "an edit that changes nothing",
    "W102": "an edit of which a later one leaves nothing",
    "W103": "two maps that make the same event of the same place",
    "W104": "an enum without `else`",
    "W105": "calls that start at their seal, and a rule that takes them up again",
    "W106": "loosened safety without a reason",
    "W107": "a rule that no test fires",
    "W108": "an enum that no map uses",
    "W109": "a group that no rule uses",
    "W110": "an event that no rule names",
    "W111": "an allowance of nothing",
}
"""Every code with its title. Syntax is E1, names and types E2, the table E3, maps E4, quirks E5, safety E6, tests E7;
W for lints. A code that appeared in a release is never given another meaning."""

LINTS: Final[dict[str, str]] = {
    "dead-edit": "W101",
    "shadowed-edit": "W102",
    "overlapping-maps": "W103",
    "enum-without-else": "W104",
    "early-start": "W105",
    "loosened-without-reason": "W106",
    "untested-rule": "W107",
    "unused-enum": "W108",
    "unused-group": "W109",
    "unused-event": "W110",
    "unused-allowance": "W111",
}
"""The lints by the names under which a file can `allow` them, each with its code."""

_WIDTH: Final = 120
_TAB: Final = "    "


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what is there, in a few words; an empty text marks the place alone."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: its code, a sentence, the culprit, the other parties, witnesses and the edit that mends it.

    Attributes:
        code: A key of `CODES`.
        message: One sentence, lower case, no full stop, the author's words in backticks.
        label: The culprit; its place has an empty source where no file is to blame.
        others: Other places that take part, such as the first of two definitions.
        notes: Witnesses and reasons.
        help: The edit that mends it.
        severity: `error` or `warning`.
    """

    code: str
    message: str
    label: Label
    others: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: str = "error"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Find the known word that `word` was most likely meant to be, if any is near."""
    # Words of another length are not meant, and a file of thousands of names must not make one message cost seconds.
    alike = [other for other in known if abs(len(other) - len(word)) <= 8 and len(other) <= 80][:500]
    found = difflib.get_close_matches(word, alike, n=1, cutoff=0.6)
    return found[0] if found else None


def suggestion(word: str, known: Iterable[str], at_most: int = 8) -> str | None:
    """Give the help for an unknown word: the near one, else some of the known ones, else nothing."""
    words = list(dict.fromkeys(known))
    near = nearest(word, words)
    if near is not None:
        return f"did you mean {quoted(near)}?"
    if not words:
        return None
    more = f" and {len(words) - at_most} more" if len(words) > at_most else ""
    return f"known here: {', '.join(quoted(known) for known in words[:at_most])}{more}"


def quoted(text: str) -> str:
    """Put the author's words in backticks, cut where they are very long."""
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def lines_of(text: str) -> list[str]:
    """Split a rule file into its lines as places count them: at CR, LF and CRLF, without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Give a diagnostic as plain data, with the fields of the rendered form."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "title": CODES.get(diagnostic.code, ""),
        "message": _visible(diagnostic.message),
        "label": _label_json(diagnostic.label),
        "others": [_label_json(label) for label in diagnostic.others],
        "notes": [_visible(note) for note in diagnostic.notes],
        "help": None if diagnostic.help is None else _visible(diagnostic.help),
    }


def _label_json(label: Label) -> dict[str, Any]:
    place = label.place
    return {
        "text": _visible(label.text),
        "source": _visible(place.source),
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> str:
    """Render diagnostics for a person, with the lines that they are about.

    Args:
        diagnostics: What was found, in the order in which it is to be shown.
        sources: The text of each source that places name; without it, only file and line are shown.

    Returns:
        One paragraph a diagnostic, parted by empty lines, ending in a line end; empty where there is nothing.
    """
    lines: dict[str, list[str]] = {}
    paragraphs = []
    for diagnostic in diagnostics:
        for label in (diagnostic.label, *diagnostic.others):
            source = label.place.source
            if source in sources and source not in lines:
                lines[source] = lines_of(sources[source])
        paragraphs.append("".join(f"{line}\n" for line in _paragraph(diagnostic, lines)))
    return "\n".join(paragraphs)


def _paragraph(diagnostic: Diagnostic, lines: Mapping[str, list[str]]) -> Iterator[str]:
    yield f"{diagnostic.severity}[{diagnostic.code}]: {_visible(diagnostic.message)}"
    labels = [label for label in (diagnostic.label, *diagnostic.others) if label.place.source]
    width = max((len(str(label.place.line)) for label in labels), default=1)
    gutter = " " * width
    shown: tuple[str, int] | None = None
    for index, label in enumerate(labels):
        place = label.place
        if index == 0 or place.source != labels[index - 1].place.source:
            arrow = "-->" if index == 0 else ":::"
            yield f"{gutter}{arrow} {_visible(place.source)}:{place.line}:{place.column}"
            yield f"{gutter} |"
        text = lines.get(place.source, [])
        if place.line > len(text):
            continue
        line, marks = _snippet(text[place.line - 1], place, "^" if index == 0 else "-")
        if shown != (place.source, place.line):
            yield f"{place.line:>{width}} | {line}".rstrip()
            # A cut line shows what is around one culprit, so the next culprit needs it again.
            shown = (place.source, place.line) if "…" not in line else None
        yield f"{gutter} | {marks} {_visible(label.text)}".rstrip()
    if labels:
        yield f"{gutter} |"
    for note in diagnostic.notes:
        yield f"{gutter} = note: {_visible(note)}"
    if diagnostic.help is not None:
        yield f"{gutter} = help: {_visible(diagnostic.help)}"


def _snippet(line: str, place: Place, mark: str) -> tuple[str, str]:
    """Give a line as it can be shown and the marks under the span; only the part around it where it is long."""
    cells = [_cell(character) for character in _excerpt_source(line, place.column)]
    begin = min(_excerpt_column(place.column), len(cells))
    end = len(cells) if place.end_line > place.line else begin + max(place.end_column - place.column, 0)
    end = max(min(end, len(cells)), begin)
    left, right = 0, len(cells)
    room = _WIDTH - 2
    if sum(width for _, width in cells) > _WIDTH:
        left = right = begin
        taken = 0
        # The culprit first, then as much as there is room for on both sides, more of it on the right.
        while right < len(cells) and taken < room * 2 // 3:
            taken += cells[right][1]
            right += 1
        while left > 0 and taken < room:
            left -= 1
            taken += cells[left][1]
    before = "…" if left > 0 else ""
    after = "…" if right < len(cells) else ""
    text = before + "".join(shown for shown, _ in cells[left:right]) + after
    pad = len(before) + sum(width for _, width in cells[left:begin])
    length = sum(width for _, width in cells[begin : min(end, right)])
    return text, " " * pad + mark * max(length, 1)


def _excerpt_source(line: str, column: int) -> str:
    # Far from the culprit a line is cut anyway; this keeps a line of megabytes from being measured in full.
    start = max(column - 1 - 4 * _WIDTH, 0)
    return line[start : column - 1 + 4 * _WIDTH]


def _excerpt_column(column: int) -> int:
    return min(column - 1, 4 * _WIDTH)


def _cell(character: str) -> tuple[str, int]:
    """Give a character as it can be shown, and the columns that it takes."""
    if character == "\t":
        return _TAB, len(_TAB)
    if not _is_shown(character):
        escaped = character.encode("unicode_escape").decode("ascii")
        return escaped, len(escaped)
    if unicodedata.combining(character):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_shown(character: str) -> bool:
    # Control, format (direction marks, joiners), surrogate and unassigned characters could hide or reorder text.
    return character.isprintable()


def _visible(text: str) -> str:
    """Escape what a terminal would not show as text, so that no file can write to the screen through a message."""
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode("ascii") for c in text)
