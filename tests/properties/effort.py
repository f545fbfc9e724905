"""How hard the laws are tried: a little and always the same by default, long and at random when asked.

    REKNIT_EFFORT=30 pytest tests/properties        # thirty times as many examples, other ones each time

What fails at random prints the `@reproduce_failure` line that brings it back.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EFFORT = float(os.environ.get("REKNIT_EFFORT", "1"))

_TOLERATED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


def law(examples: int, among: int = 1) -> settings:
    """The settings of a law that is tried on so many examples, shared out among so many parameters of the test."""
    return settings(
        max_examples=max(8, round(examples * EFFORT / among)),
        derandomize=EFFORT == 1,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=_TOLERATED,
    )
