"""Each code has a page: what is wrong gives exactly that code, what is right gives nothing; the index has them all."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from code_pages import CODES_FOLDER, findings, page_of
from diagnostic_files import WITHOUT_A_FILE, index
from reknit.lang import pages
from reknit.lang.diagnostics import CODES, LINTS, render
from reknit.lang.format import format_text
from reknit.lang.pages import page, pages_folder

WITHOUT_A_PAGE_OF_RULES = {"E105", *WITHOUT_A_FILE}
"""What no text brings about: a file that is no text, and errors of the engine."""

UNTESTED = LINTS["untested-rule"]


@pytest.mark.parametrize("code", CODES)
def test_a_page_shows_what_is_wrong_and_what_is_right(code: str, tmp_path: Path) -> None:
    text = page(code)
    assert text is not None
    made = page_of(text)
    assert made.title == f"# {code}: {CODES[code]}"
    assert list(made.sections) == ["Wrong", "Right", "Why"]
    assert all(made.sections.values())
    assert not made.files["Why"]
    assert all(len(line) <= 120 for line in text.split("\n") if not line.startswith("  given"))
    for section, wanted in (("Wrong", {code}), ("Right", set())):
        if code in WITHOUT_A_PAGE_OF_RULES:
            assert not made.files[section]
            continue
        folder = tmp_path / section
        folder.mkdir()
        for name, content in made.files[section].items():
            (folder / name).write_text(content, encoding="utf-8")
        with chdir(folder):
            found, sources = findings(Path(next(iter(made.files[section]))), tests=code == UNTESTED)
        assert {one.code for one in found} == wanted, render(found, sources)


@pytest.mark.parametrize("code", sorted(set(CODES) - WITHOUT_A_PAGE_OF_RULES))
def test_the_files_of_a_page_are_in_canonical_form(code: str) -> None:
    made = page_of(page(code) or "")
    for section in ("Wrong", "Right"):
        for name, content in made.files[section].items():
            form = format_text(content, name)
            assert form == content or (section == "Wrong" and not isinstance(form, str)), form


@pytest.mark.parametrize(("name", "code"), LINTS.items())
def test_the_page_of_a_lint_says_how_it_is_switched_off(name: str, code: str) -> None:
    assert f"`allow {name}`" in (page(code) or "")


def test_there_is_no_page_of_anything_else() -> None:
    assert {path.stem for path in CODES_FOLDER.glob("*.md")} == {*CODES, "README"}
    assert pages_folder() == CODES_FOLDER


def test_the_index_has_all_codes() -> None:
    """It is written by `python tests/diagnostics/update.py`."""
    assert (CODES_FOLDER / "README.md").read_text(encoding="utf-8") == index()


@pytest.mark.parametrize("name", ["E100", "README", "../../README", "", "E1011", "e"])
def test_only_codes_have_pages(name: str) -> None:
    assert page(name) is None


def test_a_code_is_found_in_small_letters() -> None:
    assert page("e101") == page("E101")


def test_pages_that_did_not_come_along_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "pages_folder", lambda: tmp_path)
    assert page("E101") is None


def test_in_a_wheel_the_pages_are_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codes").mkdir()
    monkeypatch.setattr(pages, "_PACKAGE", tmp_path)
    assert pages.pages_folder.__wrapped__() == tmp_path / "codes"
