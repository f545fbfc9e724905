"""What an escalation may ask of a call, once it has ended."""

from __future__ import annotations

from typing import Final

SUBJECTS: Final[dict[str, dict[str, str]]] = {
    "id": {"real": "the vendor gave it", "made": "it was made up here"},
    "name": {"given": "the vendor gave it", "inferred": "it was inferred from the arguments"},
    "args": {
        "exact": "parsed as they came",
        "lossless": "repaired without a guess",
        "guessed": "repaired by a guess",
        "invalid": "the call is invalid",
    },
    "seal": {
        "explicit": "the vendor said that the call is finished",
        "sequential": "the next call began",
        "final": "the message stopped",
        "limit": "the message stopped at its output limit",
        "cut": "the stream ended before the call did",
    },
}
