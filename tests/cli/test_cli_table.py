"""`reknit table`: what rules compile to, its schema, and a kept table that runs without the rule language."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import msgspec
import pytest
from cli_streams import CALL, QUIET, call

import reknit
from reknit.cli.table import SCHEMA
from reknit.shipped import shipped_names
from reknit.table import Table, load
from reknit.trial import prepare

REMAKE = """write it again:
    python -c "import json, msgspec, reknit.table as t; print(json.dumps(msgspec.json.schema(t.Table), indent=2, \\
        sort_keys=True))" > engine/reknit/table_schema.json"""


def test_a_table_can_be_read() -> None:
    output = call("table", "groq").output
    table = reknit.table_for("groq")
    assert re.match(
        r"policy standard  \d+ states, \d+ events, \d+ rules, \d+ outcomes, \d+ cells\nvendor groq  ", output
    )
    assert f"fingerprint  {table.fingerprint}, rule language 1\n" in output
    head, states, events, maps, outcomes = re.split(r"\n\n(?:states|events|maps|outcomes)\n", output)
    assert head
    assert [line.split()[0] for line in states.splitlines()] == [state.name for state in table.policy.states]
    assert [line.split()[0] for line in events.splitlines()] == list(table.policy.events)
    assert [line.split()[0] for line in maps.splitlines()] == [one.name for one in table.program.maps]
    assert len(outcomes.splitlines()) == len(table.policy.outcomes)
    assert "  text        holds text, tool*, opaque*\n" in f"{states}\n"
    assert re.search(r"text-open +archive thinking \(flush\); open text; append text -> text  \d+ cells", outcomes)


def test_the_cells_add_up() -> None:
    output = call("table", "standard").output
    cells = int(re.search(r"(\d+) cells\n", output)[1])  # type: ignore[index]
    outcomes = output.split("\n\noutcomes\n")[1]
    assert sum(int(count) for count in re.findall(r"(\d+) cells?$", outcomes, re.MULTILINE)) == cells
    assert "vendor" not in output


def test_one_event() -> None:
    output = call("table", "standard", "--event", "TEXT_DELTA").output
    assert output.startswith("TEXT_DELTA  ")
    assert "  text-append  append text -> text  8 cells\n    in text { slot: last | open, text: some }\n" in output
    refused = call("table", "standard", "--event", "TEXT_DELT")
    assert refused.exit_code == 2
    assert "did you mean `TEXT_DELTA`?" in refused.stderr


def test_options_of_rules() -> None:
    strict = load(call("table", "groq", "--policy", "strict", "--json").stdout.strip())
    assert strict == reknit.table_for("groq", "strict")
    tagged = load(call("table", "groq", "--with", "think-tags", "--json").stdout.strip())
    assert [one.name for one in tagged.program.splits] == ["think"]


@pytest.mark.parametrize("name", shipped_names())
def test_every_table_can_be_kept_and_fits_the_schema(name: str) -> None:
    result = call("table", f"rules/{name}.rules", "--json")
    assert result.exit_code == 0
    assert load(result.output.strip()) in prepare(f"rules/{name}.rules").tables.values()
    jsonschema.validate(json.loads(result.output), json.loads(SCHEMA.read_text("utf-8")))


def test_the_schema_is_that_of_the_table() -> None:
    published = json.loads(SCHEMA.read_text("utf-8"))
    assert published == json.loads(json.dumps(msgspec.json.schema(Table))), REMAKE
    assert call("table", "--schema").output == SCHEMA.read_text("utf-8")
    jsonschema.Draft202012Validator.check_schema(published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"language": "1"}, published)


def test_the_schema_ships_with_the_package() -> None:
    assert files("reknit").joinpath("table_schema.json").is_file()


def test_a_kept_table_is_a_table(tmp_path: Path) -> None:
    kept = tmp_path / "groq.json"
    kept.write_text(call("table", "groq", "--json").output)
    # A kept table has its events in the order of their names.
    assert sorted(call("table", kept).output.splitlines()) == sorted(call("table", "groq").output.splitlines())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: no such file"),
        ("{}", "not a compiled table"),
        (
            reknit.table_for("groq").to_json().decode().replace('"note"', '"fail"', 1),
            "not a compiled table|fingerprint",
        ),
    ],
)
def test_a_kept_table_that_is_none(tmp_path: Path, content: str | None, said: str) -> None:
    kept = tmp_path / "kept.json"
    if content is not None:
        kept.write_text(content)
    result = call("table", kept)
    assert result.exit_code == 2
    assert re.search(said, result.stderr)


def test_wrong_use() -> None:
    assert "the table of what?" in call("table").stderr
    assert "no rules are named `nobody`" in call("table", "nobody").stderr


def test_a_kept_table_runs_without_the_rule_language(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text(call("table", "openai-chat", "--json").output)
    (tmp_path / "stream.sse").write_bytes(CALL)
    code = (
        "import pathlib, sys, reknit, reknit.table\n"
        "table = reknit.table.load(pathlib.Path('kept.json').read_bytes())\n"
        "r = reknit.Reconstructor(vendor=table, tools=[{'name': 'Read', 'input_schema': {}}])\n"
        "r.feed(pathlib.Path('stream.sse').read_bytes())\n"
        "message = r.close()\n"
        "print([block.type for block in message.content], message.fingerprint == table.fingerprint)\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] == 'lark' or name.startswith("
        "('reknit.lang', 'reknit.compile', 'reknit.prove'))))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=QUIET, capture_output=True, text=True, check=True
    )
    assert run.stdout == "['thinking', 'text', 'tool_use'] True\n[]\n"
