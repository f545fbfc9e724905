"""Any text whatever is read without raising, and what is said about it can be shown."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reknit.lang.diagnostics import CODES, render
from reknit.lang.files import TextLoader
from reknit.lang.parser import _grammar, parse
from reknit.lang.resolve import resolve_policy, resolve_vendor
from reknit.lang.tokens import MAX_FINDINGS
from reknit.shipped import rules_folder

SHIPPED = {path.name: path.read_text(encoding="utf-8") for path in sorted(rules_folder().glob("*.rules"))}
WORDS = sorted(_grammar().words) + sorted(_grammar().signs)
FRAGMENTS = [
    *WORDS,
    *WORDS,
    "A_B",
    "name",
    "x-1",
    '"text"',
    '"',
    "\\",
    ".a[*]",
    "@",
    "1",
    "-1e9",
    "#",
    "\n",
    "\n",
    "\n",
    "\x00",
]

any_text = st.text(alphabet=st.characters() | st.sampled_from('{}[]":,|=.@#\\\n\r\t\ud800\u202e'), max_size=200)
words = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join)
lines = st.lists(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map(" ".join), max_size=20).map("\n".join)
headers = st.sampled_from(["", 'reknit 1\npolicy p "x"\n', 'reknit 1\nvendor v "x"\n', 'reknit 1\nfragment f "x"\n'])


def check(text: str) -> None:
    file, found = parse(text, "a.rules")
    assert (file is None) == bool(found)
    assert len(found) <= MAX_FINDINGS
    assert all(diagnostic.code in CODES for diagnostic in found)
    report = render(found, {"a.rules": text})
    assert report.replace("\n", "").isprintable()
    if file is not None:
        assert parse(text, "b.rules")[0] is not None


@given(any_text)
@settings(deadline=None)
def test_any_text(text: str) -> None:
    check(text)


@given(headers, words | lines)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_words_of_the_language(header: str, text: str) -> None:
    check(header + text)


Change = Callable[[str, int, int, str], str]
CHANGES: list[Change] = [
    lambda text, at, size, new: text[:at] + text[at + size :],
    lambda text, at, size, new: text[:at] + new + text[at:],
    lambda text, at, size, new: text[:at] + new + text[at + size :],
    lambda text, at, size, new: text[:at] + text[at : at + size] * 2 + text[at + size :],
    lambda text, at, size, new: text[:at],
    lambda text, at, size, new: text[at:],
]


@st.composite
def changed_files(draw: st.DrawFn) -> tuple[str, str]:
    """A shipped file after a few changes anywhere; long files by a part of them, so that many are tried."""
    name = draw(st.sampled_from(sorted(SHIPPED)))
    text = SHIPPED[name]
    if len(text) > 4_000:
        cut = draw(st.integers(0, len(text) - 3_000))
        text = text[:400] + text[cut : cut + 3_000]
    for _ in range(draw(st.integers(1, 3))):
        change = draw(st.sampled_from(CHANGES))
        at = draw(st.integers(0, len(text)))
        size = draw(st.integers(0, 40))
        text = change(text, at, size, draw(st.sampled_from(FRAGMENTS) | st.text(max_size=3)))
    return name, text


@given(changed_files())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_shipped_files_with_changes(changed: tuple[str, str]) -> None:
    name, text = changed
    check(text)
    loader = TextLoader(SHIPPED | {name: text})
    for resolution in (resolve_vendor(name, loader), resolve_policy(name, loader)):
        report = render(resolution.diagnostics, resolution.sources)
        assert report.replace("\n", "").isprintable()
        assert resolution.value is not None or resolution.failed


def test_deep_and_long_texts_do_not_exhaust_the_stack() -> None:
    for text in ("{" * 100_000, "[" * 100_000, "{}" * 60_000, "rule a\n" * 30_000, '"' * 200_000, "a " * 100_000):
        for header in ('reknit 1\nvendor v "x"\n', 'reknit 1\nvendor v "x"\ntest "t" { given { a: ', ""):
            check(header + text)
