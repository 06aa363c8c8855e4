"""`ModelReply`: the reply of a model as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base_error import SchemaError
from .call_warnings import CallWarning
from .frozen_json import EMPTY, freeze_without_none
from .immutable import Immutable
from .json_values import JSONObject, check_choice, check_class, check_items, check_text
from .messages import Message, Role
from .parts import Part, ReasoningPart, TextPart, ToolCall, canonical_parts
from .rich_display import RichDisplay
from .usage import Usage

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "paused", "error", "unknown"]
"""Why a reply ended. "error" is that of a reply that the provider could not use: a malformed call, a missing image."""
FINISH_REASONS: tuple[FinishReason, ...] = (
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "refusal",
    "paused",
    "error",
    "unknown",
)
_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class ModelReply(Immutable, RichDisplay):
    """The reply of a model. `raw_finish_reason` is the vendor's value; `id` the vendor's id of the reply.

    `provider_metadata` holds fields of the response that the schema has none for. Empty names become None.
    """

    parts: tuple[Part, ...] = ()
    finish_reason: FinishReason = "unknown"
    raw_finish_reason: str | None = None
    usage: Usage = _NO_USAGE
    model: str | None = None
    provider: str | None = None
    id: str | None = None
    warnings: tuple[CallWarning, ...] = ()
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", canonical_parts(self.parts, "parts"))
        for index, part in enumerate(self.parts):
            if getattr(part, "cache", None) is not None:
                raise SchemaError("a cache point is not allowed in a reply", f"parts[{index}].cache")
        check_choice(self.finish_reason, FINISH_REASONS, "finish_reason")
        for name in ("raw_finish_reason", "model", "provider", "id"):
            value = getattr(self, name)
            if value is not None and not check_text(value, name):
                object.__setattr__(self, name, None)
        check_class(self.usage, Usage, "usage")
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
        if self.provider_metadata is not EMPTY:
            object.__setattr__(
                self, "provider_metadata", freeze_without_none(self.provider_metadata, "provider_metadata")
            )

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        """The text of the reasoning, if the provider returns it."""
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the model, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    def message(self) -> Message | None:
        """The reply as the assistant's message of a conversation; None if it is empty."""
        role: Role = "assistant"
        return Message(role, self.parts) if self.parts else None
