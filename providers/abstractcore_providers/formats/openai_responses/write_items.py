"""Writes adjusted messages (`fit_messages`) as the items of a request, without loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import cast

from abstractcore.schema import (
    HostedToolCall,
    HostedToolResult,
    JSONObject,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import fields_for
from ...common.reading import Object
from .client_results import has_own_form, repeated_fields, write_client_result
from .client_tools import called_tool, calls_with_options, client_item, run_length, write_reasoning
from .content import write_content, write_screenshot
from .items import hosted_calls_of, item_from_user, opaque_item, write_annotations, write_hosted


def write_items(messages: Sequence[tuple[int, Message]], provider: str) -> list[Object]:
    """Returns the items of messages, each of which comes with its index in the call.

    Raises `UnsupportedContentError` with the path of unsupported content.
    """
    items: list[Object] = []
    before: Message | None = None
    for index, message in messages:
        path = f"messages[{index}].parts"
        if message.role == "assistant":
            items += _output_items(message.parts, len(items), provider)
        elif message.role == "tool" and before is not None:
            asked = calls_with_options(before.parts)
            items += [_output(part, f"{path}[{i}]", provider, asked) for i, part in enumerate(message.parts)]
        else:
            items.append(_said_to_model(message, path, provider))
        before = message
    return items


def plain_text(message: Message) -> str | None:
    """Returns the message's text if that is all."""
    return None if message.provider_options else _lone_text(message.parts)


def _lone_text(parts: Sequence[Part]) -> str | None:
    part = parts[0]
    if len(parts) > 1 or not isinstance(part, TextPart) or part.cache is not None or part.provider_options:
        return None
    return part.text


def _said_to_model(message: Message, path: str, provider: str) -> Object:
    """Returns a system's or user's message: a single text as a string, anything else as a list."""
    first = message.parts[0]
    own = item_from_user(first) if isinstance(first, OpaquePart) else None
    if own is not None:
        return own
    content = plain_text(message)
    if content is None:
        content = [write_content(part, f"{path}[{i}]", provider) for i, part in enumerate(message.parts)]
    return {"role": message.role, "content": content, **fields_for(message, provider)}


def _output(part: Part, path: str, provider: str, asked: Mapping[str, ToolCall]) -> Object:
    """Returns the item that answers one of the calls `asked`, or a function without options."""
    assert isinstance(part, ToolResult)
    call = asked.get(part.call_id)
    tool = None if call is None else called_tool(call, provider)
    if call is not None and tool is not None and tool.name == "computer":
        return write_screenshot(part, path, provider)
    if call is not None and tool is not None and has_own_form(tool):
        return write_client_result(part, call, tool, path, provider)
    kind = "function_call_output" if tool is None else tool.output
    item: Object = {"type": kind, "call_id": part.call_id, "output": _contents(part, f"{path}.content", provider)}
    return {**item, **repeated_fields(call, provider), **fields_for(part, provider)}


def _contents(result: ToolResult, path: str, provider: str) -> str | list[Object]:
    """Returns a tool's result: a single text as a string, else a list. Its last item has the cache point."""
    content = list(result.content)
    if not content:
        return ""
    if result.cache is not None:
        content[-1] = replace(content[-1], cache=result.cache)
    text = _lone_text(content)
    if text is not None:
        return text
    return [write_content(part, f"{path}[{i}]", provider) for i, part in enumerate(content)]


def _output_items(parts: Sequence[Part], before: int, provider: str) -> list[Object]:
    """Returns the items of an assistant's message, after `before` items."""
    items: list[Object] = []
    hosted = hosted_calls_of(parts)
    index = 0
    while index < len(parts):
        part, length, number = parts[index], 1, before + len(items)
        if isinstance(part, TextPart):
            length = _texts_of_one_item(parts, index, provider)
            texts = cast("Sequence[TextPart]", parts[index : index + length])
            items.append(_message(texts, f"msg_{number}", fields_for(part, provider)))
        elif isinstance(part, ToolCall):
            items.append(client_item(part, provider) or _function_call(part, provider))
        elif isinstance(part, ReasoningPart):
            length = run_length(parts, index)
            run = cast("Sequence[ReasoningPart]", parts[index : index + length])
            items.append(write_reasoning(run, f"rs_{number}"))
        elif isinstance(part, HostedToolCall):
            following = parts[index + 1] if index + 1 < len(parts) else None
            result = following if isinstance(following, HostedToolResult) else None
            length = 1 if result is None else 2
            items.append(cast(Object, write_hosted(part, result, provider)))
        else:
            items.append(cast(Object, opaque_item(cast(OpaquePart, part), hosted)))
        index += length
    return items


def _texts_of_one_item(parts: Sequence[Part], start: int, provider: str) -> int:
    """Returns how many texts, from the one at `start` on, have the id of one item."""
    options = fields_for(parts[start], provider)
    length = 1
    if "id" in options:
        for part in islice(parts, start + 1, None):
            if not isinstance(part, TextPart) or fields_for(part, provider) != options:
                break
            length += 1
    return length


def _message(texts: Sequence[TextPart], id: str, options: JSONObject) -> Object:
    """Returns an assistant's text. Only citations and an own id need the long form, which always has an id."""
    if "id" not in options and not texts[0].citations:
        return {"role": "assistant", "content": texts[0].text, **options}
    content = [
        {"type": "output_text", "text": text.text, "annotations": write_annotations(text.citations), "logprobs": []}
        for text in texts
    ]
    return {"type": "message", "role": "assistant", "id": id, "status": "completed", "content": content, **options}


def _function_call(call: ToolCall, provider: str) -> Object:
    item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_text}
    return {**item, **fields_for(call, provider)}
