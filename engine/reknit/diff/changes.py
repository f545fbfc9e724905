"""Typed changes: what differs between two rule files, each with a stable id and the direction in which it leans.

An id names a kind of change for good, like the code of a diagnostic. The direction says who has to look: `loosens` is
what lets a call run earlier, with less proof, with a lower grade or in a freer class, accepts what was rejected, turns
a failure into a note, or silences a note; `tightens` is the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from reknit.diff.witness import Witness
    from reknit.lang.syntax import Place

Direction: TypeAlias = Literal["loosens", "tightens", "behaviour", "mapping", "usage", "tests", "none"]

DIRECTIONS: Final[dict[Direction, str]] = {
    "loosens": "less proof, a freer class, an earlier start, a lower grade, or less said about what went wrong",
    "tightens": "the reverse of it",
    "behaviour": "another message, neither freer nor stricter",
    "mapping": "frames are read in another way",
    "usage": "tokens are counted in another way",
    "tests": "the tests in the rule file",
    "none": "other words for the same behaviour",
}
"""Every direction with its meaning, the one to look at first first."""

IDS: Final[dict[str, str]] = {
    # cells: what the machine does
    "CELL_OUTCOME": "cells that do something else",
    "CELL_RULE": "cells that another rule takes, and that do the same",
    "CELL_WORDING": "cells whose actions are written in another way and do the same",
    "CELL_UNREACHED": "cells that do something else, and that no stream reaches",
    "RULE_ADDED": "a rule that is new; what it does otherwise is told by its cells",
    "RULE_REMOVED": "a rule that is gone; what is done otherwise is told by its cells",
    "RENAMED_ONLY": "a rule or state that has another name and does the same",
    "FLUSH_ADDED": "a boundary that closes blocks where none did",
    "FLUSH_REMOVED": "a boundary that closes blocks no more",
    "FLUSH_CHANGED": "a boundary that closes other blocks, or gives another seal",
    "EVENT_ADDED": "an event that is new",
    "EVENT_REMOVED": "an event that is gone",
    "EVENT_CHANGED": "an event with other fields, another target or other questions",
    "STATE_ADDED": "a state that is new",
    "STATE_REMOVED": "a state that is gone",
    "STATE_CHANGED": "a state that holds other blocks, or is another kind of state",
    # the books
    "MERGE_ADDED": "a usage field whose reports are merged by a rule now",
    "MERGE_REMOVED": "a usage field whose reports are merged by no rule any more: the latest stands",
    "MERGE_CHANGED": "a usage field whose reports are merged in another way",
    "DERIVE_ADDED": "a usage field that is computed now",
    "DERIVE_REMOVED": "a usage field that is not computed any more",
    "DERIVE_CHANGED": "a usage field that is computed from others",
    # how much a call is trusted
    "REPAIR_ADDED": "a repair of arguments that is made now",
    "REPAIR_REMOVED": "a repair of arguments that is made no more",
    "REPAIR_GRADE": "a repair of arguments that gives another grade",
    "DEVIATIONS_CHANGED": "whether a deviation is noted or ends the stream",
    "DEVIATIONS_EXCEPTION_ADDED": "a note that does not end the stream any more",
    "DEVIATIONS_EXCEPTION_REMOVED": "a note that ends the stream now",
    "CLASS_ADDED": "a class of tools that is new",
    "CLASS_REMOVED": "a class of tools that is gone",
    "CLASS_WIDENED": "a class whose calls may start earlier or together, or may be discarded",
    "CLASS_NARROWED": "a class whose calls start later or alone, or block what would discard them",
    "CLASSIFY_ADDED": "a pattern of tool names that has a class now",
    "CLASSIFY_REMOVED": "a pattern of tool names that has no class of its own any more",
    "CLASSIFY_CHANGED": "a pattern of tool names that has another class",
    "ESCALATION_ADDED": "a condition that makes a call more guarded",
    "ESCALATION_REMOVED": "a condition that makes a call more guarded no more",
    "ESCALATION_CHANGED": "a condition that makes a call another class",
    # how frames are read
    "MAP_ADDED": "a map that is new",
    "MAP_REMOVED": "a map that is gone",
    "MAP_CHANGED": "a map that finds or makes something else",
    "MAP_ORDER": "maps that run in another order",
    "IGNORE_ADDED": "frames that are ignored on purpose now",
    "IGNORE_REMOVED": "frames that are not ignored on purpose any more",
    "IGNORE_CHANGED": "other frames are ignored on purpose",
    "DETECT_ADDED": "frames by which the protocol is recognised now",
    "DETECT_REMOVED": "frames by which the protocol is recognised no more",
    "DETECT_CHANGED": "the protocol is recognised by other frames",
    "ENUM_ADDED": "a list of a vendor's words that is new",
    "ENUM_REMOVED": "a list of a vendor's words that is gone",
    "ENUM_CHANGED": "a vendor's words that mean something else",
    "SPLIT_ADDED": "tagged text that is taken out now",
    "SPLIT_REMOVED": "tagged text that is taken out no more",
    "SPLIT_CHANGED": "tagged text that is taken out in another way",
    "SPLIT_ORDER": "splits that run in another order",
    "SALVAGE_ADDED": "a way to read a broken frame that is tried now",
    "SALVAGE_REMOVED": "a way to read a broken frame that is tried no more",
    "WIRE_CHANGED": "another framing",
    "END_CHANGED": "another end marker",
    "CHOICES_CHANGED": "another place for the choices of a frame",
    "PROTOCOL_CHANGED": "another protocol is named",
    "POLICY_CHANGED": "another policy is used; what it does otherwise is told by its cells",
    # the file itself
    "TEST_ADDED": "a test that is new",
    "TEST_REMOVED": "a test that is gone",
    "TEST_CHANGED": "a test with other steps",
    "QUIRK_ADDED": "a quirk that is new; what it does is told by what it edits",
    "QUIRK_REMOVED": "a quirk that is gone; what it did is told by what it edited",
    "QUIRK_CHANGED": "a quirk with another reason or other edits",
    "ALLOW_ADDED": "a lint that does not count any more",
    "ALLOW_REMOVED": "a lint that counts again",
    "FILE_ADDED": "a rule file that is new",
    "FILE_REMOVED": "a rule file that is gone",
}
"""Every id with its meaning. An id that appeared in a release is never given another meaning."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two sides.

    Attributes:
        id: A key of `IDS`.
        direction: A key of `DIRECTIONS`.
        subject: What it is about, as the rule file names it: an event, a rule, a usage field, a pattern.
        message: One sentence, lower case, no full stop, the author's words in backticks.
        before: What was there, in the words of the rule file; None where nothing was.
        after: What is there now, likewise.
        cells: How many cells of the table it changes; 0 where it is not about cells.
        states: The states of those cells.
        example: One of those cells in words, or an empty string.
        witness: A sequence of events that shows it, or None.
        unshown: Where there is no witness, why not; empty otherwise, and where none is looked for.
        quirk: The quirk that brings it about, where one is known.
        places: Where it stands in the files: of the side before first, then of the side after.
    """

    id: str
    direction: Direction
    subject: str
    message: str
    before: str | None = None
    after: str | None = None
    cells: int = 0
    states: tuple[str, ...] = ()
    example: str = ""
    witness: Witness | None = field(default=None, compare=False)
    unshown: str = field(default="", compare=False)
    quirk: str | None = field(default=None, compare=False)
    places: tuple[Place, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from one side to another, the ones to look at first first.

    Attributes:
        kind: policy, vendor or fragment.
        name: In the header; of the side after where the two differ.
        before: The name to show for the side before, and its fingerprint; empty for a file that is new.
        after: The name to show for the side after, and its fingerprint; empty for a file that is gone.
        changes: What differs.
        cells: How many cells both sides have in common.
        changed_cells: How many of those do something else.
        told: How many further changes are told of another pair of files, on which this one builds.
        explanation: Why the fingerprints differ although nothing is done otherwise; empty else.
    """

    kind: str
    name: str
    before: tuple[str, str]
    after: tuple[str, str]
    changes: tuple[Change, ...] = ()
    cells: int = 0
    changed_cells: int = 0
    told: int = 0
    explanation: str = ""

    @property
    def same(self) -> bool:
        """Whether both sides do the same."""
        return all(change.direction in ("none", "tests") for change in self.changes)

    def directions(self) -> set[Direction]:
        """The directions of all changes."""
        return {change.direction for change in self.changes}


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """Changes by direction, then as they were found: whoever reads from the top sees what loosens first."""
    order = list(DIRECTIONS)
    return tuple(sorted(changes, key=lambda change: order.index(change.direction)))
