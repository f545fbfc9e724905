"""A graph as an SVG picture: one file, no scripts, no fonts to load, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from reknit.graph.layout import CHARACTER, LINE, Box, Bundle, Layout, laid_out, shown, staying
from reknit.graph.links import Graph, State, Status

_FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_INK, _SOFT, _PAPER = "#1f2328", "#59636e", "#ffffff"
_LINES: Final = ("#0969da", "#8250df", "#bf3989", "#bc4c00", "#4d7c0f", "#0f766e", "#57606a", "#a16207", "#1d4ed8")
"""One colour for the lines out of each state, so that a line can be followed."""

_STROKES: Final[dict[Status, str]] = {"same": "#8c959f", "added": "#1a7f37", "removed": "#cf222e", "changed": "#9a6700"}
_FILLS: Final[dict[Status, str]] = {"same": "#f6f8fa", "added": "#dafbe1", "removed": "#ffebe9", "changed": "#fff8c5"}
_MARKS: Final[dict[Status, str]] = {"same": "", "added": "+ ", "removed": "- ", "changed": "~ "}


def svg(graph: Graph) -> str:
    """The picture of a graph, as the text of an SVG file."""
    layout = laid_out(graph)
    size = f'width="{layout.width:.0f}" height="{layout.height:.0f}"'
    view = f'viewBox="0 0 {layout.width:.0f} {layout.height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img"'
        f' font-family="{escape(_FONT)}" font-size="12">',
        f"<title>{escape(_title(graph))}</title>",
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
        *_heading(graph, layout),
        *_curves(graph, layout),
        *(line for bundle, box in layout.bundles for line in _bundle(bundle, box)),
        *(line for state in graph.states for line in _state(graph, state, layout.sources[state.name], full=True)),
        *(
            line
            for state in graph.states
            if state.name in layout.targets
            for line in _state(graph, state, layout.targets[state.name], full=False)
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _title(graph: Graph) -> str:
    return f"policy {graph.title}" + (", what differs" if graph.compared else "")


def _heading(graph: Graph, layout: Layout) -> Iterator[str]:
    yield _text(24, 32, _title(graph), size=16, weight="bold")
    columns = (layout.sources.values(), [box for _, box in layout.bundles], layout.targets.values())
    for boxes, said in zip(columns, ("in this state", "these rules lead", "to this one"), strict=True):
        for box in list(boxes)[:1]:
            yield _text(box.x, 60, said, colour=_SOFT)
    if graph.compared:
        x = layout.width - 24
        legend: tuple[tuple[Status, str], ...] = (("removed", "- gone"), ("changed", "~ changed"), ("added", "+ new"))
        for status, said in legend:
            x -= (len(said) + 3) * CHARACTER
            yield _text(x, 32, said, colour=_STROKES[status], weight="bold")


# -- lines -------------------------------------------------------------------------------------------------------------


def _curves(graph: Graph, layout: Layout) -> Iterator[str]:
    colours = {state.name: _LINES[number % len(_LINES)] for number, state in enumerate(graph.states)}
    leaving: dict[str, int] = {}
    counts = dict.fromkeys(layout.sources, 0)
    for bundle, _ in layout.bundles:
        for source, _ in bundle.sources:
            counts[source] += 1
    for bundle, box in layout.bundles:
        for number, (source, status) in enumerate(bundle.sources):
            start = layout.sources[source]
            turn = leaving[source] = leaving.get(source, 0) + 1
            y = start.top + start.height * turn / (counts[source] + 1)
            entry = box.top + box.height * (number + 1) / (len(bundle.sources) + 1)
            colour = colours[source] if not graph.compared else _STROKES[status]
            yield _curve(start.right, y, box.x, entry, colour, status, graph.compared)
        end = layout.targets[bundle.target]
        arriving = [one for one, _ in layout.bundles if one.target == bundle.target]
        place = (arriving.index(bundle) + 1) / (len(arriving) + 1)
        whole = {status for _, status in bundle.sources}
        status = next(iter(whole)) if len(whole) == 1 else "changed"
        colour = _INK if not graph.compared else _STROKES[status]
        yield _curve(
            box.right, box.y, end.x - 7, end.top + end.height * place, colour, status, graph.compared, arrow=True
        )


def _curve(
    x: float, y: float, to_x: float, to_y: float, colour: str, status: Status, compared: bool, arrow: bool = False
) -> str:
    bend = (to_x - x) / 2
    width = "2.2" if compared and status != "same" else "1.2"
    dashed = ' stroke-dasharray="6 4"' if status == "removed" else ""
    faint = ' opacity="0.45"' if compared and status == "same" else ' opacity="0.85"'
    path = f"M{x:.1f} {y:.1f} C{x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    line = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}{faint}/>'
    if arrow:
        tip = f"M{to_x:.1f} {to_y - 4:.1f} l8 4 l-8 4 z"
        line += f'<path d="{tip}" fill="{colour}"/>'
    return line


# -- boxes -------------------------------------------------------------------------------------------------------------


def _bundle(bundle: Bundle, box: Box) -> Iterator[str]:
    statuses = {status for _, status in bundle.rules}
    status = next(iter(statuses)) if len(statuses) == 1 else "same"
    yield _rectangle(box, status, 4)
    for number, (rule, own) in enumerate(bundle.rules):
        y = box.top + 8 + LINE * (number + 0.72)
        yield _text(box.x + 10, y, f"{_MARKS[own]}{rule}", colour=_INK if own == "same" else _STROKES[own])


def _state(graph: Graph, state: State, box: Box, full: bool) -> Iterator[str]:
    yield _rectangle(box, state.status, 12)
    if state.flag == "final":
        yield _rectangle(Box(box.x + 3, box.y, box.width - 6, box.height - 6), state.status, 10, filled=False)
    start = "> " if state.flag == "start" and full else ""
    middle = box.y + 4 if not full else box.top + 18
    yield _text(box.x + 10, middle, f"{start}{_MARKS[state.status]}{state.name}", weight="bold")
    if not full:
        return
    said, differs = staying(graph, state.name)
    yield _text(box.x + 10, box.top + 34, state.holds or "holds nothing", colour=_SOFT, size=10.5)
    yield _text(box.x + 10, box.top + 49, said, colour=_STROKES["changed"] if differs else _SOFT, size=10.5)


def _rectangle(box: Box, status: Status, radius: int, filled: bool = True) -> str:
    dashed = ' stroke-dasharray="6 4"' if status == "removed" else ""
    place = f'x="{box.x:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius}"'
    fill = _FILLS[status] if filled else "none"
    return f'<rect {place} fill="{fill}" stroke="{_STROKES[status]}"{dashed}/>'


def _text(x: float, y: float, said: str, colour: str = _INK, size: float = 12, weight: str = "normal") -> str:
    style = f'font-size="{size:g}"' + (f' font-weight="{weight}"' if weight != "normal" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" {style} xml:space="preserve">{escape(shown(said))}</text>'
