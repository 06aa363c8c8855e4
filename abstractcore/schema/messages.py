"""Messages in canonical form: no empty parts, adjacent texts joined, one tool message per turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from .base_error import SchemaError
from .immutable import Immutable
from .parts import (
    ALL_PARTS,
    CONTENT_PARTS,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    canonical_parts,
)
from .provider_options import NO_OPTIONS, ProviderOptions, checked_provider_options
from .quoting import shown
from .rich_display import RichDisplay

Role = Literal["system", "user", "assistant", "tool"]

_ALLOWED: dict[str, tuple[type, ...]] = {
    "system": (TextPart, OpaquePart),
    "user": (*CONTENT_PARTS, OpaquePart),
    "assistant": (*CONTENT_PARTS, ReasoningPart, ToolCall, HostedToolCall, HostedToolResult, OpaquePart),
    "tool": (ToolResult,),
}
assert {part for allowed in _ALLOWED.values() for part in allowed} == set(ALL_PARTS)


@dataclass(frozen=True, slots=True)
class Message(Immutable, RichDisplay):
    """One turn's content from one role.

    A system message may come at any position; a tool message holds the results of the assistant turn before it.
    `provider_options` are extra fields of the message, by provider. Raises `SchemaError` for a part that the role does
    not allow, and for an empty message.
    """

    role: Role
    parts: tuple[Part, ...]
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        if self.provider_options is not NO_OPTIONS:
            self._freeze_options()
        allowed = _ALLOWED.get(self.role) if isinstance(self.role, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if allowed is None:
            raise SchemaError(f"unknown role {shown(self.role)}: use {', '.join(_ALLOWED)}", "role")
        if type(self.parts) is tuple and len(self.parts) == 1:
            part = self.parts[0]
            if isinstance(part, TextPart) and part.text and self.role != "tool":
                return
        parts = canonical_parts(self.parts, "parts", allowed)
        if not parts:
            raise SchemaError(f"the {self.role} message is empty: add text or a file", "parts")
        object.__setattr__(self, "parts", parts)

    def _freeze_options(self) -> None:
        options = checked_provider_options(self.provider_options)
        if options and self.role == "tool":
            raise SchemaError(
                "a tool message has no provider options: set them on its ToolResult parts", "provider_options"
            )
        object.__setattr__(self, "provider_options", options)

    @classmethod
    def system(cls, text: str) -> Message:
        """Returns a system message: instructions to the model."""
        return cls("system", (TextPart(text),))

    @classmethod
    def user(cls, *content: str | ContentPart) -> Message:
        """Returns a user message of texts and media parts in order."""
        return cls("user", _as_parts(content))

    @classmethod
    def assistant(cls, *content: str | Part) -> Message:
        """Returns an assistant message: an earlier answer of the model."""
        return cls("assistant", _as_parts(content))

    @overload
    @classmethod
    def tool(cls, *results: ToolResult) -> Message: ...

    @overload
    @classmethod
    def tool(cls, call_id: str, /, *content: str | ContentPart, is_error: bool = False) -> Message: ...

    @classmethod
    def tool(cls, *results: Any, is_error: bool = False) -> Message:
        """Returns a tool message of results of calls in the assistant message before it.

        For one result, pass the id of its call, then texts and media parts: `Message.tool(call.id, "sunny")`.
        """
        if results and isinstance(results[0], str):
            results = (ToolResult.of(*results, is_error=is_error),)
        elif is_error:
            raise SchemaError("needs a call id as the first argument; set it on the ToolResult instead", "is_error")
        return cls("tool", results)

    @property
    def text(self) -> str:
        """The joined text of all text parts."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of an assistant message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def _as_parts(content: Iterable[str | Part]) -> tuple[Part, ...]:
    return tuple(TextPart(item) if isinstance(item, str) else item for item in content)


def canonical_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Returns messages with one tool message after each assistant turn, its results in the order of the calls.

    Raises `SchemaError` for a result without a call, two results for one call, or two calls with one id.
    """
    canonical: list[Message] = []
    pending: dict[str, int] = {}
    tool_index = 0
    """The index of the tool message of the last assistant turn."""
    for index, message in enumerate(messages):
        if message.role != "tool":
            canonical.append(message)
            if message.role == "assistant":
                pending, tool_index = _call_order(message, index), len(canonical)
            elif message.role == "user":
                pending = {}
        elif tool_index < len(canonical) and canonical[tool_index].role == "tool" and pending:
            canonical[tool_index] = _in_call_order((*canonical[tool_index].parts, *message.parts), pending, index)
        else:
            canonical.insert(tool_index, _in_call_order(message.parts, pending, index))
    return tuple(canonical)


def _call_order(message: Message, index: int) -> dict[str, int]:
    calls = message.tool_calls
    order = {call.id: position for position, call in enumerate(calls)}
    if len(order) < len(calls):
        raise SchemaError("two tool calls have one id", f"messages[{index}]")
    return order


def _in_call_order(parts: tuple[Part, ...], order: dict[str, int], index: int) -> Message:
    results = [part for part in parts if isinstance(part, ToolResult)]
    seen: set[str] = set()
    for result in results:
        where = f"messages[{index}]"
        if result.call_id not in order:
            raise SchemaError(
                f"tool result for {shown(result.call_id)} has no such call in the assistant turn before", where
            )
        if result.call_id in seen:
            raise SchemaError(f"two results for tool call {shown(result.call_id)}", where)
        seen.add(result.call_id)
    results.sort(key=lambda result: order[result.call_id])
    return Message("tool", tuple(results))
