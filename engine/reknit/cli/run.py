"""`reknit run`: a stream in, its message out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reknit.cli.screen import Screen, json_printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.message import Message
    from reknit.reconstructor import Reconstructor
    from reknit.updates import Update

_CHUNK: Final = 64 * 1024
_LINES: Final = (".jsonl", ".ndjson")
_FOLDER: Final = click.Path(exists=True, file_okay=False)


@click.command("run", short_help="Show the message of a stream.")
@click.argument("file", metavar="FILE|-")
@click.option("--vendor", metavar="V", help="Whose rules read it: a name, or a rule file. Recognised without it.")
@click.option("--policy", metavar="P", help="Another policy than the vendor's, such as strict.")
@click.option("--with", "fragments", metavar="F", multiple=True, help="A fragment to apply on top; may be repeated.")
@click.option("--tools", metavar="FILE", help="A JSON file with the tools that may be called.")
@click.option("--wire", metavar="W", help="Another framing than the vendor's; one frame a line for .jsonl and .ndjson.")
@click.option("--rules", metavar="DIR", multiple=True, type=_FOLDER, help="A folder with rule files; may be repeated.")
@click.option("--seed", metavar="S", help="From which missing ids are made up; the same seed gives the same ids.")
@click.option("--choice", metavar="N", type=click.IntRange(min=0), help="Which of several alternatives to show.")
@click.option("--json", "as_json", is_flag=True, help="The message as JSON.")
@click.option("--follow", is_flag=True, help="Show it while it grows.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    file: str,
    vendor: str | None,
    policy: str | None,
    fragments: tuple[str, ...],
    tools: str | None,
    wire: str | None,
    rules: tuple[str, ...],
    seed: str | None,
    choice: int | None,
    as_json: bool,
    follow: bool,
    color: bool | None,
) -> None:
    """Rebuild the message of the stream in FILE, or on standard input for `-`.

    Exits with 0 when the message is complete, with 1 when the stream was cut or failed.
    """
    from reknit.reconstructor import Reconstructor
    from reknit.wire import WIRES

    if follow and (as_json or choice):
        other = "--json" if as_json else f"--choice {choice}"
        raise UsageError("follow", f"`--follow` and `{other}` do not go together", f"leave `{other}` out")
    if wire is None and Path(file).suffix in _LINES:
        wire = "ndjson"
    if wire is not None and wire not in WIRES:
        known = ", ".join(f"`{name}`" for name in WIRES)
        raise UsageError("unknown-wire", f"there is no wire `{wire}`", f"use one of {known}")
    reconstructor = Reconstructor(
        vendor,
        None if tools is None else _read_tools(tools),
        policy=policy,
        rules=rules,
        wire=wire,
        seed=seed,
        fragments=fragments,
    )
    screen = Screen(wants_colour(color))
    complete = _follow(reconstructor, file, screen) if follow else _show(reconstructor, file, screen, choice, as_json)
    click.get_current_context().exit(0 if complete else 1)


def _show(reconstructor: Reconstructor, file: str, screen: Screen, choice: int | None, as_json: bool) -> bool:
    from reknit.cli.portrait import show_message

    _drive(reconstructor, file)
    choices = reconstructor.choices
    message = choices.get(choice or 0)
    if message is None:
        known = ", ".join(str(number) for number in choices)
        raise UsageError("choice", f"the stream has no choice {choice}", f"it has {known}")
    if as_json:
        others = {} if choice is not None else {number: one for number, one in choices.items() if number != 0}
        click.echo(_as_json(message, others))
    else:
        show_message(screen, message)
        rest = [number for number in choices if number != (choice or 0)]
        if rest:
            screen.write(f"choices   also {', '.join(map(str, rest))}; see --choice", dim=True)
    return message.complete


def _follow(reconstructor: Reconstructor, file: str, screen: Screen) -> bool:
    from reknit.cli.follower import Follower

    follower = Follower(screen)
    message = _drive(reconstructor, file, follower.take)
    follower.end(message)
    return message.complete


def _drive(
    reconstructor: Reconstructor, file: str, take: Callable[[Sequence[Update]], None] = lambda updates: None
) -> Message:
    """Feed the whole stream as it arrives; a transport that fails leaves what was rebuilt."""
    with _opened(file) as stream:
        read: Any = getattr(stream, "read1", stream.read)  # whatever has arrived, without waiting for more
        while True:
            try:
                chunk = read(_CHUNK)
            except OSError as error:
                message = reconstructor.fail(error)
                break
            if not chunk:
                message = reconstructor.close()
                break
            take(reconstructor.feed(chunk))
    take(reconstructor.last_updates)
    return message


def _opened(file: str) -> Any:
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(file, "rb")  # the caller closes it
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(
        "unreadable", f"`{file}` cannot be read: {reason.lower()}", "give a file, or `-` for standard input"
    )


def _read_tools(file: str) -> list[Any]:
    help = 'give a JSON list of {"name", "description", "input_schema"}'
    try:
        data = json.loads(Path(file).read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError("tools-file", f"the tools in `{file}` cannot be read: {reason}", help) from None
    except (ValueError, RecursionError) as error:
        raise UsageError("tools-file", f"`{file}` is not JSON: {error}", help) from None
    tools = data.get("tools") if isinstance(data, dict) else data
    if not isinstance(tools, list):
        raise UsageError("tools-file", f"`{file}` holds no list of tools", help)
    return tools


def _as_json(message: Message, others: dict[int, Message]) -> str:
    data = message.model_dump(mode="json")
    if others:
        data["choices"] = {str(number): one.model_dump(mode="json") for number, one in others.items()}
    return json_printable(json.dumps(data, ensure_ascii=False, indent=2))
