"""How a finding is shown: the form of the design's examples, and what no file may do to a terminal."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reknit.lang.diagnostics import CODES, Diagnostic, Label, lines_of, nearest, quoted, render, suggestion, to_json
from reknit.lang.syntax import NOWHERE, Place


def at(line: int, column: int, end_column: int, source: str = "a.rules", end_line: int = 0) -> Place:
    return Place(source, line, column, end_line or line, end_column)


def shown(place: Place, text: str, label: str = "here") -> list[str]:
    found = Diagnostic("E201", "something is wrong", Label(place, label))
    return render([found], {"a.rules": text}).splitlines()


def test_the_form_of_the_design() -> None:
    text = "\n" * 138 + "rule tool-append\n" + "\n" * 9 + "rule tool-slot-reused\n"
    found = Diagnostic(
        "E301",
        "rules `tool-append` and `tool-slot-reused` both take the same input",
        Label(at(149, 6, 22), "this rule"),
        (Label(at(139, 6, 17), "and this one"),),
        ("for example tool.delta { slot: open, id: same, name: none } in state `tools`, and 1 more",),
        "narrow one of them with a case, or take a state out of its `from`",
    )
    assert render([found], {"2-overlap.rules": "", "a.rules": text}) == (
        "error[E301]: rules `tool-append` and `tool-slot-reused` both take the same input\n"
        "   --> a.rules:149:6\n"
        "    |\n"
        "149 | rule tool-slot-reused\n"
        "    |      ^^^^^^^^^^^^^^^^ this rule\n"
        "139 | rule tool-append\n"
        "    |      ----------- and this one\n"
        "    |\n"
        "    = note: for example tool.delta { slot: open, id: same, name: none } in state `tools`, and 1 more\n"
        "    = help: narrow one of them with a case, or take a state out of its `from`\n"
    )


def test_several_findings_are_parted_by_an_empty_line_and_none_are_nothing() -> None:
    found = Diagnostic("E201", "one", Label(NOWHERE, ""))
    warned = Diagnostic("W101", "two", Label(NOWHERE, ""), help="three", severity="warning")
    assert render([found, warned], {}) == "error[E201]: one\n\nwarning[W101]: two\n  = help: three\n"
    assert render([], {}) == ""


def test_another_file_is_named() -> None:
    found = Diagnostic(
        "E502", "twice", Label(at(1, 1, 2), "added here"), (Label(at(12, 3, 4, "b.rules"), "it is here"),)
    )
    text = render([found], {"a.rules": "x", "b.rules": "\n" * 11 + "  y"})
    assert text == (
        "error[E502]: twice\n"
        "  --> a.rules:1:1\n"
        "   |\n"
        " 1 | x\n"
        "   | ^ added here\n"
        "  ::: b.rules:12:3\n"
        "   |\n"
        "12 |   y\n"
        "   |   - it is here\n"
        "   |\n"
    )


def test_two_labels_on_one_line_show_it_once() -> None:
    found = Diagnostic("E109", "twice", Label(at(1, 5, 6), "second"), (Label(at(1, 1, 2), "first"),))
    assert render([found], {"a.rules": "a b a"}).splitlines()[3:6] == [
        "1 | a b a",
        "  |     ^ second",
        "  | - first",
    ]


def test_a_text_that_is_not_given_leaves_the_place() -> None:
    assert shown(at(3, 4, 5), "one line") == ["error[E201]: something is wrong", " --> a.rules:3:4", "  |", "  |"]


@pytest.mark.parametrize(
    ("line", "column", "end", "expected"),
    [
        ("\ta\tb", 4, 5, ("    a    b", "         ^")),
        ("日本 x", 4, 5, ("日本 x", "     ^")),
        ("日本", 1, 3, ("日本", "^^^^")),
        ("e\u0301 x", 4, 5, ("e\u0301 x", "  ^")),
        ("a\x1b[31mb", 7, 8, ("a\\x1b[31mb", "         ^")),
        ("a\u202eb", 2, 3, ("a\\u202eb", " ^^^^^^")),
        ("a\ud800b", 3, 4, ("a\\ud800b", "       ^")),
        ("abc", 4, 4, ("abc", "   ^")),
        ("abc", 9, 12, ("abc", "   ^")),
        ("", 1, 1, ("", "^")),
    ],
)
def test_marks_stand_under_what_they_mark(line: str, column: int, end: int, expected: tuple[str, str]) -> None:
    lines = shown(at(1, column, end), line, "")
    assert lines[3] == f"1 | {expected[0]}".rstrip()
    assert lines[4] == f"  | {expected[1]}"


def test_a_place_of_several_lines_is_shown_on_its_first() -> None:
    lines = shown(at(1, 3, 2, end_line=3), "a bcd\nx\ny")
    assert lines[3:] == ["1 | a bcd", "  |   ^^^ here", "  |"]


@pytest.mark.parametrize("column", [1, 60, 119, 500, 5_000, 99_999])
def test_a_long_line_is_cut_around_the_culprit(column: int) -> None:
    line = ("abcdefghi " * 10_000)[:100_000]
    line = line[: column - 1] + "X" + line[column:]
    lines = shown(at(1, column, column + 1), line, "")
    text, marks = lines[3][4:], lines[4][4:]
    assert len(text) <= 120
    assert text[marks.index("^")] == "X"
    assert text.startswith("…") == (column > 40)
    assert text.endswith("…") == (column < 99_000)


def test_a_long_culprit_is_marked_as_far_as_it_is_shown() -> None:
    lines = shown(at(1, 1, 9_001), "x" * 10_000, "")
    assert set(lines[4][4:]) == {"^"}
    assert len(lines[4]) <= len(lines[3])


def test_lines_are_counted_as_the_parser_counts_them() -> None:
    assert lines_of("\ufeffa\r\nb\rc\nd\x0be\u2028f") == ["a", "b", "c", "d\x0be\u2028f"]


def test_plain_data_has_the_fields_of_the_rendered_form() -> None:
    found = Diagnostic(
        "E502", "message \x1b", Label(at(1, 2, 3), "label"), (Label(at(4, 5, 6), "other"),), ("note",), "help"
    )
    data = to_json(found)
    assert json.loads(json.dumps(data)) == data
    assert data == {
        "code": "E502",
        "severity": "error",
        "title": CODES["E502"],
        "message": "message \\x1b",
        "label": {"text": "label", "source": "a.rules", "line": 1, "column": 2, "end_line": 1, "end_column": 3},
        "others": [{"text": "other", "source": "a.rules", "line": 4, "column": 5, "end_line": 4, "end_column": 6}],
        "notes": ["note"],
        "help": "help",
    }


def test_codes_are_in_their_ranges() -> None:
    assert all(re.fullmatch(r"[EW][1-7]\d\d", code) for code in CODES)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("max_token", ["end_turn", "max_tokens"], "max_tokens"),
        ("form", ["from", "to"], "from"),
        ("closed", ["none", "last"], None),
        ("x" * 10_000, ["x" * 10_001], None),
        ("", ["a"], None),
        ("a", [], None),
    ],
)
def test_nearest(word: str, known: list[str], near: str | None) -> None:
    assert nearest(word, known) == near


def test_suggestions_name_the_near_word_or_some_that_are_known() -> None:
    assert suggestion("fnish", ["usage", "finish"]) == "did you mean `finish`?"
    assert suggestion("x", ["aa", "bb"]) == "known here: `aa`, `bb`"
    assert suggestion("x", [f"name{n}" for n in range(10)], 2) == "known here: `name0`, `name1` and 8 more"
    assert suggestion("x", []) is None
    assert quoted("a" * 100) == "`" + "a" * 57 + "...`"


places = st.builds(
    Place,
    st.sampled_from(["", "a.rules", "b.rules"]),
    st.integers(1, 5),
    st.integers(1, 2_000),
    st.integers(1, 5),
    st.integers(1, 2_000),
)
labels = st.builds(Label, places, st.text(max_size=8))


@given(
    st.lists(
        st.builds(
            Diagnostic,
            st.sampled_from(sorted(CODES)),
            st.text(max_size=20),
            labels,
            st.lists(labels, max_size=2).map(tuple),
            st.lists(st.text(max_size=8), max_size=2).map(tuple),
            st.none() | st.text(max_size=8),
        ),
        max_size=3,
    ),
    st.text(alphabet=st.characters() | st.sampled_from("\n\t日\ud800\x1b"), max_size=300),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_finding_about_any_text_is_shown_in_plain_characters(found: list[Diagnostic], text: str) -> None:
    report = render(found, {"a.rules": text})
    report.encode("utf-8")
    assert report.replace("\n", "").isprintable()
    json.dumps([to_json(diagnostic) for diagnostic in found]).encode("ascii")
