"""Strict reading of content blocks, with the path of what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
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
    error_at,
    get_list,
    get_object,
    get_text,
    name_the_rest,
    object_of,
    objects_of,
    text_of,
)
from .block_fields import BLOCK_FIELDS
from .cache_points import read_cache
from .citations import read_cited
from .media_blocks import MEDIA_KINDS, read_media
from .vocabulary import PROVIDER

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
