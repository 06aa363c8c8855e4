"""Checks of conversations that vendors would reject, with the path of the error."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ToolCall, ToolResult


def refuse_unanswered_calls(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` for the first tool call without a result, which must follow its turn directly."""
    for index, message in enumerate(messages):
        if message.role != "assistant" or not message.tool_calls:
            continue
        answered = _answered(messages[index + 1]) if index + 1 < len(messages) else set[str]()
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and part.id not in answered:
                raise InvalidInputError(
                    f"tool call {part.id!r} has no result",
                    path=f"messages[{index}].parts[{number}]",
                    hint="Add one after the message with Message.tool(ToolResult.text(...)), or remove the call.",
                )


def _answered(message: Message) -> set[str]:
    return {part.call_id for part in message.parts if isinstance(part, ToolResult)}


def refuse_system_only(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` if there is no user or assistant message."""
    if all(message.role == "system" for message in messages):
        raise InvalidInputError("there are only system messages", path="messages", hint="Add a user message.")
