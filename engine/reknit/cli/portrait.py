"""A message as a person sees it: its blocks, then how it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from reknit.cli.screen import Screen, indented, json_printable, printable
from reknit.message import Message, Note, ToolUse

_USAGE: Final = (
    ("input", "input_tokens"),
    ("cache read", "cache_read_tokens"),
    ("cache write", "cache_write_tokens"),
    ("output", "output_tokens"),
    ("reasoning", "reasoning_tokens"),
)


def show_message(screen: Screen, message: Message) -> None:
    """Show all of a message."""
    for block in message.content:
        facts: dict[str, Any] = {}
        verdict = message.verdicts.get(block.id) if isinstance(block, ToolUse) else None
        if verdict is not None:
            facts = verdict.model_dump()
        show_block(screen, block.model_dump(mode="json"), facts)
        screen.write()
    show_end(screen, message)
    for note in message.notes:
        show_note(screen, note)


def show_block(screen: Screen, block: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Show a block, given as plain data; `facts` is the verdict on a call."""
    kind = block.get("type")
    if kind == "tool_use":
        _show_call(screen, block, facts)
    elif kind == "text":
        _show_prose(screen, "text", str(block.get("text", "")), block)
    elif kind == "thinking":
        _show_prose(screen, "thinking", str(block.get("thinking", "")), block)
    elif kind == "redacted_thinking":
        screen.write("redacted thinking", bold=True)
        screen.write(f"  {len(str(block.get('data', '')))} characters, encrypted", dim=True)
    else:
        screen.write(printable(str(kind), keep=""), bold=True)
        screen.write(_json({key: value for key, value in block.items() if key != "type"}))


def _show_prose(screen: Screen, heading: str, text: str, block: Mapping[str, Any]) -> None:
    screen.write(f"{heading} (signed)" if block.get("signature") is not None else heading, bold=True)
    if text:
        screen.write(indented(printable(text)), dim=heading == "thinking")
    for citation in block.get("citations") or ():
        screen.write("  cited", dim=True)
        screen.write(_json(citation, "    "), dim=True)


def _show_call(screen: Screen, block: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    show_heading(screen, block.get("name"), block.get("id"), made=bool(facts.get("made_id")))
    invalid = block.get("invalid")
    if invalid is None or block.get("input"):
        screen.write(_json(block.get("input", {})))
    if facts:
        said = [str(facts.get("safety")), f"seal {facts.get('seal')}"]
        said += [f"grade {facts['grade']}"] if facts.get("grade") is not None else []
        said += ["name inferred"] if facts.get("inferred_name") else []
        said += [] if facts.get("executable") else ["not executable"]
        screen.write(f"  {', '.join(said)}", dim=True)
    if invalid is not None:
        screen.write(f"  invalid: {invalid}", fg="red")
        if block.get("raw_input"):
            screen.write("  as it came", fg="red")
            screen.write(indented(printable(str(block["raw_input"])), "    "), fg="red")


def show_heading(screen: Screen, name: Any, ident: Any, made: bool = False) -> None:
    """Show which call it is."""
    screen.write(f"call {printable(str(name), keep='') or '(no name)'}", end="", bold=True)
    if ident:
        screen.write(f"  {printable(str(ident), keep='')}{' (made up)' if made else ''}", end="", dim=True)
    screen.write()


def show_end(screen: Screen, message: Message) -> None:
    """Show how a message ended: stop reason, whether it is complete, usage, error, and how many notes there are."""
    reason = "none" if message.stop_reason is None else printable(message.stop_reason, keep="")
    _line(screen, "stop", reason)
    _line(screen, "complete", "yes" if message.complete else "no", **({} if message.complete else {"fg": "red"}))
    counts = [(word, getattr(message.usage, field)) for word, field in _USAGE]
    said = ", ".join(f"{word} {count}" for word, count in counts if count is not None)
    _line(screen, "usage", said or "not reported")
    if message.error is not None:
        error = message.error
        code = f" {printable(error.code, keep='')}" if error.code else ""
        said = f": {printable(error.message, keep='')}" if error.message else ""
        _line(screen, "error", f"{error.kind}{code}{said}", fg="red")
    _line(screen, "notes", str(len(message.notes)) if message.notes else "none")


def _line(screen: Screen, word: str, said: str, **style: Any) -> None:
    screen.write(word.ljust(10), end="", bold=True)
    screen.write(said, **style)


def show_note(screen: Screen, note: Note) -> None:
    """Show a note in one line."""
    where = f", block {note.block + 1}" if note.block is not None else ""
    often = f", {note.count} times" if note.count > 1 else ""
    shown = f": {printable(note.first, keep='')}" if note.first else ""
    screen.write(f"  {printable(note.reason, keep='')}", end="", fg="yellow")
    screen.write(f" ({printable(note.rule, keep='')}{where}{often}){shown}", dim=True)


def _json(value: Any, margin: str = "  ") -> str:
    return indented(json_printable(json.dumps(value, ensure_ascii=False, indent=2)), margin)
