"""The blocks of a streamed reply while they arrive, a class for each kind."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeAlias

from abstractcore.schema import (
    Blob,
    Citation,
    Delta,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    Part,
    PartDelta,
    ProviderOptions,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Object, as_object, as_objects, text_of
from ...common.raw_arguments import arguments_text
from .block_fields import BLOCK_FIELDS
from .citations import read_citation
from .media_blocks import from_base64, read_media
from .read_blocks import STATUSES
from .vocabulary import PROVIDER

Number: TypeAlias = Callable[[], int]
"""Gives each delta its sequence number."""


class StreamedBlock(Protocol):
    """One block. `name` is the field of an event that holds its content."""

    name: ClassVar[str]

    def start(self, number: Number) -> list[Delta]:
        """What its beginning says; again, if it goes on after its end."""
        ...

    def add(self, value: Any, number: Number) -> list[Delta]:
        """What more of its content says; raises `InvalidInputError` for what is none."""
        ...

    def end(self, number: Number) -> list[Delta]:
        """What its end says."""
        ...


class TextBlock:
    """Text. Its citations are for all of it, and come beside it."""

    name: ClassVar[str] = "text"

    def __init__(self, block: int) -> None:
        self._block = block
        self._citations: list[Citation] = []

    def start(self, number: Number) -> list[Delta]:
        return [TextStart(number(), self._block)]

    def add(self, value: Any, number: Number) -> list[Delta]:
        return [TextDelta(number(), self._block, value)] if value and isinstance(value, str) else []

    def cite(self, value: Any) -> None:
        """Keep a citation for the end."""
        self._citations.append(read_citation(as_object(value)))

    def end(self, number: Number) -> list[Delta]:
        citations, self._citations = tuple(self._citations), []
        return [TextEnd(number(), self._block, citations)]


class ReasoningBlock:
    """Reasoning, and its signature or what is redacted of it."""

    name: ClassVar[str] = "reasoningContent"

    def __init__(self, block: int, origin: str | None) -> None:
        self._block = block
        self._origin = origin
        self._signature = ""
        self._redacted: list[str] = []

    def start(self, number: Number) -> list[Delta]:
        return [ReasoningStart(number(), self._block, self._origin)]

    def add(self, value: Any, number: Number) -> list[Delta]:
        delta = as_object(value)
        self._signature += text_of(delta, "signature") or ""
        if delta.get("redactedContent"):
            from_base64(delta["redactedContent"], "redactedContent")
            self._redacted.append(delta["redactedContent"])
        text = text_of(delta, "text")
        return [ReasoningDelta(number(), self._block, text)] if text else []

    def end(self, number: Number) -> list[Delta]:
        redacted = self._redacted[0] if len(self._redacted) == 1 else joined_base64(self._redacted)
        return [ReasoningEnd(number(), self._block, self._signature or None, redacted or None)]


class CallBlock:
    """A tool call."""

    name: ClassVar[str] = "toolUse"

    def __init__(self, block: int, received: str, name: str, options: ProviderOptions, ids: ReceivedIds) -> None:
        self.received = received
        self._block = block
        self._name = name
        self._options = options
        self._ids = ids
        self._id: str | None = None
        self._empty = True

    def start(self, number: Number) -> list[Delta]:
        if self._id is None:
            self._id, self._options = self._ids.give(self.received, self._block, self._options)
        return [ToolCallStart(number(), self._block, self._id, self._name, self._options)]

    def add(self, value: Any, number: Number) -> list[Delta]:
        arguments = text_of(as_object(value), "input")
        if not arguments:
            return []
        self._empty = False
        return [ToolCallDelta(number(), self._block, arguments)]

    def end(self, number: Number) -> list[Delta]:
        """A call without arguments says nothing of them here, and `{}` in a whole reply."""
        nothing: list[Delta] = [ToolCallDelta(number(), self._block, "{}")] if self._empty else []
        self._empty = False
        return [*nothing, ToolCallEnd(number(), self._block)]


class HostedCallBlock:
    """A call of a tool that the provider runs."""

    name: ClassVar[str] = "toolUse"

    def __init__(self, block: int, id: str, name: str) -> None:
        self._block = block
        self._id = id
        self._name = name
        self._arguments = ""

    def start(self, number: Number) -> list[Delta]:
        return []

    def add(self, value: Any, number: Number) -> list[Delta]:
        self._arguments += text_of(as_object(value), "input") or ""
        return []

    def end(self, number: Number) -> list[Delta]:
        part = HostedToolCall(self._id, self._name, self._arguments or "{}")
        return [PartDelta(number(), self._block, part)]


class HostedResultBlock:
    """What a tool gave that the provider ran: text, and JSON as its text."""

    name: ClassVar[str] = "toolResult"

    def __init__(self, block: int, start: Object) -> None:
        self._block = block
        self._id = text_of(start, "toolUseId") or ""
        status = start.get("status")
        self._metadata = {"status": status if status in STATUSES else None, "type": text_of(start, "type")}
        self._content: list[TextPart] = []

    def start(self, number: Number) -> list[Delta]:
        return []

    def add(self, value: Any, number: Number) -> list[Delta]:
        for item in as_objects(value):
            text = arguments_text(item["json"]) if item.get("json") is not None else text_of(item, "text")
            self._content.append(TextPart(text or ""))
        return []

    def end(self, number: Number) -> list[Delta]:
        part = HostedToolResult(self._id, tuple(self._content), self._metadata)
        return [PartDelta(number(), self._block, part)]


class ImageBlock:
    """An image in pieces; or, if it could not be made, what is said of that."""

    name: ClassVar[str] = "image"

    def __init__(self, block: int, start: Object) -> None:
        self._block = block
        self._image = start
        self._pieces: list[str] = []

    def start(self, number: Number) -> list[Delta]:
        return []

    def add(self, value: Any, number: Number) -> list[Delta]:
        delta = as_object(value)
        piece = text_of(as_object(delta.get("source")), "bytes")
        if piece is None:
            self._image = {**self._image, **delta}
        else:
            from_base64(piece, "image.source.bytes")
            self._pieces.append(piece)
        return []

    def end(self, number: Number) -> list[Delta]:
        image = self._image
        part: Part = OpaquePart(PROVIDER, "image", image)
        if self._pieces:
            blob = Blob.from_bytes(base64.b64decode(joined_base64(self._pieces)), f"image/{text_of(image, 'format')}")
            part = ImagePart(blob, provider_options=read_options(image, BLOCK_FIELDS["image"], PROVIDER))
        elif "source" in image:
            part = read_media("image", image, "image", [])
        return [PartDelta(number(), self._block, part)]


def joined_base64(pieces: list[str]) -> str:
    """Texts in base64, each with an end of its own, as one."""
    return base64.b64encode(b"".join(map(base64.b64decode, pieces))).decode("ascii")
