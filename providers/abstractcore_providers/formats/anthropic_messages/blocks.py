"""Blocks that a model writes, read tolerantly from replies; a client's blocks are checked before.

Citations, which belong to whole text blocks in this format, and to spans of a text in the schema. Hosted tools, which
the provider runs: definitions and results. Searches of deferred tools in earlier messages, and which of them a
request can repeat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    Citation,
    HostedTool,
    HostedToolCall,
    HostedToolKind,
    HostedToolResult,
    JSONObject,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    to_data,
)

from ...common.call_options import read_options
from ...common.conversations import HOLE
from ...common.reading import Object, as_object, as_objects, count_of, objects_of, text_of
from .content import BLOCK_FIELDS
from .vocabulary import WARNINGS, cache_to_ours

_DOCUMENT = ("cited_text", "document_title", "start", "end")
_SEARCH = ("cited_text", "source", "title", "start", "end")
_WEB = ("cited_text", "url", "title", "start", "end")
_WEB_KIND = "web_search_result_location"
_UNSAID = (("type", _WEB_KIND), ("encrypted_index", ""))
"""Defaults for a citation of a web page of which only the URL is known."""

_LOCATION_FIELDS = {
    "char_location": ("document_index", "start_char_index", "end_char_index"),
    "page_location": ("document_index", "start_page_number", "end_page_number"),
    "content_block_location": ("document_index", "start_block_index", "end_block_index"),
    "search_result_location": ("search_result_index", "start_block_index", "end_block_index"),
}
"""The integers that a citation of each kind needs to be sent back."""

Writer = Callable[[Citation, str, list[CallWarning]], Object | None]
"""Returns the format's citation, or None (and a warning with the path)."""


def citations_to_ours(block: Object) -> tuple[Citation, ...]:
    """Returns the citations of a text block; `start` and `end` are the text's, and exist only in streams of
    AbstractCore.
    """
    return tuple(map(citation_to_ours, objects_of(block, "citations")))


def citation_to_ours(data: Object) -> Citation:
    """Returns one citation. Its kind, and what the schema does not model, are in its metadata."""
    kind = text_of(data, "type")
    if kind == "search_result_location":
        known, source, title = _SEARCH, text_of(data, "source"), text_of(data, "title")
    elif kind in _LOCATION_FIELDS:
        known, source, title = _DOCUMENT, text_of(data, "document_title"), text_of(data, "document_title")
    else:
        known, source, title = _WEB, text_of(data, "url"), text_of(data, "title")
    metadata = {key: value for key, value in data.items() if key not in known and (key, value) not in _UNSAID}
    span = (count_of(data, "start"), count_of(data, "end"))
    return Citation(source or "", title, text_of(data, "cited_text"), *span, metadata)


def citation_to_theirs(citation: Citation, path: str, warnings: list[CallWarning]) -> Object:
    """For a client: a citation of any origin, as one of a web page if it is not from this format."""
    data = _written(citation, citation.provider_metadata)
    if not _reads_back(data, citation):
        message = "the Messages format would read this as another citation"
        warnings.append(CallWarning("provider_metadata_left_out", f"{path}.provider_metadata", message))
        data = _written(citation, EMPTY)
    return data


def _reads_back(data: Object, citation: Citation) -> bool:
    return replace(citation_to_ours(data), start=citation.start, end=citation.end) == citation


def own_citation(citation: Citation, path: str, warnings: list[CallWarning]) -> Object | None:
    """For the provider: a citation from the provider. Any other is omitted, as are fields that cannot be sent back."""
    metadata = citation.provider_metadata
    kind = metadata.get("type")
    web = kind is None and isinstance(metadata.get("encrypted_index"), str)
    fields = ("encrypted_index",) if web else _LOCATION_FIELDS.get(str(kind))
    numbers = () if web or fields is None else fields
    data = _written(citation, metadata)
    if (
        fields is None
        or not all(type(metadata.get(name)) is int for name in numbers)
        or not _reads_back(data, citation)
    ):
        message = "only citations from this provider can be sent back"
        warnings.append(CallWarning("citation_left_out", path, message))
        return None
    kept = {name: value for name, value in metadata.items() if name in fields or name == "type"}
    if len(kept) < len(metadata):
        message = f"a citation cannot be sent back with more than {' and '.join(kept)}"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, metadata, kept))
    return {name: value for name, value in data.items() if name in kept or name not in metadata}


def _written(citation: Citation, metadata: JSONObject) -> Object:
    rest: Object = dict(metadata)
    kind = rest.get("type")
    if kind == "search_result_location":
        return rest | {"source": citation.source, "title": citation.title, "cited_text": citation.quote or ""}
    if isinstance(kind, str) and kind in _LOCATION_FIELDS:
        return rest | {"document_title": citation.title, "cited_text": citation.quote or ""}
    web = {"type": _WEB_KIND, "url": citation.source, "title": citation.title, "cited_text": citation.quote or ""}
    return {"encrypted_index": "", **rest, **web}


def placed_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> Iterator[tuple[int, Citation]]:
    """Returns the citations, with their indexes, whose spans are equal or ascending: those that blocks can express."""
    last: tuple[int, int] | None = None
    for index, citation in enumerate(part.citations):
        start, end = span = citation.start or 0, citation.end or 0
        if span == last or (last[1] if last else 0) <= start < end <= len(part.text):
            last = span
            yield index, citation
        else:
            message = "spans that overlap, lie outside the text or go backwards cannot be sent"
            warnings.append(CallWarning("citation_left_out", f"{path}.citations[{index}]", message))


def spanned_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> list[Object]:
    """For a client: the citations of a text in one block. A citation of a span has it as extra fields."""
    written: list[Object] = []
    for index, citation in placed_citations(part, path, warnings):
        data = citation_to_theirs(citation, f"{path}.citations[{index}]", warnings)
        if (citation.start, citation.end) != (0, len(part.text)):
            data |= {"start": citation.start, "end": citation.end}
        written.append(data)
    return written


def cited_blocks(part: TextPart, path: str, write: Writer, warnings: list[CallWarning]) -> list[Object]:
    """Returns the text as blocks, each with the citations of its whole text."""
    if not part.citations:
        return [{"type": "text", "text": part.text}]
    blocks: list[Object] = []
    reached = 0
    for index, citation in placed_citations(part, path, warnings):
        data = write(citation, f"{path}.citations[{index}]", warnings)
        if data is None:
            continue
        start, end = citation.start or 0, citation.end or 0
        if start > reached:
            blocks.append({"type": "text", "text": part.text[reached:start]})
        if end > reached:
            blocks.append({"type": "text", "text": part.text[start:end], "citations": []})
            reached = end
        blocks[-1]["citations"].append(data)
    if reached < len(part.text):
        blocks.append({"type": "text", "text": part.text[reached:]})
    return blocks


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


HOSTED_CALLS = ("server_tool_use", "mcp_tool_use")
CALLS = ("tool_use", *HOSTED_CALLS)
_INVALID = "INVALID_JSON"
"""The key for arguments that are not a JSON object, as the vendor prescribes ("Fine-grained tool streaming")."""


def is_hosted_result(kind: object) -> bool:
    """Whether a block of this type contains the result of a hosted tool."""
    return isinstance(kind, str) and kind.endswith("_tool_result")


def read_block(block: Object, provider: str, origin: str | None, input_text: str) -> Part:
    """Returns the part in a block; `input_text` is the text of its `input`, if it has one. Raises `SchemaError`."""
    kind = text_of(block, "type") or ""
    if kind == "text":
        return _text(block, provider)
    if kind == "thinking":
        return ReasoningPart(text_of(block, "thinking") or "", text_of(block, "signature"), origin=origin)
    if kind == "redacted_thinking":
        return ReasoningPart(redacted_data=text_of(block, "data"), origin=origin)
    if kind == "tool_use":
        return _tool_call(block, provider, input_text)
    if kind in HOSTED_CALLS:
        metadata = _without(block, "id", "name", "input")
        return HostedToolCall(text_of(block, "id") or "", text_of(block, "name") or "", input_text, metadata)
    if is_hosted_result(kind):
        return HostedToolResult(text_of(block, "tool_use_id") or "", result_text(block), _without(block, "tool_use_id"))
    return OpaquePart(provider, kind, _without(block, "type"))


def _text(block: Object, provider: str) -> TextPart:
    """An empty text has no cache point and no options."""
    cache = cache_to_ours(block.get("cache_control"))
    text = text_of(block, "text") or ""
    citations = citations_to_ours(block)
    options = read_options(block, BLOCK_FIELDS["text"], provider)
    return TextPart(text, citations, cache, options) if text else TextPart("", citations)


def _tool_call(block: Object, provider: str, input_text: str) -> ToolCall:
    written = text_of(block, "partial_json")
    cache = cache_to_ours(block.get("cache_control"))
    return ToolCall(
        text_of(block, "id") or "",
        text_of(block, "name") or "",
        input_text if written is None else written,
        cache=cache,
        provider_options=read_options(block, BLOCK_FIELDS["tool_use"], provider),
    )


def _without(block: Object, *names: str) -> Object:
    return {name: value for name, value in block.items() if name not in names}


def own_block(part: Part, provider: str) -> Object | None:
    """Returns the block that `part` was read from; None if it is not from this format. Its `input` is omitted."""
    if isinstance(part, OpaquePart) and part.provider == provider and isinstance(part.data, Mapping):
        block: Object = {"type": part.kind, **part.data}
    elif isinstance(part, HostedToolCall) and part.provider_metadata.get("type") in HOSTED_CALLS:
        if not _is_object(part.arguments_text):
            return None
        block = {**part.provider_metadata, "id": part.id, "name": part.name}
    elif isinstance(part, HostedToolResult) and is_hosted_result(part.provider_metadata.get("type")):
        block = {**part.provider_metadata, "tool_use_id": part.call_id}
    else:
        return None
    text = part.arguments_text if isinstance(part, HostedToolCall) else ""
    return block if _same(read_block(block, provider, None, text), part) else None


def write_own(part: Part, path: str, provider: str, inputs: list[str], warnings: list[CallWarning]) -> list[Object]:
    """Returns the block of `part`, and the text of its input; a warning if it is not from this format."""
    block = own_block(part, provider)
    if block is None:
        warnings.append(WARNINGS.part(part, path))
        return []
    if isinstance(part, HostedToolCall):
        inputs.append(part.arguments_text)
        block["input"] = HOLE
    return [block]


def _same(one: Part, other: Part) -> bool:
    return type(one) is type(other) and to_data(one) == to_data(other)


def _is_object(text: str) -> bool:
    call = ToolCall("", "", text)
    return call.arguments is not None and input_text(call) == text


def input_text(call: ToolCall) -> str:
    """Returns the arguments as the JSON text of an object: the original text if it is one."""
    return to_json({_INVALID: call.arguments_text}).decode() if call.arguments_json is None else call.arguments_json


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
