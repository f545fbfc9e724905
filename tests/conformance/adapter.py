"""Reknit as a contestant of the public suite: `reconstruct(case, chunks)` as `score.py` and `score_streams.py` want it.

Cases of the chat protocol run under `lenient`, the rules for a proxy that nobody knows; recordings under the file of
their vendor where there is one, else under `lenient` too. Protocols without rules do not apply.
"""

from __future__ import annotations

from typing import Any

import reknit
from reknit.shipped import shipped_names

VERSIONS = {"reknit": reknit.__version__}

PROTOCOLS = {"openai-chat": "openai-chat", "anthropic-messages": "anthropic"}
"""Protocols of the suite, and the rule file of each."""

FRAMES = {"jsonl": "ndjson"}
"""Recordings that kept no framing have one frame a line."""

FRAGMENTS = {"think_tags": "think-tags", "think_open_implied": "think-open-implied"}
"""Options of the suite, and the fragment that each switches on."""

UNREAD = ("text_tool_calls",)
"""Options for which there are no rules yet: those cases do not apply."""


def vendor_of(case: dict[str, Any]) -> str | None:
    """The rule file for a case or recording, or None where it does not apply."""
    protocol = PROTOCOLS.get(case["payload_protocol"])
    if protocol is None or case.get("ext") in ("bin", "json"):
        return None
    if "vendor" not in case:
        return "lenient" if protocol == "openai-chat" else protocol
    if protocol != "openai-chat":
        return protocol
    return case["vendor"] if case["vendor"] in shipped_names() else "lenient"


def reconstruct(case: dict[str, Any], chunks: list[bytes]) -> dict[str, Any] | None:
    """The message of a case in the suite's form, or None where it does not apply."""
    vendor = vendor_of(case)
    if vendor is None or (case["payload_protocol"] != case["protocol"] and case["protocol"] != "wire"):
        return None
    options = case.get("options") or {}
    if any(options.get(name) for name in UNREAD):
        return None
    fragments = [fragment for name, fragment in FRAGMENTS.items() if options.get(name)]
    if options.get("think_open_implied"):
        fragments.remove("think-tags")
    tools = case.get("tools") or None
    wire = FRAMES.get(case.get("ext", ""))
    message = reknit.reconstruct(chunks, vendor, tools, wire=wire, fragments=fragments, seed=case["id"])
    usage = message.usage.model_dump()
    return {
        "content": [block.model_dump() for block in message.content],
        "stop_reason": message.stop_reason,
        "usage": {key: value for key, value in usage.items() if value is not None},
        "complete": message.complete,
        "error": message.error.model_dump() if message.error is not None else None,
    }
