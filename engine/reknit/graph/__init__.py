"""The states of a policy and what leads from one to another, drawn from the table that runs; of two, what differs."""

from reknit.graph.drawing import svg
from reknit.graph.links import Graph, Link, State, graph_of, graph_of_both
from reknit.graph.notation import dot, mermaid

__all__ = ["Graph", "Link", "State", "dot", "graph_of", "graph_of_both", "mermaid", "svg"]
