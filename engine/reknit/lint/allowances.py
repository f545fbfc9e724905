"""What a file allows: findings that do not count in it, each with a reason, and allowances of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reknit.lang.diagnostics import LINTS, Diagnostic, Label, quoted
from reknit.lang.syntax import Allow, File

_SELF = "unused-allowance"


def allowed(file: File, raised: Mapping[str, Sequence[Diagnostic]]) -> Iterator[Diagnostic]:
    """Leave out what a file allows.

    Args:
        file: It.
        raised: What was found, by the name of the lint; lints that did not run are not among them.
    """
    allowances = [item for item in file.items if isinstance(item, Allow)]
    names = {item.name.text for item in allowances}
    for name, found in raised.items():
        if name not in names:
            yield from found
    if _SELF in names:
        return
    for item in allowances:
        if item.name.text in raised and not raised[item.name.text]:
            yield Diagnostic(
                LINTS[_SELF],
                f"{quoted(item.name.text)} is allowed, and finds nothing in this file",
                Label(item.name.place, "allows nothing"),
                help="take it out",
                severity="warning",
            )
