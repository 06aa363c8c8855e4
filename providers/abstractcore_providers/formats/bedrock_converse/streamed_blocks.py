"""The blocks of a streamed reply, a class for each kind."""

from __future__ import annotations

import base64
from typing import Any, ClassVar, Protocol

from abstractcore.schema import (
    Blob,
    Citation,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    Part,
    ProviderOptions,
    TextPart,
)

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, arguments_piece, arguments_text
from ...common.data_urls import read_base64
from ...common.delta_writer import DeltaWriter
from ...common.reading import Object, object_of, objects_of, text_of
from .block_fields import BLOCK_FIELDS
from .citations import read_citation
from .media_blocks import read_media
from .read_blocks import STATUSES
from .vocabulary import PROVIDER


class StreamedConverseBlock(Protocol):
    """One block. `name` is the field of an event that has its content."""

    name: ClassVar[str]

    def start(self, out: DeltaWriter) -> None:
        """Reads its start; again, if it is reopened."""
        ...

    def add(self, value: Any, out: DeltaWriter) -> None:
        """Reads more of its content; raises `InvalidInputError` for invalid content."""
        ...

    def end(self, out: DeltaWriter) -> None:
        """Reads its end."""
        ...


class TextBlock:
    """Text. Its citations apply to all of it, and come separately."""

    name: ClassVar[str] = "text"

    def __init__(self, block: int) -> None:
        self._block = block
        self._citations: list[Citation] = []

    def start(self, out: DeltaWriter) -> None:
        out.start_text(self._block)

    def add(self, value: Any, out: DeltaWriter) -> None:
        out.write(self._block, text_of({self.name: value}, self.name) or "")

    def cite(self, value: Any) -> None:
        """Keeps a citation until the end."""
        self._citations.append(read_citation(object_of({"citation": value}, "citation")))

    def end(self, out: DeltaWriter) -> None:
        citations, self._citations = tuple(self._citations), []
        out.end_text(self._block, citations)


class ReasoningBlock:
    """Reasoning, with its signature or redacted data."""

    name: ClassVar[str] = "reasoningContent"

    def __init__(self, block: int) -> None:
        self._block = block
        self._signature = ""
        self._redacted: list[str] = []

    def start(self, out: DeltaWriter) -> None:
        out.start_reasoning(self._block)

    def add(self, value: Any, out: DeltaWriter) -> None:
        delta = object_of({self.name: value}, self.name)
        self._signature += text_of(delta, "signature") or ""
        redacted = text_of(delta, "redactedContent")
        if redacted:
            read_base64(redacted, "redactedContent")
            self._redacted.append(redacted)
        out.write(self._block, text_of(delta, "text") or "")

    def end(self, out: DeltaWriter) -> None:
        redacted = self._redacted[0] if len(self._redacted) == 1 else joined_base64(self._redacted)
        out.end_reasoning(self._block, self._signature or None, redacted or None)


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

    def start(self, out: DeltaWriter) -> None:
        if self._id is None:
            self._id, self._options = self._ids.give(self.received, self._block, self._options)
        out.start_call(self._block, self._id, self._name, self._options)

    def add(self, value: Any, out: DeltaWriter) -> None:
        piece = object_of({self.name: value}, self.name)
        arguments = arguments_piece(piece, "input", is_first=self._empty)
        self._empty = self._empty and not arguments
        out.write(self._block, arguments)

    def end(self, out: DeltaWriter) -> None:
        """A call without arguments has none here, and `{}` in an unstreamed reply."""
        if self._empty:
            out.write(self._block, "{}")
        self._empty = False
        out.end_call(self._block)


class HostedCallBlock:
    """A call of a hosted tool."""

    name: ClassVar[str] = "toolUse"

    def __init__(self, block: int, id: str, name: str) -> None:
        self._block = block
        self._id = id
        self._name = name
        self._arguments = ""

    def start(self, out: DeltaWriter) -> None:
        pass

    def add(self, value: Any, out: DeltaWriter) -> None:
        piece = object_of({self.name: value}, self.name)
        self._arguments += arguments_piece(piece, "input", is_first=not self._arguments)

    def end(self, out: DeltaWriter) -> None:
        part = HostedToolCall(self._id, self._name, self._arguments or "{}")
        out.part(self._block, part)


class HostedResultBlock:
    """The result of a hosted tool: text, and JSON as text."""

    name: ClassVar[str] = "toolResult"

    def __init__(self, block: int, start: Object) -> None:
        self._block = block
        self._id = text_of(start, "toolUseId") or ""
        status = text_of(start, "status")
        self._metadata = {"status": status if status in STATUSES else None, "type": text_of(start, "type")}
        self._content: list[TextPart] = []

    def start(self, out: DeltaWriter) -> None:
        pass

    def add(self, value: Any, out: DeltaWriter) -> None:
        for item in objects_of({self.name: value}, self.name):
            text = arguments_text(item["json"]) if item.get("json") is not None else text_of(item, "text")
            self._content.append(TextPart(text or ""))

    def end(self, out: DeltaWriter) -> None:
        part = HostedToolResult(self._id, tuple(self._content), self._metadata)
        out.part(self._block, part)


class ImageBlock:
    """An image in chunks or, if it failed, the error."""

    name: ClassVar[str] = "image"

    def __init__(self, block: int, start: Object) -> None:
        self._block = block
        self._image = start
        self._pieces: list[str] = []

    def start(self, out: DeltaWriter) -> None:
        pass

    def add(self, value: Any, out: DeltaWriter) -> None:
        delta = object_of({self.name: value}, self.name)
        piece = text_of(object_of(delta, "source"), "bytes")
        if piece is None:
            self._image = {**self._image, **delta}
        else:
            read_base64(piece, "image.source.bytes")
            self._pieces.append(piece)

    def end(self, out: DeltaWriter) -> None:
        image = self._image
        part: Part = OpaquePart(PROVIDER, "image", image)
        if self._pieces:
            blob = Blob.from_bytes(base64.b64decode(joined_base64(self._pieces)), f"image/{text_of(image, 'format')}")
            part = ImagePart(blob, provider_options=read_options(image, BLOCK_FIELDS["image"], PROVIDER))
        elif "source" in image:
            part = read_media("image", image, "image", [])
        out.part(self._block, part)


def joined_base64(pieces: list[str]) -> str:
    """Joins base64 texts, each with its own padding."""
    return base64.b64encode(b"".join(map(base64.b64decode, pieces))).decode("ascii")
