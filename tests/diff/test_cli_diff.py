"""`reknit diff` from the command line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sides import CASES

from reknit.cli import cli
from reknit.testing import run_tests


def diff(*arguments: str | Path) -> Result:
    """Run the command in this process; anything that it raises is raised on."""
    result = CliRunner().invoke(cli, ["diff", *(str(argument) for argument in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def pair(name: str) -> tuple[Path, Path]:
    return CASES / name / "before.rules", CASES / name / "after.rules"


def refused(*arguments: str | Path) -> str:
    result = CliRunner().invoke(cli, ["diff", *(str(argument) for argument in arguments)], standalone_mode=False)
    assert result.exception is not None
    assert getattr(result.exception, "exit_code", None) == 2
    error = result.exception
    return f"{getattr(error, 'message', error)} {getattr(error, 'help', '')}"


# -- exit codes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("nothing", 0),
        ("comments-and-layout", 0),
        ("items-in-another-order", 0),
        ("states-in-another-order", 0),
        ("rule-renamed", 0),
        ("test-changed", 0),
        ("escalation-that-says-nothing-new", 0),
        ("target-changed", 1),
        ("merge-changed", 1),
        ("class-narrowed", 1),
        ("vendor-map-added", 1),
        ("class-widened", 3),
        ("note-silenced", 3),
        ("vendor-ignore-added", 3),
    ],
)
def test_exit_codes(case: str, code: int) -> None:
    assert diff(*pair(case), "--no-witnesses").exit_code == code


def test_fail_on_chooses_the_direction() -> None:
    assert diff(*pair("merge-changed"), "--fail-on", "usage").exit_code == 3
    assert diff(*pair("merge-changed"), "--fail-on", "loosens", "--fail-on", "usage").exit_code == 3
    assert diff(*pair("class-widened"), "--fail-on", "usage", "--no-witnesses").exit_code == 1
    assert diff(*pair("test-changed"), "--fail-on", "tests").exit_code == 3


def test_wrong_use(tmp_path: Path) -> None:
    assert "two things are compared, and 0 are named" in refused()
    assert "3 are named" in refused("a", "b", "c")
    assert "no rules are named `nosuchvendor`" in refused("nosuchvendor", "standard")
    assert "is a vendor and" in refused("groq", "standard")
    assert "extends nothing and has no quirks" in refused("standard")
    assert "is a folder" in refused(CASES / "nothing")
    assert "there are no rule files in" in refused(tmp_path, tmp_path)
    assert "`--vendor` says whose captures are replayed" in refused(*pair("nothing"), "--vendor", "groq")
    assert "there are no captures in" in refused(*pair("nothing"), "--replay", tmp_path)
    assert "is not one of" in refused(*pair("nothing"), "--fail-on", "anything")


def test_a_side_that_is_not_sound_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    broken = tmp_path / "after.rules"
    broken.write_text('reknit 1\npolicy micro "x"\nrule lost on NOTHING stay\n', "utf-8")
    result = diff(CASES / "nothing" / "before.rules", broken)
    assert result.exit_code == 2
    assert "error[E201]: unknown event `NOTHING`" in result.output


# -- what is told ------------------------------------------------------------------------------------------------------


def test_a_change_is_told_with_what_shows_it() -> None:
    result = diff(*pair("target-changed"))
    before, after = pair("target-changed")
    assert result.output.split("\n")[1:] == [
        " behaviour   `STOP` in `idle`, `text`, 16 cells, for example `{ reason: end_turn }`",
        f"   CELL_OUTCOME  {before}:28, {after}:28",
        "   - set reason -> done    (stop)",
        "   + set reason -> idle    (stop)",
        "   shown by",
        "     given  STOP { reason: end_turn }",
        '     given  TEXT_DELTA { text: "a" }',
        "       - note late",
        '       + block 1 opens: text, block 1 goes on: text "a"',
        "",
        "1 change, 1 of behaviour; 187 of 203 cells do the same",
        "",
    ]


def test_short_changes_stand_in_one_line() -> None:
    lines = diff(*pair("repair-graded-down")).output.split("\n")
    assert lines[1] == " tightens    repair `fences` gives another grade: lossless -> guessed"


def test_what_is_written_otherwise_is_told_on_demand() -> None:
    short, long = diff(*pair("rule-renamed")).output, diff(*pair("rule-renamed"), "--verbose").output
    assert "1 change in words alone; see --verbose" in short
    assert "rule `text-append` is called `text-grows`" in long
    assert "every cell does the same" in short


def test_nothing_is_told_of_nothing() -> None:
    assert diff(*pair("nothing")).output.endswith("no changes; 203 of 203 cells do the same\n")


def test_colours_only_where_they_are_wanted() -> None:
    assert "\x1b[" not in diff(*pair("class-widened")).output
    assert (
        "\x1b[31m" in CliRunner().invoke(cli, ["diff", *map(str, pair("class-widened")), "--color"], color=True).output
    )


def test_json_is_the_same_each_time() -> None:
    first, second = diff(*pair("flush-added"), "--json").output, diff(*pair("flush-added"), "--format", "json").output
    assert first == second
    data = json.loads(first)
    assert data["same"] is False
    assert data["directions"] == {"loosens": 1}
    (file,) = data["files"]
    assert (file["kind"], file["name"], file["cells"], file["changed_cells"]) == ("policy", "micro", 203, 12)
    (change,) = file["changes"]
    assert (change["id"], change["direction"], change["cells"]) == ("FLUSH_ADDED", "loosens", 12)
    assert change["places"][0]["line"] == 19
    assert [step["event"] for step in change["witness"]["steps"]] == ["START", "INPUT", "START"]
    assert change["witness"]["at"] == 3


def test_markdown_is_fit_for_a_comment() -> None:
    text = diff(*pair("action-dropped"), "--format", "markdown").output
    assert text.count("<details>") == text.count("</details>") > 0
    assert text.count("```") % 2 == 0
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert "| behaviour | `START` in `idle`, `text`, 10 cells" in text
    assert "```diff\n- " in text


def test_markdown_takes_nothing_for_markup(tmp_path: Path) -> None:
    before, after = tmp_path / "before.rules", tmp_path / "after.rules"
    text = (CASES / "nothing" / "before.rules").read_text("utf-8")
    before.write_text(text, "utf-8")
    odd = 'classify "<img src=x>|`@all`*" as forbidden\nclassify else'
    after.write_text(text.replace("classify else", odd), "utf-8")
    shown = diff(before, after, "--format", "markdown").output
    outside = re.sub(r"(`+).*?\1", "", shown, flags=re.DOTALL)
    assert "<img" not in outside
    assert "@all" not in outside.replace("&#64;", "")
    rows = [line for line in shown.split("\n") if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}


def test_no_character_of_a_file_drives_the_terminal(tmp_path: Path) -> None:
    before, after = tmp_path / "before.rules", tmp_path / "after.rules"
    text = (CASES / "nothing" / "before.rules").read_text("utf-8")
    before.write_text(text, "utf-8")
    after.write_text(
        text.replace("classify else", 'classify "\\u001b[2J\\u202e*" as forbidden\nclassify else'), "utf-8"
    )
    for form in ("text", "markdown", "json"):
        output = diff(before, after, "--format", form).output
        assert "\x1b" not in output
        assert "\u202e" not in output


# -- quirks, fragments, folders ----------------------------------------------------------------------------------------


def test_one_vendor_alone_is_what_its_quirks_change() -> None:
    result = diff("groq", "--json")
    assert result.exit_code == 1
    (file,) = json.loads(result.output)["files"]
    assert {change["quirk"] for change in file["changes"]} >= {"usage-under-x-groq", "error-under-x-groq"}
    assert all(change["direction"] == "mapping" for change in file["changes"])


def test_a_file_that_extends_nothing_is_compared_with_itself_without_quirks(tmp_path: Path) -> None:
    shutil.copy(CASES / "vendor-quirk-added" / "micro.rules", tmp_path)
    shutil.copy(CASES / "vendor-quirk-added" / "after.rules", tmp_path)
    result = diff(tmp_path / "after.rules", "--json", "--no-witnesses")
    (file,) = json.loads(result.output)["files"]
    (change, *_) = file["changes"]
    assert (change["id"], change["quirk"]) == ("CELL_OUTCOME", "louder")


def test_a_fragment_is_looked_at_on_a_vendor() -> None:
    result = diff("think-tags", "--json", "--no-witnesses")
    (file,) = json.loads(result.output)["files"]
    assert [(change["id"], change["subject"]) for change in file["changes"]] == [("SPLIT_ADDED", "think")]


def folders(tmp_path: Path, case: str) -> tuple[Path, Path]:
    """A case as two folders, its files under different names."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, side in ((old, "before"), (new, "after")):
        folder.mkdir()
        for file in (CASES / case).glob("*.rules"):
            if file.stem not in ("before", "after"):
                shutil.copy(file, folder)
        shutil.copy(CASES / case / f"{side}.rules", folder / f"{side}-file.rules")
    return old, new


def test_files_of_folders_are_matched_by_kind_and_name(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    result = diff(old, new, "--no-witnesses")
    assert result.exit_code == 1
    assert "vendor mine" in result.output
    assert "map `usage` is new" in result.output
    assert "policy micro" not in result.output
    assert "2 files compared" in result.output


def test_what_many_files_share_is_told_once(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    text = (new / "micro.rules").read_text("utf-8")
    (new / "micro.rules").write_text(text.replace("do drop repeated-start stay", "do drop again stay"), "utf-8")
    result = diff(old, new, "--no-witnesses")
    assert result.output.count("CELL_OUTCOME") == 1
    assert "and 1 change told above" in result.output


def test_a_policy_reaches_a_vendor_through_its_own_edits(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-quirk-added")
    for folder in (old, new):
        shutil.copy(new / "after-file.rules", folder / "vendor.rules")
        for side in ("before-file.rules", "after-file.rules"):
            (folder / side).unlink(missing_ok=True)
    text = (new / "micro.rules").read_text("utf-8")
    (new / "micro.rules").write_text(text.replace("merge input by latest_nonzero", "merge input by sum"), "utf-8")
    data = json.loads(diff(old, new, "--no-witnesses", "--json").output)
    assert [(file["name"], len(file["changes"]), file["told_elsewhere"]) for file in data["files"]] == [("micro", 1, 0)]


def test_files_that_came_and_went(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    (new / "after-file.rules").unlink()
    gone = diff(old, new, "--no-witnesses")
    assert "FILE_REMOVED" in gone.output
    assert gone.exit_code == 1
    came = json.loads(diff(new, old, "--no-witnesses", "--json").output)
    assert [change["id"] for file in came["files"] for change in file["changes"]] == ["FILE_ADDED"]


def test_a_new_file_is_told_by_what_it_changes(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    shutil.copy(old / "before-file.rules", new / "after-file.rules")
    (new / "louder.rules").write_text(
        'reknit 1\nvendor louder extends mine "notes more"\nquirk more "x" remove ignore ping\n', "utf-8"
    )
    data = json.loads(diff(old, new, "--no-witnesses", "--json").output)
    assert {change["id"] for file in data["files"] for change in file["changes"]} >= {"IGNORE_REMOVED", "FILE_ADDED"}


def test_files_that_are_sound_on_neither_side_are_left_out(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    for folder in (old, new):
        (folder / "broken.rules").write_text("reknit 1\nvendor\n", "utf-8")
        (folder / "lost.rules").write_text(f'reknit 1\nvendor lost extends nobody "in {folder.name}"\n', "utf-8")
    result = diff(old, new, "--no-witnesses")
    assert result.exit_code == 1
    assert "left out, for they are not sound" in result.output


def test_a_file_that_was_sound_and_is_not_is_refused(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    (new / "after-file.rules").write_text('reknit 1\nvendor mine extends nobody "x"\n', "utf-8")
    result = diff(old, new, "--no-witnesses")
    assert result.exit_code == 2
    assert "error[E503]" in result.output


def test_another_policy_for_both_sides() -> None:
    plain, strict = (
        json.loads(diff("groq", "--json", "--no-witnesses", *more).output)["files"][0]["before"]["fingerprint"]
        for more in ((), ("--policy", "strict"))
    )
    assert plain != strict


# -- tests that are written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["flush-added", "merge-changed", "note-spoken", "vendor-quirk-added"])
def test_written_tests_pass_on_one_side_and_fail_on_the_other(tmp_path: Path, case: str) -> None:
    old, new = folders(tmp_path, case)
    result = diff(old / "before-file.rules", new / "after-file.rules", "--write-tests", new / "shown.rules")
    assert "1 test written to" in result.output
    shutil.copy(new / "shown.rules", old)
    passes, fails = run_tests(new / "shown.rules"), run_tests(old / "shown.rules")
    assert (passes.sound, passes.passed, passes.failed) == (True, 1, 0)
    assert fails.failed == 1 or not fails.sound


def test_tests_of_several_files_go_into_a_folder(tmp_path: Path) -> None:
    old, new = folders(tmp_path, "vendor-quirk-added")
    text = (new / "micro.rules").read_text("utf-8")
    (new / "micro.rules").write_text(text.replace("merge input by latest_nonzero", "merge input by sum"), "utf-8")
    assert "tests of 2 rule files do not go into one" in refused(old, new, "--write-tests", tmp_path / "all.rules")
    result = diff(old, new, "--write-tests", tmp_path)
    assert "1 test written to" in result.output
    assert {file.name for file in tmp_path.glob("*.rules")} == {"micro-witnesses.rules", "mine-witnesses.rules"}


def test_where_no_test_can_tell_none_is_written(tmp_path: Path) -> None:
    result = diff(*pair("class-widened"), "--write-tests", tmp_path / "shown.rules")
    assert "nothing was written" in result.output
    assert not (tmp_path / "shown.rules").exists()


# -- captures ----------------------------------------------------------------------------------------------------------


def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.sse").write_text('data: {"text":"Hi"}\n\ndata: {"why":"cut"}\n\ndata: [DONE]\n\n', "utf-8")
    (folder / "deep" / "two.ndjson").write_text('{"content":"Ho"}\n{"why":"stop"}\n', "utf-8")
    (folder / "notes.txt").write_text("no capture", "utf-8")
    return folder


def test_captures_are_rebuilt_under_both_sides(tmp_path: Path) -> None:
    result = diff(*pair("vendor-map-changed"), "--replay", captures(tmp_path))
    assert result.exit_code == 1
    assert "deep/two.ndjson  (mine)\n   block 1\n" in result.output
    assert '+ {"type": "text", "text": "Ho"}' in result.output
    assert "one.sse" not in result.output
    assert "2 captures replayed, 1 with another message" in result.output


def test_a_capture_is_told_block_by_block(tmp_path: Path) -> None:
    data = json.loads(diff(*pair("vendor-enum-changed"), "--replay", captures(tmp_path), "--json").output)
    one = next(one for one in data["replay"] if one["capture"].endswith("one.sse"))
    assert [(at["where"], at["before"], at["after"]) for at in one["differences"]] == [
        ("stop_reason", "error", "max_tokens"),
    ]


def test_a_policy_is_replayed_with_the_vendor_that_is_recognised(tmp_path: Path) -> None:
    frame = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    (tmp_path / "one.sse").write_text(f"data: {json.dumps(frame)}\n\n", "utf-8")
    (tmp_path / "two.sse").write_text("data: 1\n\n", "utf-8")
    result = diff("standard", "strict", "--no-witnesses", "--replay", tmp_path)
    assert "one.sse  (openai-chat)" in result.output
    assert "not replayed: no protocol was recognised: name the vendor" in result.output


def test_what_is_replayed_is_told_in_markdown(tmp_path: Path) -> None:
    result = diff(*pair("vendor-map-changed"), "--replay", captures(tmp_path), "--format", "markdown")
    assert "#### 2 captures replayed, 1 with another message" in result.output
    assert "| block 1 |" in result.output


# -- revisions ---------------------------------------------------------------------------------------------------------

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")


def git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *settings, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the rules of a case on `main`, and what changes on `work`."""
    folder = tmp_path / "repository"
    rules = folder / "some" / "rules"
    rules.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for file in (CASES / "vendor-map-added").glob("*.rules"):
        if file.stem not in ("before", "after"):
            shutil.copy(file, rules)
    shutil.copy(CASES / "vendor-map-added" / "before.rules", rules / "mine.rules")
    (folder / "broken.rules").write_text("reknit 1\nvendor\n", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "before")
    git(folder, "checkout", "--quiet", "-b", "work")
    shutil.copy(CASES / "vendor-map-added" / "after.rules", rules / "mine.rules")
    git(folder, "commit", "--quiet", "--all", "--message", "after")
    monkeypatch.chdir(folder)
    return folder


@needs_git
@pytest.mark.parametrize("arguments", [["main.."], ["main..work"], ["main..HEAD", "--", "some/rules"], ["main...work"]])
def test_revisions_are_compared(repository: Path, arguments: list[str]) -> None:
    result = diff(*arguments, "--no-witnesses") if "--" not in arguments else diff("--no-witnesses", *arguments)
    assert result.exit_code == 1
    assert "map `usage` is new" in result.output
    assert re.search(r"(work|HEAD):some/rules/mine\.rules:\d+", result.output)


@needs_git
def test_a_revision_is_compared_with_the_working_tree(repository: Path) -> None:
    rules = repository / "some" / "rules"
    assert diff("HEAD", "--", "some/rules").output == "no changes; 2 files compared\n"
    text = (rules / "mine.rules").read_text("utf-8")
    (rules / "mine.rules").write_text(text.replace('end "[DONE]"', 'end "[END]"'), "utf-8")
    result = diff("HEAD", "--", "some/rules")
    assert result.exit_code == 1
    assert "END_CHANGED" in result.output


@needs_git
def test_paths_are_those_of_the_folder_one_is_in(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "some")
    assert "map `usage` is new" in diff("--no-witnesses", "main..", "--", "rules").output
    assert diff("--no-witnesses", "main..", "--", "rules/micro.rules").output == "no changes\n"
    assert "is outside of the repository" in refused("main..", "--", "../..")


@needs_git
def test_where_branches_part(repository: Path) -> None:
    """What happened on the other branch since then is not told with three dots."""
    git(repository, "checkout", "--quiet", "main")
    text = (repository / "some" / "rules" / "micro.rules").read_text("utf-8")
    changed = text.replace("merge input by latest_nonzero", "merge input by sum")
    (repository / "some" / "rules" / "micro.rules").write_text(changed, "utf-8")
    git(repository, "commit", "--quiet", "--all", "--message", "meanwhile")
    git(repository, "checkout", "--quiet", "work")
    assert "MERGE_CHANGED" in diff("main..", "--no-witnesses").output
    assert "MERGE_CHANGED" not in diff("main...", "--no-witnesses").output


@needs_git
def test_revisions_that_are_none(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "git knows no revision `nosuch`" in refused("nosuch..")
    assert "git knows no revision `--all`" in refused("main..--all")
    monkeypatch.chdir(tmp_path)
    assert "is in no git repository" in refused("main..")


@needs_git
def test_the_repository_stays_as_it_is(repository: Path) -> None:
    def state() -> str:
        done = subprocess.run(
            ["git", "-C", str(repository), "status", "--porcelain=v2", "--branch"], capture_output=True, check=True
        )
        return done.stdout.decode()

    before = state()
    diff("main..", "--no-witnesses")
    assert state() == before


def test_a_path_with_dots_is_no_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = folders(tmp_path, "vendor-map-added")
    monkeypatch.chdir(old)
    assert "map `usage` is new" in diff("../old", "../new", "--no-witnesses").output
    assert diff("../old/before-file.rules", f"../old/../{new.name}/after-file.rules", "--no-witnesses").exit_code == 1
