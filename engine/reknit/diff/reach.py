"""Cells that no stream reaches, by what the actions of a policy can bring about: no seal that is never given, for one.

`possible` in the vocabulary says what can occur under some policy; here it is about one. Where a changed cell cannot be
reached on one side, the sides cannot part there: up to that cell they have done the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from reknit.diff.commuting import SEALLESS
from reknit.table import EventSpec, PolicyTable


class Reach:
    """What a policy's actions can bring about.

    Args:
        policy: The policy.
    """

    def __init__(self, policy: PolicyTable) -> None:
        actions = {action for outcome in policy.outcomes for action in outcome.actions}
        archives = [action for action in actions if action.verb == "archive" and action.words[0] not in SEALLESS]
        does = {(action.verb, *action.words) for action in actions}
        self._seals = {action.words[1] if len(action.words) > 1 else "final" for action in archives}
        self._grades = {"exact", *policy.repairs.values()}
        self._makes_ids = ("make", "id") in does or ("keep", "call") in does
        self._has_twins = ("open", "twin") in does
        self._decodes = ("decode", "nested") in does

    def reaches(self, event: EventSpec, answers: Mapping[str, str]) -> bool:
        """Whether a cell may be reached; False only where it cannot."""
        by_type = {question.type: answers[question.name] for question in event.questions}
        if by_type.get("id") == "real" and not self._makes_ids:
            return False
        if event.about != "ending":
            return True
        reading = by_type.get("reading", "exact")
        if reading in ("lossless", "guessed") and reading not in self._grades and not self._decodes:
            return False
        if by_type.get("twin", "none") != "none" and not self._has_twins:
            return False
        if by_type.get("ids") == "made" and not self._makes_ids:
            return False
        return by_type.get("seal", "final") in self._seals if "seal" in by_type else True
