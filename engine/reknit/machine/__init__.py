"""The machine that moves by the table: events in, blocks out."""

from reknit.machine.run import ENDING, RAISED, STREAM_END, STREAM_ERROR, Leaf, Machine, Runtime

__all__ = ["ENDING", "RAISED", "STREAM_END", "STREAM_ERROR", "Leaf", "Machine", "Runtime"]
