"""Results for tool calls that a test is not about."""

from abstractcore.schema import Message, ToolResult


def answered(*messages: Message) -> tuple[Message, ...]:
    """Returns the messages, with results after every turn whose tool calls have none."""
    whole: list[Message] = []
    for index, message in enumerate(messages):
        whole.append(message)
        follows = messages[index + 1].role if index + 1 < len(messages) else None
        if message.tool_calls and follows != "tool":
            whole.append(Message.tool(*(ToolResult.text(call.id, "done") for call in message.tool_calls)))
    return tuple(whole)
