"""Tagged text taken out of text: `<think>` and its kin, wherever the pieces are cut.

A splitter holds back no more than a suffix that may still become a tag. It runs between the maps and the machine.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reknit.table import SplitSpec

_CODE: Final = re.compile(r"`+|\n|[^`\n]+")
_FENCE: Final = 3
"""So many backticks fence a block of code; fewer quote a piece of a line."""


class Code(NamedTuple):
    """Whether text stands in fenced or quoted code, and how many backticks just came that may become more."""

    fenced: bool = False
    quoted: bool = False
    ticks: int = 0

    def settled(self) -> Code:
        """With the backticks counted for what they are."""
        if self.ticks >= _FENCE:
            return Code(not self.fenced, False)
        return Code(self.fenced, self.quoted != (self.ticks > 0 and not self.fenced))

    def after(self, text: str) -> Code:
        """Behind more text."""
        code = self
        for part in _CODE.findall(text):
            if part[0] == "`":
                code = code._replace(ticks=code.ticks + len(part))
            else:
                code = code.settled()
                if part == "\n":
                    code = Code(code.fenced, False)
        return code


class Splitter:
    """One split of one stream: text in, pieces out, each with whether it stood between the tags."""

    __slots__ = ("_code", "_held", "_inside", "_off", "_spec", "_start")

    def __init__(self, spec: SplitSpec) -> None:
        self._spec = spec
        self._inside = spec.implied_open
        self._held = ""
        self._off = False
        self._start = True
        self._code = Code()

    @property
    def held(self) -> str:
        """What is held back: it may still become a tag."""
        return self._held

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Take more text."""
        if self._off and not self._held:
            return [(False, text)]
        pieces: list[tuple[bool, str]] = []
        rest = self._held + text
        self._held = ""
        while rest:
            rest = self._step(rest, pieces)
        return [(inside, piece) for inside, piece in pieces if piece]

    def flush(self) -> list[tuple[bool, str]]:
        """Nothing more comes for now: what was held back is text after all."""
        held, self._held = self._held, ""
        if not held:
            return []
        if not self._inside:
            self._pass_over(held)
        return [(self._inside, held)]

    def _step(self, rest: str, pieces: list[tuple[bool, str]]) -> str:
        spec = self._spec
        if self._inside:
            if spec.implied_open and self._start:
                lead = rest.lstrip()
                if lead.startswith(spec.opening):
                    self._start = False
                    return lead[len(spec.opening) :]
                if spec.opening.startswith(lead):
                    self._held = rest
                    return ""
                self._start = False
            found = rest.find(spec.closing)
            if found >= 0:
                pieces.append((True, rest[:found]))
                self._inside, self._start = False, False
                self._off = spec.place == "head"
                return rest[found + len(spec.closing) :]
            keep = _held_back(rest, spec.closing)
            pieces.append((True, rest[: len(rest) - keep]))
            self._held = rest[len(rest) - keep :]
            return ""
        if self._off:
            pieces.append((False, rest))
            return ""
        at = self._opening(rest)
        if at >= 0:
            before = rest[:at]
            # Blanks ahead of a tag at the head make no block of their own: they go with what the tag opens.
            pieces.append((spec.place == "head", before))
            self._pass_over(before)
            self._inside, self._start = True, False
            return rest[at + len(spec.opening) :]
        keep = _held_back(rest, spec.opening)
        if spec.place == "head" and self._start and spec.opening.startswith(rest.lstrip()):
            keep = len(rest)
        passed = rest[: len(rest) - keep]
        self._held = rest[len(rest) - keep :]
        pieces.append((False, passed))
        self._pass_over(passed)
        return ""

    def _opening(self, rest: str) -> int:
        spec = self._spec
        at = rest.find(spec.opening)
        while at >= 0:
            if self._counts(rest, at):
                return at
            at = rest.find(spec.opening, at + 1)
        return -1

    def _counts(self, rest: str, at: int) -> bool:
        spec, before = self._spec, rest[:at]
        if spec.place == "head" and not (self._start and not before.strip()):
            return False
        if spec.place == "line":
            line = before.rpartition("\n")[2]
            if line.strip() or ("\n" not in before and not self._start):
                return False
        if not spec.outside_code:
            return True
        code = self._code.after(before).settled()
        return not (code.fenced or code.quoted)

    def _pass_over(self, text: str) -> None:
        if not text:
            return
        if self._spec.outside_code:
            self._code = self._code.after(text)
        if self._spec.place == "line":
            before, newline, line = text.rpartition("\n")
            self._start = (bool(newline) or (self._start and not before)) and not line.strip()
        elif text.strip():
            self._start = False
            if self._spec.place == "head":
                self._off = True


def _held_back(text: str, tag: str) -> int:
    """The length of the longest suffix of `text` that is a proper beginning of `tag`."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
