"""Searches of deferred tools in earlier messages, and which of them a request can repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from abstractcore.schema import HostedToolCall, HostedToolResult, Message, Part

from ...common.reading import Object, as_object, as_objects, text_of
from .hosted_tools import TOOL_SEARCH

LEFT_OUT = "a tool search can be repeated only together with the tool search and all tools that it found"
_RESULT = "tool_search_tool_result"


def unrepeatable_searches(messages: Sequence[Message], tools: Iterable[Object]) -> frozenset[str]:
    """Returns the ids of searches that are refused beside `tools`, the definitions of a request: a `tool_reference`
    must name one of them
    (https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool, "Error handling").
    """
    parts = [part for message in messages if message.role == "assistant" for part in message.parts]
    searches = {part.id for part in parts if isinstance(part, HostedToolCall) and part.name.startswith(TOOL_SEARCH)}
    found = {part.call_id: _names(part) for part in parts if isinstance(part, HostedToolResult) and _is_search(part)}
    if not searches and not found:
        return frozenset()
    defined = {name for tool in tools if (name := text_of(tool, "name")) is not None}
    if not any(name.startswith(TOOL_SEARCH) for name in defined):
        return frozenset({*searches, *found})
    return frozenset(id for id, names in found.items() if not names <= defined)


def is_search_among(part: Part, ids: frozenset[str]) -> bool:
    """Whether `part` is a search with one of `ids`, or its result."""
    if isinstance(part, HostedToolCall):
        return part.id in ids and part.name.startswith(TOOL_SEARCH)
    return isinstance(part, HostedToolResult) and part.call_id in ids and _is_search(part)


def _is_search(part: HostedToolResult) -> bool:
    return part.provider_metadata.get("type") == _RESULT


def _names(part: HostedToolResult) -> set[str]:
    content = part.provider_metadata.get("content")
    references = as_objects(content.get("tool_references") if isinstance(content, Mapping) else None)
    return {name for each in references if (name := text_of(as_object(each), "tool_name")) is not None}
