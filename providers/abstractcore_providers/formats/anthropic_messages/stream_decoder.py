"""Decodes the events of a stream to deltas.

One content block of a stream, from its start to its stop.
"""

from __future__ import annotations

from collections.abc import Callable

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import Citation, Delta, ProviderOptions, TextDelta, Usage

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, arguments_piece, received_arguments
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.reading import Object, as_object, count_of, mend_texts, object_of, text_of
from .blocks import citation_to_ours, read_block
from .content import BLOCK_FIELDS
from .dialect import MessagesDialect
from .errors import RIGHT_ADDRESS, error_in_answer
from .vocabulary import FINISH_REASONS, metadata_to_ours, usage_to_ours

_IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}


class StreamedMessageBlock:
    """The content of a block so far. Text, reasoning and tool calls are written at once; others at their stop."""

    __slots__ = ("block", "citations", "ended", "kind", "number", "received_text", "signature", "text")

    def __init__(self, number: int, block: Object) -> None:
        self.number = number
        self.block = mend_texts(block)
        self.kind = text_of(self.block, "type") or ""
        self.citations: tuple[Citation, ...] = ()
        self.signature: str | None = text_of(self.block, "signature")
        self.text: list[str] = []
        """The input of a hosted tool's call."""
        self.received_text = False
        """Whether any text or input was received."""
        self.ended = False

    @classmethod
    def implied(cls, number: int, delta: Object) -> StreamedMessageBlock | None:
        """Returns the block of a delta without a start; None if its kind cannot be determined."""
        kind = _IMPLIED.get(text_of(delta, "type") or "")
        return None if kind is None else cls(number, {"type": kind})

    @property
    def first_text(self) -> str:
        """Returns the content in the start event."""
        return text_of(self.block, self.kind) or "" if self.kind in ("text", "thinking") else ""

    @property
    def input_text(self) -> str:
        """Returns the input of a call: as streamed, or else as in the start event, where it is usually empty."""
        return "".join(self.text) or received_arguments(self.block.get("input", {}))

    def merge(self, delta: Object) -> None:
        """Merges a delta of an unknown kind: texts are appended, other values replaced."""
        for name, value in mend_texts(delta).items():
            if name != "type":
                before = self.block.get(name)
                both = isinstance(before, str) and isinstance(value, str)
                self.block[name] = before + value if both else value


_NONE = object()
_STREAMED = ("text", "thinking", "tool_use")
"""Kinds of blocks that are written as they arrive; others are complete at their stop."""


class MessageDecoder(FrameDecoder):
    """Decodes one stream. Token counts are totals: those in a later event replace earlier ones."""

    def __init__(self, dialect: MessagesDialect) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended without its end mark")
        self._provider = dialect.provider
        self._blocks: dict[int, StreamedMessageBlock] = {}
        self._begun = 0
        self._text: object = _NONE
        """The index of the open text block, unless a surrogate is pending in it."""
        self._text_number = 0
        self._ids = ReceivedIds()
        self._usage: Object = {}
        self._finish: str | None = None
        self._metadata: Object = {}
        self._rare: dict[str | None, Callable[[Object], None]] = {
            "message_start": self._start,
            "content_block_start": self._begin,
            "content_block_stop": self._stop,
            "message_delta": self._change,
        }

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            event = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            if not frame.data:
                return []
            return self._deltas_of(self._event, self._object(self._read_with_care(frame.data)), frame.event)
        try:
            # Fast path: nearly all events append to the open text.
            delta = event["delta"]
            text = delta["text"]
            if event["index"] == self._text and delta["type"] == "text_delta" and text and type(text) is str:
                out = self._out
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, self._text_number, text)]
        except (KeyError, TypeError):
            return self._deltas_of(self._event, self._object(event), frame.event)
        return self._deltas_of(self._event, self._object(event), frame.event)

    def _event(self, event: Object, name: str) -> None:
        kind = text_of(event, "type")
        if kind == "content_block_delta":
            self._add(event)
        elif kind in self._rare:
            self._rare[kind](mend_texts(event))
        elif kind == "message_stop":
            self.complete = True
        elif reports_error(event, name):
            raise error_in_answer(mend_texts(event))
        elif kind is None:
            self._ignore(event)

    def _end(self) -> None:
        for block in self._blocks.values():
            self._end_block(block)
        calls = any(block.kind == "tool_use" for block in self._blocks.values())
        self._out.end_reply(FINISH_REASONS.read(self._finish, calls=calls), self._finish, self._metadata)

    def _start(self, event: Object) -> None:
        message = object_of(event, "message")
        model = text_of(message, "model")
        self._out.start_reply(model, self._provider, text_of(message, "id"))
        self._finish = text_of(message, "stop_reason")
        self._add_metadata(message)
        self._count_tokens(message)

    def _change(self, event: Object) -> None:
        change = object_of(event, "delta")
        self._finish = text_of(change, "stop_reason") or self._finish
        self._add_metadata({**event, "delta": None})
        self._add_metadata(change)
        self._count_tokens(event)

    def _add_metadata(self, data: Object) -> None:
        metadata = metadata_to_ours(data)
        if "usage" in metadata:
            metadata["usage"] = {**object_of(self._metadata, "usage"), **metadata["usage"]}
        self._metadata |= metadata

    def _count_tokens(self, data: Object) -> None:
        """Merges counts: null keeps the earlier value, unless that is the zero of an initial placeholder."""
        usage = object_of(data, "usage")
        for name, value in usage.items():
            if value is not None or self._usage.get(name) == 0:
                self._usage[name] = value
        counted = usage_to_ours(self._usage)
        if usage and (counted != Usage() or self._finish is not None):
            self._out.count(counted)

    def _begin(self, event: Object) -> None:
        index = count_of(event, "index")
        block = StreamedMessageBlock(self._begun, object_of(event, "content_block"))
        self._open(self._begun if index is None else index, block)

    def _open(self, index: int, block: StreamedMessageBlock) -> None:
        before = self._blocks.get(index)
        if before is not None:
            self._end_block(before)
        self._begun += 1
        self._blocks[index] = block
        if block.kind == "text":
            self._text, self._text_number = index, block.number
            self._out.start_text(block.number, self._options(block))
            part = read_block(block.block, self._provider, None, "")
            block.citations = getattr(part, "citations", ())
        elif block.kind == "thinking":
            self._out.start_reasoning(block.number)
        elif block.kind == "tool_use":
            id, options = self._ids.give(text_of(block.block, "id"), block.number, self._options(block))
            self._out.start_call(block.number, id, text_of(block.block, "name") or "", options)
        if block.first_text:
            self._write(block, block.first_text)

    def _options(self, block: StreamedMessageBlock) -> ProviderOptions:
        return read_options(block.block, BLOCK_FIELDS[block.kind], self._provider)

    def _add(self, event: Object) -> None:
        delta = object_of(event, "delta")
        index = count_of(event, "index") or 0
        block = self._blocks.get(index)
        if block is None:
            block = StreamedMessageBlock.implied(self._begun, delta)
            if block is None:
                return
            self._open(index, block)
        kind = text_of(delta, "type")
        if kind == "text_delta":
            self._write(block, text_of(delta, "text") or "")
        elif kind == "input_json_delta":
            self._write(block, arguments_piece(delta, "partial_json", is_first=not block.received_text))
        elif kind == "thinking_delta":
            self._write(block, text_of(delta, "thinking") or "")
        elif kind == "signature_delta":
            block.signature = mend_texts(text_of(delta, "signature")) or block.signature
        elif kind == "citations_delta":
            self._cite(block, as_object(mend_texts(object_of(delta, "citation"))))
        else:
            block.merge(delta)

    def _cite(self, block: StreamedMessageBlock, data: Object) -> None:
        """Reads a citation, which may come after the block's stop."""
        block.citations += (citation_to_ours(data),)
        if block.ended:
            self._out.start_text(block.number)
            block.ended = False

    def _write(self, block: StreamedMessageBlock, text: str) -> None:
        text = self._out.surrogates.mend(block.number, text)
        if self._out.surrogates:
            self._text = _NONE
        if not text:
            return
        block.received_text = True
        if block.kind in _STREAMED:
            self._out.write(block.number, text)
        else:
            block.text.append(text)

    def _stop(self, event: Object) -> None:
        block = self._blocks.get(count_of(event, "index") or 0)
        if block is not None:
            self._end_block(block)

    def _end_block(self, block: StreamedMessageBlock) -> None:
        if block.ended:
            return
        block.ended = True
        self._text = _NONE
        self._write(block, self._out.surrogates.rest(block.number))
        if block.kind == "text":
            citations, block.citations = block.citations, ()
            self._out.end_text(block.number, citations)
        elif block.kind == "thinking":
            self._out.end_reasoning(block.number, block.signature)
        elif block.kind == "tool_use":
            if not block.received_text:
                self._out.write(block.number, block.input_text)
            self._out.end_call(block.number)
        else:
            part = read_block(block.block, self._provider, self._out.origin, block.input_text)
            self._out.part(block.number, part)
