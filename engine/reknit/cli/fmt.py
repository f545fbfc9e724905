"""`reknit fmt`: rule files in their canonical form."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from reknit.cli.screen import Screen, printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.lang.diagnostics import Diagnostic

_STDIN: Final = "-"
_SHOWN: Final = "<stdin>"
_MOST_LINES: Final = 20
"""So many changed lines of a file are shown by `--check`; `--diff` shows all."""


class _Formed(NamedTuple):
    """A file and what it is to be: `form` is None where it has errors."""

    path: str
    source: str
    text: str
    form: str | None
    found: Sequence[Diagnostic] = ()

    @property
    def changes(self) -> bool:
        return self.form is not None and self.form != self.text


@click.command("fmt", short_help="Bring rule files into their one form.")
@click.argument("paths", nargs=-1, metavar="PATH...|-")
@click.option("--check", is_flag=True, help="Write nothing; tell which files would change, and how.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change as a patch.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(paths: tuple[str, ...], check: bool, diff: bool, color: bool | None) -> None:
    """Rewrite rule files in their canonical form; `-` reads standard input and writes to standard output.

    PATH is a file or a folder. Comments are kept, and the result is read again and compared before a byte is written.
    Exits with 0 when all is done or nothing was to do, with 1 when a file has errors or, under --check and --diff,
    would change.
    """
    from reknit.lang.diagnostics import render

    if not paths:
        raise UsageError("no-files", "no file is named", "give files or folders, or `-` for standard input")
    if _STDIN in paths and len(paths) > 1:
        raise UsageError("two-inputs", "`-` stands alone", "give files, or `-`")
    files = [_standard_input()] if paths == (_STDIN,) else [_formed(path) for path in _files(paths)]
    screen = Screen(wants_colour(color))
    if found := [diagnostic for file in files for diagnostic in file.found]:
        click.echo(render(found, {file.source: file.text for file in files}), err=True, nl=False)
    if diff:
        for file in files:
            _show_patch(screen, file)
    elif check:
        for file in files:
            _show_changes(screen, file)
    elif paths == (_STDIN,):
        sys.stdout.buffer.write((files[0].form or "").encode("utf-8"))
    else:
        for file in files:
            if file.form is not None and file.changes:
                _write(file.path, file.form)
                screen.write(f"{printable(file.source)} formatted")
    failed = any(file.form is None or (file.changes and (check or diff)) for file in files)
    click.get_current_context().exit(1 if failed else 0)


def _files(paths: Sequence[str]) -> list[str]:
    from reknit.cli.files import rule_files

    for path in paths:
        if not os.path.lexists(path):
            raise UsageError("no-such-file", f"there is no file or folder `{path}`", "shipped rules are not rewritten")
    return rule_files(paths)


def _formed(path: str) -> _Formed:
    from reknit.lang.diagnostics import Diagnostic
    from reknit.lang.files import FileLoader

    loaded = FileLoader().load(path)
    if isinstance(loaded, Diagnostic):
        return _Formed(path, path, "", None, [loaded])
    return _form(path, loaded.source, loaded.text)


def _standard_input() -> _Formed:
    from reknit.lang.diagnostics import Diagnostic
    from reknit.lang.files import decoded
    from reknit.lang.tokens import MAX_BYTES

    loaded = decoded(sys.stdin.buffer.read(MAX_BYTES + 1), _SHOWN)
    if isinstance(loaded, Diagnostic):
        return _Formed(_STDIN, _SHOWN, "", None, [loaded])
    return _form(_STDIN, loaded.source, loaded.text)


def _form(path: str, source: str, text: str) -> _Formed:
    from reknit.lang.format import format_text

    made = format_text(text, source)
    return _Formed(path, source, text, made) if isinstance(made, str) else _Formed(path, source, text, None, made)


def _write(path: str, form: str) -> None:
    """Put a text in the place of a file, whole or not at all; a link stays one, and the mode stays."""
    target = Path(os.path.realpath(path))
    written = None
    try:
        mode = target.stat().st_mode
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            written = file.name
            file.write(form.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(written, mode & 0o7777)
        os.replace(written, target)
    except OSError as error:
        if written is not None:
            with suppress(OSError):
                os.unlink(written)
        reason = (error.strerror or str(error)).lower()
        raise UsageError("not-written", f"`{path}` cannot be written: {reason}") from error


# -- what would change -------------------------------------------------------------------------------------------------


def _show_patch(screen: Screen, file: _Formed) -> None:
    for line in _patch(file, 3):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        screen.write(printable(line), fg=style if not line.startswith(("+++", "---")) else None)


def _show_changes(screen: Screen, file: _Formed) -> None:
    if not file.changes:
        return
    screen.write(f"{printable(file.source)} would change:")
    lines = [line for line in _patch(file, 0) if line[:1] in "+-" and not line.startswith(("+++ ", "--- "))]
    if not lines:
        screen.write("line ends, or a byte order mark", dim=True)
    for line in lines[:_MOST_LINES]:
        screen.write(printable(line), fg="green" if line.startswith("+") else "red")
    if len(lines) > _MOST_LINES:
        screen.write(f"... and {len(lines) - _MOST_LINES} more lines", dim=True)


def _patch(file: _Formed, context: int) -> Iterator[str]:
    """Give the lines of a patch, as `git apply` takes it."""
    if file.form is None or not file.changes:
        return
    before, after = file.text.splitlines(keepends=True), file.form.splitlines(keepends=True)
    for line in difflib.unified_diff(before, after, f"a/{file.source}", f"b/{file.source}", n=context):
        yield line.rstrip("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
