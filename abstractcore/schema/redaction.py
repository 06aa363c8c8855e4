"""Redacts calls, replies and results for records: keeps their structure and replaces texts and files by their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from .blobs import Blob
from .calls import Message, ModelCall
from .json_values import JSONValue
from .parts import (
    MEDIA_PARTS,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from .replies import ModelReply

AnyPart = TypeVar("AnyPart", bound=Part)


def redacted_call(call: ModelCall) -> ModelCall:
    """Returns `call` with texts and files replaced by their sizes, and without provider options."""
    messages = tuple(Message(message.role, tuple(_part(part) for part in message.parts)) for message in call.messages)
    hosted = tuple(replace(tool, options={}) for tool in call.hosted_tools)
    return replace(call, messages=messages, hosted_tools=hosted, provider_options={})


def redacted_reply(reply: ModelReply) -> ModelReply:
    """Returns `reply` with texts and files replaced by their sizes, and without provider metadata."""
    return replace(reply, parts=tuple(_part(part) for part in reply.parts), provider_metadata={})


def redacted_result(result: ToolResult) -> ToolResult:
    """Returns the result of a tool with texts and files replaced by their sizes."""
    return _part(result)


def redacted_data(value: JSONValue) -> JSONValue:
    """Returns JSON data with texts replaced by their sizes."""
    if isinstance(value, str):
        return _size(value)
    if isinstance(value, Mapping):
        return {name: redacted_data(item) for name, item in value.items()}
    return [redacted_data(item) for item in value] if isinstance(value, list | tuple) else value


def _size(text: str) -> str:
    return f"[{len(text)} characters]" if text else ""


def _part(part: AnyPart) -> AnyPart:
    redacted: Any = part
    if isinstance(part, TextPart):
        redacted = TextPart(_size(part.text))
    elif isinstance(part, ReasoningPart):
        redacted = ReasoningPart(_size(part.text), origin=part.origin)
    elif isinstance(part, MEDIA_PARTS):
        redacted = type(part)(_blob(part.blob))
    elif isinstance(part, ToolCall):
        redacted = ToolCall(part.id, part.name, "{}")
    elif isinstance(part, HostedToolCall):
        redacted = HostedToolCall(part.id, part.name)
    elif isinstance(part, ToolResult):
        redacted = ToolResult(part.call_id, tuple(_part(content) for content in part.content), part.is_error)
    elif isinstance(part, HostedToolResult):
        redacted = HostedToolResult(part.call_id, tuple(_part(content) for content in part.content))
    else:
        redacted = OpaquePart(part.provider, part.kind)
    return redacted


def _blob(blob: Blob) -> Blob:
    """Returns a blob with the hash of the content only, or only its media type if it has no hash."""
    if blob.sha256 is None or blob.size is None:
        return Blob.from_url("redacted:", blob.media_type)
    return Blob.from_artifact(blob.sha256, blob.media_type, blob.size)
