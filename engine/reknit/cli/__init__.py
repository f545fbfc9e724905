"""The command `reknit`: one thin module a command, imported when the command is used.

Exit codes: 0; 1 when there is something to tell (a stream that was cut or failed, findings, failed tests); 2 for wrong
use, with one clear sentence; 130 after Ctrl-C; 141 when the reader of the output has gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import click

from reknit.cli.screen import printable
from reknit.errors import RulesError, UsageError

COMMANDS: Final[dict[str, str]] = {
    "check": "reknit.cli.check",
    "coverage": "reknit.cli.coverage",
    "diff": "reknit.cli.diff",
    "explain": "reknit.cli.explain",
    "fmt": "reknit.cli.fmt",
    "graph": "reknit.cli.graph",
    "run": "reknit.cli.run",
    "table": "reknit.cli.table",
    "test": "reknit.cli.test",
}
"""The module of each command; it holds it under the name `command`."""

WRONG_USE: Final = 2
INTERRUPTED: Final = 130
NO_READER: Final = 141


class Refusal(click.ClickException):
    """Wrong use, said in one sentence with the way out."""

    exit_code = WRONG_USE

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help

    def show(self, file: Any = None) -> None:
        """Say it on standard error."""
        click.echo(f"error: {printable(self.message)}", file=file, err=True)
        if self.help:
            click.echo(f"help: {printable(self.help)}", file=file, err=True)


class Commands(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(module).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the caller did wrong is told, and a reader that has gone is left in peace."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except UsageError as error:
            message = str(error).removesuffix(f"\nhelp: {error.help}")
            raise Refusal(message, error.help) from None
        except RulesError as error:
            click.echo(error.report, err=True, nl=False)
            ctx.exit(WRONG_USE)
        except BrokenPipeError:
            _leave_quietly()
            ctx.exit(NO_READER)
        return result


def _leave_quietly() -> None:
    """Point standard output nowhere, so that what is still in its buffer offends nobody at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from reknit import __version__

        click.echo(f"reknit {__version__}")
        ctx.exit()


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Rebuild one structured message from any model's delta stream, by rules."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal or pipe cannot say is spelt out, rather than being a reason to stop.
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = cli.main(arguments, prog_name="reknit", standalone_mode=False)
    except click.Abort:
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)
