"""The page of a stream: it holds everything, asks nothing of any network, and steps, with whatever is in the stream."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from explained import CALLS, HOSTILE, HOSTILE_TEXT, follow

import reknit
from reknit.explain.page import page_of
from reknit.explain.subject import open_subject
from reknit.table import Table

CHAT = open_subject("openai-chat")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason=f"none of these is installed: {', '.join(BROWSERS)}")


def page(body: bytes, table: Table | None = CHAT.table, name: str = "stream.sse") -> str:
    passages, message = follow(body, table)
    return page_of(name, passages, message, table, CHAT.sites if table is not None else None)


class Seen(html.parser.HTMLParser):
    """What is in a page: its elements, and the text of each element that has an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "img", "br", "link"):
            self._open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, ident in self._open:
            if ident is not None:
                self.text[ident] = self.text.get(ident, "") + data


def seen(folder: Path, text: str, hash: str = "") -> Seen:
    """The page after it was loaded by a browser that reaches no network."""
    assert BROWSER is not None
    path = folder / "page.html"
    path.write_text(text, encoding="ascii")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    flags += ["--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9"]
    flags += [f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    run = subprocess.run([BROWSER, *flags, f"{path.as_uri()}{hash}"], capture_output=True, check=True)
    return Seen(run.stdout.decode("utf-8"))


# -- what is in it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [CALLS, HOSTILE, b""], ids=["calls", "hostile", "nothing"])
def test_a_page_holds_all_that_it_needs(body: bytes) -> None:
    text = page(body)
    assert text.isascii()
    assert re.search(r"https?:|//[a-z]|@import|url\(", text.split('<script type="application/json"')[0]) is None
    found = Seen(text)
    assert {"link", "img", "iframe", "object", "base", "form"} & set(found.elements) == set()
    assert not [attrs for tag, attrs in found.attributes if {"src", "href", "style", "onclick"} & attrs.keys()]
    assert found.elements.count("script") == 2
    guard = next(attrs["content"] for tag, attrs in found.attributes if attrs.get("http-equiv"))
    assert guard is not None
    assert guard.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in guard


def test_the_data_of_a_page_cannot_leave_its_element() -> None:
    text = page(HOSTILE, name=f"stream{HOSTILE_TEXT}")
    inner = text.split('id="data">')[1].split("</script>")[0]
    assert not re.search("[<>&]", inner)
    data = json.loads(inner)
    assert data["title"] == f"stream{HOSTILE_TEXT}"
    events = [event for passage in data["passages"] for event in passage["events"]]
    assert HOSTILE_TEXT in [event["fields"].get("text") for event in events]
    assert "<img" not in text
    assert "\x1b" not in text


def test_a_page_says_by_what_the_stream_was_read() -> None:
    text = page(CALLS)
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert CHAT.table is not None
    assert f"fingerprint {CHAT.table.fingerprint}" in data["foot"]
    assert f"reknit {reknit.__version__}" in data["foot"]
    assert "policy standard" in data["foot"]
    assert data["sites"]["rule"]["text-open"][0]["where"].startswith("rules/policy.rules:")
    assert data["sites"]["rule"]["text-open"][0]["text"].startswith("rule text-open\n")


def test_a_page_without_places_or_a_protocol() -> None:
    assert CHAT.table is not None
    passages, message = follow(CALLS, CHAT.table)
    data = json.loads(page_of("s", passages, message, CHAT.table, None).split('id="data">')[1].split("</script>")[0])
    assert data["sites"]["rule"] == {}
    assert page_of("s", [], reknit.Message(), None, None)


def test_a_page_shows_the_choice_that_is_the_message() -> None:
    body = b'data: {"choices": [{"index": 2, "delta": {"content": "B"}}]}\n\ndata: [DONE]\n\n'
    data = json.loads(page(body).split('id="data">')[1].split("</script>")[0])
    assert data["choice"] == 2


# -- what a browser makes of it ----------------------------------------------------------------------------------------


@needs_browser
def test_a_browser_shows_the_message_at_the_last_step(tmp_path: Path) -> None:
    found = seen(tmp_path, page(CALLS), "#step=99")
    shown = found.text["message"]
    for part in (
        "Hm.",
        "Let me look.",
        "call Read",
        '"file_path": "a.py"',
        "call Grep",
        "seal final",
        "tool_use",
        "yes",
    ):
        assert part in shown
    assert found.text["foot"].count("fingerprint") == 1
    assert re.fullmatch(r"(\d+) of \1", found.text["where"])


@needs_browser
def test_a_browser_steps(tmp_path: Path) -> None:
    first = seen(tmp_path, page(CALLS))
    assert first.text["where"].startswith("1 of ")
    assert "nothing yet" in first.text["message"]
    found = seen(tmp_path, page(CALLS), "#step=4")
    assert found.text["where"].startswith("4 of ")
    assert "Let me look." in found.text["message"]
    assert "call" not in found.text["message"]
    for part in ("TEXT_DELTA", "rule text-open", "rules/policy.rules:", "archive thinking (flush)", "map content"):
        assert part in found.text["rule"]
    here = [attrs for tag, attrs in found.attributes if tag == "button" and attrs.get("aria-current")]
    assert len(here) == 1
    assert ("html", {"lang": "en", "data-step": "4"}) in found.attributes


def driven(text: str, script: str) -> str:
    """A page that somebody uses: with one more script, which its own guard would not let run."""
    text = re.sub(r"<meta http-equiv.*\n", "", text, count=1)
    return text.replace("</body>", f"<script>{script}</script></body>")


KEY = "document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true}}));"
CLICK = "document.getElementById('{}').click();"
FRAME = "document.querySelectorAll('.frame')[{}].click();"
SLIDE = "const s = document.getElementById('slider'); s.value = '{}'; s.dispatchEvent(new Event('input'));"
SEARCH = "const f = document.getElementById('search'); f.value = '{}'; f.dispatchEvent(new Event('input'));"
ENTER = "f.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));"


@needs_browser
@pytest.mark.parametrize(
    ("script", "where"),
    [
        (KEY.format("ArrowRight") * 3, "4"),
        (KEY.format("ArrowRight") * 3 + KEY.format("ArrowLeft"), "3"),
        (KEY.format("End") + KEY.format("Home"), "1"),
        (CLICK.format("on") * 2, "3"),
        (CLICK.format("last") + CLICK.format("back") + CLICK.format("on") + CLICK.format("first"), "1"),
        (FRAME.format(2), "4"),
        (SLIDE.format(5), "5"),
        (SEARCH.format("text-open") + ENTER, "4"),
    ],
)
def test_a_browser_goes_where_it_is_told(tmp_path: Path, script: str, where: str) -> None:
    found = seen(tmp_path, driven(page(CALLS), script))
    assert found.text["where"].split()[0] == where


@needs_browser
def test_a_browser_finds(tmp_path: Path) -> None:
    found = seen(tmp_path, driven(page(CALLS), SEARCH.format("call-good")))
    assert found.text["hits"] == "2 steps"
    missed = [attrs for tag, attrs in found.attributes if tag == "button" and "miss" in (attrs.get("class") or "")]
    assert len(missed) == len([one for one in found.attributes if "frame" in (one[1].get("class") or "").split()]) - 2


@needs_browser
def test_a_page_lets_no_other_script_run(tmp_path: Path) -> None:
    script = "document.getElementById('title').textContent = 'somebody else'"
    guarded = page(CALLS).replace("</body>", f"<script>{script}</script></body>")
    assert seen(tmp_path, guarded).text["title"] == "stream.sse"
    assert seen(tmp_path, driven(page(CALLS), script)).text["title"] == "somebody else"


@needs_browser
def test_a_browser_shows_a_hostile_stream_as_text(tmp_path: Path) -> None:
    clean, found = seen(tmp_path, page(CALLS), "#step=99"), seen(tmp_path, page(HOSTILE), "#step=99")
    assert "<img src=x onerror=" in found.text["message"]
    assert "<b>bold</b> &lt; \\x1b[31m\\u202e\\u2028\\x00{{script}}{{data}}" in found.text["message"]
    assert "img" not in found.elements
    assert found.elements.count("script") == 2
    assert set(found.elements) <= {*clean.elements, "p", "details", "summary", "pre"}
    assert found.text["where"]


@needs_browser
def test_a_browser_shows_an_empty_stream(tmp_path: Path) -> None:
    found = seen(tmp_path, page(b""), "#step=1")
    assert "STREAM_END" in found.text["rule"]
    assert "nothing yet" in found.text["message"]
