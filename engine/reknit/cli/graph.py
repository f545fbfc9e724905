"""`reknit graph`: the states of a policy and what leads from one to another."""

from __future__ import annotations

from pathlib import Path

import click

from reknit.errors import UsageError


@click.command("graph", short_help="Draw the states of a policy.")
@click.argument("name")
@click.argument("other", required=False, metavar="[B]")
@click.option(
    "--mermaid", "form", flag_value="mermaid", default="mermaid", help="As a Mermaid state diagram (default)."
)
@click.option("--dot", "form", flag_value="dot", help="In the DOT language.")
@click.option("--svg", "file", metavar="FILE", help="As a picture, into FILE; `-` for standard output.")
@click.option("--policy", metavar="P", help="A policy to use instead of the one that a vendor names.")
def command(name: str, other: str | None, form: str, file: str | None, policy: str | None) -> None:
    """Draw the states of a policy, or of the one that a vendor uses, and what leads from one to another.

    With B, the difference from NAME to B: what is new, gone or does something else. NAME and B are rule files or names
    of shipped ones.

    Exits with 0, with 2 on wrong use.
    """
    from reknit.diff.collection import on_disk, only
    from reknit.graph import dot, graph_of, graph_of_both, mermaid, svg

    policies = []
    for side in (name,) if other is None else (name, other):
        collection = on_disk(side, policy)
        key = only(collection)
        if key is None:
            raise UsageError("sides", f"`{side}` is a folder", "name one of its files")
        policies.append(collection.side(key).policy)
    graph = graph_of(policies[0]) if len(policies) == 1 else graph_of_both(*policies)
    if file is None:
        click.echo(dot(graph) if form == "dot" else mermaid(graph), nl=False)
    elif file == "-":
        click.echo(svg(graph), nl=False)
    else:
        try:
            Path(file).write_text(svg(graph), encoding="utf-8")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError("svg", f"`{file}` cannot be written: {reason}") from None
