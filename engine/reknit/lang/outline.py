"""Which lines a rule file has: from the parser's tree to rows, each a few tokens with an indentation and a column.

Nothing here looks at how the file was laid out before; `format` puts the comments and empty lines between the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

from reknit.lang.reading import Node, leaves, trees
from reknit.lang.tokens import Token

STEP: Final = 2
"""Spaces of one indentation."""

WIDEST: Final = 24
"""A word longer than this does not move the column of the rows around it: it alone stands out."""

_WIDEST_EVENT: Final = 16
_ONE_LINE: Final = frozenset(
    {"event", "state", "group", "flush", "merge", "derive", "repair", "class", "classify", "escalate", "split"}
    | {"deviations", "allow"}
)
_RULE_WIDTH: Final = len("from")
_MAP_WIDTH: Final = len("where")
_SETTING_WIDTH: Final = len("protocol")
_STEP_WIDTH: Final = len("expect")


class Blank(Enum):
    """Where empty lines may be ahead of a row and its comments."""

    ONE = auto()
    """Exactly one first, further ones as they are."""
    KEPT = auto()
    """As they are, at most one at a time."""
    NOT_FIRST = auto()
    """As they are, but not at the beginning of a block."""
    NOT_LAST = auto()
    """As they are, but not at the end of a block."""
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of one line, or of several where they do not fit on one.

    Attributes:
        begin: The first token.
        end: The token after the last one.
        indent: In spaces.
        blank: Where empty lines may be ahead of it.
        stop: How many tokens the first column has; 0 where there is none.
        width: Of the first column; 0 for that of the rows next to it with the same `run`.
        run: Rows of one run that follow each other share a column,
        shares: as long as no empty line parts them.
        widest: A first column whose last word is wider than this does not count.
        listed: The token with which a list begins that is no record; `end` where there is none.
        parted: What parts the elements of that list.
        wraps: Whether it may be broken where it is too long.
        closes: Whether it closes a block: comments ahead of it stand inside.
    """

    begin: int
    end: int
    indent: int
    blank: Blank = Blank.NONE
    stop: int = 0
    width: int = 0
    run: tuple[str, ...] = ()
    shares: bool = True
    widest: int = WIDEST
    listed: int = 0
    parted: str = ","
    wraps: bool = True
    closes: bool = False


def outline(tree: Node, tokens: Sequence[Token], fits: Callable[[int, int], bool]) -> list[Row]:
    """Give the rows of a file, in order; each token is in exactly one, and the last row is empty: the end of the file.

    Args:
        tree: Of the whole file.
        tokens: Of the file, closed by one of kind end.
        fits: Whether the tokens from one up to another one fit on a line.
    """
    maker = _Outline(tokens, fits)
    maker.file(tree)
    return maker.finished()


class _Outline:
    def __init__(self, tokens: Sequence[Token], fits: Callable[[int, int], bool]) -> None:
        self._rows: list[Row] = []
        self._tokens = tokens
        self._fits = fits
        # Without the last one, the end of the file: it has no width, and may end where the one before it does.
        places = [token.place for token in tokens[:-1]]
        self._starts = {(place.line, place.column): index for index, place in enumerate(places)}
        self._ends = {(place.end_line, place.end_column): index for index, place in enumerate(places)}

    def finished(self) -> list[Row]:
        begins = [row.begin for row in self._rows[1:]] + [len(self._tokens) - 1]
        return [replace(row, end=end, listed=row.listed or end) for row, end in zip(self._rows, begins, strict=True)]

    def file(self, tree: Node) -> None:
        version, header, *items = trees(tree)
        self._add(version, 0, blank=Blank.NOT_FIRST)
        self._header(header)
        parted = True
        for item in items:
            one_line = item.data in _ONE_LINE and not trees(item, "except")
            self._item(item, 0, Blank.KEPT if one_line and not parted else Blank.ONE)
            parted = not one_line
        end = len(self._tokens) - 1
        self._rows.append(Row(end, end, 0, Blank.ONE if parted else Blank.KEPT))

    def begin(self, tree: Node) -> int:
        return self._starts[tree.meta.line, tree.meta.column]

    def end(self, tree: Node) -> int:
        return self._ends[tree.meta.end_line, tree.meta.end_column] + 1

    def _add(self, tree: Node, indent: int, **more: Any) -> None:
        more.setdefault("blank", Blank.NONE)
        self._rows.append(Row(more.pop("begin", self.begin(tree)), 0, indent, **more))

    # -- header --------------------------------------------------------------------------------------------------------

    def _header(self, header: Node) -> None:
        fragments = trees(header, "with")
        settings = [child for child in trees(header) if child.data not in ("extends", "with")]
        reason = leaves(header, "STRING")[0]
        at = self._starts[reason.line or 0, reason.column or 0]
        listed = self.begin(fragments[0]) + 1 if fragments else 0
        self._add(header, 0, blank=Blank.ONE, listed=listed)
        if fragments and not self._fits(self.begin(header), at + 1):
            self._rows.append(Row(at, 0, STEP))
        for setting in settings:
            stop = 1 if len(settings) > 1 else 0
            self._add(setting, STEP, stop=stop, width=_SETTING_WIDTH, listed=self.begin(setting) + 1)

    # -- items ---------------------------------------------------------------------------------------------------------

    def _item(self, item: Node, indent: int, blank: Blank, verb: Node | None = None) -> None:
        """Add the rows of an item; the edit that it stands in begins its first row, if it stands in one."""
        first = self.begin(item) if verb is None else self.begin(verb)
        offset = self.begin(item) - first
        kind = str(item.data)
        if kind in _ONE_LINE:
            run = (str(verb.data) if verb is not None else "", *self._run(item))
            widest = _WIDEST_EVENT if kind == "event" else WIDEST
            stop = self._stop(item)
            self._add(
                item, indent, begin=first, blank=blank, run=run, widest=widest, listed=self._listed(item),
                stop=stop + offset if stop else 0,
            )  # fmt: skip
            for clause in trees(item, "except"):
                self._add(clause, indent + STEP, listed=self.begin(clause) + 1)
            return
        listed = self.begin(trees(item, "names")[0]) if kind == "salvage_edit" else 0
        # Titles and reasons are texts, which nothing breaks; what comes behind them stays on their line.
        self._add(item, indent, begin=first, blank=blank, listed=listed)
        if kind == "quirk":
            for edit in trees(item):
                self._edit(edit, indent + STEP)
        elif kind == "test":
            self._block(item, [(step, self._step(step)) for step in trees(item)], indent)
        elif kind == "enum":
            row = {"stop": 1, "run": ("enum", str(first)), "shares": False}
            self._block(item, [(case, row) for case in trees(item)], indent)
        elif kind != "salvage_edit":
            self._clauses(trees(item), indent + STEP)

    def _edit(self, edit: Node, indent: int) -> None:
        blank = Blank.NOT_FIRST if self._rows[-1].indent < indent else Blank.KEPT
        inner = trees(edit)
        if inner:
            self._item(inner[0], indent, blank, edit)
        else:
            self._add(edit, indent, blank=blank)

    def _block(self, item: Node, inside: Sequence[tuple[Node, dict[str, Any]]], indent: int) -> None:
        blank = Blank.NOT_FIRST
        for tree, row in inside:
            self._add(tree, indent + STEP, blank=blank, **row)
            blank = Blank.KEPT
        self._add(item, indent, begin=self.end(item) - 1, blank=Blank.NOT_LAST, closes=True)

    def _step(self, step: Node) -> dict[str, Any]:
        # A frame is one line of the wire, and a test reads like a stream: one line a step, however long.
        return {"stop": 1, "width": _STEP_WIDTH, "wraps": False}

    def _clauses(self, clauses: Sequence[Node], indent: int) -> None:
        """Add a row for each clause; where they are not all of one kind, what follows their keywords is aligned."""
        kinds = {str(clause.data) for clause in clauses} - {"ahead"}
        width = _MAP_WIDTH if kinds & {"at", "where", "emit"} else _RULE_WIDTH
        for clause in clauses:
            kind = str(clause.data)
            row: dict[str, Any] = {"stop": 1, "width": width} if len(kinds) > 1 and kind in kinds else {}
            begin = self.begin(clause)
            if kind in ("from", "at"):
                row |= {"listed": begin + 1, "parted": "else" if kind == "at" else ","}
            elif kind == "where":
                first = 4 if leaves(clause, "NOT") else 3
                row |= {"listed": begin + first, "parted": "or"}
            self._add(clause, indent, **row)

    # -- items of one line ---------------------------------------------------------------------------------------------

    def _stop(self, item: Node) -> int:
        """Give how many tokens come ahead of the column of an item."""
        kind = str(item.data)
        if kind == "flush":
            return 4 if trees(item, "sealed") else 2
        return {"escalate": 3, "group": 0, "derive": 0, "deviations": 0, "split": 0}.get(kind, 2)

    def _run(self, item: Node) -> tuple[str, ...]:
        """Give what an item has to share with the one next to it to be aligned with it."""
        kind = str(item.data)
        if kind == "flush" and trees(item, "sealed"):
            return (kind, str(leaves(item, "NAME")[0]))
        return (kind,)

    def _listed(self, item: Node) -> int:
        """Give the token with which the list of an item begins; 0 where it has none."""
        kind = str(item.data)
        if kind == "flush":
            return self.begin(trees(item, "trigger", "trigger_open")[0])
        inside = {"event": "asks", "state": "holds", "group": "names", "derive": "names"}.get(kind, "")
        for tree in trees(item, inside):
            return self.begin(tree) + (0 if inside == "names" else 1)
        return 0
