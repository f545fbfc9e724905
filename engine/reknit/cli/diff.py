"""`reknit diff`: what a change of rule files changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reknit.cli.screen import Screen, json_printable, printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.diff.collection import Collection
    from reknit.diff.replay import Replayed
    from reknit.diff.together import Report

SAME, OTHER, MATCHED = 0, 1, 3

_DIRECTIONS: Final = ("loosens", "tightens", "behaviour", "mapping", "usage", "tests", "none")
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "loosens": {"fg": "red", "bold": True},
    "tightens": {"fg": "cyan"},
    "behaviour": {"fg": "yellow"},
    "mapping": {"fg": "yellow"},
    "usage": {"fg": "yellow"},
    "-": {"fg": "red"},
    "+": {"fg": "green"},
    "dim": {"dim": True},
    "head": {"bold": True},
}
_PATHS: Final = "reknit.diff.paths"


class _AfterDashes(click.Command):
    """A command that tells what stood behind `--` apart from what stood before it, as git does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the paths behind `--` aside."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_PATHS] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command("diff", cls=_AfterDashes, short_help="Show what a change of rules changes.")
@click.argument("sides", nargs=-1, metavar="A [B] [-- PATH...]")
@click.option("--policy", metavar="P", help="A policy to use instead of the vendors' own, such as strict.")
@click.option("--replay", metavar="DIR", type=click.Path(exists=True), help="Rebuild the captures in DIR under both.")
@click.option("--vendor", metavar="V", help="Whose rules read the captures; recognised without it.")
@click.option(
    "--fail-on",
    metavar="DIRECTION",
    multiple=True,
    type=click.Choice(_DIRECTIONS),
    help="Exit with 3 on changes in this direction; may be repeated. By default: loosens.",
)
@click.option("--write-tests", metavar="FILE", help="Write what shows the changes into FILE, as rule tests of B.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", help="How to tell.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--witnesses/--no-witnesses", default=True, help="Look for what shows each change; it takes time.")
@click.option("-v", "--verbose", is_flag=True, help="Also what is written otherwise and does the same.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    sides: tuple[str, ...],
    policy: str | None,
    replay: str | None,
    vendor: str | None,
    fail_on: tuple[str, ...],
    write_tests: str | None,
    form: str,
    as_json: bool,
    witnesses: bool,
    verbose: bool,
    color: bool | None,
) -> None:
    """Show what changes from A to B: which cells, maps and classes, in which direction, and what shows it.

    A and B are rule files, names of shipped ones, or folders. A alone stands for what its quirks change against what
    it extends. `main..` and `main..HEAD` are git revisions; `main...` begins where the branches part; `main -- rules/`
    compares a revision with the working tree. Paths behind `--` say where to look.

    Exits with 0 when both do the same, with 1 when they do not, with 3 when a change loosens (or goes in a direction
    of --fail-on), with 2 on wrong use.
    """
    from reknit.diff.data import report_data
    from reknit.diff.markdown import report_markdown
    from reknit.diff.replay import Replay
    from reknit.diff.text import report_lines

    paths: tuple[str, ...] | None = click.get_current_context().meta.get(_PATHS)
    report, before, after = _compared(sides, paths, policy, witnesses)
    replayed: list[Replayed] | None = None
    if replay is not None:
        replayed = list(Replay(before, after, vendor).captures(replay))
    elif vendor is not None:
        raise UsageError("vendor", "`--vendor` says whose captures are replayed", "give `--replay DIR`, too")
    if write_tests is not None:
        _write_tests(report, write_tests)
    form = "json" if as_json else form
    if form == "json":
        click.echo(json_printable(json.dumps(report_data(report, replayed), ensure_ascii=False, indent=2)))
    elif form == "markdown":
        click.echo(printable(report_markdown(report, replayed)), nl=False)
    else:
        screen = Screen(wants_colour(color))
        for line, meant in report_lines(report, replayed, verbose):
            screen.write(printable(line), **_STYLES.get(meant, {}))
    other = not report.same or any(one.partings for one in replayed or ())
    matched = report.directions() & set(fail_on or ("loosens",))
    click.get_current_context().exit(MATCHED if matched else OTHER if other else SAME)


def _compared(
    sides: tuple[str, ...], paths: tuple[str, ...] | None, policy: str | None, witnesses: bool
) -> tuple[Report, Collection, Collection]:
    from reknit.diff.collection import on_disk, only
    from reknit.diff.together import compare_collections, compare_files, compare_with_base

    if not 0 < len(sides) < 3:
        raise UsageError("sides", f"two things are compared, and {len(sides)} are named", "see `reknit diff --help`")
    revisions = _revisions(sides, paths, policy)
    if revisions is not None:
        before, after = revisions
        return compare_collections(before, after, witnesses=witnesses), before, after
    if len(sides) == 1:
        if Path(sides[0]).is_dir():
            raise UsageError("sides", f"`{sides[0]}` is a folder", "name the folder to compare it with, too")
        collection = on_disk(sides[0], policy)
        return compare_with_base(collection, witnesses=witnesses), collection, collection
    before, after = (on_disk(side, policy) for side in sides)
    if only(before) is not None and only(after) is not None and not any(Path(side).is_dir() for side in sides):
        return compare_files(before, after, witnesses=witnesses), before, after
    return compare_collections(before, after, witnesses=witnesses), before, after


def _revisions(
    sides: tuple[str, ...], paths: tuple[str, ...] | None, policy: str | None
) -> tuple[Collection, Collection] | None:
    """Both ends of a range of revisions, or None where files are meant."""
    from reknit.diff.revisions import Repository, as_range, at_commit, in_working_tree

    found = as_range(sides[0])
    if found is None and paths is None:
        return None
    if len(sides) > 1:
        paths = (*sides[1:], *(paths or ()))
    repository = Repository(Path.cwd(), sides[0])
    wanted = paths or ()
    if found is None:
        commit = repository.commit(sides[0])
        return at_commit(repository, commit, sides[0], wanted, policy), in_working_tree(repository, wanted, policy)
    old, new, from_base = found
    commits = [repository.commit(old), repository.commit(new)]
    if from_base:
        commits[0] = repository.merge_base(*commits)
        old = commits[0][:12]
    before, after = (
        at_commit(repository, commit, shown, wanted, policy) for commit, shown in zip(commits, (old, new), strict=True)
    )
    return before, after


def _write_tests(report: Report, place: str) -> None:
    """Write witnesses as rule tests of the side after: one file, or in a folder one for each file that was compared."""
    from reknit.diff.witness_file import witness_files

    texts = {name: text for name, text in witness_files(report) if text.tests}
    folder = Path(place)
    if len(texts) > 1 and not folder.is_dir():
        message = f"tests of {len(texts)} rule files do not go into one"
        raise UsageError("write-tests", message, "give `--write-tests` a folder that is there")
    files = {folder / name if folder.is_dir() else folder: text for name, text in texts.items()}
    for file, text in files.items():
        try:
            file.write_text(text.text, encoding="utf-8")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError("write-tests", f"`{file}` cannot be written: {reason}") from None
        click.echo(f"{text.tests} test{'' if text.tests == 1 else 's'} written to {printable(str(file))}", err=True)
    if not files:
        click.echo("no change has a witness that rule tests can tell: nothing was written", err=True)
