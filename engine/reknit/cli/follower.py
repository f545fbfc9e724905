"""A message while it grows: text as it comes, calls when they are opened and finished, notes when they are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reknit.cli.portrait import show_block, show_end, show_heading, show_note
from reknit.cli.screen import Screen, printable
from reknit.message import Message
from reknit.updates import (
    BlockArchived,
    BlockChanged,
    BlockOpened,
    BlockReopened,
    BlockWithdrawn,
    Delta,
    NoteAdded,
    Update,
)

_PROSE: Final = ("text", "thinking")
_MARGIN: Final = "  "


class Follower:
    """Shows updates as they come."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._flowing: tuple[int, str] | None = None
        self._calls: set[int] = set()

    def take(self, updates: Sequence[Update]) -> None:
        """Show what a piece of the stream brought."""
        for number, update in enumerate(updates):
            if isinstance(update, Delta):
                self._delta(update)
            elif isinstance(update, BlockOpened):
                self._opened(update, updates[number + 1 :])
            elif isinstance(update, BlockArchived):
                self._archived(update)
            elif isinstance(update, BlockChanged):
                self._changed(update)
            elif isinstance(update, BlockReopened):
                self._say(f"block {update.block + 1} goes on after all")
            elif isinstance(update, BlockWithdrawn):
                self._say(f"block {update.block + 1} was a repetition")
            elif isinstance(update, NoteAdded):
                self._rest()
                show_note(self._screen, update.note)
        self._screen.flush()

    def end(self, message: Message) -> None:
        """Show how it ended."""
        self._rest()
        show_end(self._screen, message)

    def _delta(self, update: Delta) -> None:
        if update.field not in _PROSE:
            return
        flow = (update.block, update.field)
        if self._flowing != flow:
            self._rest()
            self._flowing = flow
            self._screen.write(update.field, bold=True)
            self._screen.write(_MARGIN, end="")
        text = printable(update.text).replace("\n", f"\n{_MARGIN}")
        self._screen.write(text, end="", dim=update.field == "thinking")

    def _opened(self, update: BlockOpened, later: Sequence[Update]) -> None:
        if update.kind != "tool_use":
            return
        self._rest()
        known = {"id": update.id, "name": update.name}
        known |= {one.field: one.value for one in later if isinstance(one, BlockChanged) and one.block == update.block}
        self._calls.add(update.block)
        self._screen.write("... ", end="", dim=True)
        show_heading(self._screen, known["name"] or "", known["id"])

    def _archived(self, update: BlockArchived) -> None:
        if update.value.get("type") in _PROSE:
            self._rest()
            return
        self._rest()
        facts = {}
        if update.value.get("type") == "tool_use":
            facts = {
                "safety": update.safety,
                "seal": update.seal,
                "grade": update.grade,
                "executable": update.executable,
            }
        show_block(self._screen, update.value, facts)

    def _changed(self, update: BlockChanged) -> None:
        if update.field in _PROSE:
            # What was shown is not what stands now: say so, and show all of it again.
            self._say(f"block {update.block + 1} is now")
            self._delta(Delta(update.block, update.field, update.value))

    def _say(self, text: str) -> None:
        self._rest()
        self._screen.write(text, dim=True)

    def _rest(self) -> None:
        """End the line of a flowing text."""
        if self._flowing is not None:
            self._flowing = None
            self._screen.write()
