"""The fenced blocks of a page, each held to what it says.

| block | means |
|---|---|
| `sh` | run by bash in a copy of the repository; has to exit with 0, or with N where it says `exit=N` |
| `sh tests` | likewise, but pytest collects one folder only: the command would run the test that runs it |
| `python` | run by this Python, warnings being errors |
| `text` | what the block before it prints: a line `...` stands for any lines, `...` in a line for anything in it |
| `text within=FILE` | lines, or parts of lines, that stand in the file in this order |
| `text plain` | prose |
| `reknit FILE` | stands in the file as it is here |
| `reknit save=FILE` | becomes that file, for the blocks after it |

Any other block is an error, and so is output that no block shows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = (
    "engine",
    "rules",
    "grammars",
    "docs",
    "bench",
    "tests",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "pyproject.toml",
)
SECONDS = 300


@dataclass(frozen=True)
class Block:
    """A fenced block: the words behind its fence, what is in it, and where it stands."""

    words: tuple[str, ...]
    text: str
    where: str

    @property
    def kind(self) -> str:
        return self.words[0] if self.words else ""

    def option(self, name: str) -> str | None:
        return next((word.split("=", 1)[1] for word in self.words if word.startswith(f"{name}=")), None)


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    found: list[Block] = []
    words: tuple[str, ...] | None = None
    lines: list[str] = []
    start = 0
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif words is None:
            words, lines, start = tuple(line[3:].split()), [], number
        else:
            found.append(Block(words, "".join(f"{line}\n" for line in lines), f"{page.relative_to(ROOT)}:{start}"))
            words = None
    assert words is None, f"{page.name}:{start}: a block without its end"
    return found


def workshop(folder: Path) -> Path:
    """A copy of what the repository holds, in which commands may do as they like."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """This Python's own commands first; pip finds all that this Python has installed, and asks nobody else."""
    installed = folder / ".installed"
    installed.mkdir()
    for place in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        for entry in Path(place).iterdir():
            if "reknit" not in entry.name.lower() and not (installed / entry.name).exists():
                (installed / entry.name).symlink_to(entry)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTEST_", "PYTHON"))}
    return kept | {
        "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))),
        "PYTHONPATH": str(installed),
        "PYTHONUTF8": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # in pip's way of reading it: no isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NO_COLOR": "1",
    }


class Reader:
    """Goes through the blocks of one page, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = workshop(folder)
        self._environment = environment(folder)

    def read(self, page: Path) -> None:
        """Hold every block of a page to what it says."""
        shown: tuple[Block, str] | None = None
        for block in blocks_of(page):
            if block.kind == "text" and len(block.words) == 1:
                assert shown is not None, f"{block.where}: the output of nothing"
                compare(block, shown[1])
                shown = None
                continue
            _nothing_unsaid(shown)
            shown = (block, self._run(block)) if block.kind in ("sh", "python") else None
            if shown is None:
                self._hold(block)
        _nothing_unsaid(shown)

    def _hold(self, block: Block) -> None:
        name = block.option("save")
        if block.kind == "reknit" and name is not None:
            (self.folder / name).write_text(block.text, "utf-8")
        elif block.kind == "reknit" and len(block.words) == 2:
            whole = (self.folder / block.words[1]).read_text("utf-8")
            assert f"\n{block.text}" in f"\n{whole}", f"{block.where}: does not stand in {block.words[1]}"
        elif block.kind == "text" and (name := block.option("within")) is not None:
            rest = (self.folder / name).read_text("utf-8")
            for line in block.text.splitlines():
                assert line in rest, f"{block.where}: `{line}` does not stand in {name}, or not in this order"
                rest = rest.split(line, 1)[1]
        else:
            assert block.words == ("text", "plain"), f"{block.where}: nobody knows what a block `{block.words}` is"

    def _run(self, block: Block) -> str:
        variables, command = dict(self._environment), ["bash", "-euo", "pipefail", "-c", block.text]
        if block.kind == "python":
            (self.folder / "block.py").write_text(block.text, "utf-8")
            variables["PYTHONPATH"] = ""
            command = [sys.executable, "-W", "error", "block.py"]
        elif "tests" in block.words:
            variables["PYTEST_ADDOPTS"] = "--collect-only -q tests/wire"
            _script(self.folder / ".venv" / "bin" / "pytest")
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS
        )
        wanted = int(block.option("exit") or 0)
        assert done.returncode == wanted, f"{block.where}: exits with {done.returncode}\n{done.stdout}{done.stderr}"
        return "" if "tests" in block.words else done.stdout


def _script(path: Path) -> None:
    # pip installs no command of what is there already.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m pytest "$@"\n', "utf-8")
    path.chmod(0o755)


def _nothing_unsaid(shown: tuple[Block, str] | None) -> None:
    if shown is not None:
        assert not shown[1], f"{shown[0].where}: prints what the page does not show\n{shown[1]}"


def compare(block: Block, got: str) -> None:
    """Hold output to a block."""
    lines = [line.rstrip() for line in got.splitlines()]
    wanted = [line.rstrip() for line in block.text.splitlines()]
    assert re.fullmatch("".join(_patterns(wanted)), "".join(f"{line}\n" for line in lines)), (
        f"{block.where}: something else is printed\n" + "\n".join(lines)
    )


def _patterns(wanted: list[str]) -> Iterator[str]:
    for line in wanted:
        if line == "...":
            yield "(?:.*\n)*?"
        else:
            yield ".*?".join(map(re.escape, line.split("..."))) + "\n"
