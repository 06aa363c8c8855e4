"""Accumulates deltas into a `ModelReply`, and splits a reply into deltas. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from .base_error import SchemaError
from .call_warnings import CallWarning
from .deltas import (
    Delta,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from .frozen_json import EMPTY
from .json_values import JSONObject, check_class, check_count
from .parts import Citation, Part, ReasoningPart, TextPart, ToolCall
from .provider_options import NO_OPTIONS, ProviderOptions
from .replies import FinishReason, ModelReply
from .usage import Usage

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
        text = _joined(self.pieces)
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


def _joined(pieces: list[str]) -> str:
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
