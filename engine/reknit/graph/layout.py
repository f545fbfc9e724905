"""Where everything of a graph stands: states on the left, what leads out of them in the middle, where to on the right.

Three layers instead of one tangle: a policy has few states and many rules, and nearly every state leads to nearly every
other. Rules with the same sources and the same target share a box, so that each name stands once, in its own place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reknit.graph.links import Graph, State, Status

CHARACTER: Final = 7.25
"""Width of a character of the fixed-width font, in units of the drawing."""

LINE: Final = 17.0
_PAD: Final = 10.0
_GAP: Final = 14.0
_MARGIN: Final = 24.0
_TOP: Final = 78.0
_COLUMN: Final = 190.0
"""Room between two layers, for lines to bend in."""

_STATE_HEIGHT: Final = 58.0
_MOST_SHOWN: Final = 48


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its left edge, the middle of its height, its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.y - self.height / 2

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class Bundle:
    """Rules that lead from the same states to the same state, with what became of each link."""

    target: str
    rules: tuple[tuple[str, Status], ...]
    sources: tuple[tuple[str, Status], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of a drawing."""

    width: float
    height: float
    sources: Mapping[str, Box]
    bundles: Sequence[tuple[Bundle, Box]]
    targets: Mapping[str, Box]


def bundles_of(graph: Graph) -> list[Bundle]:
    """The links that lead to another state, bundled; by target, then by source, in the order of the states."""
    order = {state.name: number for number, state in enumerate(graph.states)}
    by_rule: dict[tuple[str, str], dict[str, Status]] = {}
    for link in graph.links:
        if link.source != link.target:
            by_rule.setdefault((link.target, link.rule), {})[link.source] = link.status
    bundled: dict[tuple[str, tuple[tuple[str, Status], ...]], list[tuple[str, Status]]] = {}
    for (target, rule), sources in by_rule.items():
        key = (target, tuple(sorted(sources.items(), key=lambda one: order[one[0]])))
        bundled.setdefault(key, []).append((rule, _together(sources)))
    bundles = [Bundle(target, tuple(rules), sources) for (target, sources), rules in bundled.items()]
    return sorted(bundles, key=lambda one: (order[one.target], order[one.sources[0][0]], -len(one.sources), one.rules))


def _together(sources: Mapping[str, Status]) -> Status:
    statuses = set(sources.values())
    return next(iter(statuses)) if len(statuses) == 1 else "changed"


def laid_out(graph: Graph) -> Layout:
    """Give everything its place."""
    bundles = bundles_of(graph)
    texts = [
        text for state in graph.states for text in (f"> + {state.name}", state.holds, staying(graph, state.name)[0])
    ]
    state_width = max([_text_width(shown(text)) for text in texts], default=0) + 2 * _PAD
    rule_width = (
        max([_text_width(f"{shown(rule)}  ") for one in bundles for rule, _ in one.rules], default=0) + 2 * _PAD
    )
    middle, right = _MARGIN + state_width + _COLUMN, _MARGIN + state_width + rule_width + 2 * _COLUMN
    placed: list[tuple[Bundle, Box]] = []
    y, last = _TOP, ""
    for bundle in bundles:
        height = len(bundle.rules) * LINE + 2 * _PAD - 4
        y += _GAP if bundle.target == last or not last else 2 * _GAP
        placed.append((bundle, Box(middle, y + height / 2, rule_width, height)))
        y, last = y + height, bundle.target
    height = max(y, _TOP + len(graph.states) * (_STATE_HEIGHT + _GAP)) + _MARGIN + _GAP
    sources = _column(graph.states, _MARGIN, state_width, height)
    return Layout(right + state_width + _MARGIN, height, sources, placed, _beside(placed, right, state_width, height))


def _text_width(text: str) -> float:
    return len(text) * CHARACTER


def _column(states: Sequence[State], x: float, width: float, height: float) -> dict[str, Box]:
    """States evenly from top to bottom."""
    room = (height - _TOP - _MARGIN) / max(len(states), 1)
    return {
        state.name: Box(x, _TOP + room * (number + 0.5), width, _STATE_HEIGHT) for number, state in enumerate(states)
    }


def _beside(placed: Sequence[tuple[Bundle, Box]], x: float, width: float, height: float) -> dict[str, Box]:
    """States beside the bundles that lead to them, without touching each other."""
    middles: dict[str, list[Box]] = {}
    for bundle, box in placed:
        middles.setdefault(bundle.target, []).append(box)
    found: dict[str, Box] = {}
    lowest = _TOP
    for name, boxes in middles.items():
        y = max((boxes[0].top + boxes[-1].top + boxes[-1].height) / 2, lowest + _STATE_HEIGHT / 2 + _GAP)
        found[name] = Box(x, y, width, _STATE_HEIGHT)
        lowest = y + _STATE_HEIGHT / 2
    overhang = max(lowest + _MARGIN - height, 0)
    if overhang:
        found = {name: Box(x, max(box.y - overhang, _TOP), width, box.height) for name, box in found.items()}
    return found


def staying(graph: Graph, state: str) -> tuple[str, bool]:
    """How many rules stay in a state, in words, and whether any of them is not what it was."""
    links = [link for link in graph.links if link.source == link.target == state]
    differ = sum(link.status != "same" for link in links)
    said = f"{len(links)} rule{'s stay' if len(links) != 1 else ' stays'}"
    return (f"{said}, {differ} differ{'s' if differ == 1 else ''}" if differ else said), differ > 0


def shown(text: str) -> str:
    """A text as it stands in the drawing: cut where it is very long."""
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
