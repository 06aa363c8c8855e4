"""Messages as the items of a request. What `sendable_messages` left is written here without a loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from abstractcore.schema import (
    HostedToolCall,
    HostedToolResult,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ..json_reading import Object
from .citations import write_annotations
from .content import write_content
from .hosted import write_hosted
from .items import fields_for, item_from_user, opaque_item
from .reasoning import run_length, write_reasoning


def write_items(messages: Sequence[tuple[int, Message]], provider: str) -> list[Object]:
    """The items of messages, each of which comes with its index in the call.

    Raises `UnsupportedContentError` with the path of content that the format has no shape for.
    """
    items: list[Object] = []
    for index, message in messages:
        if message.role == "assistant":
            items += _said(message.parts, len(items), provider)
        elif message.role == "tool":
            items += [_output(part, f"messages[{index}].parts[{i}]", provider) for i, part in enumerate(message.parts)]
        else:
            items.append(_told(message, f"messages[{index}].parts", provider))
    return items


def plain_text(message: Message) -> str | None:
    """The message's text if it is nothing else."""
    part = message.parts[0]
    return part.text if len(message.parts) == 1 and isinstance(part, TextPart) and part.cache is None else None


def _told(message: Message, path: str, provider: str) -> Object:
    """A system's or user's message: one text as a string, anything else as a list."""
    first = message.parts[0]
    own = item_from_user(first) if isinstance(first, OpaquePart) else None
    if own is not None:
        return own
    text = plain_text(message)
    if text is not None:
        return {"role": message.role, "content": text}
    content = [write_content(part, f"{path}[{i}]", provider) for i, part in enumerate(message.parts)]
    return {"role": message.role, "content": content}


def _output(part: Part, path: str, provider: str) -> Object:
    assert isinstance(part, ToolResult)
    item: Object = {"type": "function_call_output", "call_id": part.call_id}
    content = list(part.content)
    if not content:
        return {**item, "output": ""}
    if part.cache is not None:
        content[-1] = replace(content[-1], cache=part.cache)
    if len(content) == 1 and isinstance(content[0], TextPart) and content[0].cache is None:
        return {**item, "output": content[0].text}
    return {**item, "output": [write_content(c, f"{path}.content[{i}]", provider) for i, c in enumerate(content)]}


def _said(parts: Sequence[Part], before: int, provider: str) -> list[Object]:
    """The items of an assistant's message, which has `before` items before it."""
    items: list[Object] = []
    fields: Object = {}
    index = 0
    while index < len(parts):
        part, length = parts[index], 1
        following = parts[index + 1] if index + 1 < len(parts) else None
        if isinstance(part, ReasoningPart):
            length = run_length(parts, index)
            items.append(write_reasoning(cast("Sequence[ReasoningPart]", parts[index : index + length])))
        elif isinstance(part, HostedToolCall):
            result = following if isinstance(following, HostedToolResult) else None
            length = 1 if result is None else 2
            items.append(cast(Object, write_hosted(part, result, provider)))
        elif isinstance(part, OpaquePart):
            item = opaque_item(part)
            if item is None:
                fields = fields_for(part, following) or {}
            else:
                items.append(item)
        else:
            items.append({**_item(part, f"msg_{before + len(items)}"), **fields})
            fields = {}
        index += length
    return items


def _item(part: Any, id: str) -> Object:
    """A text or a tool call. Only a text with citations needs the long form, which has an id."""
    if isinstance(part, ToolCall):
        return {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.arguments_text}
    assert isinstance(part, TextPart)
    if not part.citations:
        return {"role": "assistant", "content": part.text}
    annotations = write_annotations(part.citations)
    content: Object = {"type": "output_text", "text": part.text, "annotations": annotations, "logprobs": []}
    return {"type": "message", "role": "assistant", "id": id, "status": "completed", "content": [content]}
