"""What the package raises. Two sides: the caller or rule author (raised), the vendor (never raised: notes and errors).

Nothing here is raised from `feed`, `close` or `snapshot` on account of what a vendor sent.
"""

from __future__ import annotations


class ReknitError(Exception):
    """The root of everything that this package raises on purpose."""


class UsageError(ReknitError):
    """The caller asked for something that cannot be: an unknown vendor, a bad tool, feeding a closed stream.

    Attributes:
        code: A kebab-case word for programs.
        help: The edit that mends it, or an empty string.
    """

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(f"{message}\nhelp: {help}" if help else message)
        self.code = code
        self.help = help


class RulesError(ReknitError):
    """Rule files did not pass the checks.

    Attributes:
        report: All diagnostics of all files, rendered for a person.
        codes: Their codes, in the order of the report.
    """

    def __init__(self, report: str, codes: tuple[str, ...]) -> None:
        super().__init__(report)
        self.report = report
        self.codes = codes


class TableError(ReknitError):
    """A compiled table could not be read: not JSON, of another shape, or of another language version."""
