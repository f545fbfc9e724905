"""A stream in a file, watched while it is read, and the rules that read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reknit.cli.run import _opened, _read_tools, _unreadable
from reknit.cli.table import saved_table
from reknit.errors import UsageError
from reknit.explain.driving import Tracing
from reknit.explain.happenings import Passage
from reknit.explain.subject import Subject, open_subject
from reknit.tools.registry import Tools
from reknit.wire import WIRES

if TYPE_CHECKING:
    from reknit.explain.sites import Sites
    from reknit.table import Table

_CHUNK: Final = 64 * 1024
_LINES: Final = (".jsonl", ".ndjson")
_TABLE: Final = ".json"


class WatchedFile:
    """A stream out of a file, or of standard input for `-`.

    Args:
        file: Where it is.
        vendor: Whose rules read it: a name, a rule file, or a compiled table (`.json`); recognised without it.
        policy: Another policy than the vendor's.
        fragments: Fragments to apply on top.
        rules: Folders with further rule files.
        tools: A JSON file with the tools that may be called.
        wire: Another framing than the vendor's.
        seed: From which made-up ids are derived.

    Raises:
        UsageError: Something of this is not there.
        RulesError: The rules do not pass the checks.
    """

    def __init__(
        self,
        file: str,
        vendor: str | None,
        policy: str | None,
        fragments: Sequence[str],
        rules: Sequence[str],
        tools: str | None,
        wire: str | None,
        seed: str | None,
    ) -> None:
        if wire is None and Path(file).suffix in _LINES:
            wire = "ndjson"
        if wire is not None and wire not in WIRES:
            known = ", ".join(f"`{name}`" for name in WIRES)
            raise UsageError("unknown-wire", f"there is no wire `{wire}`", f"use one of {known}")
        self.name = file
        self._policy, self._fragments, self._folders = policy, fragments, [Path(folder) for folder in rules]
        self._subject: Subject | None = None
        table: Table | None = None
        if vendor is not None and vendor.endswith(_TABLE):
            table = saved_table(vendor)
        elif vendor is not None:
            self._subject = open_subject(vendor, policy, self._folders, fragments)
            table = self._subject.table
            if table is None:
                raise UsageError("no-vendor", f"`{vendor}` is a policy, which reads no frames", "name a vendor")
        self._by_table = table is not None
        known_tools = Tools(None if tools is None else _read_tools(tools))
        self.tracing = Tracing(table, known_tools, seed, wire, policy, fragments, self._folders)

    def passages(self) -> Iterator[Passage]:
        """What happens, item by item of the body."""
        return self.tracing.passages(self._chunks())

    @property
    def sites(self) -> Sites | None:
        """Where rules and maps stand; None for a saved table, which does not know, and before there is a table."""
        if self._subject is None and not self._by_table and self.tracing.table is not None:
            self._subject = open_subject(self.tracing.table.program.name, self._policy, self._folders, self._fragments)
        return self._subject.sites if self._subject is not None else None

    def _chunks(self) -> Iterator[bytes]:
        with _opened(self.name) as stream:
            read: Any = getattr(stream, "read1", stream.read)
            while True:
                try:
                    chunk = read(_CHUNK)
                except OSError as error:
                    raise _unreadable(self.name, error) from None
                if not chunk:
                    return
                yield chunk
