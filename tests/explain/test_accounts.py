"""Accounts of events, cells and rules agree with the table and with the rule files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from reknit.coverage import tests_that_fire as firing
from reknit.errors import RulesError, UsageError
from reknit.explain.accounts import CellAccount, EventAccount, RuleAccount, event_account
from reknit.explain.happenings import as_data
from reknit.explain.subject import Subject, open_subject
from reknit.explain.wanted import accounts, group_of
from reknit.shipped import rules_folder
from reknit.trial import prepare

STANDARD = open_subject("standard")
LENIENT = open_subject("lenient")


def none(rule: str) -> Iterable[tuple[str, str]]:
    return ()


def only(subject: Subject, text: str, *states: str) -> EventAccount | CellAccount | RuleAccount:
    (found,) = accounts(subject, text, states, none)
    return found


def cells(subject: Subject, text: str, *states: str) -> CellAccount:
    found = only(subject, text, *states)
    assert isinstance(found, CellAccount)
    return found


def rule(subject: Subject, name: str) -> RuleAccount:
    found = next(one for one in accounts(subject, name, [], none) if isinstance(one, RuleAccount))
    assert found.kind == "rule"
    return found


# -- places ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["standard", "lenient", "groq", "anthropic"])
def test_every_place_is_where_the_item_stands(name: str) -> None:
    subject = open_subject(name)
    for kind in ("rule", "map", "event", "flush", "split", "enum"):
        for item in subject.sites.names(kind):
            site = subject.sites.find(kind, item)
            assert site is not None
            line = (rules_folder().parent / site.source).read_text("utf-8").splitlines()[site.line - 1]
            said = site.text.splitlines()[0]
            assert line.strip().removeprefix("add ").removeprefix("override ") == said
            assert re.match(rf"(fallback|{kind})\b", said)


def test_an_item_has_a_history() -> None:
    first, second = LENIENT.sites.history("rule", "call-mismatch")
    assert (first.verb, first.source) == ("said", "rules/policy.rules")
    assert (second.verb, second.source, second.quirk) == ("override", "rules/lenient.rules", "values-encoded-twice")
    assert "schema_mismatch" in first.text
    assert second.text.startswith("rule call-mismatch\n  on CALL_END")
    assert LENIENT.sites.find("rule", "call-mismatch") == second
    (added,) = LENIENT.sites.history("rule", "call-nested")
    assert added.verb == "add"
    assert added.reason
    assert LENIENT.sites.find("rule", "no-such-rule") is None
    assert LENIENT.sites.history("rule", "no-such-rule") == ()


def test_an_item_that_was_removed_has_a_history_and_no_place(tmp_path: Path) -> None:
    path = tmp_path / "acme.rules"
    path.write_text('reknit 1\nvendor acme extends openai-chat "x"\nquirk q "gone"\n  remove map refusal\n')
    sites = open_subject(str(path)).sites
    assert [site.verb for site in sites.history("map", "refusal")] == ["said", "remove"]
    assert sites.find("map", "refusal") is None


# -- events ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STANDARD.policy.events)
def test_an_event_is_told_in_full(name: str) -> None:
    spec = STANDARD.policy.events[name]
    account = event_account(STANDARD, name)
    assert [field.name for field in account.fields] == [field.name for field in spec.fields]
    asked = {one.name: tuple(one.cases) for one in (*account.fields, *account.asks) if one.cases}
    assert asked == {question.name: question.cases for question in spec.questions}
    assert all(meaning for one in (*account.fields, *account.asks) for meaning in one.cases.values())
    possible = sum(number >= 0 for row in STANDARD.policy.cells[name].values() for number in row)
    assert sum(taking.cells for taking in account.taken) == possible
    for taking in account.taken:
        assert sum(deed.cells for deed in taking.deeds) == taking.cells
        assert taking.site is not None
        assert taking.patterns
    assert as_data(account)["name"] == name


def test_the_flushes_before_an_event() -> None:
    account = event_account(STANDARD, "TEXT_DELTA")
    assert [site.text.split()[1] for site in account.flushes] == ["text", "thinking"]
    account = event_account(STANDARD, "MESSAGE_STOP")
    assert [" ".join(site.text.split()[1:4]) for site in account.flushes] == [
        "all sealed final",
        "all sealed limit",
        "all sealed cut",
    ]
    assert not event_account(STANDARD, "USAGE").flushes


def test_what_a_rule_does_is_told_by_state_where_the_state_decides() -> None:
    taking = next(one for one in event_account(STANDARD, "TEXT_DELTA").taken if one.rule == "text-open")
    assert {deed.states for deed in taking.deeds} == {("idle", "tool"), ("text",), ("thinking",)}
    stays = next(deed for deed in taking.deeds if deed.states == ("text",))
    assert stays.to == ""
    assert [action.flush for action in stays.actions] == [True, False, False]
    assert all(not deed.patterns for deed in taking.deeds)


def test_what_a_rule_does_is_told_by_cells_where_they_decide() -> None:
    taking = next(one for one in event_account(STANDARD, "MESSAGE_STOP").taken if one.rule == "finish")
    seals = {deed.actions[0].words[1]: [pattern.text() for pattern in deed.patterns] for deed in taking.deeds}
    assert set(seals) == {"final", "limit"}
    assert seals["limit"] == ["{ reason: max_tokens, said: none }"]


# -- cells -------------------------------------------------------------------------------------------------------------


def test_cells_of_a_pattern_in_a_state() -> None:
    found = cells(STANDARD, "TEXT_DELTA { slot: last | open, text: some }", "text")
    (taking,) = found.taken
    assert (taking.rule, found.possible, found.impossible) == ("text-append", 8, 0)
    (deed,) = taking.deeds
    assert [action.verb for action in deed.actions] == ["append"]
    assert deed.to == ""


def test_cells_of_a_group_of_states() -> None:
    found = cells(STANDARD, "TEXT_DELTA { text: some }", "live")
    assert {taking.rule for taking in found.taken} == {"text-open", "text-append"}
    assert found.states == ("idle", "text", "thinking", "tool")


def test_cells_without_a_state_are_looked_for_in_all() -> None:
    found = cells(STANDARD, "STREAM_END { how: clean, finished: no }")
    assert {taking.rule for taking in found.taken} == {"end-without-finish", "end-again"}


def test_cells_that_cannot_occur() -> None:
    found = cells(STANDARD, "TEXT_DELTA { slot: last }", "idle")
    assert (found.taken, found.possible, found.impossible) == ((), 0, 8)


def test_a_fallback_is_told_as_one() -> None:
    found = cells(STANDARD, "USAGE", "done"), cells(STANDARD, "ANNOTATION", "done")
    assert [one.taken[0].fallback for one in found] == [False, True]


@pytest.mark.parametrize(
    ("text", "states", "code", "help"),
    [
        ("TEXT_DELT", [], "unknown-event", "did you mean `TEXT_DELTA`?"),
        ("TEXT_DELTA { slt: last }", [], "unknown-question", "did you mean `slot`?"),
        ("TEXT_DELTA { slot: lst }", [], "unknown-case", "did you mean `last`?"),
        ("TEXT_DELTA { slot last }", [], "cell", "as in `slot: last | open`, parted by commas"),
        ("TEXT_DELTA [ slot: last ]", [], "cell", "as in `TEXT_DELTA { slot: last | open, text: some }`"),
        ("TEXT_DELTA", ["txt"], "unknown-state", "did you mean `text`?"),
        ("CALL_END", ["text"], "states", "leave `--in` out"),
        ("text-opn", [], "unknown-item", "did you mean `text-open`?"),
        ("@", [], "unknown-item", "give an event, a cell, or the name of a rule or map"),
    ],
)
def test_what_is_not_there_is_said_with_what_is_near(text: str, states: list[str], code: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        accounts(STANDARD, text, states, none)
    assert (caught.value.code, caught.value.help) == (code, help)


def test_states_in_words() -> None:
    assert group_of(STANDARD, ("idle", "text", "thinking", "tool")) == "live (idle, text, thinking, tool)"
    assert group_of(STANDARD, tuple(state.name for state in STANDARD.policy.states)) == "any state"
    assert group_of(STANDARD, ("done", "failed")) == "done, failed"
    assert group_of(STANDARD, ()) == group_of(STANDARD, ("any",)) == ""


# -- rules and maps ----------------------------------------------------------------------------------------------------


def test_a_rule_on_several_events() -> None:
    account = rule(STANDARD, "text-empty")
    assert [taking.event for taking in account.taken] == ["TEXT_DELTA", "REFUSAL_DELTA"]
    assert {taking.rule for taking in account.taken} == {"text-empty"}


def test_the_tests_that_make_a_rule_fire() -> None:
    trial = prepare("groq")
    assert [title for title, _ in firing(trial, "thinking-open")] == [
        "reasoning under its other name, usage under x_groq"
    ]
    assert list(firing(trial, "twin-conflict")) == []
    ((_, where),) = firing(trial, "fail")
    line = int(where.removeprefix("rules/groq.rules:"))
    assert (rules_folder() / "groq.rules").read_text("utf-8").splitlines()[line - 1].startswith("test ")


def test_one_name_may_mean_a_rule_and_a_map() -> None:
    found = accounts(open_subject("groq"), "usage", [], none)
    assert [one.kind for one in found if isinstance(one, RuleAccount)] == ["rule", "map"]


def test_a_fragment_is_told_on_its_base() -> None:
    subject = open_subject("think-tags", base="openai-chat")
    assert subject.kind == "fragment"
    (found,) = accounts(subject, "think", [], none)
    assert isinstance(found, RuleAccount)
    assert found.history[0].source == "rules/think-tags.rules"
    with pytest.raises(UsageError, match="is an edit of something else"):
        open_subject("think-tags")


def test_rules_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing-like-it"):
        open_subject("nothing-like-it")
    path = tmp_path / "bad.rules"
    path.write_text('reknit 1\nvendor bad extends openai-chat "x"\nquirk q "x"\n  remove map nothing\n')
    with pytest.raises(RulesError, match="E501"):
        open_subject(str(path))
    path.write_text('reknit 1\npolicy bad extends standard "x"\nquirk q "x"\n  remove rule text-append\n')
    with pytest.raises(RulesError, match="E302"):
        open_subject(str(path))
