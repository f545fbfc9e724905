"""Writes what is said about each bad file, and the index of the pages: look at the difference before it is kept."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from diagnostic_files import update  # noqa: E402

if __name__ == "__main__":
    for path in update():
        print(path.relative_to(ROOT))
