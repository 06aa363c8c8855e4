"""Conversations that vendors refuse, refused by their place before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ToolCall, ToolResult


def refuse_unanswered_calls(messages: Sequence[Message]) -> None:
    """Raise `InvalidInputError` for the first tool call without a result. A result stands right behind its turn."""
    for index, message in enumerate(messages):
        if message.role != "assistant" or not message.tool_calls:
            continue
        answered = _answered(messages[index + 1]) if index + 1 < len(messages) else set[str]()
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and part.id not in answered:
                raise InvalidInputError(
                    f"tool call {part.id!r} has no result",
                    path=f"messages[{index}].parts[{place}]",
                    hint="Put one behind the message, in Message.tool(ToolResult.text(...)), or leave the call out.",
                )


def _answered(message: Message) -> set[str]:
    return {part.call_id for part in message.parts if isinstance(part, ToolResult)}


def refuse_system_only(messages: Sequence[Message]) -> None:
    """Raise `InvalidInputError` if neither the user nor the assistant says anything."""
    if all(message.role == "system" for message in messages):
        raise InvalidInputError("there are system messages only", path="messages", hint="Add a user's message.")
