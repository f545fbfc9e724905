"""Rule texts for property tests: sentences derived from the grammar, and words laid out in any way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from reknit.lang.diagnostics import LINTS
from reknit.lang.parser import _grammar, parse

NAMES = [
    "a",
    "b-1",
    "text",
    "rule",
    "from",
    "to",
    "or",
    "same",
    "start",
    "final",
    "else",
    "tool_use",
    *sorted(LINTS)[:2],
]
SHAPES = {
    "NAME": NAMES,
    "EVENT": ["A", "TEXT_DELTA", "B_C"],
    "PATH": [".", "@", ".a", "@.b[0]", ".choices[*].delta", "@[*]"],
    "STRING": ['"x"', '""', '"a b { # , "', r'"\u0041\n\"\\"', '"é\\ud83d\\ude00"', '"' + "long " * 12 + '"'],
    "NUMBER": ["0", "-1", "1.50", "2e3", "12345678901234567890"],
}
COMMENTS = ["# c", "#", "# x y", '# "quoted" {', "   #deep"]
SPACES = [" ", " ", " ", "  ", "\t", "\n", "\n", "\n  ", "\n\n", "\n\n\n    "]
HEADERS = [
    'reknit 1 fragment f "x"',
    'reknit 1 vendor v extends w with a, b "x" wire sse salvage a, b',
    'reknit 1 policy p "x"',
]
MOST_WORDS = 400


@st.composite
def laid_out(draw: st.DrawFn, words: Sequence[str]) -> str:
    """Words in their order, with spaces, line ends and comments between them."""
    # One choice a word would be more than an example can hold; a few patterns, repeated, are as mean.
    patterns = draw(st.lists(between, min_size=1, max_size=24))
    return "".join(word + patterns[index % len(patterns)] for index, word in enumerate(words))


between = st.one_of(
    st.sampled_from(SPACES),
    st.builds(
        lambda before, comments, after: before + "".join(f"{comment}\n{after}" for comment in comments),
        st.sampled_from([" ", "\n", "\n\n", "\n   "]),
        st.lists(st.sampled_from(COMMENTS), min_size=1, max_size=2),
        st.sampled_from(["", "  ", "\n", "    "]),
    ),
)


@cache
def productions() -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    for rule in _grammar().lark.rules:
        found.setdefault(rule.origin.name, []).append(rule.expansion)
    return found


@cache
def depths() -> dict[str, int]:
    """How deep the flattest derivation of each rule is."""
    known: dict[str, int] = {}
    while True:
        before = dict(known)
        for name, expansions in productions().items():
            options = [_depth(expansion, known) for expansion in expansions]
            known[name] = min(options)
        if known == before:
            return known


def _depth(expansion: list[Any], known: dict[str, int]) -> int:
    return 1 + max((0 if symbol.is_term else known.get(symbol.name, 99) for symbol in expansion), default=0)


@st.composite
def sentence(draw: st.DrawFn, rule: str, most: int = 9) -> list[str]:
    """A random derivation of a rule of the grammar, as words."""
    words: list[str] = []
    _derive(draw, rule, most, words)
    return words


def _derive(draw: st.DrawFn, rule: str, depth: int, words: list[str]) -> None:
    expansions = productions()[rule]
    fitting = [one for one in expansions if _depth(one, depths()) <= depth and len(words) < MOST_WORDS]
    flattest = min(expansions, key=lambda one: _depth(one, depths()))
    for symbol in draw(st.sampled_from(fitting)) if fitting else flattest:
        if symbol.is_term:
            display = _grammar().display[symbol.name] if symbol.name not in SHAPES else SHAPES[symbol.name]
            words.append(draw(st.sampled_from(sorted(display))))
        else:
            _derive(draw, symbol.name, depth - 1, words)


@st.composite
def derived(draw: st.DrawFn) -> str:
    """A file of random items, laid out anyhow, in which nothing is wrong to the parser."""
    header = draw(st.sampled_from(HEADERS))
    kinds = sorted({symbol.name for expansion in productions()["item"] for symbol in expansion})
    taken: list[str] = []
    for kind in draw(st.lists(st.sampled_from([*kinds, "quirk", "test"]), max_size=4)):
        words = draw(sentence(kind))
        if parse(" ".join([header, *taken, *words]), "a.rules")[0] is not None:
            taken += words
    text = draw(laid_out([*header.split(), *taken]))
    assume(parse(text, "a.rules")[0] is not None)
    return text
