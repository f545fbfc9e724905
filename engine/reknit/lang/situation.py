"""What is known where a syntax error is: the words around the culprit, what could stand there, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from reknit.lang.syntax import NOWHERE
from reknit.lang.tokens import Token

CLOSING: Final = {"{": "}", "[": "]"}
NO_TOKEN: Final = Token("none", "", NOWHERE)


@dataclass(frozen=True)
class Situation:
    """A token that cannot stand where it is, and what is known about it.

    Attributes:
        tokens: All tokens of the file.
        begin: Where reading began or went on.
        index: The token that cannot stand.
        expected: What could: keywords and signs as written, NAME, EVENT, PATH, STRING, NUMBER, END.
        items: The keywords that begin an item.
        keywords: All keywords.
    """

    tokens: Sequence[Token]
    begin: int
    index: int
    expected: frozenset[str]
    items: frozenset[str]
    keywords: frozenset[str]

    @property
    def token(self) -> Token:
        """The culprit."""
        return self.tokens[self.index]

    def near(self, distance: int) -> Token:
        """Give a token by its distance from the culprit; one of kind none where there is no such token."""
        index = self.index + distance
        return self.tokens[index] if self.begin <= index < len(self.tokens) else NO_TOKEN

    @property
    def first_on_line(self) -> bool:
        """Whether the culprit is the first word of its line."""
        before = self.near(-1)
        return before is NO_TOKEN or before.place.line < self.token.place.line

    @property
    def ends_item(self) -> bool:
        """Whether the item before must be over here: the file ends, or an item begins a line."""
        token = self.token
        return token.kind == "end" or (token.kind == "word" and token.begins_line and token.text in self.items)

    @cached_property
    def item(self) -> str:
        """The keyword of the item that the culprit stands in; that of the header where no item began."""
        for index in range(self.index - 1, self.begin - 1, -1):
            token = self.tokens[index]
            if token.kind == "word" and token.begins_line and token.text in self.keywords:
                return token.text
        return ""

    @cached_property
    def open(self) -> list[Token]:
        """The braces and brackets that are open before the culprit, outermost first."""
        stack: list[Token] = []
        for token in self.tokens[self.begin : self.index]:
            if token.kind != "sign":
                continue
            if token.text in CLOSING:
                stack.append(token)
            elif stack and token.text == CLOSING[stack[-1].text]:
                stack.pop()
        return stack


class Advice(NamedTuple):
    """What to say: the words under the culprit, the edit that mends it, and where else to look."""

    label: str
    help: str | None = None
    message: str | None = None
    culprit: Token | None = None
