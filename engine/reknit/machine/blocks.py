"""Blocks while they grow: what the machine holds until the message is asked for."""

from __future__ import annotations

from typing import Any

from reknit.arguments import ArgumentText
from reknit.gather import Gathered, mended, mended_value
from reknit.vocabulary.repairs import Reading, parse


class Prose:
    """A text or thinking block: its text, its signature, its citations."""

    __slots__ = ("citations", "cumulative", "kind", "open", "ordinal", "signature", "text")

    hidden = False

    def __init__(self, kind: str, ordinal: int) -> None:
        self.kind = kind
        self.ordinal = ordinal
        self.open = True
        self.cumulative = False
        self.text = Gathered()
        self.signature: str | None = None
        self.citations: list[Any] | None = None

    def value(self) -> dict[str, Any]:
        """The block as plain data."""
        data: dict[str, Any] = {"type": self.kind, self.kind: mended(self.text.text)}
        if self.signature is not None:
            data["signature"] = mended(self.signature)
        if self.citations is not None:
            data["citations"] = [mended_value(citation) for citation in self.citations]
        return data


class Call:
    """A tool call.

    `hidden` calls stay out of the message: a twin until it is kept, a withdrawn one for good. `first` is the call
    that a twin may repeat; a `doomed` call is invalid for that reason however it reads.
    """

    __slots__ = (
        "args",
        "doomed",
        "executable",
        "first",
        "grade",
        "hidden",
        "id",
        "inferred",
        "input",
        "invalid",
        "made",
        "name",
        "open",
        "ordinal",
        "reading",
        "safety",
        "seal",
        "signature",
    )

    kind = "tool"

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.open = True
        self.id = ""
        self.made = False
        self.name = ""
        self.inferred = False
        self.args = ArgumentText()
        self.hidden = False
        self.first: Call | None = None
        self.doomed: str | None = None
        self.signature: str | None = None
        self.unread()

    def unread(self) -> None:
        """Forget how it ended: it has not, or is judged again."""
        self.seal = "cut"
        self.reading: Reading | None = None
        self.grade: str | None = None
        self.input: dict[str, Any] = {}
        self.invalid: str | None = "truncated"
        self.executable = False
        self.safety = ""

    def value(self) -> dict[str, Any]:
        """The block as plain data."""
        data: dict[str, Any] = {"type": "tool_use", "id": self.id, "name": self.name, "input": self.input}
        if self.invalid is not None:
            data["invalid"] = self.invalid
            data["raw_input"] = mended(self.args.text)
        if self.signature is not None:
            data["signature"] = mended(self.signature)
        return data


class Kept:
    """A block of another kind, kept as it came; argument text that arrives for it becomes its `input`."""

    __slots__ = ("json", "open", "ordinal", "source")

    kind = "opaque"
    hidden = False

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.open = True
        self.source: dict[str, Any] = {}
        self.json = Gathered()

    def fold(self, more: dict[str, Any]) -> None:
        """Fold an object in: texts are appended, lists extended, None left out, other values set."""
        for key, value in more.items():
            held = self.source.get(key)
            if key == "type" and isinstance(held, str):
                continue  # a delta's type is that of the delta
            if isinstance(held, str) and isinstance(value, str):
                self.source[key] = held + value
            elif isinstance(held, list) and isinstance(value, list):
                self.source[key] = [*held, *value]
            elif value is not None or key not in self.source:
                self.source[key] = value

    def value(self) -> dict[str, Any]:
        """The block as plain data."""
        data: dict[str, Any] = mended_value(self.source)
        if not isinstance(data.get("type"), str) or data["type"] in ("text", "thinking", "tool_use"):
            data["type"] = "unknown"
        if self.json.length:
            text = self.json.text
            try:
                data["input"] = mended_value(parse(text))
            except ValueError:
                data["input"] = mended(text)
        if data["type"] == "redacted_thinking" and not isinstance(data.get("data"), str):
            data["type"] = "unknown"
        return data


Growing = Prose | Call | Kept
