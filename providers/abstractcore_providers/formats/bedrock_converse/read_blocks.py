"""Strict reading of content blocks, with the path of what is wrong.

Cache points, written and read (Amazon Bedrock User Guide, "Prompt caching for faster model inference"). Citations:
the format attaches them to whole text blocks, the schema to spans of a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CachePoint,
    CallWarning,
    Citation,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ProviderOptions,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments, arguments_text
from ...common.data_urls import read_base64
from ...common.reading import (
    Object,
    count_of,
    error_at,
    get_list,
    get_object,
    get_text,
    name_the_rest,
    object_of,
    objects_of,
    text_of,
)
from ...common.thinking import CACHE_TIMES
from .media_blocks import BLOCK_FIELDS, MEDIA_KINDS, read_media
from .vocabulary import PROVIDER


def write_cache(cache: CachePoint) -> Object:
    """Returns a cache point, which follows the block that it marks."""
    point: Object = {"type": "default"}
    if cache.ttl is not None:
        point["ttl"] = next(name for name, time in CACHE_TIMES.items() if time == cache.ttl)
    return {"cachePoint": point}


def read_cache(point: Object) -> CachePoint:
    """Reads the cache point in a `cachePoint` object."""
    return CachePoint(CACHE_TIMES.get(str(point.get("ttl"))))


_START, _END = "start", "end"


def fit_citations(
    citations: Iterable[Citation], length: int, path: str, warnings: list[CallWarning]
) -> tuple[Citation, ...]:
    """Returns the citations of a text of `length` that blocks can express: with equal or disjoint spans."""
    kept: list[Citation] = []
    for index, citation in enumerate(citations):
        citation_path = f"{path}.citations[{index}]"
        before = _span(kept[-1]) if kept else (0, 0)
        start, end = _span(citation)
        if start < end <= length and ((start, end) == before or start >= before[1]):
            kept.append(_fitted(citation, citation_path, warnings))
        else:
            message = "its span overlaps another or lies outside the text, which the format cannot express"
            warnings.append(CallWarning("citation_left_out", citation_path, message))
    return tuple(kept)


def _fitted(citation: Citation, path: str, warnings: list[CallWarning]) -> Citation:
    kept = {
        name: value
        for name, value in citation.provider_metadata.items()
        if name == "location" and isinstance(value, dict)
    }
    if kept != citation.provider_metadata:
        message = "the format has no field for some of its metadata"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, sent=kept or None))
    return replace(citation, provider_metadata=kept)


def write_text(part: TextPart) -> list[Object]:
    """Returns the blocks of an adjusted part."""
    blocks: list[Object] = []
    written = 0
    for (start, end), citations in groupby(part.citations, _span):
        if written < start:
            blocks.append({"text": part.text[written:start]})
        blocks.append(_cited(part.text[start:end], list(citations)))
        written = end
    if written < len(part.text):
        blocks.append({"text": part.text[written:]})
    return blocks


def _cited(text: str, citations: list[Citation]) -> Object:
    return {"citationsContent": {"content": [{"text": text}], "citations": list(map(write_citation, citations))}}


def write_citation(citation: Citation) -> Object:
    """Returns the format's citation object."""
    data: Object = {}
    location = object_of(citation.provider_metadata, "location")
    if citation.title is not None:
        data["title"] = citation.title
    if citation.source != _address(location):
        data["source"] = citation.source
    if citation.quote is not None:
        data["sourceContent"] = [{"text": citation.quote}]
    if "location" in citation.provider_metadata:
        data["location"] = location
    return data


def streamed_citation(citation: Citation, length: int) -> Object:
    """As `write_citation`, for a text of `length` that was streamed before its citations were known.

    For a part of the text, two extra fields give the span.
    """
    start, end = _span(citation)
    whole = (start, end) == (0, length)
    return write_citation(citation) if whole else {**write_citation(citation), _START: start, _END: end}


def read_citation(data: Object) -> Citation:
    """Reads a citation, of the whole text of its block unless it has a span (see `streamed_citation`)."""
    location = object_of(data, "location") or None
    source = text_of(data, "source")
    quote = "".join(text_of(content, "text") or "" for content in objects_of(data, "sourceContent"))
    return Citation(
        _address(location or {}) if source is None else source,
        text_of(data, "title"),
        quote or None,
        start=count_of(data, _START),
        end=count_of(data, _END),
        provider_metadata={"location": location},
    )


def read_cited(data: Object) -> TextPart:
    """Reads the text of a `citationsContent` block, with its citations."""
    text = "".join(text_of(content, "text") or "" for content in objects_of(data, "content"))
    return TextPart(text, tuple(map(read_citation, objects_of(data, "citations"))))


def _address(location: Object) -> str:
    return text_of(object_of(location, "web"), "url") or ""


def _span(citation: Citation) -> tuple[int, int]:
    return citation.start or 0, citation.end or 0


STATUSES = ("success", "error")
INPUT = "input"
"""The field for a call's arguments, whose original text is kept."""
_RESULT_MEDIA = MEDIA_KINDS - {"audio"}


@dataclass(frozen=True, slots=True)
class BlockReader:
    """Reads the blocks of one body. Reasoning in it is of `origin`; `inputs` has the argument texts of calls."""

    inputs: WrittenArguments
    origin: str | None
    warnings: list[CallWarning]

    def blocks(self, values: Iterable[Any], path: str, role: Role) -> list[Part]:
        """Returns the parts of a message. A cache point is attached to the part before it.

        Raises `InvalidInputError` with the path of what is wrong.
        """
        parts: list[Part] = []
        for index, value in enumerate(values):
            block_path = f"{path}[{index}]"
            block = get_object(value, block_path)
            if "cachePoint" in block:
                self._mark(parts, get_object(block["cachePoint"], f"{block_path}.cachePoint"), block_path)
                continue
            try:
                parts.append(self.block(block, block_path, role))
            except SchemaError as error:
                raise error_at(block_path, error) from None
        return parts

    def block(self, block: Object, path: str, role: Role) -> Part:
        """Returns the part in one block; an unknown block is an `OpaquePart`."""
        kind = next((name for name, value in block.items() if value is not None), None)
        if kind is None:
            raise InvalidInputError("the block is empty", path=path)
        value, block_path = block[kind], f"{path}.{kind}"
        if kind == "text":
            return TextPart(get_text(value, block_path))
        if kind in MEDIA_KINDS and role != "system":
            return read_media(kind, value, block_path, self.warnings)
        if kind == "toolUse" and role == "assistant":
            return self._tool_use(get_object(value, block_path), block_path)
        if kind == "toolResult" and role != "system":
            return self._tool_result(get_object(value, block_path), block_path, role)
        if kind == "reasoningContent" and role == "assistant":
            return replace(_reasoning(get_object(value, block_path), block_path), origin=self.origin)
        if kind == "citationsContent" and role == "assistant":
            return read_cited(object_of(block, kind))
        return OpaquePart(PROVIDER, kind, value)

    def _mark(self, parts: list[Part], point: Object, path: str) -> None:
        """Attaches a cache point to the last part."""
        last: Any = parts[-1] if parts else None
        if getattr(last, "cache", 0) is None and not (isinstance(last, TextPart) and not last.text):
            parts[-1] = replace(last, cache=read_cache(point))
        else:
            message = "a cache point must follow another block"
            self.warnings.append(CallWarning("cache_left_out", path, message))

    def _tool_use(self, data: Object, path: str) -> ToolCall | HostedToolCall:
        id, name = get_text(data.get("toolUseId"), f"{path}.toolUseId"), get_text(data.get("name"), f"{path}.name")
        text = self._arguments({} if data.get(INPUT) is None else data[INPUT])
        if text_of(data, "type") == "server_tool_use":
            return HostedToolCall(id, name, text)
        return ToolCall(id, name, text, provider_options=_options(data, "tool_call"))

    def _arguments(self, value: Any) -> str:
        """Returns the text of a call's arguments; a string is the text of arguments that are not a JSON object."""
        if isinstance(value, dict):
            return self.inputs.text_of(value)
        return value if isinstance(value, str) else arguments_text(value)

    def _tool_result(self, data: Object, path: str, role: Role) -> ToolResult | HostedToolResult:
        """Reads a tool's result; in an assistant's message, that of a hosted tool."""
        id = get_text(data.get("toolUseId"), f"{path}.toolUseId")
        content = self._content(get_list(data, "content", f"{path}."), f"{path}.content")
        status = text_of(data, "status")
        if role == "assistant":
            metadata = {"status": status if status in STATUSES else None, "type": text_of(data, "type")}
            return HostedToolResult(id, content, metadata)
        return ToolResult(id, content, status == "error", provider_options=_options(data, "tool_result"))

    def _content(self, values: Iterable[Any], path: str) -> tuple[ContentPart, ...]:
        """Reads the content of a result. JSON and search results become text."""
        content: list[ContentPart] = []
        for index, value in enumerate(values):
            block_path = f"{path}[{index}]"
            block = get_object(value, block_path)
            kind = next((name for name, value in block.items() if value is not None), "")
            if kind == "text":
                content.append(TextPart(get_text(block["text"], f"{block_path}.text")))
            elif kind == "json":
                content.append(TextPart(arguments_text(block["json"])))
            elif kind in _RESULT_MEDIA:
                content.append(read_media(kind, block[kind], f"{block_path}.{kind}", self.warnings))
            elif kind == "searchResult":
                found = get_object(block[kind], f"{block_path}.{kind}")
                name_the_rest(found, frozenset({"content"}), f"{block_path}.{kind}", self.warnings)
                content += [TextPart(text_of(item, "text") or "") for item in objects_of(found, "content")]
            else:
                raise InvalidInputError(f"unknown content of a tool's result: {kind!r}", path=block_path)
        return tuple(content)


def _options(data: Object, kind: str) -> ProviderOptions:
    return read_options(data, BLOCK_FIELDS[kind], PROVIDER)


def _reasoning(data: Object, path: str) -> ReasoningPart:
    redacted = data.get("redactedContent")
    if redacted is not None:
        read_base64(redacted, f"{path}.redactedContent")
        return ReasoningPart(redacted_data=redacted)
    text = get_object(data.get("reasoningText"), f"{path}.reasoningText")
    return ReasoningPart(get_text(text.get("text"), f"{path}.reasoningText.text"), text_of(text, "signature"))
