"""Two versions of rule files to typed changes, each with the direction in which it leans and what shows it."""

from reknit.diff.changes import DIRECTIONS, IDS, Change, Difference, Direction
from reknit.diff.compare import compare
from reknit.diff.sides import Side, Workshop
from reknit.diff.witness import Witness

__all__ = ["DIRECTIONS", "IDS", "Change", "Difference", "Direction", "Side", "Witness", "Workshop", "compare"]
