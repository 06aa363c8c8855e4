"""Steps of tools that the provider runs: calls and results, each a step of its own.

What the schema has no field for is in `provider_metadata`, by the provider's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.schema import (
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    TextPart,
    ToolCall,
    to_data,
)

from ...common.conversations import append_block, as_content
from ...common.delta_writer import BodyWriter
from ...common.reading import Object, as_objects, text_of
from .content import read_content, write_media, write_plain_text
from .vocabulary import ARGUMENTS

_TOOLS = (
    "google_search",
    "code_execution",
    "url_context",
    "file_search",
    "google_maps",
    "retrieval",
    "processing",
    "mcp_server_tool",
    "tool_search",
)
CALLS = {f"{tool}_call": tool for tool in _TOOLS}
RESULTS = {f"{tool}_result": tool for tool in _TOOLS}
_NAMED = "mcp_server_tool"
"""The tool that runs others, whose names its calls have."""
_WITH_CONTENT = frozenset({"code_execution_result", "function_result", "mcp_server_tool_result"})
"""Results that are text or content for the model; others are data."""


def read_hosted(step: Object, arguments_text: str, provider: str) -> HostedToolCall | HostedToolResult:
    """Reads a call or a result; `arguments_text` is the text of its arguments. Raises `SchemaError`."""
    kind = str(step["type"])
    if kind in CALLS:
        name = text_of(step, "name") or "" if CALLS[kind] == _NAMED else CALLS[kind]
        rest = _rest(step, "id", ARGUMENTS, *(("name",) if CALLS[kind] == _NAMED else ()))
        return HostedToolCall(text_of(step, "id") or "", name, arguments_text, {provider: rest})
    content = _content(step["result"], provider) if kind in _WITH_CONTENT and "result" in step else None
    rest = _rest(step, "call_id", *(("result",) if content is not None else ()))
    return HostedToolResult(text_of(step, "call_id") or "", content or (), {provider: rest})


def _rest(step: Object, *known: str) -> Object:
    """Returns the other fields; an empty signature is none."""
    return {
        name: value
        for name, value in step.items()
        if name not in known and value is not None and (name, value) != ("signature", "")
    }


def _content(result: Any, provider: str) -> tuple[ContentPart, ...] | None:
    """Returns the content of a result that is a text or a list of content; None for any other."""
    if isinstance(result, str):
        return (TextPart(result),)
    items = as_objects(result)
    if not isinstance(result, list) or len(items) != len(cast("list[Any]", result)):
        return None
    parts = [read_content(item, provider) for item in items]
    known = [part for part in parts if not isinstance(part, OpaquePart)]
    return tuple(known) if len(known) == len(parts) else None


def write_hosted(part: HostedToolCall | HostedToolResult, path: str, writer: BodyWriter) -> Object | None:
    """Returns the step of a part that was read from one; None for any other.

    Raises `UnsupportedContentError` with the path of content that cannot be sent.
    """
    rest = part.provider_metadata.get(writer.provider)
    kind = rest.get("type") if isinstance(rest, Mapping) else None
    if len(part.provider_metadata) != 1 or not isinstance(kind, str):
        return None
    data = cast(Object, to_data(rest))
    if isinstance(part, HostedToolCall):
        return _call(part, kind, data, path, writer) if kind in CALLS else None
    return _result(part, kind, data, path, writer) if kind in RESULTS else None


def _call(part: HostedToolCall, kind: str, rest: Object, path: str, writer: BodyWriter) -> Object | None:
    call = ToolCall("", "", part.arguments_text)
    named: Object = {"name": part.name} if CALLS[kind] == _NAMED else {}
    step: Object = {**rest, "id": part.id, **named}
    if call.arguments is None or read_hosted(step, part.arguments_text, writer.provider) != part:
        return None
    if part.arguments_text:
        writer.put_arguments(step, call, path)
    return step


def _result(part: HostedToolResult, kind: str, rest: Object, path: str, writer: BodyWriter) -> Object | None:
    if "call_id" in rest or _rest(rest) != rest:
        return None
    step: Object = {**rest, "call_id": part.call_id}
    if kind not in _WITH_CONTENT or "result" in rest:
        same = not part.content and read_hosted(step, "", writer.provider) == part
        return step if same else None
    return {**step, "result": write_result(part.content, path, writer)}


def write_result(content: tuple[ContentPart, ...], path: str, writer: BodyWriter) -> str | list[Object]:
    """Returns the content of a result: a single text as a string, anything else as a list."""
    items: list[Object] = []
    for index, part in enumerate(content):
        part_path = f"{path}.content[{index}]"
        if isinstance(part, TextPart):
            append_block(items, write_plain_text(part, part_path, writer.provider, writer.warnings))
        else:
            items.append(write_media(part, part_path, writer.provider, writer.warnings))
    return as_content(items) if items else ""
