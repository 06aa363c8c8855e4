"""Decodes the messages of an event stream to deltas.

The blocks of a streamed reply, a class for each kind.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import jiter

from abstractcore.errors import ServerError
from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import (
    Blob,
    Citation,
    Delta,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    Part,
    ProviderOptions,
    TextDelta,
    TextPart,
    Usage,
)

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, arguments_piece, arguments_text
from ...common.data_urls import read_base64
from ...common.delta_writer import DeltaWriter
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.reading import Cut, Object, as_object, count_of, object_of, objects_of, text_of
from .decode import metadata_to_ours
from .errors import RIGHT_ADDRESS, error_in_stream
from .media_blocks import BLOCK_FIELDS, read_media
from .read_blocks import STATUSES, read_citation
from .render import STOP_FIELDS
from .vocabulary import FINISH_REASONS, PROVIDER, usage_to_ours


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


_MAX_INDEX = 2**31 - 1
_CUT: Cut = {"delta": {"text": {}, "reasoningContent": {"text": {}}, "toolUse": {"input": {}}}}
_INSIDE = {"reasoningContent": "text", "toolUse": "input"}
"""Where a delta has its text if not in `text` itself."""


class ConverseDecoder(FrameDecoder):
    """Decodes one stream, of a reply of `model`. Its last message has the usage."""

    def __init__(self, model: str | None) -> None:
        super().__init__(
            RIGHT_ADDRESS,
            "the stream ended without a stop reason",
            nothing="the response is not an event stream",
            frame="message",
            cut=_CUT,
        )
        self._model = model
        self._blocks: dict[int, StreamedConverseBlock] = {}
        self._open: dict[int, StreamedConverseBlock] = {}
        self._numbers: dict[int, int] = {}
        self._ids = ReceivedIds()
        self._text_index = -1
        self._text_block = 0
        """The index and number of the last text, while it is open."""
        self._is_cut = False
        """Whether surrogates may be pending."""
        self._highest = -1
        self._finish: str | None = None
        self._metadata: Object = {}
        self._events: dict[Any, Callable[[Object], None]] = {
            "contentBlockDelta": self._delta,
            "contentBlockStart": self._start,
            "contentBlockStop": self._stop,
            "messageStop": self._message_stop,
            "metadata": self._counts,
        }

    def feed(self, frame: AwsEventStreamMessage) -> list[Delta]:
        """Returns the deltas of one message; raises `ServerError` for one that is not JSON, or the error in it."""
        self._count += 1
        kind = frame.headers.get(":message-type")
        if kind == "error":
            message = frame.headers.get(":error-message")
            raise error_in_stream(str(frame.headers.get(":error-code")), {"message": message} if message else {})
        try:
            data = self._object(jiter.from_json(frame.payload, allow_inf_nan=False))
        except ValueError:
            self._is_cut = True
            data = self._object(self._read_with_care(frame.payload))
        if kind == "exception":
            raise error_in_stream(str(frame.headers.get(":exception-type")), data)
        event = frame.headers.get(":event-type")
        if event == "contentBlockDelta" and count_of(data, "contentBlockIndex") == self._text_index:
            # Fast path: nearly all messages append to the open text.
            text = object_of(data, "delta").get("text")
            if text and type(text) is str and not self._is_cut:
                out = self._out
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, self._text_block, text)]
        return self._deltas_of(self._message, data, event)

    def _message(self, data: Object, event: object) -> None:
        if self._count == 1:
            self._out.start_reply(self._model, PROVIDER)
        read = self._events.get(event)
        if read is not None:
            read(data)
        elif reports_error(data):
            raise error_in_stream(str(event or ""), data)
        elif event != "messageStart":
            self._ignore(data)

    def _is_over(self) -> bool:
        return self._finish is not None

    def _end(self) -> None:
        for index in list(self._open):
            self._end_block(index)
        calls = any(isinstance(block, CallBlock) for block in self._blocks.values())
        self._out.end_reply(FINISH_REASONS.read(self._finish or "", calls=calls), self._finish, self._metadata)

    def _delta(self, data: Object) -> None:
        index, delta = self._number(_index(data)), object_of(data, "delta")
        for name, value in self._mended(index, delta).items():
            if name in ("text", "citation"):
                block = self._opened(index, TextBlock(index))
            elif name == "reasoningContent":
                block = self._opened(index, ReasoningBlock(index))
            else:
                block = self._open.get(index)
            if name == "citation" and isinstance(block, TextBlock):
                block.cite(value)
            elif block is not None and block.name == name:
                block.add(value, self._out)
        if type(self._open.get(index)) is TextBlock:
            self._text_index, self._text_block = _index(data), index

    def _mended(self, index: int, delta: Object) -> Object:
        """Returns `delta` without lone surrogates: a high surrogate waits for the block's next text."""
        whole = dict(delta)
        for name, value in delta.items():
            field = _INSIDE.get(name)
            if name == "text" and isinstance(value, str):
                whole[name] = self._out.surrogates.mend(index, value)
            elif field is not None and (piece := text_of(as_object(value), field)) is not None:
                whole[name] = {**value, field: self._out.surrogates.mend(index, piece)}
        return whole

    def _opened(self, index: int, new: StreamedConverseBlock) -> StreamedConverseBlock:
        """Returns the open block at `index`: `new` if there was none, else the existing one, which may be reopened."""
        block = self._blocks.setdefault(index, new)
        if type(block) is not type(new):
            raise ServerError(f"block {index} of the stream changes its kind")
        if index not in self._open:
            self._open[index] = block
            block.start(self._out)
        return block

    def _start(self, data: Object) -> None:
        index, start = _index(data), object_of(data, "start")
        number = self._number(index)
        block, known = _begun(number, start, self._ids), self._blocks.get(number)
        if isinstance(block, CallBlock) and isinstance(known, CallBlock) and known.received != block.received:
            if number in self._open:
                self._end_block(number)
            number = self._new_number(index)
            block = _begun(number, start, self._ids)
        if block is not None:
            self._opened(number, block)

    def _number(self, index: int) -> int:
        """Returns the number of the block at `index`: the same, unless a different call has it."""
        number = self._numbers.get(index)
        return self._new_number(index) if number is None else number

    def _new_number(self, index: int) -> int:
        number = index if index not in self._blocks else self._highest + 1
        self._numbers[index] = number
        self._highest = max(self._highest, number)
        return number

    def _stop(self, data: Object) -> None:
        index = self._number(_index(data))
        if index in self._open:
            self._end_block(index)

    def _end_block(self, index: int) -> None:
        self._text_index = -1
        block, rest = self._open.pop(index), self._out.surrogates.rest(index)
        field = _INSIDE.get(block.name)
        if rest:
            block.add(rest if field is None else {field: rest}, self._out)
        block.end(self._out)

    def _message_stop(self, data: Object) -> None:
        self._finish = text_of(data, "stopReason") or ""
        if data.get(STOP_FIELDS) is not None:
            self._metadata[STOP_FIELDS] = data[STOP_FIELDS]

    def _counts(self, data: Object) -> None:
        self.complete = self._finish is not None
        self._metadata.update(metadata_to_ours(data))
        usage = usage_to_ours(data)
        if usage != Usage() or isinstance(data.get("usage"), dict):
            self._out.count(usage)


def _index(data: Object) -> int:
    index = count_of(data, "contentBlockIndex")
    if index is None or not 0 <= index <= _MAX_INDEX:
        raise ServerError("a block of the stream has no index")
    return index


def _begun(index: int, start: Object, ids: ReceivedIds) -> StreamedConverseBlock | None:
    """Returns the block that an event starts; None for a kind without a start, or an unknown one."""
    use = object_of(start, "toolUse")
    if use:
        id, name = text_of(use, "toolUseId") or "", text_of(use, "name") or ""
        if text_of(use, "type") == "server_tool_use":
            return HostedCallBlock(index, id or f"call_{index}", name)
        return CallBlock(index, id, name, read_options(use, BLOCK_FIELDS["tool_call"], PROVIDER), ids)
    if object_of(start, "toolResult"):
        return HostedResultBlock(index, object_of(start, "toolResult"))
    if object_of(start, "image"):
        return ImageBlock(index, object_of(start, "image"))
    return None
