"""A stream to look at: one page that holds everything, asks nothing of any network, and steps from event to event.

What a stream brings is somebody else's text. It stands in the page as JSON in which no character can end the element
that it is in; the script shows it as text and never as markup; and a content security policy lets nothing run but that
script, known by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from reknit.excerpt import excerpt
from reknit.explain.happenings import Happening, Passage, as_data
from reknit.explain.sites import Site, Sites
from reknit.message import Message
from reknit.table import LANGUAGE, Table
from reknit.updates import BlockOpened

_HERE: Final = Path(__file__).parent
_SLOT: Final = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page_of(name: str, passages: Sequence[Passage], message: Message, table: Table | None, sites: Sites | None) -> str:
    """The page of a stream, in ASCII.

    Args:
        name: Of the stream, such as its file.
        passages: All that happened.
        message: What came out.
        table: What read it; None where no protocol was recognised.
        sites: Where rules and maps stand; None where that is not known.
    """
    style, script = _part("page.css"), _part("page.js")
    guard = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    title = f"{name}, rebuilt by reknit"
    data = {
        "title": name,
        "passages": [as_data(passage) for passage in passages],
        "message": message.model_dump(mode="json"),
        "choice": _choice(passages),
        "sites": _sites(passages, sites),
        "foot": _foot(passages, message, table),
    }
    slots = {
        "guard": html.escape(guard, quote=False),
        "title": _ascii(html.escape(excerpt(title))),
        "style": style,
        "script": script,
        "data": _embedded(data),
    }
    # In one go: what stands in the data is not looked at again.
    return _SLOT.sub(lambda slot: slots[slot[1]], _part("page.html"))


def _part(name: str) -> str:
    return (_HERE / name).read_text(encoding="ascii")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: Any) -> str:
    """JSON that can stand in an element: no character of it means anything to a reader of markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: _UNSAFE[found[0]], text)


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _foot(passages: Sequence[Passage], message: Message, table: Table | None) -> list[str]:
    from reknit import __version__

    said = [f"{len(passages)} items, {sum(len(passage.events) for passage in passages)} events"]
    if table is not None:
        said += [
            f"vendor {table.program.name}",
            f"policy {table.policy.name}",
            f"protocol {table.program.protocol}",
            f"fingerprint {message.fingerprint}",
        ]
    return [*said, f"reknit {__version__}", f"rule language {LANGUAGE}"]


def _choice(passages: Iterable[Passage]) -> int:
    """The choice that the message is: 0, unless nothing came for it."""
    numbers = {
        one.choice
        for passage in passages
        for one in passage.events
        if any(isinstance(update, BlockOpened) for update in one.updates)
    }
    return 0 if 0 in numbers or not numbers else min(numbers)


def _sites(passages: Iterable[Passage], sites: Sites | None) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The texts of the rules, maps, splits and ignores that took part."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {"rule": {}, "map": {}, "split": {}, "ignore": {}}
    if sites is None:
        return found
    for passage in passages:
        names = [("ignore", passage.ignored), *(one for event in passage.events for one in _names(event))]
        for kind, name in names:
            if name and name not in found[kind]:
                found[kind][name] = [_site(site) for site in sites.history(kind, name)]
    return found


def _names(event: Happening) -> Iterable[tuple[str, str | None]]:
    yield from (("rule", event.rule), ("map", event.map), ("split", event.split))
    for ended in event.ended:
        yield from _names(ended)


def _site(site: Site) -> dict[str, Any]:
    data: dict[str, Any] = as_data(site)
    return {**data, "where": site.where}
