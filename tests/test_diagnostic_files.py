"""Each bad file has what is said about it beside it, and each code has a bad file; see `diagnostic_files`."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import diagnostic_files
from diagnostic_files import FOLDER, WITHOUT_A_FILE, cases, found_in
from reknit.lang.diagnostics import CODES, LINTS, Diagnostic
from reknit.shipped import shipped_names

ROOT = FOLDER.parents[1]
CASES = cases()
_CODE = re.compile(r'"([EW]\d\d\d)"')

looked_at = cache(found_in)


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}/{path.stem}" for path in CASES])
def test_a_bad_file_and_what_is_said_about_it(path: Path) -> None:
    """A new case is a new file, and `python tests/diagnostics/update.py`; look at what it wrote."""
    found, text = looked_at(path)
    assert found
    assert text == path.with_suffix(".txt").read_text(encoding="utf-8")
    for diagnostic in found:
        assert diagnostic.code in CODES
        assert diagnostic.severity == ("warning" if diagnostic.code in LINTS.values() else "error")
        for words in _words(diagnostic):
            assert not words.endswith("."), words
            assert not words[:1].isupper(), words
            assert words.count("`") % 2 == 0, words


def _words(diagnostic: Diagnostic) -> list[str]:
    labels = [diagnostic.label.text, *(label.text for label in diagnostic.others)]
    return [diagnostic.message, diagnostic.help or "", *labels]


def test_no_text_stands_alone() -> None:
    assert {path.with_suffix(".txt") for path in CASES} == set(FOLDER.glob("*/*.txt"))


def test_texts_do_not_depend_on_where_things_stand_in_shipped_files() -> None:
    for path in FOLDER.glob("*/*.txt"):
        assert "rules/" not in path.read_text(encoding="utf-8"), path


def test_every_code_has_a_bad_file() -> None:
    said = {diagnostic.code for path in CASES for diagnostic in looked_at(path)[0]}
    assert said == set(CODES) - WITHOUT_A_FILE


def test_every_code_that_is_given_is_in_the_list_and_every_one_in_the_list_is_given() -> None:
    given = set()
    for path in (ROOT / "engine").rglob("*.py"):
        if path.name != "diagnostics.py":
            given |= set(_CODE.findall(path.read_text(encoding="utf-8")))
    assert given | set(LINTS.values()) == set(CODES)
    assert not given & set(LINTS.values())


def test_files_that_cases_build_on_are_sound() -> None:
    """But for those that are two of one name, or lead in a circle, on purpose."""
    for path in FOLDER.glob("*/_*.rules"):
        if not path.stem.startswith(("_twice", "_round")):
            assert not [one for one in found_in(path)[0] if one.severity == "error"], path
    assert not {path.stem for path in FOLDER.glob("*/*.rules")} & set(shipped_names())


def test_updating_writes_what_is_missing_and_takes_away_what_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnostic_files, "FOLDER", tmp_path)
    monkeypatch.setattr(diagnostic_files, "CODES_FOLDER", tmp_path)
    topic = tmp_path / "topic"
    topic.mkdir()
    case, left = topic / "empty.rules", topic / "gone.txt"
    case.write_text("reknit 1\n", encoding="utf-8")
    left.write_text("left over", encoding="utf-8")
    assert diagnostic_files.update() == [case.with_suffix(".txt"), tmp_path / "README.md", left]
    assert case.with_suffix(".txt").read_text(encoding="utf-8").startswith("error[E101]")
    assert not left.exists()
    assert diagnostic_files.update() == []


def test_the_script_finds_nothing_to_write() -> None:
    script = FOLDER / "update.py"
    done = subprocess.run([sys.executable, script], cwd="/", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
