"""Sides out of texts and files, for the tests of differences."""

from __future__ import annotations

from pathlib import Path

from reknit.diff import Side, Workshop
from reknit.lang.files import FileLoader, TextLoader

HERE = Path(__file__).parent
CASES = HERE / "cases"
TINY = (HERE / "tiny.rules").read_text("utf-8")


def side_of(text: str) -> Side:
    """The side of a policy that stands in a text."""
    return Workshop(TextLoader({"policy.rules": text})).side("policy.rules")


def sides_in(folder: Path) -> tuple[Side, Side]:
    """Both sides of a case; each has a loader of its own, as two files have."""
    before, after = (
        Workshop(FileLoader(start=folder)).side(str(folder / f"{name}.rules")) for name in ("before", "after")
    )
    return before, after


def edited(*edits: tuple[str, str]) -> Side:
    """The tiny policy with some of its text in other words."""
    text = TINY
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return side_of(text)
