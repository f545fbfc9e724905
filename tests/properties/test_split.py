"""Tags are taken out of text the same way wherever it is cut, and nothing else is taken out."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
from effort import law
from hypothesis import example, given
from hypothesis import strategies as st

from reknit.split import Splitter
from reknit.table import SplitSpec

Piece = tuple[bool, str]

TAGS = [("<think>", "</think>"), ("<|a|>", "<|/a|>"), ("aab", "b"), ("``", "x"), ("<t>", "<t/>")]


def spec(
    tags: tuple[str, str], place: str = "anywhere", outside_code: bool = False, implied_open: bool = False
) -> SplitSpec:
    opening, closing = tags
    return SplitSpec("s", "TEXT_DELTA", opening, closing, "THINKING_DELTA", place, outside_code, implied_open)


def specs() -> st.SearchStrategy[SplitSpec]:
    return st.builds(
        spec, st.sampled_from(TAGS), st.sampled_from(["anywhere", "head", "line"]), st.booleans(), st.booleans()
    )


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Text around tags, with what looks nearly like one."""
    parts = [
        "<think>",
        "</think>",
        "<|a|>",
        "<|/a|>",
        "aab",
        "b",
        "``",
        "`",
        "```",
        "<t>",
        "<",
        "</th",
        " ",
        "\n",
        "\n  ",
        "word",
        "x",
        "a",
    ]
    return "".join(draw(st.lists(st.sampled_from(parts), max_size=10)))


def cut(text: str, places: list[int]) -> list[str]:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


def merged(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece; no empty ones."""
    found: list[Piece] = []
    for inside, text in pieces:
        if text and found and found[-1][0] == inside:
            found[-1] = (inside, found[-1][1] + text)
        elif text:
            found.append((inside, text))
    return found


def split(spec: SplitSpec, chunks: list[str]) -> list[Piece]:
    splitter = Splitter(spec)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return merged(pieces + splitter.flush())


# The places where a cut is most likely to matter: in a tag, in a fence, in the white space ahead of a tag.
@example(spec(TAGS[0], "line"), "\n  <think>x</think>y", [3])
@example(spec(TAGS[0], "head"), "\n<think>x</think>y", [3])
@example(spec(TAGS[0], "anywhere", outside_code=True), "```\n<think>x</think>```", [2])
@law(600)
@given(spec=specs(), text=texts(), places=st.lists(st.integers(0, 100), max_size=6))
def test_any_cut_gives_the_same_pieces(spec: SplitSpec, text: str, places: list[int]) -> None:
    whole = split(spec, [text])
    assert split(spec, cut(text, places)) == whole
    assert split(spec, list(text)) == whole


def naive(spec: SplitSpec, text: str) -> list[Piece]:
    """A split that counts anywhere, of a text that is all there."""
    pieces: list[Piece] = []
    inside = False
    while text:
        before, tag, text = text.partition(spec.closing if inside else spec.opening)
        pieces.append((inside, before))
        inside = inside is not bool(tag)
    return merged(pieces)


@law(300)
@given(tags=st.sampled_from(TAGS), text=texts(), places=st.lists(st.integers(0, 100), max_size=6))
def test_what_is_between_the_tags_is_taken_out(tags: tuple[str, str], text: str, places: list[int]) -> None:
    assert split(spec(tags), cut(text, places)) == naive(spec(tags), text)


def accounts(spec: SplitSpec, text: str, pieces: list[Piece]) -> bool:
    """Whether the text is the pieces in their order with nothing between them but tags, each where it can stand.

    White space ahead of a tag at the head goes with what the tag opens; ahead of one that is implied it may be missing.
    Several ways are tried: what looks like a tag may be text.
    """

    @cache
    def fits(at: int, number: int, inside: bool) -> bool:
        if number == len(pieces) and at == len(text):
            return True
        if number < len(pieces):
            kind, piece = pieces[number]
            if kind == inside and text.startswith(piece, at) and fits(at + len(piece), number + 1, inside):
                return True
        tag = spec.closing if inside else spec.opening
        if text.startswith(tag, at) and fits(at + len(tag), number, not inside):
            return True
        lead = text[: len(text) - len(text.lstrip())]
        if at == 0 and text.startswith(spec.opening, len(lead)):
            behind = len(lead) + len(spec.opening)
            if spec.implied_open:
                return fits(behind, number, True)
            if spec.place == "head" and number < len(pieces) and pieces[number] == (True, lead):
                return fits(behind, number + 1, True)
        return False

    return fits(0, 0, spec.implied_open)


@law(600)
@given(spec=specs(), text=texts(), places=st.lists(st.integers(0, 100), max_size=6))
def test_the_pieces_joined_are_the_text_without_its_tags(spec: SplitSpec, text: str, places: list[int]) -> None:
    splitter = Splitter(spec)
    pieces = [piece for chunk in cut(text, places) for piece in splitter.feed(chunk)] + splitter.flush()
    assert accounts(spec, text, [piece for piece in pieces if piece[1]]), pieces


@law(300)
@given(spec=specs(), text=texts(), places=st.lists(st.integers(0, 100), max_size=6))
def test_no_more_is_held_back_than_may_become_a_tag(spec: SplitSpec, text: str, places: list[int]) -> None:
    splitter = Splitter(spec)
    longest = max(len(spec.opening), len(spec.closing))
    fed = told = 0
    for chunk in cut(text, places):
        fed += len(chunk)
        told += sum(len(piece) for _, piece in splitter.feed(chunk))
        held = splitter._held
        # White space ahead of the only place where a tag counts may belong to it.
        if spec.place == "head" or spec.implied_open:
            held = held.lstrip()
        assert len(held) < longest
        assert told <= fed
    splitter.flush()
    assert splitter._held == ""
    assert splitter.flush() == []


@pytest.mark.parametrize("tags", TAGS)
def test_text_without_a_tag_passes_at_once(tags: tuple[str, str]) -> None:
    splitter = Splitter(spec(tags))
    assert splitter.feed("word ") == [(False, "word ")]
    assert splitter.flush() == []
