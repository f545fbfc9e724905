"""`reknit table`: the compiled table of a rule file, to read or to keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reknit.cli.screen import Screen, printable, wants_colour
from reknit.errors import UsageError

if TYPE_CHECKING:
    from reknit.explain.patterns import Space
    from reknit.table import EventSpec, Outcome, PolicyTable, Table

_FOLDER: Final = click.Path(exists=True, file_okay=False)
_SAVED: Final = ".json"
SCHEMA: Final = Path(__file__).parent.parent / "table_schema.json"
"""The published schema of a saved table."""


@click.command("table", short_help="Show the compiled table of a rule file.")
@click.argument("file", required=False, metavar="FILE")
@click.option("--event", metavar="E", help="All cells of one event.")
@click.option("--policy", metavar="P", help="Another policy than the vendor's, such as strict.")
@click.option("--with", "fragments", metavar="F", multiple=True, help="A fragment to apply on top; may be repeated.")
@click.option("--rules", metavar="DIR", multiple=True, type=_FOLDER, help="A folder with rule files; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="The table as JSON, to be kept and run without its rule files.")
@click.option("--schema", is_flag=True, help="The JSON schema of a kept table, and nothing else.")
@click.option("--color/--no-color", default=None, help="Colours; by default on a terminal.")
def command(
    file: str | None,
    event: str | None,
    policy: str | None,
    fragments: tuple[str, ...],
    rules: tuple[str, ...],
    as_json: bool,
    schema: bool,
    color: bool | None,
) -> None:
    """Show what FILE compiles to: states, events, outcomes, maps, and how many cells there are.

    FILE is a rule file, the name of a shipped one, or a table that `--json` wrote. Exits with 0, or with 2 when the
    file does not pass the checks.
    """
    if schema:
        click.echo(SCHEMA.read_text(encoding="utf-8"), nl=False)
        return
    if file is None:
        raise UsageError("no-file", "the table of what?", "give a rule file, or the name of a shipped one")
    table = saved_table(file) if file.endswith(_SAVED) else _compiled(file, policy, fragments, rules)
    if as_json:
        click.echo(table.to_json())
        return
    screen = Screen(wants_colour(color))
    if event is None:
        _show(screen, table)
    else:
        _show_event(screen, table.policy, event)


def _compiled(file: str, policy: str | None, fragments: tuple[str, ...], rules: tuple[str, ...]) -> Table:
    from reknit.cli.subjects import subject_for
    from reknit.trial import prepare

    folders = [Path(folder) for folder in rules]
    found = subject_for(file, policy, folders, fragments).table or prepare(file, folders).table()
    assert found is not None, "a policy that compiles has a table of its own"
    return found


def saved_table(file: str) -> Table:
    """Read a table that was kept.

    Raises:
        UsageError: It cannot be read, or is none.
    """
    from reknit.errors import TableError
    from reknit.table import load

    try:
        return load(Path(file).read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError("unreadable", f"`{file}` cannot be read: {reason}", "give a table, or a rule file") from None
    except TableError as error:
        raise UsageError("no-table", f"`{file}`: {error}", "`reknit table RULES --json` writes one") from None


def _show(screen: Screen, table: Table) -> None:
    from reknit.cli.accounts import action_text
    from reknit.cli.check import counted

    policy, program = table.policy, table.program
    cells = _counts(policy)
    rules = {outcome.rule for outcome in policy.outcomes}
    said = [f"{len(policy.states)} states", f"{len(policy.events)} events", f"{len(rules)} rules"]
    said += [f"{len(policy.outcomes)} outcomes", f"{sum(cells.values())} cells"]
    screen.write(f"policy {policy.name}", bold=True, end="")
    screen.write(f"  {', '.join(said)}")
    if program.maps:
        said = [f"protocol {program.protocol}", f"wire {program.wire}", f"{len(program.maps)} maps"]
        screen.write(f"vendor {program.name}", bold=True, end="")
        screen.write(f"  {', '.join(said)}")
    screen.write("fingerprint", bold=True, end="")
    screen.write(f"  {table.fingerprint}, rule language {table.language}")
    _title(screen, "states")
    for state in policy.states:
        holds = ", ".join(f"{one.kind}{'*' if one.many else ''}" for one in state.holds)
        flag = f"  {state.flag}" if state.flag else ""
        screen.write(f"  {state.name.ljust(12)}{'holds ' + holds if holds else 'holds nothing'}{flag}")
    _title(screen, "events")
    for spec in policy.events.values():
        rows = policy.cells[spec.name].values()
        asked = " x ".join(f"{question.name} {len(question.cases)}" for question in spec.questions) or "nothing asked"
        possible = sum(number >= 0 for row in rows for number in row)
        screen.write(f"  {spec.name.ljust(18)}{asked}", end="")
        screen.write(f"  {counted(possible, 'cell')}", dim=True)
    if program.maps:
        _title(screen, "maps")
        for one in program.maps:
            events = ", ".join(emit.event for emit in one.emits) or "nothing"
            screen.write(f"  {one.name.ljust(18)}{printable(' else '.join(one.at), keep='')} -> {events}")
    _title(screen, "outcomes")
    for number, outcome in enumerate(policy.outcomes):
        actions = "; ".join(action_text(action) for action in outcome.actions) or "nothing"
        screen.write(f"  {str(number).rjust(3)}  {outcome.rule.ljust(24)}{actions} -> {outcome.to}", end="")
        screen.write(f"  {counted(cells.get(number, 0), 'cell')}", dim=True)


def _show_event(screen: Screen, policy: PolicyTable, name: str) -> None:
    from reknit.cli.accounts import action_text
    from reknit.cli.check import counted
    from reknit.explain.patterns import Space
    from reknit.lang.diagnostics import suggestion

    spec: EventSpec | None = policy.events.get(name)
    if spec is None:
        help = suggestion(name, policy.events, 40) or ""
        raise UsageError("unknown-event", f"policy `{policy.name}` has no event `{name}`", help)
    space = Space(spec, policy)
    found: dict[Outcome, int] = {}
    for (_, number), count in space.outcomes_in(space.possible()).items():
        found[policy.outcomes[number]] = found.get(policy.outcomes[number], 0) + count
    screen.write(name, bold=True, end="")
    screen.write(f"  {sum(found.values())} cells")
    for outcome, count in found.items():
        actions = "; ".join(action_text(action) for action in outcome.actions) or "nothing"
        screen.write(f"  {outcome.rule}", bold=True, end="")
        screen.write(f"  {actions} -> {outcome.to}", end="")
        screen.write(f"  {counted(count, 'cell')}", dim=True)
        for pattern in space.patterns(_cells(space, outcome, policy)):
            states = ", ".join(pattern.states)
            screen.write(f"    {f'in {states} ' if states else ''}{pattern.text()}".rstrip(), fg="cyan")


def _cells(space: Space, outcome: Outcome, policy: PolicyTable) -> int:
    return space.where(lambda _, one: one == outcome, policy.outcomes)


def _counts(policy: PolicyTable) -> dict[int, int]:
    """How many cells have each outcome."""
    counts: dict[int, int] = {}
    for by_state in policy.cells.values():
        for row in by_state.values():
            for number in row:
                if number >= 0:
                    counts[number] = counts.get(number, 0) + 1
    return counts


def _title(screen: Screen, said: str) -> None:
    screen.write()
    screen.write(said, bold=True)
