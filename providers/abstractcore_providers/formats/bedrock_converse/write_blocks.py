"""Writes adjusted parts as content blocks, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import TypeAlias

from pydantic_core import to_json

from abstractcore.schema import (
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

from ...common.call_options import fields_for
from ...common.conversations import HOLE
from ...common.reading import Object
from .cache_points import write_cache
from .citations import write_text
from .media_blocks import write_media
from .read_blocks import INPUT
from .vocabulary import PROVIDER

IdOf: TypeAlias = Callable[[ToolCall | ToolResult], str]


def _own_id(part: ToolCall | ToolResult) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id


class BlockWriter:
    """Writes the blocks of one request. Documents are numbered, since a name could be a prompt injection."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        """The texts for the placeholders of calls' inputs, in order."""
        self._numbers = count(1)

    def blocks(self, parts: Iterable[Part], id_of: IdOf = _own_id) -> list[Object]:
        """Returns the blocks of a message; `id_of` gives the id under which a call or its result is sent."""
        blocks: list[Object] = []
        for part in parts:
            blocks += self._part(part, id_of)
            cache = getattr(part, "cache", None)
            if cache is not None:
                blocks.append(write_cache(cache))
        return blocks

    def _part(self, part: Part, id_of: IdOf) -> list[Object]:
        if isinstance(part, TextPart):
            return write_text(part) if part.citations else [{"text": part.text}]
        if isinstance(part, ToolResult):
            result: Object = {"toolUseId": id_of(part), "content": self._content(part.content)}
            if part.is_error:
                result["status"] = "error"
            return [{"toolResult": {**result, **fields_for(part, PROVIDER)}}]
        if isinstance(part, ReasoningPart):
            return [write_reasoning(part)]
        if isinstance(part, ToolCall):
            self.inputs.append(_input(part))
            return [
                {"toolUse": {"toolUseId": id_of(part), "name": part.name, INPUT: HOLE, **fields_for(part, PROVIDER)}}
            ]
        if isinstance(part, HostedToolCall):
            self.inputs.append(part.arguments_text)
            return [{"toolUse": {"toolUseId": part.id, "name": part.name, INPUT: HOLE, "type": "server_tool_use"}}]
        if isinstance(part, HostedToolResult):
            content = self._content(part.content)
            return [{"toolResult": {"toolUseId": part.call_id, "content": content, **part.provider_metadata}}]
        if isinstance(part, OpaquePart):
            return [{part.kind: part.data}]
        return self._content((part,))

    def _content(self, parts: Iterable[Part]) -> list[Object]:
        blocks: list[Object] = []
        for part in parts:
            if isinstance(part, TextPart):
                blocks.append({"text": part.text})
            elif isinstance(part, MEDIA_PARTS):
                name = f"Document {next(self._numbers)}" if part.type == "document" else ""
                blocks.append(write_media(part, name))
        return blocks


def _input(call: ToolCall) -> str:
    """Returns the JSON text of a call's arguments; for those that are not an object, their text as a string."""
    text = call.arguments_text
    return text if text == call.arguments_json else to_json(text).decode()


def write_reasoning(part: ReasoningPart) -> Object:
    """Returns the block of adjusted reasoning."""
    if part.redacted_data is not None:
        return {"reasoningContent": {"redactedContent": part.redacted_data}}
    text: Object = {"text": part.text}
    if part.signature is not None:
        text["signature"] = part.signature
    return {"reasoningContent": {"reasoningText": text}}
