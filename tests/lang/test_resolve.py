"""Extending, fragments and quirks: what counts for a file in the end, and what is said where an edit cannot be made."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reknit.lang.contents import Key
from reknit.lang.diagnostics import render
from reknit.lang.files import TextLoader
from reknit.lang.resolve import MAX_CHAIN, Resolution, read_file, resolve_policy, resolve_vendor
from reknit.lang.resolved import ResolvedPolicy, ResolvedVendor
from reknit.lang.shelf import Origin
from reknit.lang.syntax import Classify, Deviations, Event, Map, Name, Quirk, Rule, State

STANDARD = """reknit 1
policy standard "the policy"
event A { x: text }
state idle start
state text holds text
rule a
  on A { x: some }
  from idle
  do open text
  do append x
  to text
rule b
  on A
  from text
  do drop late
  stay
fallback late
  on any
  do drop late
  stay
merge output by sum
deviations note
classify "Read*" as free
test "of the policy" { }
"""

BASE = """reknit 1
vendor base "the base"
  protocol chat
  wire sse
  end "[DONE]"
  salvage several, glued
  choices .choices[*] by .index
map one
  at .a
  where .t is "x"
  emit A { x: @ }
map two
  at .b
  emit A { x: @ }
enum finish {
  "stop" => end_turn
}
test "of the base" { }
"""

RULES = {"policy": STANDARD, "base": BASE}


def vendor(text: str, others: Mapping[str, str] = {}, **arguments: str) -> Resolution[ResolvedVendor]:
    return resolve_vendor("own", TextLoader({**RULES, **others, "own": text}), **arguments)


def good(text: str, others: Mapping[str, str] = {}, **arguments: str) -> ResolvedVendor:
    resolution = vendor(text, others, **arguments)
    assert not resolution.failed, render(resolution.diagnostics, resolution.sources)
    assert resolution.value is not None
    return resolution.value


def report(resolution: Resolution[ResolvedVendor] | Resolution[ResolvedPolicy]) -> str:
    assert resolution.failed
    return render(resolution.diagnostics, resolution.sources)


def own(body: str = "", header: str = "extends base") -> str:
    return f'reknit 1\nvendor own {header} "my own"\n{body}'


def quirk(*edits: str) -> str:
    return 'quirk q "why"\n' + "".join(f"  {edit}\n" for edit in edits)


def fragment(body: str, name: str = "part") -> str:
    return f'reknit 1\nfragment {name} "a part"\n{body}'


def words(names: tuple[Name, ...]) -> list[str]:
    return [name.text for name in names]


# -- what counts -------------------------------------------------------------------------------------------------------


def test_a_vendor_that_adds_nothing_has_what_it_extends() -> None:
    result = good(own())
    assert result.name == Name("own")
    assert result.reason == "my own"
    assert [file.header.name.text for file in result.chain] == ["base", "own"]
    assert list(result.items) == [("map", "one"), ("map", "two"), ("enum", "finish")]
    assert set(result.origins.values()) == {Origin("base.rules")}
    assert (result.protocol, result.wire, result.end) == (Name("chat"), Name("sse"), Name("[DONE]"))
    assert words(result.salvage) == ["several", "glued"]
    assert result.choices == (Name(".choices[*]"), Name(".index"))
    assert result.tests == ()
    assert result.policy.name == Name("standard")
    assert list(result.policy.of(Rule)) == ["a", "b", "late"]


def test_a_vendor_without_settings_has_none() -> None:
    result = good(own(header=""))
    assert (result.protocol, result.wire, result.end, result.salvage, result.choices) == (None, None, None, (), None)
    assert result.items == {}


def test_the_nearest_file_wins_setting_by_setting() -> None:
    result = good(own('wire ndjson\nend "bye"\nsalvage glued\n'))
    assert (result.protocol, result.wire, result.end) == (Name("chat"), Name("ndjson"), Name("bye"))
    assert words(result.salvage) == ["glued"]


@pytest.mark.parametrize(
    ("text", "salvage"),
    [
        (own(quirk("add salvage bare, x")), ["several", "glued", "bare", "x"]),
        (own("salvage y\n" + quirk("add salvage bare")), ["y", "bare"]),
        (own(quirk("override salvage bare")), ["bare"]),
        (own(quirk("add salvage p", "add salvage r")), ["several", "glued", "p", "r"]),
    ],
)
def test_salvage_is_replaced_or_extended(text: str, salvage: list[str]) -> None:
    assert words(good(text).salvage) == salvage


def test_own_items_go_last_in_the_order_written() -> None:
    result = good(own("map four at .d emit A { x: @ }\nmap three at .c emit A { x: @ }\n"))
    assert list(result.of(Map)) == ["one", "two", "four", "three"]
    assert result.origins["map", "four"] == Origin("own.rules")


def test_an_override_keeps_its_place_and_an_addition_goes_last() -> None:
    result = good(own(quirk("add map three at .c emit A { x: @ }", "override map one at .z", "remove map two")))
    assert list(result.of(Map)) == ["one", "three"]
    assert result.origins["map", "one"] == Origin("own.rules", "q")
    assert [(file.source, made.name.text) for file, made in result.quirks] == [("own.rules", "q")]


MAPS: list[tuple[str, str]] = [
    ("at .z", 'map one at .z where .t is "x" emit A { x: @ }'),
    ("where .u is 1", "map one at .a where .u is 1 emit A { x: @ }"),
    ("emit A { x: .q }", 'map one at .a where .t is "x" emit A { x: .q }'),
    ("before two", 'map one before two at .a where .t is "x" emit A { x: @ }'),
    ("at .z where .u is 1 emit A { x: .q }", "map one at .z where .u is 1 emit A { x: .q }"),
]


@pytest.mark.parametrize(("clauses", "expected"), MAPS, ids=[clauses for clauses, _ in MAPS])
def test_overriding_a_map_replaces_the_clauses_that_are_given(clauses: str, expected: str) -> None:
    assert good(own(quirk(f"override map one {clauses}"))).of(Map)["one"] == _item(f'vendor v "x" {expected}')


OVERRIDDEN: list[tuple[str, str]] = [
    ("on B", "on B from idle do open text do append x to text"),
    ("on B on C", "on B on C from idle do open text do append x to text"),
    ("from text", "on A { x: some } from text do open text do append x to text"),
    ("do drop late", "on A { x: some } from idle do drop late to text"),
    ("to idle", "on A { x: some } from idle do open text do append x to idle"),
    ("stay", "on A { x: some } from idle do open text do append x stay"),
    ("do drop late stay", "on A { x: some } from idle do drop late stay"),
]


@pytest.mark.parametrize(("clauses", "expected"), OVERRIDDEN, ids=[clauses for clauses, _ in OVERRIDDEN])
def test_overriding_a_rule_replaces_the_clauses_that_are_given(clauses: str, expected: str) -> None:
    rules = good(own(quirk(f"override rule a {clauses}"))).policy.of(Rule)
    assert rules["a"] == _item(f'policy p "x" rule a {expected}')
    assert list(rules) == ["a", "b", "late"]


def test_overriding_a_rule_that_stays_can_make_it_go() -> None:
    rule = good(own(quirk("override rule b to idle"))).policy.of(Rule)["b"]
    assert (rule.to, rule.stays) == (Name("idle"), False)


def _item(text: str) -> object:
    value = read_file("x.rules", TextLoader({"x": f"reknit 1 {text}"})).value
    assert value is not None
    return value.items[0]


def test_any_other_override_replaces_the_whole_item() -> None:
    edits = quirk(
        "override deviations fail except late", "override event A { y: text }", 'override classify "Read*" as human'
    )
    policy = good(own(edits)).policy
    assert policy.of(Deviations)["deviations"] == Deviations(Name("fail"), (Name("late"),))
    assert [field.name.text for field in policy.of(Event)["A"].fields] == ["y"]
    assert policy.of(Classify)["Read*"].tool_class == Name("human")
    assert policy.origins["event", "A"] == Origin("own.rules", "q")


def test_edits_of_rules_go_to_the_policy_and_leave_the_program_alone() -> None:
    result = good(own(quirk("add rule c on A stay", "remove rule b", "override map one at .z")))
    assert list(result.policy.of(Rule)) == ["a", "late", "c"]
    assert result.policy.origins["rule", "c"] == Origin("own.rules", "q")
    assert [made.name.text for _, made in result.policy.quirks] == ["q"]
    assert ("rule", "c") not in result.items


def test_edits_run_along_the_chain_fragments_first() -> None:
    others = {
        "middle": 'reknit 1\nvendor middle extends base "x"\n' + quirk("override map one at .middle", "remove map two"),
        "part": fragment('quirk p "x"\n  override map one at .part\n  add map two at .part emit A { x: @ }\n'),
        "more": fragment("map plain at .m emit A { x: @ }\n" + 'quirk m "x"\n  override map one at .more\n', "more"),
    }
    last = own(quirk("override map two at .own"), "extends middle with part, more")
    result = good(last, others)
    maps = result.of(Map)
    assert list(maps) == ["one", "two", "plain"]
    assert maps["one"].at == (Name(".more"),)
    assert maps["two"].at == (Name(".own"),)
    assert [file.header.name.text for file in result.fragments] == ["part", "more"]
    assert [made.name.text for _, made in result.quirks] == ["q", "p", "m", "q"]
    assert result.origins == {
        ("map", "one"): Origin("more.rules", "m"),
        ("map", "two"): Origin("own.rules", "q"),
        ("enum", "finish"): Origin("base.rules"),
        ("map", "plain"): Origin("more.rules"),
    }


def test_a_fragment_may_bring_states_and_rules_to_the_policy_of_its_vendor() -> None:
    others = {"part": fragment("state extra\n" + quirk("add rule c on A from extra stay"))}
    policy = good(own(header="with part"), others).policy
    assert list(policy.of(State)) == ["idle", "text", "extra"]
    assert "c" in policy.of(Rule)
    assert policy.origins["state", "extra"] == Origin("part.rules")


def test_fragments_named_by_the_caller_come_after_all_edits() -> None:
    others = {"part": fragment(quirk("override map one at .part"))}
    loader = TextLoader({**RULES, **others, "own": own(quirk("override map one at .own"))})
    value = resolve_vendor("own", loader, fragments=["part"]).value
    assert value is not None
    assert value.of(Map)["one"].at == (Name(".part"),)


OTHER = 'reknit 1\npolicy other extends standard "x"\nrule d on A stay\n' + quirk("remove rule b")


def test_the_policy_is_that_of_the_nearest_file_or_of_the_caller() -> None:
    others = {"other": OTHER, "middle": 'reknit 1\nvendor middle extends base "x"\n  policy other\n'}
    assert good(own(header="extends middle"), others).policy.name == Name("other")
    assert good(own("policy standard\n", "extends middle"), others).policy.name == Name("standard")
    result = good(own(quirk("remove rule a")), others, policy="other")
    assert list(result.policy.of(Rule)) == ["late", "d"]


def test_a_policy_extends_a_policy() -> None:
    resolution = resolve_policy("other", TextLoader({**RULES, "other": OTHER}))
    assert resolution.value is not None
    assert not resolution.failed
    assert list(resolution.value.of(Rule)) == ["a", "late", "d"]
    assert [file.header.name.text for file in resolution.value.chain] == ["standard", "other"]
    assert set(resolution.sources) == {"policy.rules", "other.rules"}


def test_only_the_tests_of_the_named_file_are_its_own() -> None:
    result = good(own('test "mine" { }\n'))
    assert [(file.source, test.title) for file, test in result.tests] == [("own.rules", "mine")]
    assert [test.title for _, test in result.policy.tests] == ["of the policy"]


def test_a_vendor_and_a_policy_may_share_a_name() -> None:
    others = {"own-policy": 'reknit 1\npolicy own extends standard "x"\n'}
    result = good(own("policy own\n"), others)
    assert [file.source for file in result.policy.chain] == ["policy.rules", "own-policy.rules"]


def test_a_file_is_read_by_itself_whatever_its_kind() -> None:
    resolution = read_file("part", TextLoader({"part": fragment(quirk("remove map a"))}))
    assert resolution.value is not None
    assert not resolution.failed
    (item,) = resolution.value.items
    assert isinstance(item, Quirk)


# -- what is said ------------------------------------------------------------------------------------------------------


MISTAKES: list[tuple[str, str, dict[str, str], str]] = [
    (
        "override of something missing",
        own(quirk("override map thinking at .t")),
        {},
        """\
error[E501]: quirk `q` overrides map `thinking`, which does not exist
 --> own.rules:4:16
  |
4 |   override map thinking at .t
  |                ^^^^^^^^ nothing to override
  |
  = help: known here: `one`, `two`
""",
    ),
    (
        "removal of something misspelt in the policy",
        own(quirk("remove fallback lat")),
        {},
        """\
error[E501]: quirk `q` removes fallback `lat`, which does not exist
 --> own.rules:4:19
  |
4 |   remove fallback lat
  |                   ^^^ nothing to remove
  |
  = help: did you mean `late`?
""",
    ),
    (
        "override of a fallback as a rule",
        own(quirk("override rule late stay")),
        {},
        """\
error[E501]: quirk `q` overrides rule `late`, which is a fallback
 --> own.rules:4:17
  |
4 |   override rule late stay
  |                 ^^^^ nothing to override
  |
  = help: say `override fallback late`
""",
    ),
    (
        "addition of something that exists",
        own(quirk("add map one at .t emit A { x: @ }")),
        {},
        """\
error[E502]: quirk `q` adds map `one`, which exists already
 --> own.rules:4:11
  |
4 |   add map one at .t emit A { x: @ }
  |           ^^^ added here
 ::: base.rules:8:5
  |
8 | map one
  |     --- it is here
  |
  = help: say `override map one`, or give it another name
""",
    ),
    (
        "addition to salvage of what is there",
        own(quirk("add salvage glued")),
        {},
        """\
error[E502]: quirk `q` adds `glued` to `salvage`, where it is already
 --> own.rules:4:15
  |
4 |   add salvage glued
  |               ^^^^^ added here
 ::: base.rules:6:20
  |
6 |   salvage several, glued
  |                    ----- it is here
  |
  = help: take it out
""",
    ),
    (
        "a plain item of a name that exists",
        own("map one at .t emit A { x: @ }\n"),
        {},
        """\
error[E108]: map `one` exists already in what this builds on
 --> own.rules:3:5
  |
3 | map one at .t emit A { x: @ }
  |     ^^^ the second one
 ::: base.rules:8:5
  |
8 | map one
  |     --- the first one
  |
  = help: say `override map ...` in a quirk
""",
    ),
    (
        "two edits of one item",
        own(quirk("override map one at .t") + 'quirk r "why"\n  remove map one\n'),
        {},
        """\
error[E504]: map `one` is edited twice in one file
 --> own.rules:6:14
  |
6 |   remove map one
  |              ^^^ the second edit
4 |   override map one at .t
  |                --- the first one
  |
  = help: put both into one edit
""",
    ),
    (
        "an unknown base",
        own(header="extends bas"),
        {},
        """\
error[E503]: no vendor is named `bas`
 --> own.rules:2:20
  |
2 | vendor own extends bas "my own"
  |                    ^^^ not known
  |
  = help: did you mean `base`?
""",
    ),
    (
        "a vendor for a fragment",
        own(header="with base"),
        {},
        """\
error[E503]: `base` is a vendor, not a fragment
 --> own.rules:2:17
  |
2 | vendor own with base "my own"
  |                 ^^^^ a fragment is meant here
 ::: base.rules:2:8
  |
2 | vendor base "the base"
  |        ---- this is a vendor
  |
""",
    ),
    (
        "an unknown policy",
        own("policy standrd\n"),
        {},
        """\
error[E503]: no policy is named `standrd`
 --> own.rules:3:8
  |
3 | policy standrd
  |        ^^^^^^^ not known
  |
  = help: did you mean `standard`?
""",
    ),
    (
        "a circle of two",
        own(header="extends other"),
        {"other": 'reknit 1\nvendor other extends own "x"\n'},
        """\
error[E106]: vendor `own` extends itself
 --> other.rules:2:22
  |
2 | vendor other extends own "x"
  |                      ^^^ leads back here
  |
  = help: name the vendor that was there first
""",
    ),
    (
        "a circle of one",
        own(header="extends own"),
        {},
        """\
error[E106]: vendor `own` extends itself
 --> own.rules:2:20
  |
2 | vendor own extends own "my own"
  |                    ^^^ leads back here
  |
  = help: name the vendor that was there first
""",
    ),
    (
        "an error in a base, told once and without consequences",
        own(quirk("override map thinking at .t"), "extends broken with part"),
        {"broken": 'reknit 1\nvendor broken "x"\nmap a\n', "part": fragment(quirk("remove map thinking"))},
        """\
error[E101]: unexpected end of the file
 --> broken.rules:4:1
  |
4 |
  | ^ `map` is not complete before this
  |
  = help: expected here: `at`, `before`, `emit` or `where`
""",
    ),
]


@pytest.mark.parametrize(
    ("text", "others", "expected"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES]
)
def test_what_is_said(text: str, others: dict[str, str], expected: str) -> None:
    assert report(vendor(text, others)) == expected


def test_edits_that_cannot_be_made_leave_the_rest_in_place() -> None:
    resolution = vendor(own(quirk("remove map nothing", "remove rule nothing", "override map one at .z")))
    assert resolution.failed
    assert resolution.value is not None
    assert resolution.value.of(Map)["one"].at == (Name(".z"),)
    assert [diagnostic.code for diagnostic in resolution.diagnostics] == ["E501", "E501"]


def test_a_policy_has_no_use_for_a_fragment_that_reads_frames() -> None:
    texts = {
        **RULES,
        "part": fragment(quirk("remove map one")),
        "own": 'reknit 1\npolicy own extends standard with part "x"\n',
    }
    assert report(resolve_policy("own", TextLoader(texts))).startswith(
        "error[E503]: fragment `part` edits what reads frames, which a policy has not\n --> own.rules:2:34\n"
    )


def test_a_file_of_another_kind_is_told_where_it_was_named() -> None:
    assert report(resolve_vendor("standard", TextLoader(RULES))) == (
        "error[E503]: no vendor is named `standard`\n  = help: there is a policy of that name\n"
    )
    assert report(resolve_policy("base.rules", TextLoader(RULES))) == (
        "error[E503]: `base` is a vendor, not a policy\n"
        " --> base.rules:2:8\n"
        "  |\n"
        '2 | vendor base "the base"\n'
        "  |        ^^^^ this is a vendor\n"
        "  |\n"
    )


def test_a_chain_is_bounded() -> None:
    def chain(length: int) -> Resolution[ResolvedVendor]:
        texts = {f"v{n}": f'reknit 1\nvendor v{n} extends v{n + 1} "x"\n' for n in range(length - 1)}
        texts[f"v{length - 1}"] = f'reknit 1\nvendor v{length - 1} "x"\n'
        return resolve_vendor("v0", TextLoader({**RULES, **texts}))

    assert not chain(MAX_CHAIN).failed
    assert [diagnostic.code for diagnostic in chain(MAX_CHAIN + 1).diagnostics] == ["E106"]


def test_many_edits_that_cannot_be_made_are_told_up_to_a_bound() -> None:
    resolution = vendor(own(quirk(*(f"remove map nothing{n}" for n in range(400)))))
    assert 0 < len(resolution.diagnostics) <= 50


def test_keys_are_kinds_and_names() -> None:
    key: Key = ("rule", "late")
    assert key in good(own()).policy.items
