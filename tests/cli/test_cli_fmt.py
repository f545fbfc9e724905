"""`reknit fmt`: in place, standard input, `--check` and `--diff`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cli_streams import COMMAND, call

from reknit.lang import format
from reknit.lang.tokens import MAX_BYTES

MESSY = 'reknit 1\nvendor v "x"   # why\nmap m at .x emit A { a: @ }\n'
FORMED = 'reknit 1\n\nvendor v "x"  # why\n\nmap m\n  at    .x\n  emit  A { a: @ }\n'
BROKEN = 'reknit 1\nvendor v "x"\nmap\n'


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.rules"
    path.write_bytes(text.encode("utf-8"))
    return path


def test_a_file_is_rewritten_in_place(tmp_path: Path) -> None:
    path = _write(tmp_path, "messy", MESSY)
    path.chmod(0o640)
    result = call("fmt", path)
    assert (result.exit_code, result.output) == (0, f"{path} formatted\n")
    assert path.read_text(encoding="utf-8") == FORMED
    assert path.stat().st_mode & 0o7777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    assert (call("fmt", path).exit_code, call("fmt", path).output) == (0, "")


def test_a_file_that_is_in_form_is_not_touched(tmp_path: Path) -> None:
    path = _write(tmp_path, "formed", FORMED)
    os.utime(path, ns=(1, 1))
    inode = path.stat().st_ino
    assert call("fmt", path).exit_code == 0
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (1, inode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = _write(tmp_path, "messy", MESSY)
    link = tmp_path / "link.rules"
    link.symlink_to(path.name)
    assert call("fmt", link).exit_code == 0
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == FORMED


def test_a_folder_stands_for_its_rule_files(tmp_path: Path) -> None:
    one, two = _write(tmp_path, "one", MESSY), _write(tmp_path, "two", FORMED)
    (tmp_path / "other.txt").write_text("no rules", encoding="utf-8")
    assert call("fmt", tmp_path).output == f"{one} formatted\n"
    assert one.read_bytes() == two.read_bytes()


def test_line_ends_and_a_byte_order_mark_are_changes(tmp_path: Path) -> None:
    path = _write(tmp_path, "odd", "\ufeff" + FORMED.replace("\n", "\r\n"))
    assert call("fmt", path, "--check").exit_code == 1
    assert call("fmt", path).exit_code == 0
    assert path.read_bytes() == FORMED.encode("utf-8")


def test_a_file_with_errors_is_left_alone_and_others_are_not(tmp_path: Path) -> None:
    broken, messy = _write(tmp_path, "broken", BROKEN), _write(tmp_path, "messy", MESSY)
    result = call("fmt", broken, messy)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[E101]: ")
    assert f"--> {broken}:4:1" in result.stderr
    assert result.stdout == f"{messy} formatted\n"
    assert broken.read_text(encoding="utf-8") == BROKEN


@pytest.mark.parametrize("content", [b"reknit 1\n\xff", b"#" * (MAX_BYTES + 1)])
def test_what_is_no_rule_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.rules"
    path.write_bytes(content)
    result = call("fmt", path)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[E10")
    assert call("fmt", "-", stdin=content).exit_code == 1
    assert path.read_bytes() == content


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may write everything")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = _write(tmp_path, "messy", MESSY)
    tmp_path.chmod(0o500)
    try:
        result = call("fmt", path)
    finally:
        tmp_path.chmod(0o700)
    assert result.exit_code == 2
    assert result.output.startswith(f"error: `{path}` cannot be written: ")
    assert path.read_text(encoding="utf-8") == MESSY


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, "messy", MESSY)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    result = call("fmt", path)
    assert (result.exit_code, result.output) == (
        2,
        f"error: `{path}` cannot be written: no space left on device\n",
    )
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == MESSY


def test_a_form_that_would_lose_something_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, "messy", MESSY)
    monkeypatch.setattr(format, "_lines", lambda parts: ["reknit 1", 'vendor v "x"'])
    for arguments in ((path,), (path, "--check"), (path, "--diff")):
        result = call("fmt", *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("error[E114]: the canonical form of ")
    assert path.read_text(encoding="utf-8") == MESSY


# -- standard input ----------------------------------------------------------------------------------------------------


def test_standard_input_goes_to_standard_output() -> None:
    for text in (MESSY, FORMED, "\ufeff" + MESSY.replace("\n", "\r\n")):
        result = call("fmt", "-", stdin=text.encode("utf-8"))
        assert (result.exit_code, result.stdout, result.stderr) == (0, FORMED, "")


def test_errors_of_standard_input_go_to_standard_error() -> None:
    result = call("fmt", "-", stdin=BROKEN.encode("utf-8"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--> <stdin>:4:1" in result.stderr


def test_every_character_comes_out_as_it_is() -> None:
    text = FORMED.replace('"x"', '"é 日本 👩\u200d👩"')
    done = subprocess.run(
        [*COMMAND, "fmt", "-"],
        input=text.encode("utf-8"),
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout == text.encode("utf-8")


# -- what would change -------------------------------------------------------------------------------------------------


def test_check_tells_what_would_change(tmp_path: Path) -> None:
    messy, formed = _write(tmp_path, "messy", MESSY), _write(tmp_path, "formed", FORMED)
    result = call("fmt", messy, formed, "--check")
    assert result.exit_code == 1
    assert result.output == (
        f'{messy} would change:\n-vendor v "x"   # why\n-map m at .x emit A {{ a: @ }}\n'
        '+\n+vendor v "x"  # why\n+\n+map m\n+  at    .x\n+  emit  A { a: @ }\n'
    )
    assert messy.read_text(encoding="utf-8") == MESSY
    assert (call("fmt", formed, "--check").exit_code, call("fmt", formed, "--check").output) == (0, "")
    assert call("fmt", "-", "--check", stdin=MESSY.encode()).output.startswith("<stdin> would change:\n")


def test_check_shows_the_beginning_of_many_changes(tmp_path: Path) -> None:
    path = _write(tmp_path, "long", MESSY + "".join(f"map m{number} at .x emit A {{ a: @ }}\n" for number in range(50)))
    lines = call("fmt", path, "--check").output.split("\n")
    assert len(lines) == 23
    assert lines[-2].startswith("... and ")


def test_a_patch_does_what_formatting_does(tmp_path: Path) -> None:
    for text in (MESSY, MESSY.rstrip("\n")):
        path = _write(tmp_path, "messy", text)
        result = call("fmt", path, "--diff")
        assert result.exit_code == 1
        assert path.read_text(encoding="utf-8") == text
        patch = result.output.replace(str(path), "messy.rules")
        done = subprocess.run(
            ["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert path.read_text(encoding="utf-8") == FORMED
    assert (call("fmt", path, "--diff").exit_code, call("fmt", path, "--diff").output) == (0, "")


def test_errors_are_findings_under_check_and_diff_too(tmp_path: Path) -> None:
    path = _write(tmp_path, "broken", BROKEN)
    for option in ("--check", "--diff"):
        result = call("fmt", path, option)
        assert (result.exit_code, result.stdout) == (1, "")


def test_nothing_in_a_file_can_drive_the_terminal(tmp_path: Path) -> None:
    path = _write(tmp_path, "odd", MESSY.replace("# why", "# \u00ad\u200c"))
    for option in ("--check", "--diff"):
        assert "\u00ad" not in call("fmt", path, option).output


def test_colours_can_be_asked_for(tmp_path: Path) -> None:
    path = _write(tmp_path, "messy", MESSY)
    for option in ("--check", "--diff"):
        assert "\x1b[32m+map m\x1b[0m" in call("fmt", path, option, "--color").output
        assert "\x1b" not in call("fmt", path, option).output


# -- wrong use ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "error: no file is named\n"),
        (["-", "a.rules"], "error: `-` stands alone\n"),
        (["standard"], "error: there is no file or folder `standard`\nhelp: shipped rules are not rewritten\n"),
        (["none.rules"], "error: there is no file or folder `none.rules`\n"),
        (["."], "error: there are no rule files in `.`\n"),
    ],
)
def test_wrong_use(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("fmt", *arguments)
    assert result.exit_code == 2
    assert result.output.startswith(said)
