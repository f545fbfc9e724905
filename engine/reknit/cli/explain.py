"""`reknit explain`: what a code, an event, a cell or a rule means, and what happened to a stream."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reknit.cli.screen import Screen, json_printable, printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.cli.streams import WatchedFile
    from reknit.explain.sites import Sites

_CODE: Final = re.compile(r"[EW][0-9]{3}")
_FOLDER: Final = click.Path(exists=True, file_okay=False)
_RULES: Final = ".rules"
_DEFAULT: Final = "standard"


@click.command("explain", short_help="Say what rules mean, and what happened to a stream.")
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
@click.option("--in", "states", metavar="STATE", multiple=True, help="Only cells in this state; may be repeated.")
@click.option("--vendor", metavar="V", help="Whose rules: a name, or a rule file. For a stream, recognised without it.")
@click.option("--policy", metavar="P", help="Another policy than the vendor's, such as strict.")
@click.option("--with", "fragments", metavar="F", multiple=True, help="A fragment to apply on top; may be repeated.")
@click.option("--rules", metavar="DIR", multiple=True, type=_FOLDER, help="A folder with rule files; may be repeated.")
@click.option("--tools", metavar="FILE", help="For a stream: a JSON file with the tools that may be called.")
@click.option("--wire", metavar="W", help="For a stream: another framing than the vendor's.")
@click.option("--seed", metavar="S", help="For a stream: from which missing ids are made up.")
@click.option("--html", metavar="FILE", help="For a stream: write one page to look at, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; a stream gives one line for each item of its body.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    what: tuple[str, ...],
    states: tuple[str, ...],
    vendor: str | None,
    policy: str | None,
    fragments: tuple[str, ...],
    rules: tuple[str, ...],
    tools: str | None,
    wire: str | None,
    seed: str | None,
    html: str | None,
    as_json: bool,
    color: bool | None,
) -> None:
    """Explain what WHAT is.

    \b
    E304                              a code of a diagnostic
    [RULES] TEXT_DELTA                an event: what it asks, and which rules take it
    [RULES] 'TEXT_DELTA { text: some }' --in tool
                                      the cells that this means
    [RULES] tool-open                 a rule or map: its text, cells, tests, quirks
    stream.sse                        a stream, event by event

    RULES is a rule file, or the name of a policy, vendor or fragment; without it, the policy standard. Exits with 0;
    for a stream with 1 when it was cut or failed.
    """
    screen = Screen(wants_colour(color))
    if len(what) == 1 and _CODE.fullmatch(what[0]):
        _code(screen, what[0], as_json)
        return
    if len(what) == 1 and (what[0] == "-" or (os.path.isfile(what[0]) and not what[0].endswith(_RULES))):
        from reknit.cli.streams import WatchedFile

        watched = WatchedFile(what[0], vendor, policy, fragments, rules, tools, wire, seed)
        if html is not None:
            complete = _page_of(watched, html)
        else:
            complete = _lines(watched) if as_json else _stream(screen, watched)
        click.get_current_context().exit(0 if complete else 1)
    for option, value in (("--html", html), ("--tools", tools), ("--wire", wire), ("--seed", seed)):
        if value is not None:
            raise UsageError("not-a-stream", f"`{option}` goes with a stream", "give a file with one in it")
    _rules(screen, what, states, vendor, policy, fragments, rules, as_json)


def _code(screen: Screen, code: str, as_json: bool) -> None:
    from reknit.lang.diagnostics import CODES, suggestion

    if code not in CODES:
        raise UsageError("unknown-code", f"there is no code `{code}`", suggestion(code, CODES) or "")
    text = _page(code) or f"{code}: {CODES[code]}\n"
    if as_json:
        click.echo(json.dumps({"code": code, "title": CODES[code], "page": text}, indent=2))
    else:
        screen.write(printable(text), end="")


def _page(code: str) -> str | None:
    try:
        from reknit.lang.pages import page
    except ImportError:
        return None
    text = page(code)
    return None if not text else text if text.endswith("\n") else f"{text}\n"


def _rules(
    screen: Screen,
    what: Sequence[str],
    states: Sequence[str],
    vendor: str | None,
    policy: str | None,
    fragments: Sequence[str],
    folders: Sequence[str],
    as_json: bool,
) -> None:
    from reknit.cli.accounts import AccountScreen
    from reknit.cli.subjects import subject_for
    from reknit.coverage import tests_that_fire
    from reknit.explain.happenings import as_data
    from reknit.explain.wanted import accounts
    from reknit.trial import prepare

    places = [Path(folder) for folder in folders]
    file, rest = vendor or policy or _DEFAULT, list(what)
    if vendor is None and (rest[0].endswith(_RULES) or os.sep in rest[0] or (len(rest) > 1 and _names(rest[0]))):
        file = rest.pop(0)
    if not rest:
        help = f"give an event, a cell or the name of a rule, as in `reknit explain {file} TEXT_DELTA`"
        raise UsageError("what", f"what of `{file}` is to be explained?", help)
    subject = subject_for(file, policy if file != policy else None, places, fragments)
    text = " ".join(rest).strip()
    found = accounts(subject, text, states, lambda rule: tests_that_fire(prepare(file, places), rule))
    if as_json:
        data = [{"what": type(one).__name__.removesuffix("Account").lower(), **as_data(one)} for one in found]
        click.echo(json_printable(json.dumps(data if len(data) > 1 else data[0], ensure_ascii=False, indent=2)))
        return
    for number, one in enumerate(found):
        if number:
            screen.write()
        AccountScreen(screen, subject).show(one)


def _names(word: str) -> bool:
    """Whether a word can be the name of a rule file: events are written in capitals."""
    return re.fullmatch(r"[a-z][a-z0-9_-]*", word) is not None


def _stream(screen: Screen, watched: WatchedFile) -> bool:
    from reknit.cli.passages import PassageScreen
    from reknit.cli.portrait import show_end, show_note

    shown: PassageScreen | None = None
    for passage in watched.passages():
        if shown is None:
            shown = PassageScreen(screen, watched.sites)
        shown.show(passage)
    message = watched.tracing.message
    screen.write()
    show_end(screen, message)
    for note in message.notes:
        show_note(screen, note)
    if message.fingerprint:
        screen.write(f"{message.vendor}, policy {_policy_of(watched)}, {message.fingerprint}", dim=True)
    return message.complete


def _lines(watched: WatchedFile) -> bool:
    from reknit import __version__
    from reknit.explain.happenings import as_data
    from reknit.table import LANGUAGE

    for passage in watched.passages():
        data = as_data(passage)
        for happening in data["events"]:
            _place(happening, watched.sites)
        click.echo(json_printable(json.dumps(data, ensure_ascii=False)))
    message = watched.tracing.message
    end = {
        "kind": "message",
        "message": message.model_dump(mode="json"),
        "policy": _policy_of(watched),
        "reknit": __version__,
        "language": LANGUAGE,
    }
    click.echo(json_printable(json.dumps(end, ensure_ascii=False)))
    return message.complete


def _place(happening: dict[str, Any], sites: Sites | None) -> None:
    """Say beside each rule and map where it stands."""
    for kind in ("rule", "map", "split"):
        site = sites.find(kind, happening[kind]) if sites is not None and happening[kind] else None
        happening[f"{kind}_at"] = site.where if site is not None else None
    for ended in happening["ended"]:
        _place(ended, sites)


def _policy_of(watched: WatchedFile) -> str | None:
    table = watched.tracing.table
    return table.policy.name if table is not None else None


def _page_of(watched: WatchedFile, html: str) -> bool:
    from reknit.explain.page import page_of

    passages = list(watched.passages())
    text = page_of(watched.name, passages, watched.tracing.message, watched.tracing.table, watched.sites)
    try:
        Path(html).write_text(text, encoding="ascii")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError("unwritable", f"`{html}` cannot be written: {reason}", "give another file") from None
    click.echo(f"{html}: {len(passages)} items", err=True)
    return watched.tracing.message.complete
