"""Rule text to nodes: the one module that knows lark.

The grammar's table decides what may follow what. Words are read whole by `tokens`; here each becomes the keyword that
the table can take at that point, or a name. After an error reading goes on at the next item that begins a line, so
that one run tells all slips of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reknit.lang.build import Builder
from reknit.lang.comments import Comment, comments_of
from reknit.lang.contents import contents_diagnostics
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.mistakes import syntax_diagnostic
from reknit.lang.situation import Situation
from reknit.lang.syntax import File, Header, Item, Place
from reknit.lang.tokens import MAX_BYTES, MAX_FINDINGS, Shapes, Token, hidden_characters, scan
from reknit.shipped import grammar_text

if TYPE_CHECKING:
    from lark import Lark

LANGUAGE: Final = "1"
"""The version of the rule language that this package reads."""

MAX_ITEMS: Final = 5000

_KINDS: Final = {"path": "PATH", "text": "STRING", "number": "NUMBER", "end": "$END"}


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The compiled grammar, and its terminals sorted by what a token can be."""

    lark: Lark
    scanner: re.Pattern[str]
    names: re.Pattern[str]
    words: dict[str, tuple[str, ...]]
    signs: dict[str, str]
    items: frozenset[str]
    display: dict[str, tuple[str, ...]]

    def terminals(self, token: Token) -> tuple[str, ...]:
        """Give the terminals that a token can be, keywords first."""
        if token.kind == "word":
            kind = "EVENT" if token.text[0].isupper() else "NAME"
            return (*self.words.get(token.text, ()), kind)
        if token.kind == "sign":
            return (self.signs[token.text],)
        return (_KINDS[token.kind],)

    def expected(self, choices: Iterable[str]) -> frozenset[str]:
        """Spell out the terminals that the table would take: keywords and signs as written, others in capitals."""
        return frozenset(word for choice in choices for word in self.display.get(choice, ()))


@cache
def _grammar() -> _Grammar:
    # Lark takes longer to import and to build its tables than a message takes to rebuild: only when rules are read.
    from lark import Lark
    from lark.lexer import Lexer, PatternStr

    class Unused(Lexer):
        def __init__(self, conf: Any) -> None: ...

        def lex(self, lexer_state: Any, parser_state: Any) -> Any:
            return iter(())

    lark = Lark(
        grammar_text(),
        parser="lalr",
        lexer=Unused,
        start=["start", "rest"],
        propagate_positions=True,
        maybe_placeholders=False,
    )
    shapes = {terminal.name: terminal.pattern for terminal in lark.terminals}
    name, event = shapes["NAME"].value, shapes["EVENT"].value
    words: dict[str, tuple[str, ...]] = {}
    signs: dict[str, str] = {}
    display: dict[str, tuple[str, ...]] = {"NAME": ("NAME",), "EVENT": ("EVENT",), "$END": ("END",)}
    display |= {terminal: (terminal,) for terminal in ("PATH", "STRING", "NUMBER")}
    for terminal, pattern in shapes.items():
        if terminal in display or terminal == "COMMENT" or terminal.startswith("__IGNORE"):
            continue
        # A terminal of several words, such as the kinds that can be removed, comes as `(?:a|b)`.
        plain = isinstance(pattern, PatternStr)
        spelled = (pattern.value,) if plain else tuple(pattern.value.removeprefix("(?:").removesuffix(")").split("|"))
        display[terminal] = spelled
        for word in spelled:
            if re.fullmatch(name, word):
                words[word] = (*words.get(word, ()), terminal)
            else:
                signs[word] = terminal
    scanner = Shapes(shapes["PATH"].value, shapes["STRING"].value, shapes["NUMBER"].value, tuple(signs)).scanner()
    first = _choices(lark.parse_interactive(start="rest"))
    items = frozenset(word for choice in first for word in display.get(choice, ())) - {"END"}
    return _Grammar(lark, scanner, re.compile(f"{name}|{event}"), words, signs, items, display)


def _choices(parser: Any) -> dict[str, Any]:
    """The terminals that the table takes at this point (beside the rules that it has entries for)."""
    choices: dict[str, Any] = parser.choices()
    return choices


def parse(text: str, source: str) -> tuple[File | None, list[Diagnostic]]:
    """Read a rule file.

    Args:
        text: The file; any text whatever, of which nothing can raise or hang here.
        source: The name to show for it.

    Returns:
        The file with its nodes, or None where it has errors, and everything that is wrong with it.
    """
    file, found = _parsed(text, source)
    return file, list(found)


# One file takes part in what many others say, and nodes never change.
@lru_cache(maxsize=64)
def _parsed(text: str, source: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    start = Place(source, 1, 1, 1, 1)
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024} KiB"
        return None, (Diagnostic("E104", message, Label(start, "")),)
    text = _plain(text)
    grammar = _grammar()
    tokens, unreadable = scan(text, source, grammar.scanner, grammar.names)
    found = hidden_characters(text, source)
    found += _on_other_lines(unreadable, found)
    reader = _Reader(grammar, source)
    file = reader.read(tokens)
    found += _on_other_lines(reader.found, found)
    found.sort(key=lambda diagnostic: (diagnostic.label.place.line, diagnostic.label.place.column))
    if any(diagnostic.severity == "error" for diagnostic in found):
        file = None
    return file, tuple(found[:MAX_FINDINGS])


class Parts(NamedTuple):
    """A rule file as it is written: the tree over its tokens, the tokens, and the comments between them."""

    tree: Any
    tokens: list[Token]
    comments: list[Comment]


def parts_of(text: str, source: str) -> Parts:
    """Give the parts of a text in which `parse` finds nothing wrong."""
    tokens, comments = words_of(text, source)
    tree, _ = _Reader(_grammar(), source).tree(tokens)
    return Parts(tree, tokens, comments)


def words_of(text: str, source: str) -> tuple[list[Token], list[Comment]]:
    """Give the tokens and comments of a text in which `parse` finds nothing wrong."""
    text = _plain(text)
    grammar = _grammar()
    return scan(text, source, grammar.scanner, grammar.names)[0], comments_of(text, grammar.scanner)


def _plain(text: str) -> str:
    """Give a text with `\\n` for line ends, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _on_other_lines(diagnostics: list[Diagnostic], known: list[Diagnostic]) -> list[Diagnostic]:
    """Leave out what is most likely a consequence of something unreadable on the same line."""
    lines = {diagnostic.label.place.line for diagnostic in known}
    return [diagnostic for diagnostic in diagnostics if diagnostic.label.place.line not in lines]


class _Reader:
    """Feeds the tokens of one file to the table, item after item."""

    def __init__(self, grammar: _Grammar, source: str) -> None:
        self.found: list[Diagnostic] = []
        self._grammar = grammar
        self._source = source

    def read(self, tokens: list[Token]) -> File | None:
        tokens = self._with_version(tokens)
        if not tokens:
            return None
        begin, rule = 0, "start"
        header: Header | None = None
        items: list[Item] = []
        builder = Builder(self._source)
        while True:
            tree, at = self.tree(tokens, begin, rule)
            if tree is None and (cut := self._last_item(tokens, begin, at)) is not None:
                # What stands before the broken item is whole, and may have slips of another sort.
                closed = [*tokens[begin:cut], Token("end", "", tokens[cut].place)]
                tree, _ = self.tree(closed, 0, rule, quietly=True)
            if tree is not None:
                if rule == "start":
                    header = builder.header(tree)
                items += builder.items(tree)
            resume = self._next_item(tokens, at)
            if resume is None or len(self.found) >= MAX_FINDINGS:
                break
            begin, rule = resume, "rest"
        self.found += builder.found
        if len(items) > MAX_ITEMS:
            place = items[MAX_ITEMS].place
            self.found.append(Diagnostic("E104", f"the file has more than {MAX_ITEMS} items", Label(place, "")))
            return None
        if header is None:
            return None
        file = File(self._source, LANGUAGE, header, tuple(items))
        self.found += contents_diagnostics(file)
        return file

    def _with_version(self, tokens: list[Token]) -> list[Token]:
        """See that the file says its language; where it does not, say so and read on as if it did."""
        first, second = tokens[0], tokens[1] if len(tokens) > 1 else tokens[0]
        if (first.kind, first.text) == ("word", "reknit") and second.kind == "number":
            if second.text == LANGUAGE:
                return tokens
            self.found.append(
                Diagnostic(
                    "E103",
                    f"version {quoted(second.text)} of the rule language is not known",
                    Label(second.place, "not known here"),
                    help=f"this reknit reads `reknit {LANGUAGE}`",
                )
            )
            return []
        said = (first.kind, first.text) == ("word", "reknit")
        culprit = second if said else first
        self.found.append(
            Diagnostic(
                "E103",
                "the file does not say in which version of the rule language it is written",
                Label(culprit.place, "the version goes before this" if culprit.kind != "end" else ""),
                help=f"begin it with the line `reknit {LANGUAGE}`",
            )
        )
        if culprit.kind == "end":
            return []
        given = [Token("word", "reknit", first.place), Token("number", LANGUAGE, first.place)]
        return given + tokens[1 if said else 0 :]

    def tree(
        self, tokens: list[Token], begin: int = 0, rule: str = "start", *, quietly: bool = False
    ) -> tuple[Any, int]:
        """Feed tokens up to the end or the first that cannot stand; give the tree or None, and where it stopped."""
        from lark import Token as LarkToken
        from lark.exceptions import UnexpectedToken

        parser = self._grammar.lark.parse_interactive(start=rule)
        for index in range(begin, len(tokens)):
            token = tokens[index]
            if token.kind == "bad":
                return None, index
            choices = _choices(parser)
            options = self._grammar.terminals(token)
            terminal = next((option for option in options if option in choices), None)
            tree = None
            if terminal is not None:
                place = token.place
                span = (place.line, place.column, place.end_line, place.end_column)
                try:
                    tree = parser.feed_token(LarkToken(terminal, token.text, None, *span))
                except UnexpectedToken:  # the table took it for one that closes something, and then it could not stand
                    terminal = None
            if terminal is None:
                if not quietly:
                    self._report(tokens, begin, index, self._grammar.expected(choices))
                return None, index
            if token.kind == "end":
                return tree, index
        return None, len(tokens) - 1

    def _report(self, tokens: list[Token], begin: int, index: int, expected: frozenset[str]) -> None:
        situation = Situation(tokens, begin, index, expected, self._grammar.items, frozenset(self._grammar.words))
        self.found.append(syntax_diagnostic(situation))

    def _last_item(self, tokens: list[Token], begin: int, at: int) -> int | None:
        """Find where the item that holds `at` begins, if others stand before it."""
        for index in range(min(at, len(tokens) - 1), begin, -1):
            if self._begins_item(tokens[index]):
                return index
        return None

    def _next_item(self, tokens: list[Token], at: int) -> int | None:
        """Find the next item that begins a line, at `at` or after it."""
        return next((index for index in range(at, len(tokens)) if self._begins_item(tokens[index])), None)

    def _begins_item(self, token: Token) -> bool:
        return token.kind == "word" and token.begins_line and token.text in self._grammar.items
