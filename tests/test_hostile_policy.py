"""A policy that checks may judge calls as it likes: what could not be read never stands, and nothing raises."""

from __future__ import annotations

from pathlib import Path

import reknit

RULES = """reknit 1

vendor rash extends openai-chat "accepts whatever came"

quirk accept-anything "to see that it does not help"
  override rule call-broken
    do accept
  override rule call-cut
    do accept
"""


def test_accepting_what_cannot_be_read_leaves_the_call_invalid(tmp_path: Path) -> None:
    path = tmp_path / "rash.rules"
    path.write_text(RULES, encoding="utf-8")
    for arguments in ("[1]", '{"a":', "{]"):
        call = {"index": 0, "id": "a", "function": {"name": "Read", "arguments": arguments}}
        frames = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}, "[DONE]"]
        message = reknit.reconstruct(frames, path)
        assert message.calls[0].invalid is not None
        assert not message.executable(message.calls[0])
