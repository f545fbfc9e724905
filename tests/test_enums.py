"""A vendor's word that an enum does not list is never lost in silence."""

from __future__ import annotations

from pathlib import Path

import reknit

RULES = """reknit 1

vendor narrow extends openai-chat "an enum without else"

quirk few-words "only one word is known"
  override enum finish {
    "stop" => end_turn
  }
"""


def test_a_word_that_an_enum_without_else_does_not_list_passes(tmp_path: Path) -> None:
    path = tmp_path / "narrow.rules"
    path.write_text(RULES, encoding="utf-8")
    frames = [
        {"choices": [{"index": 0, "delta": {"content": "Half"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
        "[DONE]",
    ]
    assert reknit.reconstruct(frames, path).stop_reason == "length"
