"""What the pages say is so: commands, snippets, outputs, links, lists, and the rooms of the engine."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from pydantic import BaseModel

import reknit
from doc_blocks import ROOT, Block, Reader, blocks_of, compare
from reknit.message import Message, Note, Usage, Verdict
from reknit.trial import prepare
from reknit.updates import Update

GENERATED = ["docs/reference.md", "docs/vendors.md"]
PAGES = [
    "README.md",
    "CHANGELOG.md",
    "bench/README.md",
    *(f"docs/{page.name}" for page in sorted(ROOT.glob("docs/*.md"))),
]
WRITTEN = [page for page in PAGES if page not in GENERATED]
ENGINE = ROOT / "engine" / "reknit"


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


# -- blocks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", WRITTEN)
def test_the_blocks_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    Reader(tmp_path).read(ROOT / page)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [("a\n...\nd\n", "a\nb\nc\nd\n"), ("a ... d\n", "a b c d\n"), ("...\n", ""), ("a...\n", "a \n"), ("a\n", "a  \n")],
)
def test_output_that_fits(wanted: str, got: str) -> None:
    compare(Block(("text",), wanted, "here"), got)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [("a\n", "b\n"), ("a\n", "a\nb\n"), ("a ... d\n", "a\nd\n"), ("a\nb\n", "a\n"), ("a.c\n", "abc\n")],
)
def test_output_that_does_not_fit(wanted: str, got: str) -> None:
    with pytest.raises(AssertionError, match="something else is printed"):
        compare(Block(("text",), wanted, "here"), got)


def test_readme_is_short_and_names_all_that_ships() -> None:
    readme = text_of("README.md")
    assert len(readme.splitlines()) <= 150
    shipped = readme.split("## What is shipped")[1].split("\n## ")[0]
    names = {prepare(str(path)).name for path in (ROOT / "rules").glob("*.rules")}
    assert names <= set(re.findall(r"`([\w-]+)`", shipped))


def test_every_example_is_used() -> None:
    pages = "".join(map(text_of, WRITTEN))
    for example in (ROOT / "docs" / "examples").iterdir():
        assert f"examples/{example.name}" in pages, example.name


# -- links -------------------------------------------------------------------------------------------------------------

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in _LINK.findall(text_of(page)):
        if link.startswith("https://"):
            continue  # nobody is asked
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(target), f"{page}: {link}"


# -- generated pages ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "docs/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_out_of_date_is_told_and_mended(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("docs", "rules"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.setattr(generator, "ROOT", tmp_path)
    monkeypatch.setattr(generator, "RULES", tmp_path / "rules")
    rules, page = tmp_path / "rules" / "groq.rules", tmp_path / "docs" / "vendors.md"
    rules.write_text(rules.read_text("utf-8").replace("usage-under-x-groq", "usage-somewhere"), "utf-8")
    assert generator.main(["--check"]) == 1
    assert "usage-somewhere" in capsys.readouterr().out
    assert page.read_text("utf-8") == text_of("docs/vendors.md")
    assert generator.main([]) == 0
    assert "usage-somewhere" in page.read_text("utf-8")
    assert generator.main(["--check"]) == 0


@pytest.mark.parametrize("sentences", [{"a": "is there"}, {"a": "is there", "b": "too", "c": "is not"}])
def test_a_word_without_a_sentence_and_a_sentence_without_a_word_are_errors(
    generator: ModuleType, sentences: dict[str, str]
) -> None:
    assert generator.said(["a"], {"a": "is there"}, "words") == [("`a`", "is there")]
    with pytest.raises(generator.MismatchError, match=r"do not fit the engine: (b|c)$"):
        generator.said(["a", "b"], sentences, "words")


_REASONS = re.compile(r'(?:WireNote\(|\.note\(|outside_note\([^"()]*"[\w-]+", )"([\w-]+)"')
_CODES = re.compile(r'(?:WireFailure\("\w+", |_fault\("\w+", |\babort\("\w+", |_failure = \(|\bcode=)"([\w-]+)"')


def test_the_reference_has_every_reason_and_code_that_the_engine_gives_itself(generator: ModuleType) -> None:
    source = "".join(path.read_text("utf-8") for path in sorted(ENGINE.rglob("*.py")))
    reference = text_of("docs/reference.md")
    reasons, given = set(_REASONS.findall(source)), set(_CODES.findall(source))
    assert len(reasons) >= 10
    assert len(given) >= 5
    assert [word for word in sorted(reasons | given) if f"| `{word}` |" not in reference] == []
    for word in (*generator.FAULTS, *generator.ENGINE_SAID):
        assert f'"{word}"' in source, f"the engine does not know `{word}`"


# -- what pages list ---------------------------------------------------------------------------------------------------


def rows(page: str, section: str) -> dict[str, str]:
    """The rows of all tables of a section, by the words of their first cell."""
    part = re.split(rf"^## {re.escape(section)}$", text_of(page), flags=re.MULTILINE)[1].split("\n## ")[0]
    found = {}
    for line in part.splitlines():
        if line.startswith("| `"):
            first, rest = line.removeprefix("|").split("|", 1)
            found.update(dict.fromkeys(re.findall(r"`([\w.]+)`", first), rest))
    return found


def test_the_page_of_the_message_has_every_field() -> None:
    models: dict[str, type[BaseModel]] = {"Fields": Message, "Verdicts": Verdict, "Usage": Usage}
    for section, model in models.items():
        assert set(rows("docs/message.md", section)) == set(model.model_fields), section
    notes = text_of("docs/message.md").split("## Notes")[1].split("\n## ")[0]
    assert set(Note.model_fields) <= set(re.findall(r"`([\w]+)`", notes))


def test_the_page_of_the_message_has_every_update_with_its_fields() -> None:
    listed = rows("docs/message.md", "Updates")
    assert set(listed) == {update.__name__ for update in get_args(Update)}
    for update in get_args(Update):
        named = re.findall(r"`(\w+)`", listed[update.__name__].split("|", 1)[1])
        assert set(update.__struct_fields__) <= set(named), update.__name__


def test_the_changelog_has_this_version() -> None:
    assert f"## [{reknit.__version__}]" in text_of("CHANGELOG.md")


# -- rooms -------------------------------------------------------------------------------------------------------------


def rooms_in(section: str, column: int) -> list[list[str]]:
    """The words of a column of the table in a section of the page."""
    part = text_of("docs/architecture.md").split(f"## {section}")[1].split("\n## ")[0]
    lines = [line.split("|")[column] for line in part.splitlines() if line.startswith("| ")]
    return [re.findall(r"`(\w+)`", cell) for cell in lines]


def test_rooms_import_only_from_above() -> None:
    level = {room: number for number, line in enumerate(rooms_in("The rooms", 1)) for room in line}
    later = {room for line in rooms_in("Places for later steps", 2) for room in line}
    rooms = {path.stem for path in ENGINE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))} - {"__init__"}
    assert set(level) <= rooms
    assert rooms <= {*level, *later}
    wrong = []
    for path in sorted(ENGINE.rglob("*.py")):
        room = path.relative_to(ENGINE).parts[0].removesuffix(".py")
        if room not in level:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("reknit"):
                names = [node.module] if "." in node.module else [f"reknit.{alias.name}" for alias in node.names]
                wrong += [
                    f"{path.relative_to(ENGINE)}:{node.lineno} imports {name}"
                    for name in names
                    if level.get(name.split(".")[1], -1) > level[room]
                ]
    assert wrong == []


# -- the one command that checks everything ----------------------------------------------------------------------------


def test_ci_runs_what_the_readme_says() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
    lines = [line.strip() for line in script.read_text("utf-8").splitlines()]
    assert "set -euo pipefail" in lines
    block = next(block for block in blocks_of(ROOT / "README.md") if block.words == ("sh", "tests"))
    command = block.text.strip().split(" && ")[-1]
    assert command == ".venv/bin/pytest"
    assert '"$bin/pytest"' in lines
