"""Deltas: the events of a streamed reply, in order. Mutable dataclasses with slots, since each chunk makes one.

The number of a block is its index in the reply. A block that continues after its end starts again with its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from .call_warnings import CallWarning
from .frozen_json import EMPTY
from .json_values import JSONObject
from .parts import Citation, Part
from .provider_options import NO_OPTIONS, ProviderOptions
from .replies import FinishReason
from .reprs import ShortRepr
from .usage import Usage


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
