"""The one canonical form of a rule file.

A file is formatted token by token, in order: nothing is left out, added or moved but the comments around a comma. The
result is parsed again and compared before anybody sees it. What the author decides is kept: comments, paragraphs, which
words stand in quotes where both are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reknit.lang.comments import Comment, Gap, gaps_of
from reknit.lang.diagnostics import Diagnostic, Label, quoted
from reknit.lang.filling import WIDTH, Filler
from reknit.lang.outline import STEP, Blank, Row, outline
from reknit.lang.parser import Parts, parse, parts_of, words_of
from reknit.lang.spelling import spelled
from reknit.lang.syntax import File, Place


def format_text(text: str, source: str) -> str | list[Diagnostic]:
    """Give a rule file in its canonical form.

    Args:
        text: The file.
        source: The name to show for it.

    Returns:
        The form, which reads as the file does; or what is wrong with the file, and then nothing is to be written.
    """
    file, found = parse(text, source)
    if file is None:
        return found
    parts = parts_of(text, source)
    form = "".join(f"{line}\n" for line in _lines(parts))
    trouble = _difference(file, parts, form, source)
    return form if trouble is None else [trouble]


def _difference(file: File, parts: Parts, form: str, source: str) -> Diagnostic | None:
    """Hold a form against what it was made of: nodes, words and comments."""
    again, _ = parse(form, source)
    what = ""
    if again != file:
        what = "reads differently"
    else:
        tokens, comments = words_of(form, source)
        if [comment.text for comment in comments] != [comment.text for comment in parts.comments]:
            what = "has other comments"
        elif [*map(spelled, tokens)] != [*map(spelled, parts.tokens)]:
            what = "has other words"
    if not what:
        return None
    return Diagnostic(
        "E114",
        f"the canonical form of {quoted(source)} {what}, so nothing was written",
        Label(Place(source, 1, 1, 1, 1), "this file"),
        help="this is an error of the formatter, not of the file: please report it, with the file",
    )


def _lines(parts: Parts) -> list[str]:
    tokens = parts.tokens
    gaps = gaps_of(tokens, parts.comments)
    signs = [token.text if token.kind != "text" else "" for token in tokens]
    filler = Filler([spelled(token) for token in tokens], signs, gaps)
    rows = outline(parts.tree, tokens, lambda begin, end: filler.size(begin, end) <= WIDTH)
    lines: list[str] = []
    indent = 0
    for row, width in zip(rows, _widths(rows, gaps, filler), strict=True):
        gap = gaps[row.begin]
        if gap.trailing is not None:
            lines[-1] += f"  {gap.trailing.text}"
        lines += _above(row, gap, indent, tokens[row.begin].place.column)
        if row.begin < row.end:
            lines += filler.lines(row, width)
        indent = row.indent
    return lines


def _widths(rows: Sequence[Row], gaps: Sequence[Gap], filler: Filler) -> list[int]:
    """Give the width of each row's first column: its own, or the one that it shares with the rows around it."""
    widths = [row.width for row in rows]
    first = 0
    for number in range(1, len(rows) + 1):
        row = rows[number] if number < len(rows) else None
        if row is not None and row.run == rows[first].run and not (row.shares and gaps[row.begin].parted):
            continue
        if rows[first].run:
            stops = [(one.begin, one.begin + one.stop) for one in rows[first:number] if one.stop]
            widest = rows[first].widest
            sizes = [filler.size(begin, stop) for begin, stop in stops if filler.size(stop - 1, stop) <= widest]
            shared = max(sizes, default=0)
            widths[first:number] = [shared] * (number - first)
        first = number
    return widths


def _above(row: Row, gap: Gap, indent: int, column: int) -> Iterator[str]:
    """Give the comments and empty lines above a row.

    Args:
        row: It.
        gap: What stands ahead of it.
        indent: Of the row before; a comment that was indented like that one, or between, belongs to it.
        column: Where the row's first token stood.
    """
    at_end = row.begin == row.end
    depth = row.indent + STEP if row.closes else max(indent, row.indent)
    first = True
    for comment in gap.own:
        if not row.closes:
            depth = min(depth, _depth(comment, row, 1 if at_end else column))
        if row.closes or depth == row.indent:
            empty_block = row.closes and first and indent == row.indent
            if _is_blank(row.blank, comment.blank, first) and not empty_block:
                yield ""
            first = False
        yield " " * depth + comment.text
    if not at_end and not row.closes and _is_blank(row.blank, gap.blank, first):
        yield ""


def _is_blank(blank: Blank, there: bool, first: bool) -> bool:
    """Tell whether an empty line comes next, first of all or later, where there is one in the file or not."""
    if first:
        return blank is Blank.ONE or (blank in (Blank.KEPT, Blank.NOT_LAST) and there)
    return there and blank is not Blank.NONE


def _depth(comment: Comment, row: Row, column: int) -> int:
    return max((comment.column - column + row.indent) // STEP * STEP, row.indent)
