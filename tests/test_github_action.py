"""The GitHub Action: what it declares is what it uses, and its script says in one comment what a change does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reknit.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
ACTION = ROOT / ".github" / "actions" / "policy-diff"
SCRIPT = ACTION / "comment.sh"
MARK = "<!-- reknit-policy-diff -->"

GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$FOLDER/gh.log"
for word in "$@"; do
  case "$word" in body=@*) cp "${word#body=@}" "$FOLDER/said" ;; esac
done
case "$*" in
  *--jq*) cat "$FOLDER/known" ;;
esac
exit "$(cat "$FOLDER/gh.exit")"
"""
REKNIT = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$FOLDER/reknit.log"
cat "$FOLDER/report"
exit "$(cat "$FOLDER/reknit.exit")"
"""

bash = shutil.which("bash")
git = shutil.which("git")
needs_shell = pytest.mark.skipif(bash is None or git is None, reason="bash or git is not there")


# -- what it declares --------------------------------------------------------------------------------------------------


def section(name: str) -> dict[str, str]:
    """The entries of a top-level mapping, each with its lines."""
    body = re.search(rf"^{name}:\n((?:  .*\n|\n)*)", (ACTION / "action.yml").read_text("utf-8"), re.MULTILINE)
    assert body is not None
    return {found[1]: found[2] for found in re.finditer(r"^  ([\w-]+):(.*\n(?:    .*\n)*)", body[1], re.MULTILINE)}


def steps() -> list[str]:
    return re.split(r"^    - ", section("runs")["steps"], flags=re.MULTILINE)[1:]


def test_the_action_is_a_composite_one() -> None:
    text = (ACTION / "action.yml").read_text("utf-8")
    assert "\t" not in text
    assert re.findall(r"^([\w-]+):", text, re.MULTILINE) == ["name", "description", "inputs", "outputs", "runs"]
    assert section("runs")["using"].strip() == "composite"
    assert len(steps()) == 5


def test_every_input_is_described_and_used() -> None:
    inputs = section("inputs")
    used = set(re.findall(r"inputs\.([\w-]+)", section("runs")["steps"]))
    assert used == set(inputs)
    for text in inputs.values():
        assert "description: " in text
        assert "default: " in text


def test_steps_run_in_a_shell_that_is_given_no_expressions() -> None:
    for step in steps():
        if "run:" not in step:
            continue
        assert "shell: bash\n" in step
        # What stands in a pull request must not become part of a command.
        assert "${{" not in step.split("run:")[1]


def test_the_script_knows_what_the_action_gives_it() -> None:
    (step,) = (step for step in steps() if "comment.sh" in step)
    given = set(re.findall(r"^        ([A-Z_]+):", step, re.MULTILINE))
    said = set(re.findall(r"^# ([A-Z_]+)  ", SCRIPT.read_text("utf-8"), re.MULTILINE))
    assert given == said
    assert os.access(SCRIPT, os.X_OK)


def test_the_page_names_every_input() -> None:
    page = (ROOT / "docs" / "github-action.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == set(section("inputs"))
    given = set(re.findall(r"^          ([\w-]+): ", page, re.MULTILINE))
    assert given <= set(section("inputs"))


# -- what its script does ----------------------------------------------------------------------------------------------


class Job:
    """A pull request in a repository, with a stub of `gh` and, unless it is to run itself, of `reknit`."""

    def __init__(self, folder: Path, stub: bool = True) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        (self.checkout / "rules").mkdir(parents=True)
        programs = folder / "bin"
        programs.mkdir()
        self._program(programs / "gh", GH)
        self._program(
            programs / "reknit",
            REKNIT if stub else f'#!/bin/sh\nexec {sys.executable} -c "from reknit.cli import main; main()" "$@"\n',
        )
        for name, content in (("known", ""), ("report", "# Changes\n"), ("gh.exit", "0"), ("reknit.exit", "1")):
            self.put(name, content)
        own = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull}
        own |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_NOSYSTEM": "1"}
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_"))},
            **own,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "FOLDER": str(folder),
            "GITHUB_REPOSITORY": "me/mine",
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "PULL": "7",
            "PATHS": "rules",
        }
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit('reknit 1\nvendor acme extends openai-chat "x"\n')
        self.environment["BASE"] = self.git("rev-parse", "HEAD")

    def _program(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def put(self, name: str, content: str) -> None:
        (self.folder / name).write_text(content)

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def git(self, *words: str) -> str:
        run = subprocess.run(
            ["git", *words], cwd=self.checkout, env=self.environment, capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    def commit(self, rules: str) -> None:
        (self.checkout / "rules" / "acme.rules").write_text(rules)
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=rules")

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(SCRIPT)],
            cwd=self.checkout,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@needs_shell
def test_the_script_can_be_parsed() -> None:
    subprocess.run(["bash", "-n", str(SCRIPT)], check=True)


@needs_shell
def test_a_change_is_said_in_a_comment(job: Job) -> None:
    run = job.run()
    assert (run.returncode, run.stderr) == (0, "")
    assert job.read("reknit.log") == f"diff {job.environment['BASE']}.. --format markdown -- rules\n"
    assert job.read("said") == f"{MARK}\n# Changes\n"
    assert job.read("summary") == job.read("said")
    assert job.read("output") == "result=different\n"
    asked, posted = job.read("gh.log").splitlines()
    assert asked.startswith("api --paginate repos/me/mine/issues/7/comments --jq ")
    assert MARK in asked
    assert posted.startswith("api --silent --method POST repos/me/mine/issues/7/comments --field body=@")


@needs_shell
def test_the_comment_is_updated(job: Job) -> None:
    job.put("known", "41\n42\n")
    assert job.run().returncode == 0
    assert "--method PATCH repos/me/mine/issues/comments/41 --field body=@" in job.read("gh.log")
    assert "POST" not in job.read("gh.log")


@needs_shell
def test_no_change_makes_no_comment_and_corrects_one(job: Job) -> None:
    job.put("reknit.exit", "0")
    assert job.run().returncode == 0
    assert job.read("said") == ""
    assert job.read("output") == "result=same\n"
    job.put("known", "41\n")
    assert job.run().returncode == 0
    assert job.read("said") == f"{MARK}\nRules behave as before.\n"


@needs_shell
@pytest.mark.parametrize(
    ("exit", "fail_on", "code"),
    [
        ("0", "loosens", 0),
        ("0", "different", 0),
        ("1", "", 0),
        ("1", "loosens", 0),
        ("1", "different", 1),
        ("3", "", 0),
        ("3", "loosens", 1),
        ("3", "different", 1),
        ("2", "", 2),
        ("1", "tightens", 2),
    ],
)
def test_when_it_fails(job: Job, exit: str, fail_on: str, code: int) -> None:
    job.put("reknit.exit", exit)
    run = job.run(FAIL_ON=fail_on)
    assert run.returncode == code
    assert ("::error::" in run.stdout) is bool(code)
    if code == 1:
        assert job.read("said")
    assert ("--fail-on loosens" in job.read("reknit.log")) is (fail_on == "loosens")


@needs_shell
@pytest.mark.parametrize("exit", ["1", "3"])
def test_a_diff_that_breaks_down_is_no_change(job: Job, exit: str) -> None:
    job.put("reknit.exit", exit)
    job.put("report", "")
    assert job.run().returncode == 2
    assert job.read("gh.log") == ""


@needs_shell
def test_a_comment_that_may_not_be_written_fails_nothing(job: Job) -> None:
    job.put("gh.exit", "1")
    run = job.run()
    assert run.returncode == 0
    assert "::warning::" in run.stdout
    assert "# Changes" in job.read("summary")


@needs_shell
def test_without_a_pull_request_there_is_no_comment(job: Job) -> None:
    assert job.run(PULL="").returncode == 0
    assert job.read("gh.log") == ""
    assert "# Changes" in job.read("summary")


@needs_shell
def test_a_long_report_is_cut(job: Job) -> None:
    job.put("report", "x" * 70_000)
    assert job.run().returncode == 0
    said = job.read("said")
    assert len(said) < 65_000
    assert said.endswith("`reknit diff` shows all of it.\n")


@needs_shell
@pytest.mark.parametrize("base", ["", "no-such-revision"])
def test_nothing_to_compare_with(job: Job, base: str) -> None:
    job.put("reknit.exit", "2")
    assert job.run(BASE=base).returncode == 2


@needs_shell
def test_paths_are_words_and_nothing_more(job: Job) -> None:
    job.run(PATHS="rules/acme.rules more $(touch x);rm")
    assert job.read("reknit.log").endswith("-- rules/acme.rules more $(touch x);rm\n")
    assert not (job.checkout / "x").exists()


@needs_shell
def test_a_base_that_the_checkout_does_not_have_is_fetched(job: Job, tmp_path: Path) -> None:
    job.commit('reknit 1\nvendor acme extends openai-chat "y"\n')
    shallow = tmp_path / "shallow"
    source = job.checkout
    job.git("config", "uploadpack.allowAnySHA1InWant", "true")
    job.git("clone", "--quiet", "--depth=1", source.as_uri(), str(shallow))
    job.checkout = shallow
    assert job.run().returncode == 0
    assert job.environment["BASE"] in job.read("reknit.log")
    assert job.git("cat-file", "-t", job.environment["BASE"]) == "commit"


@needs_shell
@pytest.mark.skipif("diff" not in COMMANDS, reason="there is no `reknit diff` yet")
def test_with_the_real_diff(tmp_path: Path) -> None:
    job = Job(tmp_path, stub=False)
    job.commit('reknit 1\nvendor acme extends openai-chat "x"\nquirk q "no refusals"\n  remove map refusal\n')
    run = job.run()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "refusal" in job.read("said")
    assert json.dumps(job.read("output")) == json.dumps("result=different\n")
