"""What comes out: one message of blocks, its books, and what is known about its faults.

`Message` is plain data: pydantic models that save and load as JSON. Block shapes are those of the Messages
API (content blocks of a response); everything that Reknit knows beside them stands next to the blocks, never inside, so
that a block can be sent back as it is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)

from reknit.vocabulary.words import ErrorKind, Grade, InvalidReason, Seal


class _Sparse(BaseModel):
    """A model whose absent optional parts are left out of its JSON instead of standing there as null."""

    model_config = ConfigDict(frozen=True)

    @model_serializer(mode="wrap")
    def _leave_out_none(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Text(_Sparse):
    """Text for the reader; some vendors sign it, some attach citations."""

    type: Literal["text"] = "text"
    text: str
    signature: str | None = None
    citations: list[Any] | None = None


class Thinking(_Sparse):
    """Reasoning with the signature that proves it, when one came; the two are one atom."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None


class RedactedThinking(_Sparse):
    """Encrypted reasoning, kept byte for byte."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str


class ToolUse(_Sparse):
    """A tool call. An invalid one keeps its place, is never executed, and still owes one (error) result.

    Attributes:
        id: Unique in the message; made up when the vendor sent none.
        name: Empty when it never came and could not be inferred.
        input: The parsed arguments; `{}` when they could not be parsed.
        invalid: Why it must not run, or None.
        raw_input: The argument text as received, on invalid calls.
        signature: What some vendors bind to a call and want back with it.
    """

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]
    invalid: InvalidReason | None = None
    raw_input: str | None = None
    signature: str | None = None


class Opaque(BaseModel):
    """A block of another kind (server tools, their results, kinds yet unknown), kept as it came."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("text", "thinking", "redacted_thinking", "tool_use") else "opaque"


Block: TypeAlias = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Thinking, Tag("thinking")]
    | Annotated[RedactedThinking, Tag("redacted_thinking")]
    | Annotated[ToolUse, Tag("tool_use")]
    | Annotated[Opaque, Tag("opaque")],
    Discriminator(_kind),
]


class Verdict(_Sparse):
    """How far a call can be trusted.

    Attributes:
        grade: How its arguments were read; None when they could not be.
        seal: What proved that they are all there; `cut` when nothing did.
        safety: The class that the rules give it (`read_only`, `side_effect`, ...).
        executable: Sealed, parsed to an object, valid against its schema where tools were given, not invalid.
        made_id: The id was made up here.
        inferred_name: The name was inferred from the arguments.
    """

    grade: Grade | None = None
    seal: Seal
    safety: str
    executable: bool
    made_id: bool = False
    inferred_name: bool = False


class Usage(BaseModel):
    """Tokens of one message; a field that was never reported is None, not 0.

    Attributes:
        input_tokens: Prompt tokens without the cached ones.
        cache_read_tokens: Prompt tokens read from a cache.
        cache_write_tokens: Prompt tokens written to a cache.
        output_tokens: Completion tokens, reasoning included.
        reasoning_tokens: The part of the output that was reasoning.
    """

    model_config = ConfigDict(frozen=True)

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def total_input_tokens(self) -> int | None:
        """Prompt tokens, cached ones included; None when no part was reported."""
        parts = [self.input_tokens, self.cache_read_tokens, self.cache_write_tokens]
        return None if all(part is None for part in parts) else sum(part or 0 for part in parts)


class Note(_Sparse):
    """A record of a repair, a drop or an oddity: one per rule, reason and block.

    Attributes:
        rule: The rule, map or wire step that noted it.
        reason: A kebab-case word.
        block: Position in `content` of the block concerned, or None.
        count: How often it happened.
        first: Excerpt of the first occurrence, bounded and redacted.
        last: Excerpt of the last one, when there were several.
    """

    rule: str
    reason: str
    block: int | None = None
    count: int = 1
    first: str = ""
    last: str | None = None


class StreamFault(BaseModel):
    """Why a stream failed, in words that programs can act on."""

    model_config = ConfigDict(frozen=True)

    kind: ErrorKind
    code: str = ""
    message: str = ""


class Message(BaseModel):
    """One assistant message, rebuilt from one stream.

    Attributes:
        role: Always `assistant`.
        content: Blocks in the order in which the stream opened them.
        stop_reason: end_turn, tool_use, max_tokens, stop_sequence, refusal, pause_turn, error, a vendor's unknown
            word, or None when the stream was cut before it said.
        usage: The books.
        complete: The stream reached a legal end without an error; an output limit is a legal end.
        error: Why it failed, or None.
        notes: What was repaired, dropped or odd.
        verdicts: For each tool_use id, how far the call can be trusted.
        vendor: The rules that read the stream.
        protocol: The protocol that those rules extend.
        model: As the vendor named it, or None.
        id: The vendor's id of the message, or None.
        fingerprint: Of the compiled table that rebuilt it.
    """

    model_config = ConfigDict(frozen=True)

    role: Literal["assistant"] = "assistant"
    content: list[Block] = Field(default_factory=list)
    stop_reason: str | None = None
    usage: Usage = Usage()
    complete: bool = False
    error: StreamFault | None = None
    notes: list[Note] = Field(default_factory=list)
    verdicts: dict[str, Verdict] = Field(default_factory=dict)
    vendor: str = ""
    protocol: str = ""
    model: str | None = None
    id: str | None = None
    fingerprint: str = ""

    @property
    def calls(self) -> list[ToolUse]:
        """The tool_use blocks, invalid ones included, in order."""
        return [block for block in self.content if isinstance(block, ToolUse)]

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    def executable(self, call: ToolUse) -> bool:
        """Whether `call` may run at all; its class says when."""
        verdict = self.verdicts.get(call.id)
        return verdict is not None and verdict.executable
