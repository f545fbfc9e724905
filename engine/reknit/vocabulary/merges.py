"""How reports of one usage field are merged within one message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple


class Merge(NamedTuple):
    """A merge: its sentence and its function from (held, reported) to held; reports are never None."""

    doc: str
    apply: Callable[[int | None, int], int]


MERGES: Final[dict[str, Merge]] = {
    "latest_nonzero": Merge(
        "the latest report that is not zero stands; zero stands only where nothing else was reported",
        lambda held, new: new if new or held is None else held,
    ),
    "latest": Merge("the latest report stands, zero too", lambda held, new: new),
    "max": Merge("the largest report stands", lambda held, new: new if held is None or new > held else held),
    "sum": Merge("reports are added up", lambda held, new: new + (held or 0)),
    "first": Merge("the first report stands", lambda held, new: new if held is None else held),
}
