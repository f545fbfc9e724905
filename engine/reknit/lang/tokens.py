"""Text to words and signs, each with its place.

The shapes of names, paths, texts and numbers come from the grammar; this scan adds what a table of shapes cannot do:
it reads words whole (`rulex` is no `rule`), goes on after what it cannot read, and bounds what untrusted text may
cost before anything is parsed. One pass, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.syntax import Place

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 64
MAX_TEXT: Final = 64 * 1024
MAX_NUMBER: Final = 40
MAX_FINDINGS: Final = 50
"""More than this is not told of one file: it is no rule file, or one slip explains them all."""

_WORD: Final = r"\w[\w-]*"
# What could hide or reorder text in a review: control characters, direction marks, invisible signs, half pairs.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign: `kind` is word, path, text, number, sign, bad (reported already) or end."""

    kind: str
    text: str
    place: Place

    @property
    def begins_line(self) -> bool:
        """Whether it stands in column 1."""
        return self.place.column == 1


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of paths, texts and numbers, as regular expressions, and the signs of the grammar."""

    path: str
    text: str
    number: str
    signs: tuple[str, ...]

    def scanner(self) -> re.Pattern[str]:
        """Compile the alternatives, in the order in which they are tried."""
        signs = "|".join(re.escape(sign) for sign in sorted(self.signs, key=len, reverse=True))
        shapes: Mapping[str, str] = {
            "space": r"[ \t]+|#[^\n]*",
            "line": r"\n",
            "number": rf"(?:{self.number})(?!\w)",
            "word": _WORD,
            "text": self.text,
            "path": self.path,
            "sign": signs,
            "bad": r'"[^\n]*|[^\s\w"#]|\s',
        }
        return re.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in shapes.items()))


def scan(
    text: str, source: str, scanner: re.Pattern[str], names: re.Pattern[str]
) -> tuple[list[Token], list[Diagnostic]]:
    """Split a text into tokens; what cannot be read becomes a token of kind bad and a diagnostic.

    Args:
        text: A rule file with `\\n` for line ends.
        source: Its display name.
        scanner: What `Shapes.scanner` gives.
        names: What a word must look like to be a name of either case.

    Returns:
        The tokens, closed by one of kind end (bad where reading was given up), and what was wrong, in order.
    """
    tokens: list[Token] = []
    found: list[Diagnostic] = []
    line, start, depth, position, reported = 1, 0, 0, 0, 0
    last = "end"
    while position < len(text):
        match = scanner.match(text, position)
        if match is None:  # cannot be: the last shape takes whatever is left; without it a slip here would hang
            break
        kind, value, end = str(match.lastgroup), match.group(), match.end()
        column = position - start + 1
        position = end
        if kind == "space":
            continue
        if kind == "line":
            line, start = line + 1, end
            continue
        place = Place(source, line, column, line, column + len(value))
        trouble = _trouble(kind, value, place, names)
        if kind == "sign":
            depth = max(depth + (value in "{[") - (value in "}]"), 0)
            if depth > MAX_DEPTH:
                found.append(_too_deep(place))
                last = "bad"
                break
        if trouble is not None:
            kind = "bad"
            if reported != line:  # one a line: what follows is most likely the same slip
                found.append(trouble)
                reported = line
            if len(found) >= MAX_FINDINGS:
                last = "bad"
                break
        tokens.append(Token(kind, value, place))
    column = position - start + 1
    tokens.append(Token(last, "", Place(source, line, column, line, column)))
    return tokens, found


def hidden_characters(text: str, source: str) -> list[Diagnostic]:
    """Find characters that a reader of the file could not see, comments and texts included."""
    found: list[Diagnostic] = []
    line, seen = 1, 0
    for match in _HIDDEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        column = seen - text.rfind("\n", 0, seen)
        escaped = match.group().encode("unicode_escape").decode("ascii")
        place = Place(source, line, column, line, column + 1)
        found.append(
            Diagnostic(
                "E102",
                f"the character `{escaped}` cannot be seen",
                Label(place, "here"),
                help=f"write `\\u{ord(match.group()):04x}` inside a text in quotes, or take it out",
            )
        )
        if len(found) >= 5:  # a binary file has thousands of them
            break
    return found


def _too_deep(place: Place) -> Diagnostic:
    return Diagnostic("E104", f"braces and brackets are nested deeper than {MAX_DEPTH}", Label(place, "one too many"))


def _trouble(kind: str, value: str, place: Place, names: re.Pattern[str]) -> Diagnostic | None:
    """Say what is wrong with a token by itself."""
    if kind == "word":
        if names.fullmatch(value):
            return None
        return Diagnostic(
            "E102",
            f"{quoted(value)} is no name",
            Label(place, "cannot be read"),
            help=_better_name(value, names),
        )
    if kind == "number" and len(value) > MAX_NUMBER:
        return Diagnostic("E104", f"a number has more than {MAX_NUMBER} digits", Label(place, "too long"))
    if kind == "text" and len(value) > MAX_TEXT:
        return Diagnostic("E104", f"a text is longer than {MAX_TEXT} characters", Label(place, "too long"))
    if kind == "bad":
        return _unreadable(value, place)
    return None


def _better_name(value: str, names: re.Pattern[str]) -> str:
    if value in ("True", "False", "None"):
        return "constants are written `true`, `false` and `null`"
    parts = re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", value)
    better = "-".join(part.lower() for part in parts)
    like = f", as in {quoted(better)}" if better != value and names.fullmatch(better) else ""
    return f"names are small letters, digits, `-` and `_`{like}; events are capitals and `_`; all else stands in quotes"


def _unreadable(value: str, place: Place) -> Diagnostic:
    if value.startswith('"'):
        return Diagnostic(
            "E102",
            "this text does not end",
            Label(place, "begins here"),
            help='close it with `"` on the same line; a line end inside a text is written `\\n`',
        )
    advice = {
        "'": "texts stand in double quotes",
        "“": "texts stand in plain double quotes",
        "”": "texts stand in plain double quotes",
        "‘": "texts stand in plain double quotes",
        "’": "texts stand in plain double quotes",
        "/": "a comment begins with `#`",
        ";": "nothing needs a separator at the end of a line",
        "<": "a tag stands in quotes",
        "(": "there are no parentheses in the language",
        ")": "there are no parentheses in the language",
        "$": "a path begins with `.`, or with `@` for what `at` found",
        ">": "a vendor's word and its case are joined by `=>`",
        "-": "`-` joins the parts of a name, without spaces; a path cannot hold it",
        "\u00a0": "this is a space that does not break; use a plain one",
    }.get(value)
    return Diagnostic("E102", f"unexpected {quoted(value)}", Label(place, "cannot be read"), help=advice)
