"""Excerpts: one line, bounded, without secrets, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reknit.excerpt import excerpt, redact

SECRETS = [
    "key sk-abcdefghijklmnop is wrong",
    "key sk-proj-abc_defghijklmnop is wrong",
    "ghp_abcdefghijklmnopqrst and gho_abcdefghijklmnopqrst",
    "AIzaSyabcdefghijklmnop",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234-abcdefghijklmnop",
    "hf_abcdefghijklmnop",
    "Bearer abcdefghijklmnop",
    "authorization: Bearer abcdefghijklmnop",
    "Authorization: Basic YWJjZGVmZ2hpamtsbW5vcA==",
    "got Basic YWJjZGVmZ2hpamtsbW5vcA==",
    '{"api_key": "abcdefghijklmnop"}',
    '{"apiKey":"abcdefghijklmnop","x":1}',
    '{"x-api-key" : "abc \\" defghijklmnop"}',
    r'{"message": "{\"api_key\": \"abcdefghijklmnop\"}"}',
    "{'password': 'abcdefghijklmnop'}",
    '{"client_secret":"abcdefghijklmnop"}',
    '{"access_token":"abcdefghijklmnop"}',
    '{"token":"abcdefghijklmnop"}',
    '{"password": "abcdefghijklmnop',
    "password=abcdefghijklmnop&x=1",
    "https://user:abcdefghijklmnop@example.com/",
    "https://example.com/v1?key=abcdefghijklmnop&alt=sse",
    "eyJhbcdefghijklmnop.eyJhbcdefghijklmnop.abcdefghijklmnop",
    "-----BEGIN RSA PRIVATE KEY-----\nabcdefghijklmnop\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_taken_out(text: str) -> None:
    for shown in (redact(text), excerpt(text), excerpt(text.encode()), excerpt({"nested": [text]})):
        assert "[redacted]" in shown
        for part in ("defghi", "DEFGHI", "ZWZna", "mnop"):
            assert part not in shown
    assert redact(redact(text)).count("[redacted]") >= 1


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"chatcmpl-123456789012345678901234","max_tokens":100,"usage":{"prompt_tokens":5}}',
        '{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"get_weather"}',
        "task-force-something-long, risk-assessment-report, desk-lamp-with-cable",
        "Bearer token is missing",
        '{"token": null, "api_key": null}',
        "https://example.com/path?q=1",
        "see user@example.com",
        "basic functionality",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "plain"),
        (b"bytes \xc3\xa9\xff", "bytes é\ufffd"),
        ("two\r\nlines\tand \u2028 more", "two\\r\\nlines\\tand \\u2028 more"),
        ("lone \ud83d surrogate", "lone \\ud83d surrogate"),
        ("\x00\x1b[31m", "\\u0000\\u001b[31m"),
        ({"a": [1, 2.5, None, True, "x"]}, '{"a": [1, 2.5, null, true, "x"]}'),
        ({1: (b"x",)}, '{1: ["x"]}'),
        ({"password": "hunter2"}, '{"password": "[redacted]"}'),
        (10**5000, "<integer of 16610 bits>"),
        (object(), "<object>"),
        ("", ""),
    ],
    ids=range(11),
)
def test_values(value: object, shown: str) -> None:
    assert excerpt(value) == shown


class Hostile(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError


def test_nothing_is_raised() -> None:
    assert excerpt(Hostile()) == "<Hostile>"
    assert excerpt({"a": Hostile()}) == "<dict>"
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert excerpt(deep).startswith("[[[")
    cycle: list[Any] = []
    cycle.append(cycle)
    assert excerpt(cycle).startswith("[[[")


class Counting(list[int]):
    seen = 0

    def __iter__(self) -> Iterator[int]:
        for item in super().__iter__():
            self.seen += 1
            yield item


def test_the_cost_does_not_grow_with_the_value() -> None:
    many = Counting(range(1_000_000))
    assert len(excerpt(many)) == 160
    assert many.seen < 1000
    assert excerpt("x" * 10_000_000) == "x" * 159 + "…"


def test_a_secret_at_the_cut_is_not_half_shown() -> None:
    for length in range(0, 1200, 7):
        text = "sk-" + "b" * 300 + " " + "sk-" + "b" * 300 + " " + "." * length + " sk-ZZZZ" + "Z" * 3000
        assert "ZZ" not in excerpt(text)


@given(st.text() | st.binary(), st.integers(-1, 300))
def test_excerpts_are_bounded_lines(value: str | bytes, limit: int) -> None:
    shown = excerpt(value, limit)
    assert len(shown) <= max(limit, 0)
    assert len(shown.splitlines()) <= 1
    shown.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_any_json_value_has_an_excerpt(value: Any) -> None:
    shown = excerpt(value)
    assert len(shown) <= 160
    assert len(shown.splitlines()) <= 1


def test_redacting_is_linear_in_the_text() -> None:
    # Each of these would take hours if any pattern went back over what it has seen.
    for piece in ("a", "sk-", "eyJ", "://", "token", "bearer ", '"', "\\", "-----BEGIN ", "?key=", "basic A"):
        redact(piece * 200_000)
