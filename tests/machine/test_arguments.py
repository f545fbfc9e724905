"""The scanner of argument texts: right on any text, the same at any cut, and linear in the text.

Cuts and texts come from a seeded generator here; nothing of this needs to shrink.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable

import pytest

from reknit.arguments import ArgumentText

DOCUMENTS = [
    {},
    {"a": 1},
    {"a": {"a": {"b": [1, 2, {"c": '}{]["\\'}]}}},
    {"q": 'he said "no"\n\\', "\u00e9": "\U0001f600", "": None},
    [],
    [[], [{}], "x"],
    'text with " and \\',
    "",
]
ALPHABET = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "a",
    "1",
    " ",
    "\n",
    "\u00e9",
    "null",
    '\\"',
    "{}",
    '{"a":',
    '"}',
    "\u00a0",
    "\ufeff",
]


def naive(text: str) -> str:
    """One character after another, as the vocabulary says it: what is not blank ahead of a value is part of it."""
    depth, quoted, escaped, status = 0, False, False, "empty"
    for character in text:
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
                if depth == 0 and status == "partial":
                    status = "complete"
            continue
        if character in " \t\r\n":
            continue
        if depth == 0:
            status = "over" if status in ("complete", "over") else "partial"
        if character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
            if depth == 0 and status == "partial":
                status = "complete"
    return status


def by_library(text: str) -> str | None:
    """What the standard library says of a text that is made of whole objects, arrays and strings; None for others."""
    decoder, at, values = json.JSONDecoder(), 0, 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
        if at == len(text):
            return ("empty", "complete", "over")[min(values, 2)]
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return None
        if not isinstance(value, dict | list | str):
            return None
        values += 1


def gathered(pieces: list[str], ask: Callable[[], bool]) -> ArgumentText:
    """The pieces one by one, with the status asked for in between when `ask` says so."""
    arguments = ArgumentText()
    for piece in pieces:
        arguments.append(piece)
        if ask():
            arguments.status()
    return arguments


def cut(text: str, places: list[int]) -> list[str]:
    bounds = [0, *sorted(places), len(text)]
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


def texts(chooser: random.Random, count: int) -> list[str]:
    found = [chooser.choice(["", " ", "\n\t"]) + json.dumps(document, ensure_ascii=False) for document in DOCUMENTS]
    for _ in range(count):
        found.append("".join(chooser.choices(ALPHABET, k=chooser.randint(0, 14))))
        found.append(
            "".join(json.dumps(one, indent=chooser.choice([None, 2])) for one in chooser.choices(DOCUMENTS, k=2))
        )
    return found


def test_the_status_is_that_of_a_naive_scanner_at_any_cut() -> None:
    chooser = random.Random("status")
    for text in texts(chooser, 800):
        for stop in {len(text), *(chooser.randint(0, len(text)) for _ in range(4))}:
            head = text[:stop]
            expected = naive(head)
            assert by_library(head) in (None, expected), head
            assert gathered([head], lambda: False).status() == expected, head
            pieces = cut(head, [chooser.randint(0, len(head)) for _ in range(chooser.randint(0, 5))])
            for ask in (lambda: False, lambda: True, lambda: chooser.random() < 0.5):
                arguments = gathered(pieces, ask)
                assert arguments.status() == expected, pieces
                assert arguments.status() == expected, pieces
                assert arguments.text == head, pieces
                assert arguments.length == len(head), pieces


def test_every_beginning_of_a_document_is_partial_until_it_is_complete() -> None:
    for document in DOCUMENTS:
        text = json.dumps(document)
        arguments = ArgumentText()
        for at, character in enumerate(text):
            assert arguments.status() == ("partial" if at else "empty"), text[:at]
            arguments.append(character)
        assert arguments.status() == "complete", text
        arguments.append(" \n")
        assert arguments.status() == "complete", text
        arguments.append("x")
        assert arguments.status() == "over", text


def test_many_small_pieces_are_joined_in_order() -> None:
    text = json.dumps({"a": "0123456789" * 200, "b": ['"\\'] * 50})
    for size in (1, 2, 7, 255, 256, 257, 1000):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        arguments = gathered(pieces, lambda: False)
        assert arguments.text == text
        assert arguments.status() == "complete"
        assert arguments.latest == ""


@pytest.mark.parametrize(
    ("pieces", "latest"),
    [
        (['{"a', '{"a": 1', '{"a": 1}'], '{"a": 1}'),
        (['{"a": 1}', '{"a": 1}'], ""),
        (["{", '"a": 1}'], ""),
        (['{"a', '{"a": 1', "}"], '{"a": 1}'),
    ],
)
def test_the_latest_snapshot_is_told_apart_from_pieces(pieces: list[str], latest: str) -> None:
    arguments = gathered(pieces, lambda: False)
    assert arguments.latest == latest
    assert arguments.text == "".join(pieces)


def test_every_character_is_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = 0
    scan = ArgumentText._scan

    def counting(self: ArgumentText, new: str) -> None:
        nonlocal scanned
        scanned += len(new)
        scan(self, new)

    monkeypatch.setattr(ArgumentText, "_scan", counting)
    text = '{"code": "' + 'print(\\"x\\")\\n' * 500 + '"}'
    for size in (1, 3, 50, len(text)):
        scanned = 0
        gathered([text[at : at + size] for at in range(0, len(text), size)], lambda: True)
        assert scanned == len(text)
