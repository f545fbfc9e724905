"""Pinned fingerprints: what was pinned stays as it is, and what is not is told with the next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import reknit
from reknit.cli import cli
from reknit.errors import UsageError
from reknit.lock import Drift, compare, fingerprints, known, place_for, write
from reknit.shipped import shipped_names
from reknit.table import LANGUAGE
from reknit.trial import prepare

PINNED = {"vendor acme": "0123456789abcdef", "policy house": "fedcba9876543210"}


def drifts(tmp_path: Path, found: dict[str, str]) -> dict[str, Drift]:
    write(tmp_path / "rules.lock", PINNED)
    return {drift.kind: drift for drift in compare(tmp_path / "rules.lock", found)}


def test_what_is_as_it_was_says_nothing(tmp_path: Path) -> None:
    assert drifts(tmp_path, dict(reversed(PINNED.items()))) == {}


def test_the_file_is_the_same_for_the_same_fingerprints(tmp_path: Path) -> None:
    write(tmp_path / "one", PINNED)
    write(tmp_path / "two", dict(reversed(PINNED.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    data = json.loads((tmp_path / "one").read_text())
    assert data == {"language": LANGUAGE, "fingerprints": PINNED}
    assert list(data["fingerprints"]) == sorted(PINNED)


def test_another_fingerprint_leads_to_the_diff(tmp_path: Path) -> None:
    found = drifts(tmp_path, {**PINNED, "vendor acme": "aaaaaaaaaaaaaaaa"})
    assert set(found) == {"differs"}
    assert found["differs"].name == "vendor acme"
    assert "`vendor acme` compiles to aaaaaaaaaaaaaaaa, and 0123456789abcdef is pinned" in found["differs"].message
    assert "`reknit diff`" in found["differs"].help


def test_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    found = drifts(tmp_path, {"vendor acme": PINNED["vendor acme"], "vendor beta": "bbbbbbbbbbbbbbbb"})
    assert {kind: drift.name for kind, drift in found.items()} == {"missing": "vendor beta", "extra": "policy house"}
    assert all("reknit check --lock" in drift.help for drift in found.values())


def test_another_language(tmp_path: Path) -> None:
    path = tmp_path / "rules.lock"
    path.write_text(json.dumps({"language": "0", "fingerprints": PINNED}))
    (drift,) = compare(path, PINNED)
    assert (drift.kind, drift.name) == ("language", "")


@pytest.mark.parametrize(
    "text", [None, "{", "[]", "{}", '{"fingerprints": []}', '{"fingerprints": {"a": 1}}', "[" * 100_000]
)
def test_a_file_that_is_no_lock(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "rules.lock"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as caught:
        compare(path, PINNED)
    assert (caught.value.code, caught.value.help) == ("no-lock", "`reknit check --lock` writes one")


def test_a_lock_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write(tmp_path / "none" / "rules.lock", PINNED)


def test_what_is_pinned_of_rule_files(tmp_path: Path) -> None:
    found = fingerprints(prepare(name) for name in ("groq", "strict", "think-tags"))
    assert found["vendor groq"] == reknit.table_for("groq").fingerprint
    assert "policy strict" in found
    assert found["fragment think-tags on openai-chat"] == (
        reknit.table_for("openai-chat", fragments=["think-tags"]).fingerprint
    )


def test_all_that_ships_can_be_pinned(tmp_path: Path) -> None:
    trials = [prepare(name) for name in shipped_names()]
    found = fingerprints(trials)
    assert len(found) >= len(trials)
    write(tmp_path / "rules.lock", found)
    assert compare(tmp_path / "rules.lock", fingerprints(trials)) == []


def test_shipped_rules_are_known_by_their_fingerprint() -> None:
    assert known(reknit.table_for("groq").fingerprint) == "groq"
    assert known(reknit.table_for("groq", "strict").fingerprint) == "groq with policy strict"
    assert known("0000000000000000") is None
    assert known(reknit.table_for("groq", fragments=["think-tags"]).fingerprint) is None


# -- where it stands ---------------------------------------------------------------------------------------------------


def test_a_lock_stands_beside_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "acme.rules").touch()
    assert place_for(["one"]) == place_for(["one/acme.rules"]) == place_for(["one/", "one/acme.rules"])
    assert Path(place_for(["one"])) == Path("one/rules.lock")
    assert Path(place_for([])) == Path(place_for(["groq"])) == Path("rules.lock")
    with pytest.raises(UsageError, match="stand in `one` and `two`"):
        place_for(["one", "two"])


# -- the command -------------------------------------------------------------------------------------------------------

ACME = 'reknit 1\nvendor acme extends openai-chat "x"\n'


def check(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli, ["check", "--no-lint", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "acme.rules").write_text(ACME, encoding="utf-8")
    return tmp_path


def test_files_are_pinned_and_held_against_it(rules: Path) -> None:
    assert check(rules, "--lock").exit_code == 0
    pinned = json.loads((rules / "rules.lock").read_text())["fingerprints"]
    assert pinned == {"vendor acme": reknit.table_for(rules / "acme.rules").fingerprint}
    assert check(rules, "--locked").exit_code == 0
    assert check(rules / "acme.rules", "--locked").exit_code == 0


def test_a_change_is_told_with_the_next_step(rules: Path) -> None:
    check(rules, "--lock")
    (rules / "acme.rules").write_text(ACME + 'quirk q "x"\n  remove map refusal\n', encoding="utf-8")
    (rules / "beta.rules").write_text(ACME.replace("acme", "beta"), encoding="utf-8")
    result = check(rules, "--locked")
    assert result.exit_code == 1
    assert "locked: `vendor acme` compiles to " in result.output
    assert "help: `reknit diff` says what changed" in result.output
    assert "locked: `vendor beta` is not pinned" in result.output
    data = json.loads(check(rules, "--locked", "--json").output)
    assert [(drift["kind"], drift["name"]) for drift in data["drifts"]] == [
        ("differs", "vendor acme"),
        ("missing", "vendor beta"),
    ]
    assert check(rules, "--lock").exit_code == 0
    assert check(rules, "--locked").exit_code == 0


def test_the_lock_may_stand_elsewhere(rules: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "pins.json"
    assert check(rules, "--lock", "--lockfile", other).exit_code == 0
    assert not (rules / "rules.lock").exists()
    assert check(rules, "--locked", "--lockfile", other).exit_code == 0


def test_what_is_not_sound_is_not_pinned(rules: Path) -> None:
    (rules / "acme.rules").write_text(ACME + 'quirk q "x"\n  remove map nothing\n', encoding="utf-8")
    assert check(rules, "--lock").exit_code == 1
    assert not (rules / "rules.lock").exists()


def test_wrong_use(rules: Path) -> None:
    assert "do not go together" in check(rules, "--lock", "--locked").stderr
    result = check(rules, "--locked")
    assert result.exit_code == 2
    assert "`reknit check --lock` writes one" in result.stderr
