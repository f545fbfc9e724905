"""What class a call has: by the name of its tool, raised by what is known of the call. The most guarded wins."""

from __future__ import annotations

import re
from fnmatch import translate

from reknit.table import PolicyTable

_UNCLASSED = "side_effect"


class Safety:
    """The classes of a policy, ready to be asked."""

    __slots__ = ("_by_name", "_else", "_escalations", "_patterns", "_rank")

    def __init__(self, policy: PolicyTable) -> None:
        self._rank = {one.name: n for n, one in enumerate(policy.classes)}
        self._patterns = [
            (re.compile(translate(one.pattern)), one.tool_class) for one in policy.classifies if one.pattern is not None
        ]
        self._else = next((one.tool_class for one in policy.classifies if one.pattern is None), _UNCLASSED)
        self._escalations = [(one.subject, one.case, one.tool_class) for one in policy.escalations]
        self._by_name: dict[str, str] = {}

    def of(self, name: str, known: dict[str, str]) -> str:
        """The class of a call.

        Args:
            name: Of its tool.
            known: What is known of the call, a case for each subject of `vocabulary.escalations`.
        """
        found = self._by_name.get(name)
        if found is None:
            found = self._by_name[name] = self._named(name)
        for subject, case, tool_class in self._escalations:
            if known.get(subject) == case:
                found = self._guarded(found, tool_class)
        return found

    def _named(self, name: str) -> str:
        matching = [tool_class for pattern, tool_class in self._patterns if pattern.match(name)]
        if not matching:
            return self._else
        found = matching[0]
        for tool_class in matching[1:]:
            found = self._guarded(found, tool_class)
        return found

    def _guarded(self, first: str, second: str) -> str:
        return max(first, second, key=lambda tool_class: self._rank.get(tool_class, -1))
