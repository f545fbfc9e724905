"""The comments of a rule file and its empty lines: what stands between its tokens and means nothing to the parser.

A formatter may move what is between two tokens, but never across one. So each comment is known by the gap that it
stands in: the one ahead of a token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reknit.lang.tokens import Token


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment from its `#` to the last character that is no space; `blank` where an empty line is above it."""

    text: str
    line: int
    column: int
    blank: bool = False


@dataclass(slots=True)
class Gap:
    """What stands ahead of a token.

    Attributes:
        trailing: The comment on the line of the token before.
        own: Comments on lines of their own.
        blank: Whether an empty line is directly above the token.
    """

    trailing: Comment | None = None
    own: list[Comment] = field(default_factory=list)
    blank: bool = False

    @property
    def comments(self) -> list[Comment]:
        """All comments, in order."""
        return [*([self.trailing] if self.trailing is not None else []), *self.own]

    @property
    def parted(self) -> bool:
        """Whether there is an empty line anywhere."""
        return self.blank or any(comment.blank for comment in self.own)


def comments_of(text: str, scanner: re.Pattern[str]) -> list[Comment]:
    """Find the comments of a text with `\\n` for line ends.

    Args:
        text: A rule file in which every character can be read.
        scanner: What `Shapes.scanner` gives.
    """
    found: list[Comment] = []
    line, start, position = 1, 0, 0
    while (match := scanner.match(text, position)) is not None:
        if match.lastgroup == "line":
            line, start = line + 1, match.end()
        elif match.lastgroup == "space" and match.group().startswith("#"):
            found.append(Comment(match.group().rstrip(), line, position - start + 1))
        position = match.end()
    return found


def gaps_of(tokens: Sequence[Token], comments: Sequence[Comment]) -> list[Gap]:
    """Sort the comments of a file into the gaps ahead of its tokens.

    A comment ahead of a comma goes behind it: the comma is not parted from what it follows.
    """
    gaps = [Gap() for _ in tokens]
    waiting = list(reversed(comments))
    line = 0
    for index, token in enumerate(tokens):
        gap, before = gaps[index], line
        while waiting and (waiting[-1].line, waiting[-1].column) < (token.place.line, token.place.column):
            comment = waiting.pop()
            if comment.line == before and index > 0:
                gap.trailing = comment
            else:
                blank = line > 0 and comment.line - line > 1
                gap.own.append(Comment(comment.text, comment.line, comment.column, blank))
            line = comment.line
        gap.blank = line > 0 and token.place.line - line > 1
        line = token.place.line
    for index, token in enumerate(tokens[:-1]):
        if token.kind == "sign" and token.text == ",":
            _put_behind(gaps[index], gaps[index + 1])
    return gaps


def _put_behind(gap: Gap, behind: Gap) -> None:
    if gap.comments:
        behind.own = [*gap.own, *behind.comments]
        behind.trailing = gap.trailing
        gap.trailing, gap.own = None, []
