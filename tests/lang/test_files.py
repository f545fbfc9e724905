"""Finding rule files by name and reading them, whatever stands in their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reknit.lang.diagnostics import Diagnostic
from reknit.lang.files import FileLoader, Loaded
from reknit.lang.resolve import resolve_vendor
from reknit.lang.tokens import MAX_BYTES


def put(folder: Path, name: str, header: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'reknit 1\n{header} "x"\n', encoding="utf-8")
    return path


def found(loader: FileLoader, name: str, kind: str | None = None) -> Loaded:
    loaded = loader.load(name, kind)
    assert isinstance(loaded, Loaded), loaded
    return loaded


def refused(loader: FileLoader, name: str, kind: str | None = None) -> Diagnostic:
    loaded = loader.load(name, kind)
    assert isinstance(loaded, Diagnostic)
    return loaded


def test_a_name_is_looked_up_beside_the_file_then_in_folders_then_among_the_shipped(tmp_path: Path) -> None:
    start = put(tmp_path / "start", "own.rules", "vendor own")
    first = put(tmp_path / "start", "shared.rules", "vendor shared")
    put(tmp_path / "folder", "shared.rules", "vendor shared")
    second = put(tmp_path / "folder", "other.rules", "vendor other")
    loader = FileLoader(start, [tmp_path / "folder", tmp_path / "missing"])
    assert found(loader, "shared").source == str(first)
    assert found(loader, "other").source == str(second)
    assert found(loader, "standard", "policy").source == "rules/policy.rules"
    assert {"own", "shared", "other", "standard"} <= set(loader.names())
    assert loader.names("policy") == FileLoader().names("policy")


def test_the_first_path_says_where_names_are_looked_up(tmp_path: Path) -> None:
    path = put(tmp_path, "own.rules", "vendor own extends near")
    put(tmp_path, "near.rules", "vendor near")
    assert not resolve_vendor(str(path), FileLoader()).failed
    assert refused(FileLoader(), "near").code == "E503"


def test_a_file_is_known_by_its_header(tmp_path: Path) -> None:
    put(tmp_path, "a.rules", "policy own")
    put(tmp_path, "b.rules", "vendor own")
    (tmp_path / "c.rules").write_bytes(b"\xef\xbb\xbf# one\r\n#two\r\n\r\nreknit 1 # three\r\nfragment own 'oops'")
    loader = FileLoader(tmp_path)
    assert found(loader, "own", "policy").source.endswith("a.rules")
    assert found(loader, "own", "vendor").source.endswith("b.rules")
    assert found(loader, "own", "fragment").source.endswith("c.rules")
    assert found(loader, "own").source.endswith("b.rules")


def test_a_file_of_another_kind_hides_nothing(tmp_path: Path) -> None:
    put(tmp_path, "standard.rules", "vendor standard")
    loader = FileLoader(tmp_path)
    assert found(loader, "standard", "policy").source == "rules/policy.rules"
    assert found(loader, "standard", "fragment").source == str(tmp_path / "standard.rules")


def test_a_file_without_a_header_is_still_found_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "own.rules").write_text("policy own", encoding="utf-8")
    resolution = resolve_vendor("own", FileLoader(tmp_path))
    assert [diagnostic.code for diagnostic in resolution.diagnostics] == ["E103", "E101"]


def test_two_files_of_one_kind_and_name_are_told(tmp_path: Path) -> None:
    put(tmp_path, "a.rules", "vendor own")
    put(tmp_path, "b.rules", "vendor own")
    diagnostic = refused(FileLoader(tmp_path), "own")
    assert (diagnostic.code, diagnostic.message) == ("E112", "`a.rules` and `b.rules` both hold vendor `own`")


def test_an_unknown_name_gets_the_near_one(tmp_path: Path) -> None:
    put(tmp_path, "own.rules", "vendor my-own")
    diagnostic = refused(FileLoader(tmp_path), "my-onw", "vendor")
    assert (diagnostic.code, diagnostic.message) == ("E503", "no vendor is named `my-onw`")
    assert diagnostic.help == "did you mean `my-own`?"


def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = put(tmp_path, "own.rules", "vendor own")
    loader = FileLoader()
    before = found(loader, str(path))
    path.write_text("changed", encoding="utf-8")
    assert found(loader, str(path)) is before
    assert found(loader, "own") is before


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    put(tmp_path, "own.rules", "vendor own")
    (tmp_path / "folder.rules").mkdir()
    (tmp_path / "latin.rules").write_bytes(b"reknit 1\nvendor \xe9t\xe9 'x'")
    (tmp_path / "large.rules").write_bytes(b"#" * (MAX_BYTES + 1))
    (tmp_path / "dangling.rules").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.rules")
    loader = FileLoader()
    for name, code, words in [
        ("onw.rules", "E105", "there is no such file"),
        ("folder.rules", "E105", "it is a folder"),
        ("latin.rules", "E105", "byte 16, on line 2, is 0xe9"),
        ("large.rules", "E104", "larger than 256 KiB"),
        ("dangling.rules", "E105", "there is no such file"),
        ("pipe.rules", "E105", "it is not a file"),
        ("x" * 5_000 + ".rules", "E105", "cannot be read"),
        ("a\x00b.rules", "E105", "cannot be read"),
    ]:
        diagnostic = refused(loader, str(tmp_path / name))
        assert diagnostic.code == code
        assert words in diagnostic.message
    assert refused(loader, str(tmp_path / "onw.rules")).help == "did you mean `own.rules`?"
    assert "own" in loader.names()


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, "own.rules", "vendor own")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert refused(FileLoader(), str(path)).message.endswith("cannot be read: permission denied")


def test_links_are_followed(tmp_path: Path) -> None:
    path = put(tmp_path / "real", "own.rules", "vendor own")
    (tmp_path / "link.rules").symlink_to(path)
    assert found(FileLoader(tmp_path), "own").text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["../own", "..", "", ".", "*", "own\x00", "C:own", "~"])
def test_a_name_is_never_a_pattern_or_a_path(tmp_path: Path, name: str) -> None:
    put(tmp_path, "own.rules", "vendor own")
    put(tmp_path / "inner", "other.rules", "vendor other")
    assert refused(FileLoader(tmp_path / "inner"), name).code in ("E503", "E105")
