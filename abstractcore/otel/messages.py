"""Messages as the conventions write them: one JSON text for each attribute.

Files are their type, hash and size, never their bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..schema import (
    MEDIA_PARTS,
    HostedToolCall,
    HostedToolResult,
    JSONValue,
    Message,
    ModelCall,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from ..schema.codec import json_of
from . import names


def written(value: JSONValue) -> str:
    """Returns JSON data as text."""
    return json_of(value).decode()


def content_of_call(call: ModelCall) -> dict[str, str]:
    """Returns the attributes of what was sent."""
    system = [part for message in call.messages if message.role == "system" for part in message.parts]
    others = [message for message in call.messages if message.role != "system"]
    attributes = {names.INPUT_MESSAGES: _json([_message(message) for message in others])}
    if system:
        attributes[names.SYSTEM_INSTRUCTIONS] = _json([_part(part) for part in system])
    if call.tools:
        tools = [{"type": "function", "name": tool.name} for tool in call.tools]
        attributes[names.TOOL_DEFINITIONS] = _json(tools)
    return attributes


def content_of_reply(reply: ModelReply) -> dict[str, str]:
    """Returns the attribute of what was answered."""
    parts = [_part(part) for part in reply.parts]
    answer = {"role": "assistant", "parts": parts, "finish_reason": finish_reason(reply)}
    return {names.OUTPUT_MESSAGES: _json([answer])}


def finish_reason(reply: ModelReply) -> str:
    """Returns why a reply ended, in the words of the conventions."""
    return names.FINISHES.get(reply.finish_reason, reply.finish_reason)


def text_of_result(result: ToolResult) -> str:
    """Returns the content of a tool's result: its text, or its parts as JSON if it has others."""
    if all(isinstance(part, TextPart) for part in result.content):
        return result.as_text
    return _json([_part(part) for part in result.content])


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "content": part.text}
    if isinstance(part, ReasoningPart):
        return {"type": "reasoning", "content": part.text}
    if isinstance(part, ToolCall):
        arguments = part.arguments_text if part.arguments is None else _plain(part.arguments)
        return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": arguments}
    if isinstance(part, ToolResult):
        return {"type": "tool_call_response", "id": part.call_id, "response": text_of_result(part)}
    if isinstance(part, HostedToolCall):
        return {
            "type": "server_tool_call",
            "id": part.id,
            "name": part.name,
            "server_tool_call": {"type": part.name, "arguments": part.arguments_text},
        }
    if isinstance(part, HostedToolResult):
        content = [_part(each) for each in part.content]
        response = {"type": "result", "content": content}
        return {"type": "server_tool_call_response", "id": part.call_id, "server_tool_call_response": response}
    if isinstance(part, MEDIA_PARTS):
        blob = part.blob
        known = {"mime_type": blob.media_type, "sha256": blob.sha256, "size": blob.size}
        return {"type": "file_reference", "modality": part.type, **{k: v for k, v in known.items() if v is not None}}
    return {"type": part.type}


def _plain(value: JSONValue) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _json(value: Sequence[Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
