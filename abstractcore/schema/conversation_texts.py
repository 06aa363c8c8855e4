"""A conversation as text, for a model that writes a summary of it: sessions and the server's compaction share it."""

from __future__ import annotations

from collections.abc import Iterable

from .calls import Message
from .parts import HostedToolCall, HostedToolResult, Part, ReasoningPart, TextPart, ToolCall, ToolResult


def conversation_text(messages: Iterable[Message]) -> str:
    """Returns a conversation as text: calls of tools and their results too, and the kinds of files; no reasoning."""
    return "\n\n".join(f"[{message.role}]\n{_of_parts(message.parts)}" for message in messages)


def _of_parts(parts: Iterable[Part]) -> str:
    return "\n".join(filter(None, map(_of_part, parts)))


def _of_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ToolCall | HostedToolCall):
        return f"(calls {part.name} with {part.arguments_text})"
    if isinstance(part, ToolResult | HostedToolResult):
        return _of_parts(part.content)
    return "" if isinstance(part, ReasoningPart) else f"({part.type})"
