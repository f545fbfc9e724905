"""The page of a code: what is wrong, how it is right, and why; out of `docs/codes`, which a wheel holds too."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from reknit.lang.diagnostics import CODES

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def pages_folder() -> Path:
    """Give the folder of the pages: in a wheel inside the package, in a checkout under `docs`."""
    inside = _PACKAGE / "codes"
    return inside if inside.is_dir() else _PACKAGE.parent.parent / "docs" / "codes"


def page(code: str) -> str | None:
    """Give the page of a code, in Markdown; None for what is no code, or where the pages did not come along.

    Args:
        code: Such as `E101`, in letters of either size.
    """
    name = code.upper()
    if name not in CODES:
        return None
    try:
        return (pages_folder() / f"{name}.md").read_text(encoding="utf-8")
    except OSError:
        return None
