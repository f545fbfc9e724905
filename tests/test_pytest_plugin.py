"""Rule files in pytest: an item for each test, and failures that speak of rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

VENDOR = 'reknit 1\nvendor acme extends openai-chat "x"\n'
PASSES = 'test "it ends" { given "[DONE]" expect complete true }\n'
FAILS = 'test "it fails" {\n  given "[DONE]"\n  expect complete false\n}\n'


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Without the autoloading of plugins, so that it does not matter whether this one is installed as one.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    options = ["-p", "reknit.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_each_test_is_an_item(tmp_path: Path) -> None:
    (tmp_path / "acme.rules").write_text(VENDOR + PASSES + FAILS, encoding="utf-8")
    done = _pytest(tmp_path, "-v")
    assert "acme.rules::it ends PASSED" in done.stdout
    assert "acme.rules::it fails FAILED" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert done.returncode == 1


def test_a_failure_shows_the_expectation_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "acme.rules").write_text(VENDOR + FAILS, encoding="utf-8")
    done = _pytest(tmp_path)
    assert "error[E710]: test `it fails` fails\n" in done.stdout
    assert "--> acme.rules:5:3\n" in done.stdout
    assert "= note: expected complete false\n" in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert "Traceback" not in done.stdout


def test_items_are_chosen_as_ever(tmp_path: Path) -> None:
    (tmp_path / "acme.rules").write_text(VENDOR + PASSES + FAILS, encoding="utf-8")
    done = _pytest(tmp_path, "-k", "ends")
    assert "1 passed, 1 deselected" in done.stdout
    assert _pytest(tmp_path, "acme.rules::it ends").returncode == 0


def test_a_file_that_is_not_sound_is_an_error_of_the_collection(tmp_path: Path) -> None:
    (tmp_path / "acme.rules").write_text(VENDOR + 'test "t" { given "[DONE]" expect txt "a" }\n', encoding="utf-8")
    done = _pytest(tmp_path)
    assert "error[E701]: unknown expectation `expect txt`\n" in done.stdout
    assert "1 error" in done.stdout
    assert "Traceback" not in done.stdout


def test_files_without_tests_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.rules").write_text("reknit 1\nnonsense\n", encoding="utf-8")
    (tmp_path / "acme.rules").write_text(VENDOR + PASSES, encoding="utf-8")
    done = _pytest(tmp_path)
    assert "1 passed" in done.stdout
    assert done.returncode == 0
