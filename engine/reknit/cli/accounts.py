"""Events, cells and rules as a person reads about them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from reknit.cli.screen import Screen, indented, printable
from reknit.explain.accounts import CellAccount, Deed, EventAccount, FieldAccount, RuleAccount, Taking
from reknit.explain.patterns import Pattern
from reknit.explain.sites import SAID, Site
from reknit.explain.subject import Subject
from reknit.explain.wanted import group_of
from reknit.table import ActionSpec

_WIDTH: Final = 100
_VERBS: Final = {"add": "added", "override": "overridden", "remove": "removed"}


def action_text(action: ActionSpec) -> str:
    """An action as a rule file says it; a flush is marked."""
    return " ".join([action.verb, *action.words]) + (" (flush)" if action.flush else "")


class AccountScreen:
    """Shows accounts.

    Args:
        screen: Where.
        subject: The rules that they are of.
    """

    def __init__(self, screen: Screen, subject: Subject) -> None:
        self._screen = screen
        self._subject = subject

    def show(self, account: EventAccount | CellAccount | RuleAccount) -> None:
        """Show an account."""
        if isinstance(account, EventAccount):
            self._event(account)
        elif isinstance(account, CellAccount):
            self._cells(account)
        else:
            self._rule(account)

    # -- an event ------------------------------------------------------------------------------------------------------

    def _event(self, account: EventAccount) -> None:
        self._head(account.name, account.site)
        said = f"{account.about}: {account.doc}" if account.about in ("any", "ending") else account.doc
        self._screen.write(f"  about {said or 'the message as a whole'}")
        if account.fields:
            self._title("fields")
            for field in account.fields:
                self._question(field, f"{field.name}: {field.type}{'?' if field.optional else ''}")
        if account.asks:
            self._title("asks besides")
            for field in account.asks:
                self._question(field, field.name)
        if account.flushes:
            self._title("archived before it, or before what it opens")
            for site in account.flushes:
                self._screen.write(indented(printable(site.text)), end="")
                self._screen.write(f"  {printable(site.where)}", dim=True)
        self._title("taken by")
        for taking in account.taken:
            self._taking(taking)

    def _question(self, field: FieldAccount, said: str) -> None:
        self._screen.write(f"  {said}", end="", bold=True)
        self._screen.write(f"  {field.doc}", dim=True)
        width = max((len(case) for case in field.cases), default=0) + 6
        for case, meaning in field.cases.items():
            first, *more = textwrap.wrap(meaning, max(_WIDTH - width, 40)) or [""]
            self._screen.write(f"    {case.ljust(width - 4)}{first}")
            for line in more:
                self._screen.write(" " * width + line)

    # -- cells ---------------------------------------------------------------------------------------------------------

    def _cells(self, account: CellAccount) -> None:
        self._screen.write(account.event, bold=True, end="")
        cells = f"{account.possible} cell{'' if account.possible == 1 else 's'}"
        also = f", and {account.impossible} that cannot occur" if account.impossible else ""
        self._screen.write(f"  {cells}{also}", dim=True)
        if not account.taken:
            self._screen.write("  nothing of this can occur")
        for taking in account.taken:
            self._taking(taking)

    def _taking(self, taking: Taking) -> None:
        self._screen.write(f"  {taking.rule}", bold=True, end="")
        said = f"  {printable(taking.site.where)}" if taking.site is not None else ""
        said += "  fallback" if taking.fallback else ""
        self._screen.write(f"{said}  {taking.cells} cell{'' if taking.cells == 1 else 's'}", dim=True)
        apart = any(deed.patterns for deed in taking.deeds)
        if not apart:
            self._patterns(taking.patterns, "    ")
        for deed in taking.deeds:
            if deed.patterns:
                self._patterns(deed.patterns, "    ")
            self._deed(deed, apart)

    def _patterns(self, patterns: Sequence[Pattern], margin: str) -> None:
        last = None
        for pattern in patterns:
            states = group_of(self._subject, pattern.states)
            if states != last and states:
                self._screen.write(f"{margin}in {states}")
            last = states
            text = pattern.text()
            if text:
                self._screen.write(f"{margin}  {text}", fg="cyan")

    def _deed(self, deed: Deed, apart: bool) -> None:
        where = f"from {group_of(self._subject, deed.states)}: " if deed.states else ""
        self._screen.write(f"    {'  ' if apart else ''}{where}", end="")
        self.actions(deed.actions)
        self._screen.write(f" -> {deed.to}" if deed.to else " (stays)")

    def actions(self, actions: Iterable[ActionSpec]) -> None:
        """Write actions on the line, flushes apart from what the rule itself says."""
        written = False
        for action in actions:
            self._screen.write("; " if written else "", end="")
            self._screen.write(action_text(action), end="", fg="magenta" if action.flush else "green")
            written = True
        if not written:
            self._screen.write("nothing", end="", dim=True)

    # -- a rule --------------------------------------------------------------------------------------------------------

    def _rule(self, account: RuleAccount) -> None:
        last = account.history[-1] if account.history else None
        self._head(f"{account.kind} {printable(account.name, keep='')}", last)
        for site in account.history:
            self._site(site)
        for taking in account.taken:
            self._title(f"on {taking.event}")
            self._taking(taking)
        if account.tests is not None:
            self._title("tests that make it fire")
            for title, where in account.tests:
                self._screen.write(f'  "{printable(title)}"', end="")
                self._screen.write(f"  {printable(where)}", dim=True)
            if not account.tests:
                self._screen.write("  none in this file", dim=True)

    def _site(self, site: Site) -> None:
        if site.verb == SAID:
            self._title(f"stands in {printable(site.where)}")
        else:
            self._title(f"{_VERBS[site.verb]} by quirk {site.quirk} of {printable(site.where)}")
            self._screen.write(f'  "{printable(site.reason)}"', dim=True)
        self._screen.write(indented(printable(site.text)))

    def _head(self, said: str, site: Site | None) -> None:
        self._screen.write(said, bold=True, end="")
        self._screen.write(f"  {printable(site.where)}" if site is not None else "", dim=True)

    def _title(self, said: str) -> None:
        self._screen.write()
        self._screen.write(said, bold=True)
