"""Lints: what each of them finds, what it leaves alone, and what a file allows. See `tests/diagnostics/lints` too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from reknit.lang.diagnostics import LINTS, Diagnostic
from reknit.lint import lint
from reknit.shipped import rules_folder, shipped_names
from reknit.testing import run_trial
from reknit.trial import prepare

NAMES = {code: name for name, code in LINTS.items()}

LINES = """reknit 1
vendor lines "a small vendor"
  wire ndjson

map text
  at    .text
  where .kind is "say"
  emit  TEXT_DELTA { text: @ }

map finish
  at    .why
  emit  MESSAGE_STOP { reason: @ | enum finish }

enum finish { "done" => end_turn else => same }
"""
DIALECT = 'reknit 1\nvendor dialect extends lines "another one"\n'


def write(folder: Path, files: Mapping[str, str]) -> list[str]:
    paths = []
    for name, text in files.items():
        path = folder / f"{name}.rules"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


def found(folder: Path, files: Mapping[str, str], *, tests: bool = False) -> list[Diagnostic]:
    """The warnings of some files; none of them may have an error."""
    prepared = [(path, prepare(path)) for path in write(folder, files)]
    for _, trial in prepared:
        assert trial.sound, trial.diagnostics
    return lint(prepared, [run_trial(trial) for _, trial in prepared] if tests else None)


def names(folder: Path, text: str, **others: str) -> list[str]:
    """The names of the lints that find something in the first of some files."""
    paths = write(folder, {"first": text, "lines": LINES, **others})
    warnings = lint([(paths[0], prepare(paths[0]))])
    assert all(one.severity == "warning" for one in warnings)
    return [NAMES[one.code] for one in warnings]


# -- what ships --------------------------------------------------------------------------------------------------------


def test_the_shipped_rules_have_no_warnings() -> None:
    files = [(name, prepare(name)) for name in shipped_names()]
    assert lint(files) == []


def test_shipped_files_read_by_path_have_none_either() -> None:
    paths = sorted(str(path) for path in rules_folder().glob("*.rules"))
    assert lint([(path, prepare(path)) for path in paths]) == []


# -- edits -------------------------------------------------------------------------------------------------------------


def test_an_edit_that_changes_one_clause_is_alive(tmp_path: Path) -> None:
    assert names(tmp_path, DIALECT + 'quirk q "x" override map text at .content\n') == []
    same = DIALECT + 'quirk q "x" override map text at .text where .kind is "say"\n'
    assert names(tmp_path, same) == ["dead-edit"]


def test_an_edit_of_the_policy_can_be_dead(tmp_path: Path) -> None:
    edits = "override merge output by latest_nonzero override escalate to human when args guessed"
    assert names(tmp_path, DIALECT + f'quirk q "a reason of four words" {edits}\n') == ["dead-edit"] * 2


def test_a_dead_edit_is_told_in_its_own_file_only(tmp_path: Path) -> None:
    base = 'reknit 1\nvendor base extends lines "x"\nquirk q "x" override map text at .text\n'
    assert names(tmp_path, base) == ["dead-edit"]
    assert names(tmp_path, 'reknit 1\nvendor top extends base "x"\n', base=base) == []


def test_an_edit_of_a_fragment_has_to_be_dead_everywhere(tmp_path: Path) -> None:
    fragment = (
        'reknit 1\nfragment f "x"\nquirk q "x" override map content where @ is string\n'
        'test "a" { given vendor "chat-one" given close expect no blocks }\n'
        'test "b" { given vendor "chat-two" given close expect no blocks }\n'
    )
    one = 'reknit 1\nvendor chat-one extends openai-chat "x"\n'
    two = 'reknit 1\nvendor chat-two extends openai-chat "x"\nquirk q "x" override map content where @ is not ""\n'
    assert names(tmp_path, fragment, one=one, two=two) == []
    assert names(tmp_path, fragment.replace("chat-two", "chat-one"), one=one) == ["dead-edit"]


PARENT = 'reknit 1\nvendor parent extends lines "x"\nquirk q "x" override map text at .content\n'


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("override map text at .words", ["shadowed-edit"]),
        ("override map text where .kind is null", []),
        ("override map text at .words where .kind is null", ["shadowed-edit"]),
        ("remove map text", []),
        ("override map finish at .reason", []),
    ],
)
def test_what_is_left_of_an_earlier_quirk(edit: str, told: list[str], tmp_path: Path) -> None:
    child = f'reknit 1\nvendor child extends parent "x"\nquirk r "x" {edit}\n'
    assert names(tmp_path, child, parent=PARENT) == told
    grandchild = 'reknit 1\nvendor grandchild extends child "x"\n'
    assert names(tmp_path, grandchild, parent=PARENT, child=child) == []


def test_an_edit_is_shadowed_by_several_together(tmp_path: Path) -> None:
    base = 'reknit 1\nvendor base extends lines "x"\nquirk q "x" override map text at .a where .kind is null\n'
    middle = 'reknit 1\nvendor middle extends base "x"\nquirk r "x" override map text at .b\n'
    top = 'reknit 1\nvendor top extends middle "x"\nquirk s "x" override map text where .kind is "b"\n'
    assert names(tmp_path, middle, base=base) == []
    assert names(tmp_path, top, base=base, middle=middle) == ["shadowed-edit"]


def test_an_edit_of_a_policy_can_be_shadowed(tmp_path: Path) -> None:
    base = 'reknit 1\npolicy base extends standard "x"\nquirk q "x" override merge output by sum\n'
    top = 'reknit 1\npolicy top extends base "x"\nquirk s "x" override merge output by max\n'
    assert names(tmp_path, top, base=base) == ["shadowed-edit"]
    assert names(tmp_path, top.replace("by max", "by sum"), base=base) == ["dead-edit"]


# -- maps --------------------------------------------------------------------------------------------------------------

SECOND = "map second at {at} {where} emit {emit}\n"


@pytest.mark.parametrize(
    ("at", "where", "emit", "told"),
    [
        (".text", "", "TEXT_DELTA { text: @ }", True),
        (".", "", "TEXT_DELTA { text: @.text }", True),
        (".a else .text", "", "TEXT_DELTA { text: @ }", True),
        (".other", "", "TEXT_DELTA { text: .text }", True),
        (".text", 'where .kind is "say" or "call"', "TEXT_DELTA { text: @ }", True),
        (".text", 'where .other is "call"', "TEXT_DELTA { text: @ }", True),
        (".text", "where @ is string where .kind is string", "TEXT_DELTA { text: @ }", True),
        (".text", 'where .kind is "call"', "TEXT_DELTA { text: @ }", False),
        (".text", 'where .kind is not "say"', "TEXT_DELTA { text: @ }", False),
        (".text", "where .kind is null", "TEXT_DELTA { text: @ }", False),
        (".text", "where .kind is object", "TEXT_DELTA { text: @ }", False),
        (".text", "where @ is null", "TEXT_DELTA { text: @ }", False),
        (".kind.text", "", "TEXT_DELTA { text: .text }", False),
        (".text", "", "THINKING_DELTA { text: @ }", False),
        (".more", "", "TEXT_DELTA { text: @ }", False),
        (".text[*]", "", "TEXT_DELTA { text: @ }", False),
    ],
)
def test_maps_of_one_place(at: str, where: str, emit: str, told: bool, tmp_path: Path) -> None:
    text = LINES + SECOND.format(at=at, where=where, emit=emit)
    assert names(tmp_path, text.replace("vendor lines", "vendor own")) == ["overlapping-maps"] * told


def test_fields_that_say_which_block_is_meant_may_be_read_twice(tmp_path: Path) -> None:
    more = (
        "map call at .call emit TOOL_USE_START { slot: .n, id: .id, name: @ }\n"
        "map later at .later emit TOOL_USE_START { slot: .n, id: .id, name: @ }\n"
    )
    assert names(tmp_path, LINES.replace("vendor lines", "vendor own") + more) == []
    made = (
        "map kept at .kept emit OPAQUE_BLOCK { block: { a: @, b: .b } }\n"
        "map also at .b emit OPAQUE_BLOCK { block: @ }\n"
    )
    assert names(tmp_path, LINES.replace("vendor lines", "vendor own") + made) == ["overlapping-maps"]


def test_an_overlap_is_told_where_one_of_the_two_stands(tmp_path: Path) -> None:
    base = LINES.replace("vendor lines", "vendor base") + SECOND.format(
        at=".text", where="", emit="TEXT_DELTA { text: @ }"
    )
    assert names(tmp_path, 'reknit 1\nvendor top extends base "x"\n', base=base) == []
    edit = 'quirk q "x" add map again at .text emit TEXT_DELTA { text: @ }\n'
    (warning,) = found(tmp_path, {"top": DIALECT + edit, "lines": LINES})
    assert warning.label.place.source.endswith("top.rules")
    assert [label.place.source.rpartition("/")[2] for label in warning.others] == ["lines.rules"]


# -- safety ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ('add classify "Bash" as read_only', True),
        ('add classify "Bash" as side_effect', False),
        ('add classify "Bash" as human', False),
        ('override classify "Read" as side_effect', False),
        ('override classify "Submit*" as side_effect', True),
        ("override classify else as read_only", True),
        ("override class human { start: confirm }", True),
        ("override class side_effect { start: confirm, parallel: true }", True),
        ("override class read_only { start: confirm, parallel: true, discard: block }", False),
        ("override class read_only { start: never }", False),
        ("add class wild { start: confirm, parallel: true }", False),
        ("remove escalate args-guessed", True),
        ("override escalate to side_effect when args guessed", True),
        ("override escalate to forbidden when args guessed", False),
        ("add escalate to human when id made", False),
    ],
)
def test_loosening_needs_a_reason(edit: str, told: bool, tmp_path: Path) -> None:
    if "id made" in edit:
        edit = "override escalate to human when id made"
    policy = 'reknit 1\npolicy mine extends standard "x"\nquirk q "{reason}" {edit}\n'
    short = policy.format(reason="two words", edit=edit)
    assert names(tmp_path, short) == ["loosened-without-reason"] * told
    assert names(tmp_path, policy.format(reason="a reason of four words", edit=edit)) == []
    vendor = short.replace("policy mine extends standard", "vendor mine extends lines")
    assert names(tmp_path, vendor) == ["loosened-without-reason"] * told


def test_one_quirk_that_loosens_much_is_one_finding(tmp_path: Path) -> None:
    edits = "remove escalate args-guessed remove escalate args-invalid"
    assert names(tmp_path, f'{DIALECT}quirk q "" {edits}\n') == ["loosened-without-reason"]


def test_an_early_start_is_told_by_who_brings_the_two_together(tmp_path: Path) -> None:
    start = 'quirk q "a reason of four words" add class quick {{ start: {start} }} add classify "Q*" as {tools}\n'
    calls = LINES.replace("vendor lines", "vendor own") + "map call at .call emit TOOL_INPUT_DELTA { json: @ | json }\n"
    assert names(tmp_path, calls + start.format(start="seal", tools="quick")) == ["early-start"]
    assert names(tmp_path, calls + start.format(start="confirm", tools="quick")) == []
    assert names(tmp_path, calls + start.format(start="seal", tools="human")) == []
    assert names(tmp_path, calls) == []
    # No map makes an event that takes a call up again.
    assert (
        names(tmp_path, LINES.replace("vendor lines", "vendor own") + start.format(start="seal", tools="quick")) == []
    )


# -- declarations ------------------------------------------------------------------------------------------------------


def test_an_enum_is_used_anywhere_in_an_expression(tmp_path: Path) -> None:
    own = LINES.replace("vendor lines", "vendor own")
    assert names(tmp_path, own + 'enum spare { "a" => b else => same }\n') == ["unused-enum"]
    used = "map kept at .kept emit OPAQUE_BLOCK { block: { a: { b: @ | enum spare } } }\n"
    assert names(tmp_path, own + used + 'enum spare { "a" => b else => same }\n') == []
    override = 'quirk q "x" override map finish emit MESSAGE_STOP { reason: @ }\n'
    assert names(tmp_path, DIALECT + override) == []


def test_groups_and_events_of_what_a_file_builds_on_are_not_its_own(tmp_path: Path) -> None:
    base = 'reknit 1\npolicy base extends standard "x"\ngroup spare = idle\n'
    assert names(tmp_path, base) == ["unused-group"]
    assert names(tmp_path, 'reknit 1\npolicy top extends base "x"\n', base=base) == []
    used = (
        'quirk q "x" override rule begin from spare\n'
        'quirk r "x" add rule rest on MESSAGE_START { id: none | first } from text, thinking, tool, ended stay\n'
    )
    assert names(tmp_path, base + used) == []


def test_an_event_that_only_a_flush_names_is_named(tmp_path: Path) -> None:
    more = (
        "event SPARE {}\n"
        'quirk q "x" add fallback rest on any from idle, text, thinking, tool, ended do drop spare stay\n'
    )
    base = 'reknit 1\npolicy base extends standard "x"\n' + more
    assert names(tmp_path, base) == ["unused-event"]
    assert names(tmp_path, base + "flush calls before SPARE\n") == []


# -- tests -------------------------------------------------------------------------------------------------------------

POLICY = """reknit 1
policy base "x"
event A {}
event B {}
state idle start
rule a on A stay
rule b on B do note b stay
"""
TEST = 'test "{0}" {{ given {0} expect no blocks }}\n'


def test_rules_are_fired_by_the_tests_of_all_files(tmp_path: Path) -> None:
    (warning,) = found(tmp_path, {"base": POLICY + TEST.format("A")}, tests=True)
    assert (NAMES[warning.code], warning.others) == ("untested-rule", ())
    assert "`b`" in warning.message
    assert found(tmp_path, {"base": POLICY + TEST.format("A")}) == []
    top = 'reknit 1\npolicy top extends base "x"\n' + TEST.format("B")
    assert found(tmp_path, {"base": POLICY + TEST.format("A"), "top": top}, tests=True) == []


def test_a_rule_that_a_quirk_overrides_is_another_rule(tmp_path: Path) -> None:
    top = 'reknit 1\npolicy top extends base "x"\nquirk q "x" override rule b do note c\n'
    files = {"base": POLICY + TEST.format("A") + TEST.format("B"), "top": top}
    (warning,) = found(tmp_path, files, tests=True)
    assert warning.label.place.source.endswith("top.rules")
    assert found(tmp_path, {**files, "top": top + TEST.format("B")}, tests=True) == []


def test_untested_rules_of_a_file_are_one_finding(tmp_path: Path) -> None:
    (warning,) = found(tmp_path, {"base": POLICY}, tests=True)
    assert warning.message == "no test fires rule `a` and 1 more"
    assert len(warning.others) == 1


# -- allowances --------------------------------------------------------------------------------------------------------


def test_a_file_allows_a_lint_for_itself_alone(tmp_path: Path) -> None:
    base = 'reknit 1\npolicy base extends standard "x"\ngroup spare = idle\nallow unused-group "others use it"\n'
    assert names(tmp_path, base) == []
    assert names(tmp_path, 'reknit 1\npolicy top extends base "x"\ngroup more = idle\n', base=base) == ["unused-group"]


def test_an_allowance_of_nothing_is_told(tmp_path: Path) -> None:
    assert names(tmp_path, DIALECT + 'allow unused-enum "x"\n') == ["unused-allowance"]
    both = DIALECT + 'allow unused-enum "x"\nallow unused-allowance "kept for the next version"\n'
    assert names(tmp_path, both) == []


def test_an_allowance_of_a_lint_that_did_not_run_says_nothing(tmp_path: Path) -> None:
    text = POLICY + 'allow untested-rule "x"\n'
    assert found(tmp_path, {"base": text}) == []
    assert found(tmp_path, {"base": text}, tests=True) == []
    tested = text + TEST.format("A") + TEST.format("B")
    assert found(tmp_path, {"base": tested}) == []
    assert [NAMES[one.code] for one in found(tmp_path, {"base": tested}, tests=True)] == ["unused-allowance"]


def test_a_file_with_errors_has_no_lints(tmp_path: Path) -> None:
    (path,) = write(tmp_path, {"bad": DIALECT.replace("lines", "nobody") + 'enum e { "a" => b }\n'})
    assert lint([(path, prepare(path))]) == []


def test_every_lint_can_be_found_by_its_name() -> None:
    assert len(NAMES) == len(LINTS)
    assert all(name == name.lower() and " " not in name for name in LINTS)
