"""Graphs of policies: Mermaid, DOT and SVG, of one policy and of the difference of two."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sides import HERE, TINY, edited, side_of

from reknit.cli import cli
from reknit.diff import Workshop
from reknit.graph import Graph, Link, State, dot, graph_of, graph_of_both, mermaid, svg
from reknit.graph.layout import bundles_of, laid_out
from reknit.graph.notation import named
from reknit.lang.files import FileLoader

EDITS = (
    ("rule text-append", "rule text-grows"),
    ("  do   drop repeated-start", "  do   drop started-again"),
    ("state done final", "state done final\nstate over final"),
    ("fallback late\n  on   any\n  from done", "fallback late\n  on   any\n  from done, over"),
    ("  do   fail\n  to   done", "  do   fail\n  to   over"),
)

SVG = "{http://www.w3.org/2000/svg}"


def graph(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli, ["graph", *(str(argument) for argument in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def both() -> Graph:
    return graph_of_both(side_of(TINY).policy, edited(*EDITS).policy)


# -- Mermaid and DOT ---------------------------------------------------------------------------------------------------


def test_a_policy_as_mermaid() -> None:
    assert mermaid(graph_of(side_of(TINY).policy)) == (
        "stateDiagram-v2\n"
        "  [*] --> idle\n"
        "  idle --> idle: 6 rules stay\n"
        "  idle --> text: text-open\n"
        "  idle --> done: stop, end, fail\n"
        "  text --> idle: tool-open\n"
        "  text --> text: 6 rules stay\n"
        "  text --> done: stop, end, fail\n"
        "  done --> done: 2 rules stay\n"
        "  done --> [*]\n"
    )


def test_the_difference_of_two_as_mermaid() -> None:
    assert mermaid(both()) == (
        "stateDiagram-v2\n"
        "  [*] --> idle\n"
        "  idle --> idle: changed tool-again\n"
        "  idle --> text: text-open\n"
        "  idle --> done: removed fail / 2 as before\n"
        "  idle --> over: added fail\n"
        "  text --> idle: tool-open\n"
        "  text --> text: added text-grows / removed text-append / changed tool-again\n"
        "  text --> done: removed fail / 2 as before\n"
        "  text --> over: added fail\n"
        "  done --> done: 2 rules stay\n"
        "  over --> over: added late\n"
        "  done --> [*]\n"
        "  over --> [*]\n"
        "  classDef added fill:#dafbe1,stroke:#1a7f37\n"
        "  class over added\n"
    )


def test_a_policy_as_dot() -> None:
    text = dot(graph_of(side_of(TINY).policy))
    assert '  "done" [label="done", peripheries="2"]\n' in text
    assert '  "" -> "idle"\n' in text
    assert '  "idle" -> "done" [label="stop, end, fail"]\n' in text
    assert text.endswith("}\n")


def test_the_difference_of_two_as_dot() -> None:
    text = dot(both())
    assert '"idle" -> "over" [label="added fail", color="#1a7f37", fontcolor="#1a7f37"]' in text
    assert '"over" [label="over", peripheries="2", color="#1a7f37"' in text


def test_names_that_mean_something_in_a_notation_are_escaped() -> None:
    states = (State("end", "", "start"), State("a-b", "text", ""), State('x"; y', "", "final", "removed"))
    odd = Graph("odd", states, (Link("end", "a-b", 'go: to "end"; now', 1), Link("a-b", 'x"; y', "<b>", 2)))
    text = mermaid(odd)
    assert '  state "end" as s0\n  state "a-b" as s1\n  state "x#34;#59; y" as s2\n' in text
    assert "  s0 --> s1: go#58; to #34;end#34;#59; now\n" in text
    assert "  class s2 removed\n" in text
    assert '"end" -> "a-b" [label="go: to \\"end\\"; now"]' in dot(odd)
    assert '"x\\"; y"' in dot(odd)
    ElementTree.fromstring(svg(odd))


def test_only_some_rules_are_named_on_one_edge() -> None:
    links = [Link("a", "b", f"r{number}", 1) for number in range(7)]
    assert named(links) == "r0, r1, r2, r3 and 3 more"
    assert named([*links, Link("a", "b", "new", 1, "added")]) == "added new / 7 as before"


# -- SVG ---------------------------------------------------------------------------------------------------------------


def drawing(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def texts(text: str) -> list[str]:
    return ["".join(element.itertext()) for element in drawing(text).iter(f"{SVG}text")]


def test_every_state_and_every_rule_that_leads_on_stands_in_the_drawing() -> None:
    policy = Workshop(FileLoader()).side("standard").policy
    shown = texts(svg(graph_of(policy)))
    for state in policy.states:
        assert any(state.name in text for text in shown)
    leading = {link.rule for link in graph_of(policy).links if link.source != link.target}
    for rule in leading:
        assert shown.count(rule) >= 1


def test_no_two_boxes_touch_and_no_text_leaves_its_box() -> None:
    for policy in (side_of(TINY).policy, Workshop(FileLoader()).side("standard").policy):
        layout = laid_out(graph_of(policy))
        columns = (list(layout.sources.values()), [box for _, box in layout.bundles], list(layout.targets.values()))
        for boxes in columns:
            for upper, lower in itertools.pairwise(boxes):
                assert upper.y + upper.height / 2 < lower.top
            for box in boxes:
                assert box.x >= 0
                assert box.right <= layout.width
                assert box.top >= 0
                assert box.y + box.height / 2 <= layout.height
        for bundle, box in layout.bundles:
            assert max(len(rule) for rule, _ in bundle.rules) * 7.25 < box.width


def test_a_drawing_needs_nothing_from_outside() -> None:
    text = svg(both())
    assert drawing(text).tag == f"{SVG}svg"
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in text
    assert "<style" not in text


def test_what_is_new_gone_and_changed_is_told_by_colour_and_by_sign() -> None:
    text = svg(both())
    shown = texts(text)
    assert {"+ new", "~ changed", "- gone", "+ fail", "- fail", "+ over"} <= set(shown)
    assert 'stroke-dasharray="6 4"' in text
    for colour in ("#1a7f37", "#cf222e", "#9a6700"):
        assert colour in text


def test_one_policy_alone_has_no_legend() -> None:
    assert "+ new" not in texts(svg(graph_of(side_of(TINY).policy)))


def test_rules_with_the_same_sources_and_target_share_a_box() -> None:
    bundles = {(bundle.target, bundle.rules): bundle.sources for bundle in bundles_of(graph_of(side_of(TINY).policy))}
    ending = (("stop", "same"), ("end", "same"), ("fail", "same"))
    assert bundles["done", ending] == (("idle", "same"), ("text", "same"))


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_draws_mermaid() -> None:
    result = graph(HERE / "tiny.rules")
    assert result.exit_code == 0
    assert result.output == mermaid(graph_of(side_of(TINY).policy))
    assert graph(HERE / "tiny.rules", "--mermaid").output == result.output


def test_the_command_draws_dot_and_svg(tmp_path: Path) -> None:
    assert graph(HERE / "tiny.rules", "--dot").output.startswith('digraph "tiny" {')
    assert graph(HERE / "tiny.rules", "--svg", tmp_path / "tiny.svg").output == ""
    text = (tmp_path / "tiny.svg").read_text("utf-8")
    drawing(text)
    assert graph(HERE / "tiny.rules", "--svg", "-").output == text


def test_the_command_draws_the_difference(tmp_path: Path) -> None:
    other = tmp_path / "other.rules"
    other.write_text(TINY.replace("rule text-append", "rule text-grows"), "utf-8")
    assert "added text-grows / removed text-append" in graph(HERE / "tiny.rules", other).output


def test_a_vendor_is_drawn_by_its_policy() -> None:
    assert graph("groq").output == graph("standard").output
    assert graph("groq", "--policy", "strict").output != graph("standard").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "no rules are named `nosuch`"),
        ([HERE / "cases" / "nothing"], "is a folder"),
        ([HERE / "tiny.rules", "--svg", "/nowhere/at/all.svg"], "cannot be written"),
    ],
)
def test_wrong_use(arguments: list[str | Path], said: str) -> None:
    arguments = [str(argument) for argument in arguments]
    result = CliRunner().invoke(cli, ["graph", *map(str, arguments)], standalone_mode=False)
    assert getattr(result.exception, "exit_code", None) == 2
    assert said in str(getattr(result.exception, "message", ""))
