"""Deltas: the events of a streamed reply, in order. Mutable dataclasses with slots, since each chunk makes one.

Accumulates deltas into a `ModelReply`, and splits a reply into deltas. Pure functions. The reply and the usage of an
incomplete stream.

The number of a block is its index in the reply. A block that continues after its end starts again with its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, TypeAlias, cast

from .base_error import SchemaError
from .json_values import EMPTY, NO_OPTIONS, JSONObject, ProviderOptions, check_class, check_count
from .parts import Citation, Part, ReasoningPart, TextPart, ToolCall
from .replies import CallWarning, FinishReason, ModelReply, Usage
from .reprs import ShortRepr


@dataclass(slots=True)
class ReplyStart(ShortRepr):
    """The reply begins; holds the model that answers and the vendor's id of the reply, if known."""

    type: ClassVar[str] = "reply_start"
    sequence: int
    model: str | None = None
    provider: str | None = None
    id: str | None = None


@dataclass(slots=True)
class TextStart(ShortRepr):
    """A block of text begins; `provider_options` are its part's."""

    type: ClassVar[str] = "text_start"
    sequence: int
    block: int
    provider_options: ProviderOptions = NO_OPTIONS


@dataclass(slots=True)
class TextDelta(ShortRepr):
    """More text of the block."""

    type: ClassVar[str] = "text_delta"
    sequence: int
    block: int
    text: str


@dataclass(slots=True)
class TextEnd(ShortRepr):
    """The block of text is complete, with its citations."""

    type: ClassVar[str] = "text_end"
    sequence: int
    block: int
    citations: tuple[Citation, ...] = ()


@dataclass(slots=True)
class ReasoningStart(ShortRepr):
    """A block of reasoning begins; `origin` is the model it belongs to."""

    type: ClassVar[str] = "reasoning_start"
    sequence: int
    block: int
    origin: str | None = None


@dataclass(slots=True)
class ReasoningDelta(ShortRepr):
    """More reasoning of the block."""

    type: ClassVar[str] = "reasoning_delta"
    sequence: int
    block: int
    text: str


@dataclass(slots=True)
class ReasoningEnd(ShortRepr):
    """The block of reasoning is complete, with the vendor's signature or redacted data."""

    type: ClassVar[str] = "reasoning_end"
    sequence: int
    block: int
    signature: str | None = None
    redacted_data: str | None = None
    """What the provider has encrypted: sent back to it unchanged."""


@dataclass(slots=True)
class ToolCallStart(ShortRepr):
    """A tool call begins; `provider_options` are its part's."""

    type: ClassVar[str] = "tool_call_start"
    sequence: int
    block: int
    id: str
    name: str
    provider_options: ProviderOptions = NO_OPTIONS


@dataclass(slots=True)
class ToolCallDelta(ShortRepr):
    """More of the call's arguments, as text."""

    type: ClassVar[str] = "tool_call_delta"
    sequence: int
    block: int
    arguments_text: str


@dataclass(slots=True)
class ToolCallEnd(ShortRepr):
    """The tool call is complete."""

    type: ClassVar[str] = "tool_call_end"
    sequence: int
    block: int
    signature: str | None = None


@dataclass(slots=True)
class PartDelta(ShortRepr):
    """A part that arrived complete (an image, a hosted tool's result, an opaque part)."""

    type: ClassVar[str] = "part"
    sequence: int
    block: int
    part: Part


@dataclass(slots=True)
class UsageDelta(ShortRepr):
    """Token counts so far. They are totals: each delta replaces the one before."""

    type: ClassVar[str] = "usage"
    sequence: int
    usage: Usage


@dataclass(slots=True)
class ReplyEnd(ShortRepr):
    """The reply is complete; `warnings` are about what was received.

    `model` and `id` are set where they were not known at the start.
    """

    type: ClassVar[str] = "reply_end"
    sequence: int
    finish_reason: FinishReason
    raw_finish_reason: str | None = None
    """The provider's own word for it."""
    provider_metadata: JSONObject = EMPTY
    warnings: tuple[CallWarning, ...] = ()
    model: str | None = None
    id: str | None = None


Delta: TypeAlias = (
    ReplyStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | PartDelta
    | UsageDelta
    | ReplyEnd
)
"""A piece of a reply that is streamed."""


_TEXTS = (TextDelta, ReasoningDelta)


@dataclass(slots=True)
class _BlockState:
    """The state of one block; `make` returns its part."""

    kind: str = "text"
    pieces: list[str] = field(default_factory=list[str])
    part: Part | None = None
    id: str = ""
    name: str = ""
    signature: str | None = None
    redacted_data: str | None = None
    origin: str | None = None
    citations: tuple[Citation, ...] = ()
    options: ProviderOptions = NO_OPTIONS

    def make(self) -> Part:
        if self.part is not None:
            return self.part
        text = _join(self.pieces)
        if self.kind == "tool_call":
            return ToolCall(self.id, self.name, text, self.signature, provider_options=self.options)
        if self.kind == "reasoning":
            return ReasoningPart(text, self.signature, self.redacted_data, self.origin)
        return TextPart(text, self.citations, provider_options=self.options if text else NO_OPTIONS)


@dataclass(slots=True)
class _Reply:
    blocks: dict[int, _BlockState] = field(default_factory=dict[int, _BlockState])
    model: str | None = None
    provider: str | None = None
    id: str | None = None
    usage: Usage = field(default_factory=Usage)
    finish_reason: FinishReason = "unknown"
    raw_finish_reason: str | None = None
    provider_metadata: JSONObject = EMPTY
    warnings: tuple[CallWarning, ...] = ()

    def block(self, number: int) -> _BlockState:
        block = self.blocks.get(number)
        if block is None:
            check_count(number, "block")
            block = self.blocks[number] = _BlockState()
        return block

    def add(self, delta: Delta) -> None:
        if isinstance(delta, _TEXTS):
            self.block(delta.block).pieces.append(delta.text)
        elif isinstance(delta, ToolCallDelta):
            self.block(delta.block).pieces.append(delta.arguments_text)
        elif isinstance(delta, ReasoningStart):
            block = self.block(delta.block)
            block.kind, block.origin = "reasoning", delta.origin
        elif isinstance(delta, ToolCallStart):
            block = self.block(delta.block)
            block.kind, block.id, block.name = "tool_call", delta.id, delta.name
            block.options = delta.provider_options or block.options
        elif isinstance(delta, ReasoningEnd):
            block = self.block(delta.block)
            block.signature = delta.signature or block.signature
            block.redacted_data = delta.redacted_data or block.redacted_data
        elif isinstance(delta, ToolCallEnd):
            self.block(delta.block).signature = delta.signature
        elif isinstance(delta, TextEnd):
            self.block(delta.block).citations += delta.citations
        elif isinstance(delta, PartDelta):
            self.block(delta.block).part = delta.part
        elif isinstance(delta, TextStart):
            if delta.provider_options:
                self.block(delta.block).options = delta.provider_options
        else:
            self.add_frame(delta)

    def add_frame(self, delta: Delta) -> None:
        """Adds a delta that concerns the whole reply."""
        if isinstance(delta, ReplyStart):
            self.model, self.provider, self.id = delta.model, delta.provider, delta.id
        elif isinstance(delta, UsageDelta):
            self.usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            self.finish_reason, self.raw_finish_reason = delta.finish_reason, delta.raw_finish_reason
            self.provider_metadata, self.warnings = delta.provider_metadata, delta.warnings
            self.model, self.id = delta.model or self.model, delta.id or self.id
        else:
            raise SchemaError(f"expected a delta, got {type(delta).__name__}")


def accumulate(deltas: Iterable[Delta]) -> ModelReply:
    """Returns the reply that `deltas` add up to. If they are incomplete, `finish_reason` is "unknown".

    Blocks are ordered by number. Raises `SchemaError` with the path for a value that is not a delta, a field of a wrong
    type, and a block whose joined text is not valid Unicode.
    """
    reply = _Reply()
    for index, delta in enumerate(_sequence(deltas)):
        try:
            reply.add(delta)
        except SchemaError as error:
            raise error.at(f"deltas[{index}]") from None
        except TypeError as error:
            raise SchemaError(str(error), f"deltas[{index}]") from None
    return ModelReply(
        parts=tuple(_made(block, number) for number, block in sorted(reply.blocks.items())),
        finish_reason=reply.finish_reason,
        raw_finish_reason=reply.raw_finish_reason,
        usage=reply.usage,
        model=reply.model,
        provider=reply.provider,
        id=reply.id,
        warnings=reply.warnings,
        provider_metadata=reply.provider_metadata,
    )


def _sequence(deltas: object) -> Iterable[Delta]:
    if not isinstance(deltas, Iterable):
        raise SchemaError(f"expected deltas, got {type(deltas).__name__}", "deltas")
    return cast("Iterable[Delta]", deltas)


def _made(block: _BlockState, number: int) -> Part:
    try:
        return block.make()
    except SchemaError as error:
        raise error.at(f"block {number}") from None


def _join(pieces: list[str]) -> str:
    try:
        return "".join(pieces)
    except TypeError:
        wrong = next(piece for piece in pieces if not isinstance(piece, str))  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SchemaError(f"expected text, got {type(wrong).__name__}", "text") from None


def deltas_of(reply: ModelReply) -> list[Delta]:
    """Returns the shortest list of deltas that adds up to `reply`."""
    check_class(reply, ModelReply, "reply")
    deltas: list[Delta] = [ReplyStart(0, reply.model, reply.provider, reply.id)]
    for block, part in enumerate(reply.parts):
        deltas += _part_deltas(part, block, len(deltas))
    deltas.append(UsageDelta(len(deltas), reply.usage))
    end = (reply.finish_reason, reply.raw_finish_reason, reply.provider_metadata, reply.warnings)
    deltas.append(ReplyEnd(len(deltas), *end))
    return deltas


def _part_deltas(part: Part, block: int, sequence: int) -> list[Delta]:
    if isinstance(part, TextPart):
        return [
            TextStart(sequence, block, part.provider_options),
            TextDelta(sequence + 1, block, part.text),
            TextEnd(sequence + 2, block, part.citations),
        ]
    if isinstance(part, ReasoningPart):
        return [
            ReasoningStart(sequence, block, part.origin),
            ReasoningDelta(sequence + 1, block, part.text),
            ReasoningEnd(sequence + 2, block, part.signature, part.redacted_data),
        ]
    if isinstance(part, ToolCall):
        return [
            ToolCallStart(sequence, block, part.id, part.name, part.provider_options),
            ToolCallDelta(sequence + 1, block, part.arguments_text),
            ToolCallEnd(sequence + 2, block, part.signature),
        ]
    return [PartDelta(sequence, block, part)]


def usage_so_far(deltas: Sequence[Delta]) -> Usage:
    """Returns the tokens of the last `UsageDelta`, whose counts are totals."""
    return next((delta.usage for delta in reversed(deltas) if isinstance(delta, UsageDelta)), Usage())


def partial_reply(deltas: Sequence[Delta]) -> ModelReply:
    """Returns the reply so far. A lone surrogate is replaced by a question mark.

    The reply is empty if the stream of a middleware yielded values that are not deltas.
    """
    try:
        return accumulate(deltas)
    except SchemaError:
        try:
            return accumulate(map(_in_unicode, deltas))
        except (SchemaError, TypeError):
            return ModelReply()


def _in_unicode(delta: Delta) -> Delta:
    values = {field.name: getattr(delta, field.name) for field in fields(delta)}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    return replace(delta, **{name: text.encode("utf-8", "replace").decode() for name, text in texts.items()})
