"""The grammar is strict LALR, its words cannot be confused, and layout means nothing to shipped files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lark import Lark

from reknit.lang.diagnostics import render
from reknit.lang.parser import _grammar, parse
from reknit.lang.syntax import File
from reknit.lang.tokens import scan
from reknit.shipped import grammar_text, rules_folder, shipped_names

SHIPPED = sorted(rules_folder().glob("*.rules"))


def read(text: str, source: str) -> File:
    file, found = parse(text, source)
    assert file is not None, render(found, {source: text})
    return file


def test_the_grammar_has_no_conflicts() -> None:
    pytest.importorskip("interegular")  # what lark compares the shapes of words with
    Lark(grammar_text(), parser="lalr", strict=True, start=["start", "rest"])


def test_no_word_is_two_keywords_at_one_point() -> None:
    # Words are read whole and then become the keyword that the table takes; two such keywords would be a coin toss.
    grammar = _grammar()
    states = grammar.lark.parser.parser._parse_table.states
    for choices in states.values():
        for word, terminals in grammar.words.items():
            assert sum(terminal in choices for terminal in terminals) <= 1, word


def test_keywords_and_signs_cover_every_terminal_but_the_shapes() -> None:
    grammar = _grammar()
    covered = {terminal for terminals in grammar.words.values() for terminal in terminals} | set(grammar.signs.values())
    shapes = {"NAME", "EVENT", "PATH", "STRING", "NUMBER", "COMMENT"}
    everything = {terminal.name for terminal in grammar.lark.terminals if not terminal.name.startswith("__IGNORE")}
    assert everything == covered | shapes
    assert all(re.fullmatch(r"[a-z]+", word) for word in grammar.words)


def test_shipped_names_are_found_without_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = shipped_names()
    monkeypatch.chdir(tmp_path)
    assert shipped_names() == names
    assert "policy" in names


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_a_shipped_file_reads_the_same_however_it_is_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file = read(text, path.name)
    grammar = _grammar()
    words = [token.text for token in scan(text, path.name, grammar.scanner, grammar.names)[0]]
    one_line = " ".join(words)
    a_word_a_line = "\n".join(f"  {word}  # and a comment" for word in words)
    for form in (one_line, a_word_a_line, text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
        assert read(form, path.name) == file
