"""What tests and captures make use of is counted where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import reknit
from reknit.cli import cli
from reknit.coverage import FileCoverage, Survey
from reknit.errors import RulesError
from reknit.shipped import shipped_names
from reknit.testing import run_tests

CALL = b"".join(
    f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()
    for choice in ({"delta": {"content": "Hi"}}, {"delta": {}, "finish_reason": "stop"})
)

ACME = """reknit 1
vendor acme extends openai-chat "x"
quirk thoughts "they have another name"
  add map thoughts
    at   .choices[0].delta.thoughts
    emit THINKING_DELTA { text: @ }
  add map asides
    at   .choices[0].delta.asides
    emit TEXT_DELTA { text: @ }
quirk empty "empty text opens a block here"
  override rule text-append
    do append text
    do note appended
test "thoughts" {
  given  { "choices": [{ "delta": { "thoughts": "Hm" } }] }
  given  "[DONE]"
  expect thinking "Hm"
}
"""


def survey(*files: str | Path, tests: bool = True, streams: Path | None = None) -> dict[str, FileCoverage]:
    found = Survey([str(file) for file in files])
    if tests:
        found.run_tests()
    if streams is not None:
        found.read_captures(streams)
    return {file.source: file for file in found.report().files}


def names(things: tuple[object, ...]) -> list[str]:
    return [f"{thing.kind} {thing.name}" for thing in things]  # type: ignore[attr-defined]


def call(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    path = tmp_path / "acme.rules"
    path.write_text(ACME, encoding="utf-8")
    return path


def test_what_is_never_made_use_of_is_named(acme: Path) -> None:
    found = survey(acme)[str(acme)]
    assert names(found.used) == ["map thoughts"]
    assert names(found.never) == ["rule text-append", "map asides"]
    assert {thing.name: thing.line for thing in (*found.used, *found.never)} == {
        "thoughts": 4,
        "asides": 7,
        "text-append": 11,
    }
    assert (found.cells, found.met) == (8, 0)


def test_captures_count_as_tests_do(acme: Path, tmp_path: Path) -> None:
    folder = tmp_path / "captures" / "acme"
    folder.mkdir(parents=True)
    frames = [{"choices": [{"delta": {"asides": text}}]} for text in ("One, ", "two.")]
    (folder / "one.jsonl").write_text("".join(f"{json.dumps(frame)}\n" for frame in frames))
    (folder / "notes.txt").write_text("no capture")
    found = survey(acme, streams=tmp_path / "captures")[str(acme)]
    assert names(found.never) == []
    assert found.met == 1


def test_a_vendor_makes_use_of_what_it_builds_on(acme: Path) -> None:
    alone = survey(acme, "openai-chat", "standard", tests=False)
    assert all(not file.used for file in alone.values())
    both = survey(acme, "standard")
    assert "rule thinking-open" in names(both["rules/policy.rules"].used)
    # The vendor's own form of a rule is not the policy's.
    assert "rule text-append" in names(both["rules/policy.rules"].used)
    assert "rule text-append" in names(both[str(acme)].never)


def test_a_policy_is_counted_once_whoever_edits_it(acme: Path) -> None:
    policy = reknit.table_for("openai-chat").policy
    cells = sum(number >= 0 for by_state in policy.cells.values() for row in by_state.values() for number in row)
    found = survey(acme, "standard", "groq", tests=False)
    assert found["rules/policy.rules"].cells == cells
    rules = {outcome.rule for outcome in policy.outcomes}
    assert len(found["rules/policy.rules"].never) == len(rules)


def test_rules_that_fire_in_tests_are_those_that_count() -> None:
    fired = run_tests("standard").fired
    found = survey("standard")["rules/policy.rules"]
    assert {thing.name for thing in found.used} == fired


@pytest.mark.parametrize("name", ["groq", "lenient"])
def test_maps_that_made_events_are_those_that_count(name: str) -> None:
    used = run_tests(name).maps_used
    found = survey(name)[f"rules/{name}.rules"]
    assert {thing.name for thing in found.used if thing.kind == "map"} <= used


def test_captures_are_read_by_the_vendor_of_their_folder_or_by_what_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "groq" / "openai-chat").mkdir(parents=True)
    frame = {"choices": [], "x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}}
    (tmp_path / "groq" / "openai-chat" / "one.sse").write_text(f"data: {json.dumps(frame)}\n\n")
    (tmp_path / "two.sse").write_bytes(CALL)
    (tmp_path / "three.sse").write_bytes(b"data: {}\n\n")
    found = Survey(["groq"])
    found.read_captures(tmp_path)
    report = found.report()
    assert (report.captures, report.unread) == (2, ("three.sse",))
    assert names(report.files[0].used) == ["map usage"]


def test_fragments_are_counted_on_every_base() -> None:
    found = survey("closing-message")["rules/closing-message.rules"]
    assert found.used
    assert not found.never


def test_rules_that_are_not_sound(acme: Path) -> None:
    acme.write_text(ACME.replace("override rule text-append", "override rule text-apend"), encoding="utf-8")
    with pytest.raises(RulesError, match="did you mean `text-append`"):
        survey(acme)


def test_all_that_ships_can_be_surveyed() -> None:
    found = Survey(shipped_names())
    found.run_tests()
    report = found.report()
    assert 0 < report.percent <= 100
    assert report.tests > 0
    assert len(report.files) == len(shipped_names())


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command(acme: Path) -> None:
    result = call("coverage", acme)
    assert result.exit_code == 0
    assert result.output == (
        f"{acme}  0 of 1 rule, 1 of 2 maps, 0 of 8 cells\n"
        f"  never: rule text-append  {acme}:11\n"
        f"  never: map asides  {acme}:7\n"
        "33.3% of rules and maps, 0.0% of 8 cells: 1 test\n"
    )


def test_the_command_fails_below_a_number(acme: Path) -> None:
    assert call("coverage", acme, "--fail-under", "33").exit_code == 0
    result = call("coverage", acme, "--fail-under", "50")
    assert result.exit_code == 1
    assert result.output.endswith("less than the 50% that are asked for\n")
    assert call("coverage", acme, "--fail-under", "101").exit_code == 2


def test_the_command_as_json(acme: Path, tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "odd.sse").write_bytes(b"data: {}\n\n")
    data = json.loads(call("coverage", acme, "--json", "--streams", tmp_path / "captures").output)
    assert (data["percent"], data["tests"], data["captures"], data["unread"]) == (33.33, 1, 0, ["odd.sse"])
    (file,) = data["files"]
    assert file["used"] == [{"kind": "map", "name": "thoughts", "source": str(acme), "line": 4}]
    assert "no vendor reads odd.sse\n" in call("coverage", acme, "--streams", tmp_path / "captures").output


def test_the_command_with_rules_that_are_not_sound(tmp_path: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text('reknit 1\nvendor bad extends openai-chat "x"\nquirk q "x"\n  remove map nothing\n')
    result = call("coverage", path)
    assert result.exit_code == 2
    assert "error[E501]" in result.stderr
