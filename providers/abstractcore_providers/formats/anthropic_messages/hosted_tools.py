"""Hosted tools, which the provider runs: definitions and results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import CallWarning, HostedTool, HostedToolKind, TextPart

from ...common.reading import Object, as_object, as_objects, objects_of, text_of

TOOL_SEARCH = "tool_search_tool_"
"""The beginning of the types and names of the tools that search deferred tools."""
_TOOLS: dict[HostedToolKind, Object] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
    "code_interpreter": {"type": "code_execution_20250825", "name": "code_execution"},
    "computer_use": {"type": "", "name": "computer"},
    "tool_search": {"type": f"{TOOL_SEARCH}bm25_20251119", "name": f"{TOOL_SEARCH}bm25"},
}
"""The defaults of definitions. The type of the tool for computer use depends on the model: `Dialect.computer_tool`."""
_VERSION = re.compile(r"_\d{8}$")
_OF_SINGLE_TOOLS = frozenset({"name", "display_width_px", "display_height_px", "display_number", "enable_zoom"})
"""Fields of the older computer tool that a toolset does not have (`ComputerToolset20260801Param`)."""
_KINDS: tuple[tuple[str, HostedToolKind], ...] = (
    ("web_search_", "web_search"),
    ("web_fetch_", "web_search"),
    ("code_execution_", "code_interpreter"),
    ("computer_", "computer_use"),
    (TOOL_SEARCH, "tool_search"),
)
"""The prefixes of each kind's types, which end with a version's date."""


def hosted_tool_to_theirs(tool: HostedTool, path: str, computer: str, warnings: list[CallWarning]) -> Object:
    """Returns the tool's definition. `options` may select another version with `type`; `computer` is that of the
    model's tool for computer use. Options that are the default, and those that a toolset does not have, are left out
    with a warning.

    Raises `UnsupportedContentError` for a kind that the format does not have.
    """
    if tool.kind not in _TOOLS:
        raise UnsupportedContentError(
            f"{path}: the Messages format has no hosted tools of kind {tool.kind!r}.",
            hint="Define a function tool, or use a provider with this hosted tool.",
        )
    usual = _usual(tool.kind, text_of(dict(tool.options), "type") or "", computer)
    options = {name: value for name, value in tool.options.items() if usual.get(name) != value}
    warnings += [
        CallWarning("no_effect", f"{path}.options.{name}", "it is the default", tool.options[name])
        for name in tool.options
        if name not in options
    ]
    for name in sorted(_OF_SINGLE_TOOLS & options.keys()) if _is_toolset({**usual, **options}) else ():
        message = f"{usual['type']} has no {name}"
        warnings.append(CallWarning("unsupported_option", f"{path}.options.{name}", message, options.pop(name)))
    data = {**usual, **options}
    if hosted_tool_to_ours(data, computer) != HostedTool(tool.kind, options):
        raise InvalidInputError(f"is not a tool of kind {tool.kind!r}", path=f"{path}.options")
    return data


def _usual(kind: HostedToolKind, type_: str, computer: str) -> Object:
    """Returns the defaults of a definition. A toolset has no name of its own; that of a tool search follows from its
    type (`ToolSearchToolRegex20251119Param`, `ToolSearchToolBm25_20251119Param`).
    """
    if kind == "tool_search" and type_:
        return {**_TOOLS[kind], "name": _VERSION.sub("", type_)}
    usual = _TOOLS[kind] if kind != "computer_use" else {**_TOOLS[kind], "type": computer}
    return {"type": usual["type"]} if _is_toolset({"type": type_ or usual["type"]}) else usual


def _is_toolset(data: Object) -> bool:
    return "_toolset_" in (text_of(data, "type") or "")


def hosted_tool_to_ours(data: Object, computer: str) -> HostedTool | None:
    """Returns the hosted tool of a definition; None for any other tool."""
    type_ = text_of(data, "type") or ""
    kind: HostedToolKind | None = next((kind for beginning, kind in _KINDS if type_.startswith(beginning)), None)
    if kind is None:
        return None
    usual = _usual(kind, type_, computer)
    return HostedTool(kind, {name: value for name, value in data.items() if usual.get(name) != value})


def is_own_tool(data: Object) -> bool:
    """Whether a definition is of a tool that the caller runs and describes."""
    return data.get("type") in (None, "custom")


def result_text(block: Mapping[str, Any]) -> tuple[TextPart, ...]:
    """Returns a readable text of a result: a program's output, titles and URLs of pages, names of tools, the code of an
    error.
    """
    content = block.get("content")
    found, items = as_object(content), list(cast("list[Any]", content)) if isinstance(content, list) else []
    pieces = [text_of(found, name) for name in ("stdout", "stderr", "error_code", "url")]
    pieces += [text_of(reference, "tool_name") for reference in objects_of(found, "tool_references")]
    pieces += map(_item_text, as_objects(items))
    text = "\n".join(piece.strip("\n") for piece in pieces if piece)
    return (TextPart(text),) if text else ()


def _item_text(item: Object) -> str | None:
    url = text_of(item, "url")
    return text_of(item, "text") if url is None else f"{text_of(item, 'title') or ''} <{url}>"
