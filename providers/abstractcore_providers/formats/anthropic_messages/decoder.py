"""From the events of a stream to deltas."""

from __future__ import annotations

from collections.abc import Callable

import jiter

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    Delta,
    PartDelta,
    ProviderOptions,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    freeze_object,
)

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Object, as_object, count_of, mended, read_answer, text_of
from ...common.openai_words import origin_of
from ...common.surrogates import WaitingHalves
from .block_fields import BLOCK_FIELDS
from .blocks import read_block
from .citations import citation_to_ours
from .dialect import Dialect
from .failures import RIGHT_ADDRESS, error_in_answer
from .streamed_blocks import StreamedBlock
from .vocabulary import finish_reason_to_ours, metadata_to_ours, usage_to_ours

_NONE = object()


class MessageDecoder:
    """Decodes one stream. Token counts are totals: a later event replaces those of an earlier one that it names."""

    def __init__(self, dialect: Dialect) -> None:
        self.complete = False
        self._provider = dialect.provider
        self._sequence = 0
        self._events = 0
        self._origin: str | None = None
        self._blocks: dict[int, StreamedBlock] = {}
        self._count = 0
        self._text: object = _NONE
        """The index of the block of text that is open, unless half a character waits in it."""
        self._text_number = 0
        self._halves = WaitingHalves()
        self._ids = ReceivedIds()
        self._usage: Object = {}
        self._finish: str | None = None
        self._metadata: Object = {}
        self._rare: dict[str | None, Callable[[Object, list[Delta]], None]] = {
            "message_start": self._start,
            "content_block_start": self._begin,
            "content_block_stop": self._stop,
            "message_delta": self._change,
        }

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event; raises `ServerError` for one that is not JSON, or the error it reports."""
        self._events += 1
        try:
            event = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame)
        try:
            # Nearly all events are one more piece of the open text, and need none of the care that the others do.
            delta = event["delta"]
            text = delta["text"]
            if event["index"] == self._text and delta["type"] == "text_delta" and text and type(text) is str:
                sequence = self._sequence
                self._sequence = sequence + 1
                return [TextDelta(sequence, self._text_number, text)]
        except (KeyError, TypeError):
            return self._read(as_object(event), frame.event)
        return self._read(as_object(event), frame.event)

    def _read_with_care(self, frame: ServerSentEvent) -> list[Delta]:
        """An event that is not plain JSON: an empty one, or one that holds half a character or NaN."""
        if not frame.data:
            return []
        try:
            event = as_object(read_answer(frame.data, halves=True))
        except ValueError:
            raise ServerError(f"event {self._events} of the stream is not JSON: {frame.data[:60]!r}") from None
        return self._read(event, frame.event)

    def _read(self, event: Object, name: str) -> list[Delta]:
        deltas: list[Delta] = []
        kind = text_of(event, "type")
        try:
            if kind == "content_block_delta":
                self._add(event, deltas)
            elif kind in self._rare:
                self._rare[kind](mended(event), deltas)
            elif kind == "message_stop":
                self.complete = True
            elif kind == "error" or name == "error" or event.get("error") is not None:
                raise error_in_answer(mended(event.get("error") or event))
        except SchemaError as error:
            raise ServerError(f"event {self._events} of the stream does not fit the schema: {error}") from None
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if the stream did not say that it is over."""
        if self._events == 0:
            raise ServerError("the answer is no stream of events", hint=RIGHT_ADDRESS)
        if not self.complete:
            raise StreamInterruptedError("the stream ended without its end mark")
        deltas: list[Delta] = []
        try:
            for block in self._blocks.values():
                self._end(block, deltas)
            metadata = freeze_object(self._metadata, "provider_metadata")
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        calls = any(block.kind == "tool_use" for block in self._blocks.values())
        reason = finish_reason_to_ours(self._finish, calls=calls)
        deltas.append(ReplyEnd(self._next(), reason, self._finish, metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _start(self, event: Object, deltas: list[Delta]) -> None:
        message = as_object(event.get("message"))
        model = text_of(message, "model")
        self._origin = origin_of(self._provider, model)
        deltas.append(ReplyStart(self._next(), model, self._provider, text_of(message, "id")))
        self._finish = text_of(message, "stop_reason")
        self._add_metadata(message)
        self._count_tokens(message, deltas)

    def _change(self, event: Object, deltas: list[Delta]) -> None:
        change = as_object(event.get("delta"))
        self._finish = text_of(change, "stop_reason") or self._finish
        self._add_metadata({**event, "delta": None})
        self._add_metadata(change)
        self._count_tokens(event, deltas)

    def _add_metadata(self, data: Object) -> None:
        metadata = metadata_to_ours(data)
        if "usage" in metadata:
            metadata["usage"] = {**as_object(self._metadata.get("usage")), **metadata["usage"]}
        self._metadata |= metadata

    def _count_tokens(self, data: Object, deltas: list[Delta]) -> None:
        """Counts that are null leave those before in place, but for a zero: that only stood where a count belongs."""
        usage = as_object(data.get("usage"))
        for name, value in usage.items():
            if value is not None or self._usage.get(name) == 0:
                self._usage[name] = value
        counted = usage_to_ours(self._usage)
        if usage and (counted != Usage() or self._finish is not None):
            deltas.append(UsageDelta(self._next(), counted))

    def _begin(self, event: Object, deltas: list[Delta]) -> None:
        index = count_of(event, "index")
        block = StreamedBlock(self._count, as_object(event.get("content_block")))
        self._open(self._count if index is None else index, block, deltas)

    def _open(self, index: int, block: StreamedBlock, deltas: list[Delta]) -> None:
        before = self._blocks.get(index)
        if before is not None:
            self._end(before, deltas)
        self._count += 1
        self._blocks[index] = block
        if block.kind == "text":
            self._text, self._text_number = index, block.number
            deltas.append(TextStart(self._next(), block.number, self._options(block)))
            part = read_block(block.block, self._provider, None, "")
            block.citations = getattr(part, "citations", ())
        elif block.kind == "thinking":
            deltas.append(ReasoningStart(self._next(), block.number, self._origin))
        elif block.kind == "tool_use":
            id, options = self._ids.give(text_of(block.block, "id"), block.number, self._options(block))
            name = text_of(block.block, "name") or ""
            deltas.append(ToolCallStart(self._next(), block.number, id, name, options))
        if block.first_text:
            self._write(block, block.first_text, deltas)

    def _options(self, block: StreamedBlock) -> ProviderOptions:
        return read_options(block.block, BLOCK_FIELDS[block.kind], self._provider)

    def _add(self, event: Object, deltas: list[Delta]) -> None:
        delta = as_object(event.get("delta"))
        index = count_of(event, "index") or 0
        block = self._blocks.get(index)
        if block is None:
            block = StreamedBlock.implied(self._count, delta)
            if block is None:
                return
            self._open(index, block, deltas)
        kind = delta.get("type")
        if kind == "text_delta":
            self._write(block, text_of(delta, "text") or "", deltas)
        elif kind == "input_json_delta":
            self._write(block, text_of(delta, "partial_json") or "", deltas)
        elif kind == "thinking_delta":
            self._write(block, text_of(delta, "thinking") or "", deltas)
        elif kind == "signature_delta":
            block.signature = mended(text_of(delta, "signature")) or block.signature
        elif kind == "citations_delta":
            self._cite(block, as_object(mended(delta.get("citation"))), deltas)
        else:
            block.merge(delta)

    def _cite(self, block: StreamedBlock, data: Object, deltas: list[Delta]) -> None:
        """A citation, which may come after the block's stop."""
        block.citations += (citation_to_ours(data),)
        if block.ended:
            deltas.append(TextStart(self._next(), block.number))
            block.ended = False

    def _write(self, block: StreamedBlock, text: str, deltas: list[Delta]) -> None:
        text = self._halves.mend(block.number, text)
        if self._halves:
            self._text = _NONE
        if not text:
            return
        block.spoke = True
        if block.kind == "text":
            deltas.append(TextDelta(self._next(), block.number, text))
        elif block.kind == "tool_use":
            deltas.append(ToolCallDelta(self._next(), block.number, text))
        elif block.kind == "thinking":
            deltas.append(ReasoningDelta(self._next(), block.number, text))
        else:
            block.text.append(text)

    def _stop(self, event: Object, deltas: list[Delta]) -> None:
        block = self._blocks.get(count_of(event, "index") or 0)
        if block is not None:
            self._end(block, deltas)

    def _end(self, block: StreamedBlock, deltas: list[Delta]) -> None:
        if block.ended:
            return
        block.ended = True
        self._text = _NONE
        self._write(block, self._halves.rest(block.number), deltas)
        if block.kind == "text":
            citations, block.citations = block.citations, ()
            deltas.append(TextEnd(self._next(), block.number, citations))
        elif block.kind == "thinking":
            deltas.append(ReasoningEnd(self._next(), block.number, block.signature))
        elif block.kind == "tool_use":
            if not block.spoke:
                deltas.append(ToolCallDelta(self._next(), block.number, block.input_text))
            deltas.append(ToolCallEnd(self._next(), block.number))
        else:
            part = read_block(block.block, self._provider, self._origin, block.input_text)
            deltas.append(PartDelta(self._next(), block.number, part))
