"""Rule files out of git: what stood in a revision, read blob by blob, and nothing of the repository is touched."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from reknit.diff.collection import Collection, gathered
from reknit.errors import UsageError
from reknit.lang.diagnostics import Diagnostic
from reknit.lang.files import SUFFIX, FileLoader, Loaded, TextLoader
from reknit.lang.tokens import MAX_BYTES

_RANGE: Final = re.compile(r"(?P<old>.*?)(?P<dots>\.{2,3})(?P<new>.*)")
WORKING_TREE: Final = "the working tree"


class Range(NamedTuple):
    """Two revisions; None for the files as they are on disk."""

    old: str
    new: str | None


def as_range(text: str) -> tuple[str, str, bool] | None:
    """The two ends of `A..B`, `A..`, `..B` or `A...B`, and whether the merge base is meant; None for anything else."""
    match = _RANGE.fullmatch(text)
    # `../rules` and `a/../b` are paths: a range has no separator right after its dots.
    if (
        match is None
        or match["new"].startswith("/")
        or match["old"].endswith("/")
        or not (match["old"] or match["new"])
    ):
        return None
    return match["old"] or "HEAD", match["new"] or "HEAD", len(match["dots"]) == 3


class Repository:
    """The repository of a folder.

    Raises:
        UsageError: The folder is in none, or git is not there.
    """

    def __init__(self, folder: Path, wanted: str) -> None:
        self._folder = folder
        try:
            self.root = Path(os.fsdecode(self._git("rev-parse", "--show-toplevel")).rstrip("\n"))
        except UsageError:
            help = "name two files or folders, or go into a repository"
            message = f"`{wanted}` names revisions, and `{folder}` is in no git repository"
            raise UsageError("no-repository", message, help) from None

    def commit(self, revision: str) -> str:
        """The hash of a revision.

        Raises:
            UsageError: There is no such revision.
        """
        try:
            if revision.startswith("-"):
                raise UsageError("unknown-revision", revision)
            found = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        except UsageError:
            help = "see `git branch --all` and `git log --oneline` for those that there are"
            raise UsageError("unknown-revision", f"git knows no revision `{revision}`", help) from None
        return found.decode("ascii").strip()

    def merge_base(self, one: str, two: str) -> str:
        """The commit at which two commits part."""
        try:
            return self._git("merge-base", one, two).decode("ascii").strip()
        except UsageError:
            raise UsageError("no-merge-base", f"`{one}` and `{two}` have nothing in common") from None

    def files(self, commit: str, paths: Sequence[str]) -> list[str]:
        """The rule files of a commit under some paths, which are those of the caller's folder; all without any."""
        listed = self._git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name.endswith(SUFFIX.encode())]
        wanted = [self._inside(path) for path in paths]
        return [name for name in names if not wanted or any(_under(name, path) for path in wanted)]

    def on_disk(self, paths: Sequence[str]) -> list[str]:
        """The rule files of the working tree under some paths, those that git tracks or would."""
        listed = self._git(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", str(self.root)
        )
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name.endswith(SUFFIX.encode())]
        wanted = [self._inside(path) for path in paths]
        chosen = [name for name in names if not wanted or any(_under(name, path) for path in wanted)]
        return [name for name in dict.fromkeys(chosen) if (self.root / name).is_file()]

    def text(self, commit: str, path: str) -> str:
        """What stands in a file of a commit; what is no text reads as something that no check passes."""
        return self._git("show", "--no-textconv", f"{commit}:{path}")[: MAX_BYTES + 1].decode("utf-8", "replace")

    def _inside(self, path: str) -> str:
        """A path of the caller's folder as one of the repository."""
        whole = os.path.relpath(os.path.realpath(self._folder / path), os.path.realpath(self.root))
        if whole.startswith(".."):
            raise UsageError("outside", f"`{path}` is outside of the repository", f"its root is `{self.root}`")
        return "" if whole == "." else whole.replace(os.sep, "/")

    def _git(self, *arguments: str) -> bytes:
        try:
            done = subprocess.run(
                ["git", "--no-pager", "-C", str(self._folder), *arguments], capture_output=True, check=False
            )
        except OSError as error:
            raise UsageError("no-git", f"git cannot be run: {(error.strerror or str(error)).lower()}") from None
        if done.returncode != 0:
            raise UsageError("git", done.stderr.decode("utf-8", "replace").strip())
        return done.stdout


def _under(name: str, path: str) -> bool:
    return not path or name == path or name.startswith(f"{path}/")


class BlobLoader:
    """Rule files of one folder of a commit; what is not there by name is looked for among those that are shipped.

    Args:
        texts: What stands in each file of the folder, by the name to show for it.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = TextLoader(texts)
        self._shipped = FileLoader()

    def load(self, name_or_path: str, kind: str | None = None) -> Loaded | Diagnostic:
        """Give a rule file by its name, or by the name to show for it."""
        found = self._texts.load(name_or_path, kind)
        if isinstance(found, Diagnostic) and not name_or_path.endswith(SUFFIX):
            shipped = self._shipped.load(name_or_path, kind)
            return found if isinstance(shipped, Diagnostic) else shipped
        return found


def at_commit(
    repository: Repository, commit: str, shown: str, paths: Sequence[str], policy: str | None = None
) -> Collection:
    """The rule files of a commit.

    Args:
        repository: Where it is.
        commit: Its hash.
        shown: What to call it.
        paths: Files and folders to look in; all without any.
        policy: A policy to use instead of those that vendors name.
    """
    chosen = repository.files(commit, paths)
    folders = {name.rpartition("/")[0] for name in chosen}
    # What a file builds on stands beside it, whether or not it was asked for.
    beside = [name for name in repository.files(commit, ()) if name.rpartition("/")[0] in folders]
    texts = {f"{shown}:{name}": repository.text(commit, name) for name in beside}
    loaders: dict[str, BlobLoader] = {}

    def loader(argument: str) -> BlobLoader:
        folder = argument.rpartition("/")[0] if "/" in argument else f"{shown}:"
        if folder not in loaders:
            loaders[folder] = BlobLoader({name: text for name, text in texts.items() if _folder(name, shown) == folder})
        return loaders[folder]

    arguments = {f"{shown}:{name}": name.rpartition("/")[0] for name in chosen}
    return gathered(shown, arguments, loader, policy)


def _folder(name: str, shown: str) -> str:
    return name.rpartition("/")[0] if "/" in name else f"{shown}:"


def in_working_tree(repository: Repository, paths: Sequence[str], policy: str | None = None) -> Collection:
    """The rule files of the working tree, as they are on disk."""
    root = os.path.relpath(repository.root)
    arguments = {f"{root}/{name}": name.rpartition("/")[0] for name in repository.on_disk(paths)}
    return gathered(WORKING_TREE, arguments, lambda argument: FileLoader(start=Path(argument).parent), policy)
