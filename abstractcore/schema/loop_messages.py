"""The messages that the rounds of a tool loop, or of a typed answer, add to a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from .. import schema
from .messages import Message
from .parts import TextPart, ToolCall, ToolResult


def added_messages(
    replies: Sequence[schema.ModelReply],
    steps: Sequence[schema.ToolStep],
    output_attempts: Sequence[schema.OutputAttempt] = (),
    *,
    as_sent: bool = False,
) -> tuple[Message, ...]:
    """Returns the messages that rounds add to a conversation: each reply, then the results of its calls or the
    correction of its answer. Results are left out while one of them is missing. With `as_sent`, an invalid answer in a
    call of the output tool is that call, and its correction the result; otherwise both are text, which needs no such
    tool.
    """
    messages: list[Message] = []
    for index, reply in enumerate(replies):
        attempts = [each for each in output_attempts if each.round == index and each.correction]
        if as_sent and attempts and attempts[0].tool_call is not None:
            messages += _corrected_call(reply, attempts[0].tool_call, attempts[0].correction)
            continue
        message = reply.message()
        messages += [message] if message is not None else []
        results = {step.call.id: step.result for step in steps if step.round == index}
        if reply.tool_calls and all(call.id in results for call in reply.tool_calls):
            messages.append(Message.tool(*(results[call.id] for call in reply.tool_calls)))
        messages += [Message.user(each.correction) for each in attempts]
    return tuple(messages)


def _corrected_call(reply: schema.ModelReply, call: ToolCall, correction: str) -> list[Message]:
    others = tuple(part for part in reply.parts if not isinstance(part, TextPart | ToolCall))
    result = ToolResult.text(call.id, correction, is_error=True)
    return [Message("assistant", (*others, call)), Message.tool(result)]
