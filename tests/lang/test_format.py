"""The canonical form: reads as the file did, keeps its comments, and is its own form."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_texts import derived, laid_out
from test_untrusted import SHIPPED, changed_files, check

from reknit.lang import format as formatting
from reknit.lang.diagnostics import render
from reknit.lang.format import format_text
from reknit.lang.parser import parse, words_of
from reknit.lang.tokens import Token

FOLDER = Path(__file__).parent / "format"
PAIRS = sorted(FOLDER.glob("*.rules.in"))

VENDOR = 'reknit 1\n\nvendor v "x"\n'


def form(text: str) -> str:
    made = format_text(text, "a.rules")
    assert isinstance(made, str), render(made, {"a.rules": text})
    return made


def hold(text: str) -> str:
    """The form of a text without errors, held to all that a form has to be."""
    made = form(text)
    assert form(made) == made
    file, again = parse(text, "a.rules")[0], parse(made, "a.rules")[0]
    assert file is not None
    assert again == file
    comments, kept = ([comment.text for comment in words_of(one, "a.rules")[1]] for one in (text, made))
    assert kept == comments
    lines = made.split("\n")
    assert lines[-1] == ""
    assert "" not in (lines[0], lines[-2])
    assert not any(line != line.rstrip() or "\t" in line for line in lines)
    assert not any(one == two == "" for one, two in pairwise(lines))
    return made


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAIRS, ids=[path.name.split(".")[0] for path in PAIRS])
def test_a_file_and_its_form(path: Path) -> None:
    """`NAME.rules.in` and its form `NAME.rules.out`; a new case is two new files."""
    wanted = path.with_suffix(".out").read_text(encoding="utf-8")
    assert hold(path.read_text(encoding="utf-8")) == wanted
    assert form(wanted) == wanted


def test_every_form_belongs_to_a_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.rules.out")} == {path.stem for path in PAIRS}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_keeps_its_words(name: str) -> None:
    hold(SHIPPED[name])


@pytest.mark.parametrize("name", SHIPPED)
def test_line_ends_and_byte_order_marks_are_made_equal(name: str) -> None:
    text = SHIPPED[name]
    made = form(text)
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.rstrip("\n")):
        assert form(other) == made


# -- properties --------------------------------------------------------------------------------------------------------


@given(changed_files())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_files_with_changes(changed: tuple[str, str]) -> None:
    _, text = changed
    check(text)
    made = format_text(text, "a.rules")
    if isinstance(made, str):
        hold(text)
    else:
        assert made == parse(text, "a.rules")[1]


@cache
def written(name: str) -> tuple[list[Token], list[tuple[int, int]]]:
    """The words of a shipped file, and in which lines its items stand."""
    file = parse(SHIPPED[name], name)[0]
    assert file is not None
    lines = [(item.place.line, item.place.end_line) for item in file.items]
    return words_of(SHIPPED[name], name)[0][:-1], lines


@st.composite
def laid_out_anew(draw: st.DrawFn) -> str:
    """Some items of a shipped file, its words apart by anything that may stand between them."""
    tokens, items = written(draw(st.sampled_from(sorted(SHIPPED))))
    first = draw(st.integers(0, len(items) - 1))
    last = min(first + draw(st.integers(0, 2)), len(items) - 1)
    lines = {*range(items[0][0]), *range(items[first][0], items[last][1] + 1)}
    return draw(laid_out([token.text for token in tokens if token.place.line in lines]))


@given(laid_out_anew())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_files_laid_out_anew(text: str) -> None:
    hold(text)


@given(derived())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_sentence_of_the_grammar(text: str) -> None:
    hold(text)


def test_layout_does_not_decide_the_form() -> None:
    """Without comments and paragraphs there is one form, however the words were laid out."""
    text = SHIPPED["groq.rules"]
    words = [token.text for token in words_of(text, "a.rules")[0][:-1]]
    forms = {form(" ".join(words)), form("\n".join(words)), form("\n ".join(words)), form("\t".join(words))}
    assert len(forms) == 1


# -- single decisions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r'"\u0041\u00e9\/"', '"Aé/"'),
        (r'"\ud83d\ude00 \uD83D\uDE00"', '"😀 😀"'),
        (r'"\u0022 \u005c \u000a \n"', r'"\" \\ \n \n"'),
        ('"a\tb"', r'"a\tb"'),
        (r'"\u200B \u00A0 \u0301 \u3164 \u0001"', r'"\u200b \u00a0 \u0301 \u3164 \u0001"'),
        ('"\u00a0 👩\u200d👩"', '"\u00a0 👩\u200d👩"'),
        ('"# no comment { , "', '"# no comment { , "'),
    ],
)
def test_texts_are_escaped_no_more_than_they_have_to_be(written: str, kept: str) -> None:
    assert hold(f'reknit 1\nvendor v "x"\ntest {written} {{ expect text }}\n').split("\n")[4] == f"test {kept} {{"


def test_the_author_decides_which_words_stand_in_quotes() -> None:
    text = VENDOR + '\ntest "t" {\n  expect tool { id: made, "name": "made", input: { "a": b, c: "d" } }\n}\n'
    assert hold(text) == text


def test_a_list_is_filled_up_to_the_width() -> None:
    names = [f"fragment-{number:02}" for number in range(30)]
    lines = hold(f'reknit 1\nvendor v with {",".join(names)} "why"\n').split("\n")[2:-1]
    assert lines[0] == "vendor v with " + ", ".join(names[:8]) + ","
    assert all(line.startswith(" " * len("vendor v with ") + "fragment") for line in lines[1:-1])
    assert all(len(line) <= 120 for line in lines)
    assert lines[-1] == '  "why"'


def test_a_record_inside_a_record_is_broken_where_it_has_to_be() -> None:
    keys = ", ".join(f"key_{number:02}: @.value_{number:02} | text" for number in range(12))
    made = hold(f"{VENDOR}map m at . emit OPAQUE_BLOCK {{ block: {{ {keys} }}, slot: .index }}\n")
    lines = made.split("\n")[6:-1]
    assert all(len(line) <= 120 for line in lines)
    assert lines[0].startswith("  emit  OPAQUE_BLOCK { block: { key_00: ")
    assert {len(line) - len(line.lstrip()) for line in lines[1:-1]} == {lines[0].index("key_00")}
    assert lines[-1].endswith("slot: .index }")


def test_steps_of_a_test_are_never_broken() -> None:
    frame = "{ " + ", ".join(f'"key_{number}": [{number}]' for number in range(40)) + " }"
    text = f'{VENDOR}\ntest "t" {{\n  given  {frame}\n  expect no notes\n}}\n'
    assert hold(text) == text


def test_a_long_word_stands_out_and_moves_nothing() -> None:
    text = (
        f'{VENDOR}\nenum finish {{\n  "stop"   => end_turn\n  "length" => max_tokens\n'
        '  "model_context_window_exceeded" => max_tokens\n  else     => same\n}\n'
    )
    assert hold(text) == text


def test_a_file_with_errors_has_no_form() -> None:
    text = VENDOR + "map\n"
    assert format_text(text, "a.rules") == parse(text, "a.rules")[1]


def test_a_form_that_would_lose_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = VENDOR + "# kept\nmap a at .x emit X { a: @ }\nmap b at .y emit X { b: @ }\n"
    lines = form(text).split("\n")[:-1]
    for broken, what in (
        ([line for line in lines if line != "map b"], "reads differently"),
        ([line for line in lines if "kept" not in line], "has other comments"),
        ([*lines[:2], 'vendor v "\\u0078"', *lines[3:]], ""),
    ):
        monkeypatch.setattr(formatting, "_lines", lambda parts, broken=broken: broken)
        made = format_text(text, "a.rules")
        if not what:
            assert isinstance(made, str)
            continue
        assert isinstance(made, list)
        (found,) = made
        assert found.code == "E114"
        assert found.message == f"the canonical form of `a.rules` {what}, so nothing was written"


def test_other_words_of_one_meaning_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'{VENDOR}\ntest "t" {{\n  expect tool {{ id: made }}\n}}\n'
    lines = [line.replace("made", '"made"') for line in text.split("\n")[:-1]]
    monkeypatch.setattr(formatting, "_lines", lambda parts: lines)
    (found,) = format_text(text, "a.rules")
    assert found.message.endswith("has other words, so nothing was written")  # type: ignore[union-attr]
