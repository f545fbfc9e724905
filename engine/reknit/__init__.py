"""Reknit rebuilds one structured message from any model's delta stream, by rules.

import reknit

message = reknit.reconstruct(chunks, tools=tools)

r = reknit.Reconstructor(vendor="rules/acme.rules", tools=tools)
for chunk in chunks:
    for update in r.feed(chunk): ...
message = r.close()
"""

from reknit.errors import ReknitError, RulesError, TableError, UsageError
from reknit.message import (
    Message,
    Note,
    Opaque,
    RedactedThinking,
    StreamFault,
    Text,
    Thinking,
    ToolUse,
    Usage,
    Verdict,
)
from reknit.reconstructor import Reconstructor, aupdates, reconstruct, updates
from reknit.rulebook import table_for
from reknit.table import Table
from reknit.tools.registry import Tool
from reknit.wire.frames import Limits

__version__ = "0.1.0"

__all__ = [
    "Limits",
    "Message",
    "Note",
    "Opaque",
    "Reconstructor",
    "RedactedThinking",
    "ReknitError",
    "RulesError",
    "StreamFault",
    "Table",
    "TableError",
    "Text",
    "Thinking",
    "Tool",
    "ToolUse",
    "Usage",
    "UsageError",
    "Verdict",
    "aupdates",
    "reconstruct",
    "table_for",
    "updates",
]
