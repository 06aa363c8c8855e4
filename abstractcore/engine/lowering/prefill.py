"""Refuses a call that ends with an assistant message where the model does not support prefill."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InvalidInputError
from ...schema import HostedToolCall, Message


def refuse_prefill(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` for an assistant message at the end, unless it has a hosted tool: the provider may
    have paused it.
    """
    last = messages[-1]
    if last.role == "assistant" and not any(isinstance(part, HostedToolCall) for part in last.parts):
        raise InvalidInputError(
            "the last message has the role assistant: this model does not support prefill",
            path=f"messages[{len(messages) - 1}]",
            hint="Add a user message, such as 'Go on.'.",
        )
