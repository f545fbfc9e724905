"""`reknit check`: warnings, what switches them off, and when they count; and the hooks for pre-commit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_streams import call

from reknit.cli import COMMANDS

WARNED = 'reknit 1\nvendor warned extends openai-chat "x"\nenum spare { "a" => b else => same }\n'
BROKEN = 'reknit 1\nvendor broken extends openai-chat "x"\nquirk q "x" remove map nothing\n'
POLICY = (
    'reknit 1\npolicy small "x"\nevent A {}\nevent B {}\nstate idle start\nrule a on A stay\nrule b on B stay\n'
    'test "a" { given A expect no blocks }\n'
)


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    path = tmp_path / "warned.rules"
    path.write_text(WARNED, encoding="utf-8")
    return path


def test_warnings_are_shown_and_counted_and_are_no_findings(warned: Path) -> None:
    result = call("check", warned)
    assert result.exit_code == 0
    assert result.output.startswith("warning[W108]: no map uses enum `spare`\n")
    assert result.output.endswith("\n1 file, no errors, 1 warning\n")


def test_warnings_come_after_errors(warned: Path) -> None:
    broken = warned.with_name("broken.rules")
    broken.write_text(BROKEN, encoding="utf-8")
    result = call("check", warned, broken)
    assert result.exit_code == 1
    assert result.output.index("error[E501]") < result.output.index("warning[W108]")
    assert result.output.endswith("\n2 files, 1 error, 1 warning\n")


def test_warnings_can_be_denied(warned: Path) -> None:
    assert call("check", warned, "--deny-warnings").exit_code == 1
    assert call("check", warned, "--deny-warnings", "--no-lint").exit_code == 0


def test_lints_can_be_left_out(warned: Path) -> None:
    result = call("check", warned, "--no-lint")
    assert "warning" not in result.output
    assert result.output.endswith("1 file, no errors\n")


def test_a_file_can_allow_a_warning(warned: Path) -> None:
    warned.write_text(WARNED + 'allow unused-enum "the next version uses it"\n', encoding="utf-8")
    assert call("check", warned, "--deny-warnings").exit_code == 0


def test_rules_that_no_test_fires_are_told_on_request(tmp_path: Path) -> None:
    path = tmp_path / "small.rules"
    path.write_text(POLICY, encoding="utf-8")
    assert "warning" not in call("check", path).output
    result = call("check", path, "--lint")
    assert result.exit_code == 0
    assert result.output.startswith("warning[W107]: no test fires rule `b`\n")


def test_json_tells_errors_from_warnings(warned: Path) -> None:
    broken = warned.with_name("broken.rules")
    broken.write_text(BROKEN, encoding="utf-8")
    data = json.loads(call("check", warned, broken, "--json").output)
    assert [(one["code"], one["severity"]) for one in data["diagnostics"]] == [("E501", "error"), ("W108", "warning")]
    assert [file["sound"] for file in data["files"]] == [True, False]


def test_colours_tell_warnings_from_errors(warned: Path) -> None:
    assert "\x1b[33m1 file, no errors, 1 warning\x1b[0m" in call("check", warned, "--color").output


def test_the_hooks_call_commands_that_there_are() -> None:
    text = (Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = [dict(re.findall(r"^(?:- |  )(\w+): (.*)$", hook, re.MULTILINE)) for hook in text.split("\n\n")]
    assert [hook["id"] for hook in hooks] == ["reknit-fmt", "reknit-check", "reknit-test"]
    for hook in hooks:
        program, command = hook["entry"].split()
        assert (program, hook["language"]) == ("reknit", "python")
        assert command in COMMANDS
        assert re.search(hook["files"], "rules/acme.rules")
        assert not re.search(hook["files"], "rules/acme.rules.txt")
