"""Recorded streams under both sides: which messages come out otherwise, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reknit.diff.collection import Collection, only
from reknit.diff.sides import Side
from reknit.diff.wording import counted
from reknit.errors import RulesError, UsageError
from reknit.excerpt import excerpt
from reknit.message import Message
from reknit.reconstructor import Reconstructor
from reknit.stream import Stream
from reknit.table import Table
from reknit.tools.registry import Tools

CAPTURES: Final = (".sse", ".ndjson", ".jsonl")
_LINES: Final = (".ndjson", ".jsonl")
_SEED: Final = "replay"
_PARTS: Final = ("stop_reason", "complete", "error", "usage", "model", "id")


@dataclass(frozen=True, slots=True)
class Parting:
    """One place where two messages are not the same, with an excerpt of both; empty where there is nothing."""

    where: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """A capture under both sides.

    Attributes:
        capture: Its file.
        vendor: Whose rules read it.
        partings: Where the messages are not the same; empty where they are.
        trouble: Why it could not be replayed, or an empty string.
    """

    capture: str
    vendor: str
    partings: tuple[Parting, ...] = ()
    trouble: str = ""


class Replay:
    """Rebuilds captures under the rules of two collections.

    Args:
        before: The one.
        after: The other.
        vendor: Whose rules read the captures; recognised for each of them without it.
    """

    def __init__(self, before: Collection, after: Collection, vendor: str | None = None) -> None:
        self._collections = (before, after)
        self._vendor = vendor
        self._tables: dict[str, tuple[Table, Table]] = {}

    def captures(self, folder: str) -> Iterator[Replayed]:
        """Replay all captures in a folder and below, or one file.

        Raises:
            UsageError: There are none.
        """
        place = Path(folder)
        files = [place] if place.is_file() else sorted(one for one in place.rglob("*") if one.suffix in CAPTURES)
        if not files:
            help = f"captures end in {', '.join(f'`{suffix}`' for suffix in CAPTURES)}"
            raise UsageError("no-captures", f"there are no captures in `{folder}`", help)
        for file in files:
            yield self._replayed(file)

    def _replayed(self, file: Path) -> Replayed:
        try:
            body = file.read_bytes()
        except OSError as error:
            return Replayed(str(file), "", trouble=f"it cannot be read: {(error.strerror or str(error)).lower()}")
        wire = "ndjson" if file.suffix in _LINES else None
        vendor = self._vendor or self._own_vendor() or _recognised(body, wire)
        if vendor is None:
            return Replayed(str(file), "", trouble="no protocol was recognised: name the vendor")
        try:
            tables = self._both(vendor)
        except RulesError as error:
            return Replayed(str(file), vendor, trouble=f"the rules do not pass the checks: {', '.join(error.codes)}")
        messages = [_messages(table, body, wire) for table in tables]
        return Replayed(str(file), vendor, tuple(partings(*messages)))

    def _own_vendor(self) -> str | None:
        """The vendor that is compared, where the two collections are one vendor or fragment each."""
        keys = [next(iter(collection.entries)) for collection in self._collections if len(collection.entries) == 1]
        own = len(keys) == 2 and keys[1][0] != "policy"
        return keys[1][1] if own else None

    def _both(self, vendor: str) -> tuple[Table, Table]:
        if vendor not in self._tables:
            before, after = (self._table(collection, vendor) for collection in self._collections)
            self._tables[vendor] = (before, after)
        return self._tables[vendor]

    def _table(self, collection: Collection, vendor: str) -> Table:
        key = only(collection)
        if key is not None and key[0] != "vendor":
            argument = collection.entries[key].argument
            workshop = collection.workshop(argument)
            if key[0] == "policy":
                return workshop.vendor_side(vendor, policy=argument).table
            base = None if vendor == key[1] else vendor
            return collection.side(key, base).table
        if key is not None and self._vendor is None:
            return collection.side(key).table
        own = next((key for key in collection.in_order() if (key.kind, key.name) == ("vendor", vendor)), None)
        if own is not None:
            return collection.side(own).table
        if not collection.entries:
            raise UsageError("no-rules", f"there are no rules in {collection.label}")
        first = next(iter(collection.entries.values()))
        side: Side = collection.workshop(first.argument).vendor_side(vendor)
        return side.table


def _recognised(body: bytes, wire: str | None) -> str | None:
    reconstructor = Reconstructor(None, wire=wire, seed=_SEED)
    reconstructor.feed(body)
    reconstructor.close()
    table = reconstructor.table
    return table.program.name if table is not None else None


def _messages(table: Table, body: bytes, wire: str | None) -> dict[int, Message]:
    stream = Stream(table, Tools(None), _SEED, wire)
    stream.feed_bytes(body)
    stream.close()
    return stream.choices()


def partings(before: dict[int, Message], after: dict[int, Message]) -> Iterator[Parting]:
    """Where the messages of two replays are not the same."""
    for number in sorted({*before, *after}):
        prefix = f"choice {number}, " if len(before) > 1 or len(after) > 1 else ""
        old, new = before.get(number), after.get(number)
        if old is None or new is None:
            yield Parting(f"choice {number}", _shown(old), _shown(new))
            continue
        for where, one, two in _parts(old, new):
            yield Parting(f"{prefix}{where}", one, two)


def _shown(message: Message | None) -> str:
    return "" if message is None else f"{len(message.content)} blocks"


def _parts(old: Message, new: Message) -> Iterator[tuple[str, str, str]]:
    one, two = old.model_dump(mode="json"), new.model_dump(mode="json")
    for number in range(max(len(old.content), len(new.content))):
        yield from _block(number, one, two)
    for part in _PARTS:
        if one[part] != two[part]:
            yield part, excerpt(one[part]), excerpt(two[part])
    notes = [{(note["reason"], note.get("block")): note["count"] for note in data["notes"]} for data in (one, two)]
    for key in dict.fromkeys([*notes[0], *notes[1]]):
        if notes[0].get(key) != notes[1].get(key):
            where = f"note {key[0]}" + (f" on block {key[1] + 1}" if key[1] is not None else "")
            said = [counted(found[key], "time") if key in found else "" for found in notes]
            yield where, said[0], said[1]


def _block(number: int, one: dict[str, Any], two: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    old, new = (data["content"][number] if number < len(data["content"]) else None for data in (one, two))
    where = f"block {number + 1}"
    if old is None or new is None or old["type"] != new["type"]:
        if old != new:
            yield where, excerpt(old) if old is not None else "", excerpt(new) if new is not None else ""
        return
    where = f"{where} {new['type']}"
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield f"{where} {key}", _excerpt(old, key), _excerpt(new, key)
    verdicts = [data["verdicts"].get(block.get("id"), {}) for data, block in ((one, old), (two, new))]
    for key in dict.fromkeys([*verdicts[0], *verdicts[1]]):
        if verdicts[0].get(key) != verdicts[1].get(key):
            yield f"{where} {key}", _excerpt(verdicts[0], key), _excerpt(verdicts[1], key)


def _excerpt(data: dict[str, Any], key: str) -> str:
    return excerpt(data[key]) if key in data else ""
