"""From `response.*` events to deltas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
    freeze_object,
)

from ...common.call_ids import ReceivedIds
from ...common.json_reading import Object, as_object, as_objects, count_of, mended, read_answer, text_of
from ...common.openai_errors import RIGHT_ADDRESS, error_in_answer
from ...common.openai_words import origin_of
from ...common.surrogates import WaitingHalves
from .blocks import OpenItem, OpenItems
from .citations import read_annotations
from .decode import check_failure, is_stored
from .hosted import partial_image
from .items import item_options, read_call, read_item
from .reasoning import KINDS, sealed, signature_of
from .vocabulary import finish_reason_to_ours, metadata_to_ours, usage_to_ours

_TEXT_DELTA = "response.output_text.delta"
_Piece = type[TextDelta] | type[ReasoningDelta] | type[ToolCallDelta]


class ResponsesDecoder:
    """Decodes one stream. What an item says when it is done completes what came of it in pieces."""

    def __init__(self, provider: str) -> None:
        self.complete = False
        self._provider = provider
        self._sequence = 0
        self._events = 0
        self._began = False
        self._origin: str | None = None
        self._stored = False
        self._items = OpenItems()
        self._last: int = 0
        self._done: dict[int, Object] = {}
        self._open: dict[int, _Piece] = {}
        self._notes: dict[int, list[Any]] = {}
        self._halves = WaitingHalves()
        self._ids = ReceivedIds()
        self._ending: Object | None = None
        self._text_item = OpenItem(0)
        self._text_block = -1
        self._content = 0
        self._handlers: dict[str, Callable[[Object, list[Delta]], None]] = {
            "response.created": self._begin,
            "response.output_item.added": self._item_added,
            _TEXT_DELTA: self._text,
            "response.output_text.annotation.added": self._annotation,
            "response.refusal.delta": self._text,
            "response.reasoning_summary_text.delta": self._summary,
            "response.reasoning_text.delta": self._thought,
            "response.function_call_arguments.delta": self._arguments,
            "response.image_generation_call.partial_image": self._partial_image,
            "response.output_item.done": self._item_done,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._fail,
            "error": self._fail,
        }

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event, none for those that say nothing new.

        Raises `ServerError` for one that is not JSON, or the error it reports.
        """
        self._events += 1
        try:
            event = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame)
        try:
            # Nearly all events are more of the text that came last, and need none of the care that the others do.
            text, block = event["delta"], self._text_block
            if (
                event["type"] == _TEXT_DELTA
                and event["output_index"] == self._last
                and event["content_index"] == self._content
                and block in self._open
                and text
                and type(text) is str
                and not self._halves
            ):
                self._text_item.seen[block] += len(text)
                sequence = self._sequence
                self._sequence = sequence + 1
                return [TextDelta(sequence, block, text)]
        except (KeyError, TypeError):
            return self._read(as_object(event), frame.event)
        return self._read(as_object(event), frame.event)

    def _read_with_care(self, frame: ServerSentEvent) -> list[Delta]:
        """An event that is not plain JSON: an empty one, or one that holds half a character or NaN."""
        if not frame.data or frame.data == b"[DONE]":
            return []
        try:
            event = as_object(read_answer(frame.data, halves=True))
        except ValueError:
            raise ServerError(f"event {self._events} of the stream is not JSON: {frame.data[:60]!r}") from None
        return self._read(event, frame.event)

    def _read(self, event: Object, name: str) -> list[Delta]:
        kind = "error" if event.get("error") is not None else text_of(event, "type") or name
        handler = self._handlers.get(kind)
        deltas: list[Delta] = []
        if handler is None:
            return deltas
        try:
            if not self._began and handler != self._fail:
                self._begin(event, deltas)
            handler(event, deltas)
        except SchemaError as error:
            raise ServerError(f"event {self._events} of the stream does not fit the schema: {error}") from None
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if it was not told."""
        if self._events == 0:
            raise ServerError("the answer is no stream of events", hint=RIGHT_ADDRESS)
        if self._ending is None:
            raise StreamInterruptedError("the stream ended before the response was complete")
        deltas: list[Delta] = []
        data = self._ending
        items = as_objects(data.get("output")) or list(self._done.values())
        reason, raw = finish_reason_to_ours(data, items)
        try:
            if not self._done:
                for index, item in enumerate(items):
                    self._item_done({"output_index": index, "item": item}, deltas)
            for block in list(self._open):
                self._close(block, deltas)
            if isinstance(data.get("usage"), dict):
                deltas.append(UsageDelta(self._next(), usage_to_ours(data["usage"])))
            metadata = freeze_object(metadata_to_ours(data, items), "provider_metadata")
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        deltas.append(ReplyEnd(self._next(), reason, raw, metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _begin(self, event: Object, deltas: list[Delta]) -> None:
        if self._began:
            return
        self._began = True
        data = mended(as_object(event.get("response")))
        model = text_of(data, "model")
        self._origin = origin_of(self._provider, model)
        self._stored = is_stored(data)
        deltas.append(ReplyStart(self._next(), model, self._provider, text_of(data, "id")))

    def _item_at(self, event: Object) -> OpenItem:
        index = count_of(event, "output_index")
        if index is not None and index != self._last:
            self._last = index
            self._text_block = -1
        return self._items.at(self._last)

    def _item_added(self, event: Object, deltas: list[Delta]) -> None:
        item, data = self._item_at(event), mended(as_object(event.get("item")))
        if item.call_id not in (None, text_of(data, "call_id")):  # another call, where servers repeat an index
            item = self._items.begin(self._last)
        if data.get("type") in ("message", "function_call"):
            item.options = self._options_of(data)
        if data.get("type") == "function_call":
            self._begin_call(item, data, deltas)

    def _options_of(self, data: Object) -> ProviderOptions:
        return item_options(data, self._provider, stored=self._stored)

    def _begin_call(self, item: OpenItem, data: Object, deltas: list[Delta]) -> int:
        block = item.block("call", 0)
        if block not in item.seen:
            call = self._ids.name(read_call(data, item.options), item.number)
            item.seen[block], item.call_id = 0, text_of(data, "call_id")
            self._open[block] = ToolCallDelta
            deltas.append(ToolCallStart(self._next(), block, call.id, call.name, call.provider_options))
        return block

    def _text(self, event: Object, deltas: list[Delta]) -> None:
        item, self._content = self._item_at(event), count_of(event, "content_index") or 0
        self._text_item, self._text_block = item, item.block("text", self._content)
        self._add(item, self._text_block, TextDelta, event, deltas)

    def _summary(self, event: Object, deltas: list[Delta]) -> None:
        item = self._item_at(event)
        self._add(item, item.block("summary", count_of(event, "summary_index") or 0), ReasoningDelta, event, deltas)

    def _thought(self, event: Object, deltas: list[Delta]) -> None:
        item = self._item_at(event)
        self._add(item, item.block("content", count_of(event, "content_index") or 0), ReasoningDelta, event, deltas)

    def _arguments(self, event: Object, deltas: list[Delta]) -> None:
        item = self._item_at(event)
        self._add(item, self._begin_call(item, {}, deltas), ToolCallDelta, event, deltas)

    def _add(self, item: OpenItem, block: int, piece: _Piece, event: Object, deltas: list[Delta]) -> None:
        text = text_of(event, "delta")
        if text:
            self._write(item, block, piece, text, deltas)

    def _write(self, item: OpenItem, block: int, piece: _Piece, text: str, deltas: list[Delta]) -> None:
        """More of a block, which is begun if it was not open."""
        self._start(item, block, piece, deltas)
        item.seen[block] += len(text)
        text = self._halves.mend(block, text)
        if text:
            deltas.append(piece(self._next(), block, text))

    def _start(self, item: OpenItem, block: int, piece: _Piece, deltas: list[Delta]) -> None:
        if block in self._open:
            return
        self._open[block] = piece
        item.seen.setdefault(block, 0)
        if piece is TextDelta:
            deltas.append(TextStart(self._next(), block, item.options))
        elif piece is ReasoningDelta:
            deltas.append(ReasoningStart(self._next(), block, self._origin))

    def _annotation(self, event: Object, deltas: list[Delta]) -> None:
        block = self._item_at(event).block("text", count_of(event, "content_index") or 0)
        self._notes.setdefault(block, []).append(mended(event.get("annotation")))

    def _partial_image(self, event: Object, deltas: list[Delta]) -> None:
        item = self._item_at(event)
        item.block("part", 0)  # the call's own, which comes when the item is done
        deltas.append(PartDelta(self._next(), item.block("part", 1), partial_image(event)))

    def _item_done(self, event: Object, deltas: list[Delta]) -> None:
        item, data = self._item_at(event), mended(as_object(event.get("item")))
        self._done[self._last] = data
        kind = data.get("type")
        if kind in ("message", "function_call") and not item.seen:
            item.options = self._options_of(data)
        if kind == "message":
            self._texts_done(item, data, deltas)
        elif kind == "reasoning":
            self._reasoning_done(item, data, deltas)
        elif kind == "function_call":
            block = self._begin_call(item, data, deltas)
            self._complete(item, block, ToolCallDelta, text_of(data, "arguments"), deltas)
            self._close(block, deltas)
        else:
            for index, part in enumerate(read_item(data, self._provider, self._origin, stored=self._stored)):
                named = self._ids.name(part, item.number) if isinstance(part, ToolCall) else part
                deltas.append(PartDelta(self._next(), item.block("part", index), named))

    def _texts_done(self, item: OpenItem, data: Object, deltas: list[Delta]) -> None:
        options = self._options_of(data)
        for index, part in enumerate(as_objects(data.get("content"))):
            block = item.block("text", index)
            text = text_of(part, "text") or text_of(part, "refusal")
            self._complete(item, block, TextDelta, text, deltas)
            if part.get("annotations"):
                self._notes[block] = part["annotations"]
            citations = read_annotations(self._notes.get(block))
            self._close(block, deltas)
            if text and options != item.options:  # they were not told when the text began
                whole = TextPart(text, citations, provider_options=options)
                deltas.append(PartDelta(self._next(), block, whole))

    def _reasoning_done(self, item: OpenItem, data: Object, deltas: list[Delta]) -> None:
        for kind in KINDS:
            for index, entry in enumerate(as_objects(data.get(kind))):
                self._complete(item, item.block(kind, index), ReasoningDelta, text_of(entry, "text"), deltas)
        signature, redacted = sealed(data)
        kinds = item.kinds() or {item.block("summary", 0): "summary"}
        last = max(kinds)
        for block, kind in kinds.items():
            self._start(item, block, ReasoningDelta, deltas)
            self._flush(block, deltas)
            del self._open[block]
            end = signature_of(kind, signature), redacted if block == last else None
            deltas.append(ReasoningEnd(self._next(), block, *end))

    def _complete(self, item: OpenItem, block: int, piece: _Piece, text: str | None, deltas: list[Delta]) -> None:
        """What did not come in pieces."""
        self._start(item, block, piece, deltas)
        missing = (text or "")[item.seen[block] :]
        if missing:
            self._write(item, block, piece, missing, deltas)

    def _close(self, block: int, deltas: list[Delta]) -> None:
        self._flush(block, deltas)
        piece = self._open.pop(block, None)
        if piece is TextDelta:
            deltas.append(TextEnd(self._next(), block, read_annotations(self._notes.pop(block, None))))
        elif piece is ToolCallDelta:
            deltas.append(ToolCallEnd(self._next(), block))
        elif piece is ReasoningDelta:
            deltas.append(ReasoningEnd(self._next(), block))

    def _flush(self, block: int, deltas: list[Delta]) -> None:
        """Half a character that nothing followed."""
        rest = self._halves.rest(block)
        if rest:
            deltas.append(self._open[block](self._next(), block, rest))

    def _end(self, event: Object, deltas: list[Delta]) -> None:
        response = mended(as_object(event.get("response")))
        check_failure(response)
        self._ending = response
        self.complete = True

    def _fail(self, event: Object, deltas: list[Delta]) -> None:
        check_failure(mended(as_object(event.get("response"))))
        told = event.get("error")
        detail = as_object(mended(told if isinstance(told, dict) else event))
        raise error_in_answer({**detail, "type": detail.get("code") if told is None else detail.get("type")})
