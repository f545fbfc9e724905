"""`reknit`, `reknit check` and `reknit test`: rule files from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_streams import call

import reknit
from reknit.cli import COMMANDS
from reknit.shipped import shipped_names
from reknit.trial import prepare

VENDOR = 'reknit 1\nvendor acme extends openai-chat "x"\n'
PASSES = 'test "it ends" { given "[DONE]" expect complete true }\n'
FAILS = 'test "it fails" { given "[DONE]" expect complete false }\n'
BROKEN = (
    'reknit 1\nvendor broken extends openai-chat "x"\nquirk q "x" remove map nothing\nquirk r "x" remove map none\n'
)


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.rules"
    path.write_text(text, encoding="utf-8")
    return path


# -- the command itself ------------------------------------------------------------------------------------------------


def test_without_a_command_there_is_help() -> None:
    result = call()
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\S", result.output, re.MULTILINE)


def test_the_version() -> None:
    result = call("--version")
    assert (result.exit_code, result.output) == (0, f"reknit {reknit.__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = call(name, "--help")
    assert result.exit_code == 0
    assert "Exits with 0" in result.output


# -- check -------------------------------------------------------------------------------------------------------------


def test_the_shipped_rules_are_sound() -> None:
    result = call("check")
    assert result.exit_code == 0
    lines = result.output.split("\n")
    assert lines[-2:] == [f"{len(shipped_names())} files, no errors", ""]
    assert len(lines) == len(shipped_names()) + 2
    policy = next(line for line in lines if line.startswith("rules/policy.rules "))
    assert re.fullmatch(r"\S+  +\d+ states  \d+ events  \d+ rules  \d+ cells  [0-9a-f]{16}", policy)
    vendor = next(line for line in lines if line.startswith("rules/openai-chat.rules "))
    assert re.fullmatch(r"\S+  +\d+ maps  policy standard  \d+ quirks?  [0-9a-f]{16}", vendor)
    table = reknit.table_for("openai-chat")
    assert vendor.endswith(table.fingerprint)
    assert f"  {len(table.program.maps)} maps  " in vendor


def test_all_errors_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    good, broken = _write(tmp_path, "acme", VENDOR), _write(tmp_path, "broken", BROKEN)
    dialect = _write(tmp_path, "dialect", 'reknit 1\nvendor dialect extends broken "x"\n')
    torn = _write(tmp_path, "torn", 'reknit 1\nvendor torn "x"\nmap\n')
    result = call("check", good, broken, dialect, torn)
    assert result.exit_code == 1
    # What the dialect builds on is told of once.
    assert result.output.count("error[E501]") == 2
    assert result.output.count("error[E101]") == 1
    assert f"--> {torn}:4:1" in result.output or f"--> {torn}:3:" in result.output
    assert f"\n{good}  10 maps" in result.output or f"\n{good}  " in result.output
    assert result.output.endswith("\n4 files, 3 errors\n")


def test_tests_are_checked_too(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + 'test "t" { given "[DONE]" expect txt "a" }\n')
    result = call("check", path)
    assert result.exit_code == 1
    assert "error[E701]: unknown expectation `expect txt`\n" in result.output


def test_a_folder_stands_for_its_rule_files(tmp_path: Path) -> None:
    _write(tmp_path, "b", VENDOR)
    _write(tmp_path, "a", 'reknit 1\nfragment a "x"\nquirk q "x" remove map refusal\n')
    result = call("check", tmp_path)
    assert result.output.split("\n")[0].startswith(str(tmp_path / "a.rules"))
    assert "  1 quirk  fits openai-chat\n" in result.output
    assert result.output.endswith("2 files, no errors\n")


def test_names_and_files_of_any_name_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(VENDOR, encoding="utf-8")
    assert call("check", "standard").output.startswith("rules/policy.rules  ")
    assert call("check", "notes.txt").output.startswith("notes.txt  ")


def test_a_file_that_is_no_text_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "odd.rules"
    path.write_bytes(b"reknit 1\n\xff\n")
    result = call("check", path)
    assert result.exit_code == 1
    assert "error[E105]" in result.output
    assert result.output.endswith("1 file, 1 error\n")


@pytest.mark.parametrize("command", ["check", "test"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("no-such.rules", "error: `no-such.rules` cannot be read: there is no such file\n"),
        ("openai-cat", "error: no rules are named `openai-cat`\nhelp: did you mean `openai-chat`?\n"),
        ("empty", "error: there are no rule files in `empty`\nhelp: rule files end in `.rules`\n"),
    ],
)
def test_what_is_no_rule_file_is_wrong_use(
    command: str, path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    result = call(command, path)
    assert result.output.startswith(said)
    assert result.exit_code == 2


def test_findings_as_json(tmp_path: Path) -> None:
    good, broken = _write(tmp_path, "acme", VENDOR + PASSES), _write(tmp_path, "broken", BROKEN)
    result = call("check", good, broken, "standard", "--json")
    data = json.loads(result.output)
    assert result.exit_code == 1
    assert [file["sound"] for file in data["files"]] == [True, False, True]
    vendor, unsound, policy = data["files"]
    assert (vendor["kind"], vendor["name"], vendor["policy"], vendor["tests"]) == ("vendor", "acme", "standard", 1)
    assert unsound == {"source": str(broken), "kind": "vendor", "name": "broken", "sound": False}
    table = prepare("standard").table()
    assert table is not None
    assert policy["fingerprint"] == table.fingerprint
    assert policy["states"] == len(table.policy.states)
    assert [found["code"] for found in data["diagnostics"]] == ["E501", "E501"]


# -- test --------------------------------------------------------------------------------------------------------------


def test_passing_tests_are_counted(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES)
    result = call("test", path)
    assert (result.exit_code, result.output) == (0, f"{path}  1 passed\n")


def test_a_failing_test_is_reported(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES + FAILS)
    result = call("test", path)
    assert result.exit_code == 1
    assert result.output.startswith("error[E710]: test `it fails` fails\n")
    assert f"--> {path}:4:" in result.output
    assert "= note: expected complete false\n" in result.output
    assert "= note: got      complete true\n" in result.output
    assert result.output.endswith(f"\n{path}  1 passed, 1 failed\n")


def test_tests_are_chosen_by_their_title(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES + FAILS)
    assert call("test", path, "-k", "IT ENDS").output == f"{path}  1 passed\n"
    assert call("test", path, "-k", "fails").exit_code == 1
    none = call("test", path, "-k", "nothing")
    assert none.exit_code == 2
    assert none.output.startswith("error: no test has `nothing` in its title\n")


def test_a_file_without_tests_is_no_failure(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR)
    assert call("test", path).output == f"{path}  no tests\n"


def test_a_file_that_is_not_sound_is_a_failure(tmp_path: Path) -> None:
    good, broken = _write(tmp_path, "acme", VENDOR + PASSES), _write(tmp_path, "broken", BROKEN)
    result = call("test", good, broken)
    assert result.exit_code == 1
    assert "error[E501]" in result.output
    assert "not sound, no test was run\n" in result.output
    assert result.output.endswith("2 files, 1 passed, 0 failed, 1 not sound\n")


def test_what_no_test_made_use_of_is_told_on_request(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES)
    shown = call("test", path, "-v").output
    assert "  passed  it ends\n" in shown
    assert re.search(r"^  0 of \d+ maps used in tests; never: .*content", shown, re.MULTILINE)
    assert re.search(r"^  \d+ of \d+ rules fired in tests; never: .*text-open", shown, re.MULTILINE)


def test_reports_as_json(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES + FAILS)
    result = call("test", path, "--json")
    assert result.exit_code == 1
    (file,) = json.loads(result.output)["files"]
    assert (file["source"], file["passed"], file["failed"], file["diagnostics"]) == (str(path), 1, 1, [])
    good, bad = file["tests"]
    assert (good["title"], good["line"], good["passed"], good["failures"]) == ("it ends", 3, True, [])
    assert bad["failures"][0]["code"] == "E710"
    assert file["rules"]["text-open"] is False
    assert any(file["rules"].values())
    assert file["maps"]["content"] is False


def test_rule_files_cannot_drive_the_terminal(tmp_path: Path) -> None:
    text = VENDOR + 'test "t\\u001b[2J" { given "[DONE]" expect stop "\\u001b[2J" }\n'
    path = _write(tmp_path, "acme", text)
    for more in ((), ("-v",), ("--json",)):
        assert "\x1b" not in call("test", path, *more).output


def test_colours_can_be_asked_for(tmp_path: Path) -> None:
    path = _write(tmp_path, "acme", VENDOR + PASSES)
    assert "\x1b[32m1 passed\x1b[0m" in call("test", path, "--color").output
    assert "\x1b[32m1 file, no errors\x1b[0m" in call("check", path, "--color").output
    assert "\x1b" not in call("test", path).output
