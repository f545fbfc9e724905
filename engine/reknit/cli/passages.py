"""What happened to a stream, as a person follows it: item by item, event by event."""

from __future__ import annotations

import json
from typing import Any, Final

from reknit.cli.accounts import action_text
from reknit.cli.screen import Screen, printable
from reknit.excerpt import excerpt
from reknit.explain.happenings import DETECTION, Happening, Passage
from reknit.explain.sites import Sites
from reknit.message import Note

_SHOWN: Final = 160
_SAID: Final = {"close": "the body ends", DETECTION: "the protocol is recognised", "unread": "not read any more"}


class PassageScreen:
    """Shows passages.

    Args:
        screen: Where.
        sites: Where rules and maps stand; None where that is not known.
    """

    def __init__(self, screen: Screen, sites: Sites | None) -> None:
        self._screen = screen
        self._sites = sites

    def show(self, passage: Passage) -> None:
        """Show an item of the body, and what came of it."""
        screen = self._screen
        screen.write(f"{passage.number} {_SAID.get(passage.kind, passage.kind)}", bold=True, end="")
        shown = passage.news if len(passage.news) <= _SHOWN else passage.news[: _SHOWN - 1] + "…"
        screen.write(f"  {printable(shown, keep='')}" if shown else "", dim=True)
        for note in passage.notes:
            self._note(note, "  ")
        if not passage.mapped:
            screen.write("  no map takes it", fg="yellow")
        elif passage.ignored is not None:
            screen.write(f"  carries nothing on purpose: ignore {passage.ignored}", end="", dim=True)
            screen.write(self._where("ignore", passage.ignored), dim=True)
        elif not passage.events and passage.kind == "frame" and not passage.held:
            screen.write("  no event comes of it", dim=True)
        for happening in passage.events:
            self._happening(happening, "  ")
        for name, text in passage.held.items():
            screen.write(f"  split {name} holds back {_value(text)}", fg="blue")

    def _happening(self, one: Happening, margin: str) -> None:
        screen = self._screen
        if one.call is not None:
            name, ident = one.call[1] or "(no name)", one.call[0]
            screen.write(f"{margin}{one.event}", bold=True, end="")
            screen.write(f"  call {printable(name, keep='')} {printable(ident, keep='')}", end="")
        else:
            screen.write(f"{margin}{one.event}", bold=True, end="")
            screen.write(f" {fields_text(one.fields)}" if one.fields else "", end="")
        whence = self._whence(one)
        screen.write(f"  {whence}" if whence else "", dim=True)
        if one.answers:
            said = ", ".join(f"{question} {case}" for question, case in one.answers.items())
            screen.write(f"{margin}  {said}", fg="cyan")
        screen.write(f"{margin}  {one.rule or 'the message has grown beyond its bounds: nothing is done'}", end="")
        screen.write(self._where("rule", one.rule), end="", dim=True)
        if one.state:
            moved = f"{one.state} -> {one.to}" if one.to != one.state else f"stays in {one.state}"
            screen.write(f"  {moved}" if one.rule else f"  stays in {one.state}", end="")
        screen.write()
        if one.actions and not one.refused:
            screen.write(f"{margin}    ", end="")
            for number, action in enumerate(one.actions):
                colour = "magenta" if action.flush else "yellow" if action.verb in ("note", "drop") else "green"
                screen.write("; " if number else "", end="")
                screen.write(action_text(action), end="", fg=colour)
            screen.write()
        for ended in one.ended:
            self._happening(ended, f"{margin}    ")
        for note in one.notes:
            self._note(note, f"{margin}    ")

    def _whence(self, one: Happening) -> str:
        said = [f"choice {one.choice}"] if one.choice else []
        if one.split is not None:
            said.append(f"split {one.split}{self._where('split', one.split)}")
        if one.map is not None:
            said.append(f"map {one.map}{self._where('map', one.map)}")
        return ", ".join(said)

    def _where(self, kind: str, name: str) -> str:
        site = self._sites.find(kind, name) if self._sites is not None else None
        return f"  {printable(site.where)}" if site is not None else ""

    def _note(self, note: Note, margin: str) -> None:
        shown = f": {printable(note.first, keep='')}" if note.first else ""
        self._screen.write(f"{margin}note {printable(note.reason, keep='')}", end="", fg="yellow")
        self._screen.write(f" ({printable(note.rule, keep='')}){shown}", dim=True)


def fields_text(fields: dict[str, Any]) -> str:
    """What an event brings, as a rule file says it; long values are cut, secrets taken out."""
    return "{ " + ", ".join(f"{name}: {_value(value)}" for name, value in fields.items()) + " }"


def _value(value: Any) -> str:
    shown = excerpt(value, _SHOWN)
    return printable(json.dumps(shown, ensure_ascii=False) if isinstance(value, str) else shown, keep="")
