"""`without_unheard`: the messages of an answer, without the text that was not heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...schema import Message, Part, TextPart, ToolCall, ToolResult


def without_unheard(messages: Sequence[Message], characters: int) -> tuple[Message, ...]:
    """Returns the messages with the first `characters` of the assistant's text; citations after them are left out.

    Tool calls stay with their results: what they did is done. A call without a result is left out, and so are messages
    without anything else.
    """
    answered = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolResult)}
    kept: list[Message] = []
    left = characters
    for message in messages:
        if message.role != "assistant":
            kept.append(message)
            continue
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                heard, left = _beginning(part, left)
                parts += [heard] if heard is not None else []
            elif not isinstance(part, ToolCall) or part.id in answered:
                parts.append(part)
        if any(isinstance(part, TextPart | ToolCall) for part in parts):
            kept.append(replace(message, parts=tuple(parts)))
    return tuple(kept)


def _beginning(part: TextPart, characters: int) -> tuple[TextPart | None, int]:
    """Returns the beginning of a text, and how many characters are left for the next one."""
    if characters >= len(part.text):
        return part, characters - len(part.text)
    text = part.text[:characters].rstrip()
    if not text:
        return None, 0
    citations = tuple(each for each in part.citations if each.end is None or each.end <= len(text))
    return replace(part, text=text, citations=citations), 0
