"""Every form of the language as nodes, values as plain data, and the bounds that untrusted text meets."""

from __future__ import annotations

from typing import Any

import pytest

from reknit.lang import syntax
from reknit.lang.diagnostics import render
from reknit.lang.files import TextLoader
from reknit.lang.parser import MAX_ITEMS, parse
from reknit.lang.resolve import resolve_policy
from reknit.lang.syntax import (
    Action,
    Case,
    Constant,
    EnumCase,
    Expr,
    Field,
    File,
    Filter,
    Holding,
    Made,
    Name,
    Path,
    Setting,
    Trigger,
    Where,
    Word,
)
from reknit.lang.tokens import MAX_BYTES, MAX_DEPTH, MAX_FINDINGS, MAX_NUMBER, MAX_TEXT

POLICY = 'reknit 1\npolicy sample "why"\n'
VENDOR = 'reknit 1\nvendor sample "why"\n'


def read(text: str) -> File:
    file, found = parse(text, "sample.rules")
    assert file is not None, render(found, {"sample.rules": text})
    assert found == []
    return file


def codes(text: str) -> list[str]:
    file, found = parse(text, "sample.rules")
    assert file is None
    return [diagnostic.code for diagnostic in found]


def only(text: str) -> Any:
    (item,) = read(text).items
    return item


def names(*words: str) -> tuple[Name, ...]:
    return tuple(Name(word) for word in words)


def test_the_header_of_a_vendor_with_everything() -> None:
    file = read(
        'reknit 1\nvendor a extends b with c, d "why"\n  protocol p\n  policy q\n  wire sse\n  end "[DONE]"\n'
        "  salvage x, y\n  choices .choices[*] by .index\n"
    )
    assert file.language == "1"
    assert file.source == "sample.rules"
    assert file.header == syntax.Header(
        "vendor",
        Name("a"),
        Name("b"),
        names("c", "d"),
        "why",
        (
            Setting("protocol", names("p")),
            Setting("policy", names("q")),
            Setting("wire", names("sse")),
            Setting("end", names("[DONE]")),
            Setting("salvage", names("x", "y")),
            Setting("choices", names(".choices[*]", ".index")),
        ),
    )


@pytest.mark.parametrize("kind", ["policy", "vendor", "fragment"])
def test_the_shortest_file_of_each_kind(kind: str) -> None:
    header = read(f'reknit 1 {kind} a "why"').header
    assert (header.kind, header.name, header.extends, header.fragments, header.settings) == (
        kind,
        Name("a"),
        None,
        (),
        (),
    )


POLICY_ITEMS: list[tuple[str, Any]] = [
    (
        "event A_B about text { slot: slot?, text: text } asks held, mode",
        syntax.Event(
            Name("A_B"),
            Name("text"),
            (Field(Name("slot"), Name("slot"), True), Field(Name("text"), Name("text"), False)),
            names("held", "mode"),
        ),
    ),
    ("event A { }", syntax.Event(Name("A"), None, (), ())),
    ("state idle start", syntax.State(Name("idle"), (), "start")),
    (
        "state tools holds tool*, text final",
        syntax.State(Name("tools"), (Holding(Name("tool"), True), Holding(Name("text"), False)), "final"),
    ),
    ("group live = idle, text", syntax.Group(Name("live"), names("idle", "text"))),
    (
        "flush calls sealed final before A { slot: fresh | open }, open text, B",
        syntax.Flush(
            Name("calls"),
            Name("final"),
            (
                Trigger(Name("A"), (Case(Name("slot"), names("fresh", "open")),)),
                Trigger(Name("open"), (), Name("text")),
                Trigger(Name("B"), ()),
            ),
        ),
    ),
    (
        'rule r on A { x: a, y: b | c } on B from idle, live do set reason do make id "call_{n}" to text',
        syntax.Rule(
            Name("r"),
            (
                Trigger(Name("A"), (Case(Name("x"), names("a")), Case(Name("y"), names("b", "c")))),
                Trigger(Name("B"), ()),
            ),
            names("idle", "live"),
            (Action(Name("set"), names("reason")), Action(Name("make"), names("id", "call_{n}"))),
            Name("text"),
            False,
            False,
        ),
    ),
    (
        "fallback late on any stay",
        syntax.Rule(Name("late"), (Trigger(Name("any"), ()),), (), (), None, True, True),
    ),
    ("merge output by sum", syntax.Merge(Name("output"), Name("sum"))),
    ("derive input from a minus b, c", syntax.Derive(Name("input"), Name("a"), names("b", "c"))),
    ("repair close as guessed", syntax.Repair(Name("close"), Name("guessed"))),
    ("deviations note", syntax.Deviations(Name("note"), ())),
    ("deviations fail except a, b", syntax.Deviations(Name("fail"), names("a", "b"))),
    (
        "class free { start: seal, parallel: true, most: 3, of: [a, null] }",
        syntax.ToolClass(
            Name("free"),
            (
                (Name("start"), "seal"),
                (Name("parallel"), True),
                (Name("most"), 3),
                (Name("of"), ["a", None]),
            ),
        ),
    ),
    ('classify "Read*" as free', syntax.Classify(Name("Read*"), Name("free"))),
    ("classify else as free", syntax.Classify(None, Name("free"))),
    ("escalate to human when grade guessed", syntax.Escalate(Name("human"), Name("grade"), Name("guessed"))),
]

VENDOR_ITEMS: list[tuple[str, Any]] = [
    (
        'map m before n at .a else @.b[0] where .x is not "s" or 1 or string where .y is null emit once A { }',
        syntax.Map(
            Name("m"),
            names(".a", "@.b[0]"),
            (
                Where(Name(".x"), True, ("s", 1), names("string")),
                Where(Name(".y"), False, (), names("null")),
            ),
            (syntax.Emit(Name("A"), True, ()),),
            Name("n"),
        ),
    ),
    (
        'map m at . emit A { a: @.x | nonempty | enum finish, b: "s" | cut "x", c: -1.5, d: word, '
        'e: { f: . | json, "g h": 1 } }',
        syntax.Map(
            Name("m"),
            names("."),
            (),
            (
                syntax.Emit(
                    Name("A"),
                    False,
                    (
                        (
                            Name("a"),
                            Expr(Path("@.x"), (Filter(Name("nonempty"), None), Filter(Name("enum"), Name("finish")))),
                        ),
                        (Name("b"), Expr(Constant("s"), (Filter(Name("cut"), Name("x")),))),
                        (Name("c"), Expr(Constant(-1.5), ())),
                        (Name("d"), Expr(Word("word"), ())),
                        (
                            Name("e"),
                            Expr(
                                Made(
                                    (
                                        ("f", Expr(Path("."), (Filter(Name("json"), None),))),
                                        ("g h", Expr(Constant(1), ())),
                                    )
                                ),
                                (),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
    ('allow early-start "why"', syntax.Allow(Name("early-start"), "why")),
    ('ignore i where .x is "a"', syntax.Ignore(Name("i"), (Where(Name(".x"), False, ("a",), ()),))),
    ("detect d where . is object", syntax.Detect(Name("d"), (Where(Name("."), False, (), names("object")),))),
    (
        'enum e { "a" => b 1 => c else => same }',
        syntax.Enum(Name("e"), (EnumCase("a", Name("b")), EnumCase("1", Name("c")), EnumCase(None, None))),
    ),
    (
        'split s from A at "<t>" "</t>" into B',
        syntax.Split(Name("s"), Name("A"), "<t>", "</t>", Name("B"), None, None, None),
    ),
    (
        'split s from A at "<t>" "</t>" into B implied open only head outside code',
        syntax.Split(Name("s"), Name("A"), "<t>", "</t>", Name("B"), Name("head"), Name("code"), Name("open")),
    ),
    (
        'quirk q "why" add salvage a, b override rule r do drop late remove fallback f add merge input by max',
        syntax.Quirk(
            Name("q"),
            "why",
            (
                syntax.Edit("add", Setting("salvage", names("a", "b")), "setting", Name("salvage")),
                syntax.Edit(
                    "override",
                    syntax.Rule(Name("r"), (), (), (Action(Name("drop"), names("late")),), None, False, False),
                    "rule",
                    Name("r"),
                ),
                syntax.Edit("remove", None, "fallback", Name("f")),
                syntax.Edit("add", syntax.Merge(Name("input"), Name("max")), "merge", Name("input")),
            ),
        ),
    ),
    (
        'test "t" { given A { x: B_C } given A given tools { a: [x] } given raw "r" given close given { } '
        'given "[DONE]" expect text "x" expect fired r expect usage { input: 3 } expect nothing }',
        syntax.Test(
            "t",
            (
                syntax.Given("event", Name("A"), {"x": "B_C"}),
                syntax.Given("event", Name("A"), {}),
                syntax.Given("tools", None, {"a": ["x"]}),
                syntax.Given("raw", None, "r"),
                syntax.Given("close", None, None),
                syntax.Given("frame", None, {}),
                syntax.Given("marker", None, "[DONE]"),
                syntax.Expect(names("text"), "x"),
                syntax.Expect(names("fired", "r"), None),
                syntax.Expect(names("usage"), {"input": 3}),
                syntax.Expect(names("nothing"), None),
            ),
        ),
    ),
]


@pytest.mark.parametrize(("text", "node"), POLICY_ITEMS, ids=[text[:30] for text, _ in POLICY_ITEMS])
def test_items_of_a_policy(text: str, node: Any) -> None:
    assert only(POLICY + text) == node


@pytest.mark.parametrize(("text", "node"), VENDOR_ITEMS, ids=[text[:30] for text, _ in VENDOR_ITEMS])
def test_items_of_a_vendor(text: str, node: Any) -> None:
    assert only(VENDOR + text) == node


def test_keywords_are_names_where_a_name_is_meant() -> None:
    item = only(VENDOR + "map map at .x emit A { from: @ | where, rule: state }")
    assert item.name == Name("map")
    assert item.emits[0].binds[0] == (Name("from"), Expr(Path("@"), (Filter(Name("where"), None),)))
    assert item.emits[0].binds[1] == (Name("rule"), Expr(Word("state"), ()))


@pytest.mark.parametrize("word", ["rulex", "rules", "states", "maps", "start1", "tests"])
def test_a_keyword_counts_only_as_a_whole_word(word: str) -> None:
    assert codes(f"{POLICY}{word} a on any stay") == ["E101"]


VALUES: list[tuple[str, Any]] = [
    ("1", 1),
    ("-0", 0),
    ("1.0", 1.0),
    ("-1.5e-05", -1.5e-05),
    ("2E3", 2000.0),
    ("true", True),
    ("false", False),
    ("null", None),
    ("word", "word"),
    ("SOME_EVENT", "SOME_EVENT"),
    ('""', ""),
    ("{ }", {}),
    ("[ ]", []),
    ('[1, "a", word, null, [{ b: [] }]]', [1, "a", "word", None, [{"b": []}]]),
    (r'"\" \\ \/ \b \f \n \r \t \u00e9 \ud83d\ude00 é 😀"', '" \\ / \b \f \n \r \t é 😀 é 😀'),
    (r'"\\u0041"', "\\u0041"),
    (r'"# no comment"', "# no comment"),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_values_are_plain_data(text: str, value: Any) -> None:
    given = only(VENDOR + f'test "t" {{ given {{ x: {text} }} }}').steps[0].value
    assert given == {"x": value}
    assert type(given["x"]) is type(value)


def test_the_order_of_fields_is_kept() -> None:
    given = only(VENDOR + 'test "t" { given { z: 1, "a b": 2, m: 3 } }').steps[0].value
    assert list(given) == ["z", "a b", "m"]


def test_places_count_from_one_and_span_the_whole_item() -> None:
    file = read(POLICY + "rule first\n  on   SOME { a: b }\n  stay\n")
    rule: Any = file.items[0]
    place = rule.place
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 1, 5, 7)
    assert (rule.name.place.line, rule.name.place.column, rule.name.place.end_column) == (3, 6, 11)
    event = rule.on[0].event.place
    assert (event.source, event.line, event.column, event.end_column) == ("sample.rules", 4, 8, 12)
    assert file.header.name.place.line == 2


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_change_nothing(end: str, mark: str) -> None:
    text = POLICY + "rule a # why\n  on any\n  stay\n"
    file = read(mark + text.replace("\n", end))
    assert file == read(text)
    rule: Any = file.items[0]
    assert rule.on[0].event.place.line == 4
    assert rule.on[0].event.place.column == 6


def test_after_an_error_reading_goes_on_at_the_next_item() -> None:
    text = (
        POLICY + "rule a\n  on any\n  sty\n\nrule b\n  on any\n  stay\n\nrule c\n  too x\n  rule\n\nrule b\n  on any\n"
    )
    file, found = parse(text, "sample.rules")
    assert file is None
    assert [(diagnostic.code, diagnostic.label.place.line) for diagnostic in found] == [
        ("E101", 5),
        ("E101", 12),
        ("E110", 15),
        ("E108", 15),
    ]


def test_slips_of_another_sort_before_a_syntax_error_are_told_too() -> None:
    assert codes(POLICY + "rule a\n  on any\n\nrule b\n  sty\n\nrule c\n  stay\n") == ["E110", "E101", "E110"]


BOUNDS: list[tuple[str, str, list[str]]] = [
    ("bytes", POLICY + "#" * (MAX_BYTES - len(POLICY)), []),
    ("bytes and one", POLICY + "#" * (MAX_BYTES - len(POLICY) + 1), ["E104"]),
    ("bytes, not characters", POLICY + "#" + "é" * (MAX_BYTES // 2), ["E104"]),
    ("items", POLICY + "merge a by b\n", []),
    ("depth", VENDOR + 'test "t" { given { a: ' + "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2) + " } }", []),
    ("depth and one", VENDOR + 'test "t" { given { a: ' + "[" * (MAX_DEPTH - 1) + "]" * 62 + " } }", ["E104"]),
    ("closing does not buy depth", VENDOR + "}" * 900 + '\ntest "t" { given { a: ' + "[" * 900, ["E101", "E104"]),
    ("text", VENDOR + 'test "' + "a" * (MAX_TEXT - 2) + '" { }', []),
    ("text and one", VENDOR + 'test "' + "a" * (MAX_TEXT - 1) + '" { }', ["E104"]),
    ("number", VENDOR + 'test "t" { given { a: ' + "1" * MAX_NUMBER + " } }", []),
    ("number and one", VENDOR + 'test "t" { given { a: ' + "1" * (MAX_NUMBER + 1) + " } }", ["E104"]),
    ("number out of range", VENDOR + 'test "t" { given { a: 1e999 } }', ["E104"]),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in BOUNDS], ids=[row[0] for row in BOUNDS])
def test_bounds(text: str, expected: list[str]) -> None:
    file, found = parse(text, "sample.rules")
    assert [diagnostic.code for diagnostic in found] == expected
    assert (file is None) == bool(expected)


def test_the_number_of_items_is_bounded() -> None:
    item = 'test "{}" {{ }}\n'
    assert len(read(VENDOR + "".join(item.format(n) for n in range(MAX_ITEMS))).items) == MAX_ITEMS
    assert codes(VENDOR + "".join(item.format(n) for n in range(MAX_ITEMS + 1))) == ["E104"]


@pytest.mark.parametrize(
    "text",
    [
        POLICY + "rule a on any sty\n" * 400,
        POLICY + "rule a on any stay\n" * 400,
        POLICY + "rule A\n" * 400,
        VENDOR + 'test "t" { given { ' + ", ".join(["a: 1"] * 400) + " } }",
        "\x00" * 400,
    ],
    ids=["syntax", "twins", "unreadable", "keys", "binary"],
)
def test_the_number_of_findings_is_bounded(text: str) -> None:
    assert 0 < len(codes(text)) <= MAX_FINDINGS


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\x7f", "\x85", "\u200b", "\u202e", "\u2066", "\ud800", "\ufeff"]
)
@pytest.mark.parametrize("form", ["# {}\n", 'test "{}" {{ }}\n', "{}\n"])
def test_what_a_reader_could_not_see_is_told(character: str, form: str) -> None:
    text = VENDOR + form.format(character)
    assert codes(text) == ["E102"]
    report = render(parse(text, "sample.rules")[1], {"sample.rules": text})
    assert character not in report
    report.encode("utf-8")


@pytest.mark.parametrize("kind", ["policy", "vendor", "fragment"])
def test_every_kind_of_file_may_allow_lints_that_there_are(kind: str) -> None:
    header = f'reknit 1\n{kind} sample "why"\n'
    assert read(header + 'allow unused-enum "why"\n').items == (syntax.Allow(Name("unused-enum"), "why"),)
    assert codes(header + 'allow unused-enums "why"\n') == ["E113"]
    assert codes(header + 'allow unused-enum "why"\nallow unused-enum "why"\n') == ["E108"]
    assert codes(header + "allow unused-enum\n") == ["E101"]


def test_an_allowance_is_no_item_that_a_quirk_adds_or_that_others_inherit() -> None:
    assert codes(POLICY + 'quirk q "x" add allow unused-enum "why"\n') == ["E101"]
    texts = {
        "low": POLICY.replace("sample", "low") + 'state a start\nallow unused-group "why"\n',
        "top": 'reknit 1\npolicy top extends low "why"\nallow unused-group "why"\n',
    }
    resolution = resolve_policy("top", TextLoader(texts))
    assert resolution.diagnostics == ()
    assert resolution.value is not None
    assert [kind for kind, _ in resolution.value.items] == ["state"]


def test_what_is_wrong_with_a_file_can_be_changed_by_who_asked() -> None:
    text = POLICY + "rule\n"
    parse(text, "sample.rules")[1].clear()
    assert codes(text) == ["E101"]
