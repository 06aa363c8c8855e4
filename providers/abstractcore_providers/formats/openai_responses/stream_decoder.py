"""Decodes `response.*` events to deltas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    Delta,
    HostedToolCall,
    OpaquePart,
    ProviderOptions,
    ReasoningDelta,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallDelta,
    Usage,
)

from ...common.conversations import ReceivedIds, arguments_piece, received_arguments
from ...common.delta_writer import Piece
from ...common.endpoints import RIGHT_ADDRESS
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.openai_errors import error_in_answer
from ...common.reading import Object, as_object, count_of, mend_texts, object_of, objects_of, text_of
from ...common.response_bodies import NO_ERROR
from .blocks import STREAMED, OpenItem, OpenItems, StreamedResponsesAudio, StreamedResponsesCall
from .client_tools import KINDS, client_tool, hosted_output, read_client_call, signature_and_redacted, signature_of
from .decode import check_failure, is_stored
from .items import HOSTED_TYPES, item_options, partial_image, read_annotations, read_call, read_hosted, read_item
from .vocabulary import finish_reason_to_ours, metadata_to_ours, usage_to_ours

_TEXT_DELTA = "response.output_text.delta"


class ResponsesDecoder(FrameDecoder):
    """Decodes one stream. The item at its end completes what was streamed in chunks."""

    def __init__(self, provider: str) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended before the response was complete")
        self._provider = provider
        self._began = False
        self._stored = False
        self._items = OpenItems()
        self._last: int = 0
        self._done: dict[int, Object] = {}
        self._notes: dict[int, list[Object]] = {}
        self._ids = ReceivedIds()
        self._ending: Object = {}
        self._text_item = OpenItem(0)
        self._text_block = -1
        self._content = 0
        self._shells: dict[str, tuple[int, Object]] = {}
        """The blocks and items of shell calls, by their ids: an output shows that the provider ran them."""
        self._audio = StreamedResponsesAudio()
        self._handlers: dict[str, Callable[[Object], None]] = {
            "response.created": self._begin,
            "response.in_progress": self._begin,
            "response.output_item.added": self._item_added,
            _TEXT_DELTA: self._text,
            "response.output_text.annotation.added": self._annotation,
            "response.refusal.delta": self._text,
            "response.reasoning_summary_text.delta": self._summary,
            "response.reasoning_text.delta": self._thought,
            "response.function_call_arguments.delta": self._arguments,
            "response.custom_tool_call_input.delta": self._input,
            "response.shell_call_command.added": self._command_added,
            "response.shell_call_command.delta": self._command,
            "response.mcp_call_arguments.done": self._hosted_call,
            "response.code_interpreter_call_code.done": self._hosted_call,
            "response.audio.delta": self._sound,
            "response.audio.transcript.delta": self._transcript,
            "response.image_generation_call.partial_image": self._partial_image,
            "response.output_item.done": self._item_done,
            "response.completed": self._complete_response,
            "response.incomplete": self._complete_response,
            "response.failed": self._fail,
            "error": self._fail,
        }

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event, empty for those without anything new.

        Raises `ServerError` for one that is not JSON, or the error it contains.
        """
        self._count += 1
        try:
            event = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            if not frame.data or frame.data == b"[DONE]":
                return []
            return self._deltas_of(self._event, self._object(self._read_with_care(frame.data)), frame.event)
        try:
            # Fast path: nearly all events append to the last text.
            out = self._out
            text, block = event["delta"], self._text_block
            if (
                event["type"] == _TEXT_DELTA
                and event["output_index"] == self._last
                and event["content_index"] == self._content
                and block in out.open
                and text
                and type(text) is str
                and not out.surrogates
            ):
                self._text_item.seen[block] += len(text)
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, block, text)]
        except (KeyError, TypeError):
            return self._deltas_of(self._event, self._object(event), frame.event)
        return self._deltas_of(self._event, self._object(event), frame.event)

    def _event(self, event: Object, name: str) -> None:
        kind = "error" if event.get("error") not in NO_ERROR else text_of(event, "type") or name
        handler = self._handlers.get(kind)
        if handler is None:
            if reports_error(event, name):
                raise error_in_answer(mend_texts(event))
            if "type" not in event:
                self._ignore(event)
            return
        if handler != self._fail and (not self._began or self._out.awaits_start):
            self._begin(event)
        handler(event)

    def _end(self) -> None:
        data = self._ending
        items = objects_of(data, "output") or list(self._done.values())
        if not self._done:
            for index, item in enumerate(items):
                self._item_done({"output_index": index, "item": item})
        for block in list(self._out.open):
            self._close(block)
        audio = self._audio.part()
        if audio is not None:
            self._out.part(self._items.beside().block("audio", 0), audio)
        usage = usage_to_ours(data, items)
        if usage != Usage() or isinstance(data.get("usage"), dict):
            self._out.count(usage)
        reason, raw = finish_reason_to_ours(data, items)
        self._out.end_reply(reason, raw, metadata_to_ours(data, items))

    def _begin(self, event: Object) -> None:
        if self._began and not self._out.awaits_start:
            return
        self._began = True
        data = mend_texts(object_of(event, "response"))
        model = text_of(data, "model")
        self._stored = is_stored(data)
        self._out.start_reply(model, self._provider, text_of(data, "id"))

    def _item_at(self, event: Object) -> OpenItem:
        index = count_of(event, "output_index")
        if index is not None and index != self._last:
            self._last = index
            self._text_block = -1
        return self._items.at(self._last)

    def _item_added(self, event: Object) -> None:
        item, data = self._item_at(event), mend_texts(object_of(event, "item"))
        if item.call_id not in (None, text_of(data, "call_id")):  # some servers use an index for several calls
            item = self._items.begin(self._last)
        if data.get("type") in ("message", "function_call"):
            item.options = self._options_of(data)
        if data.get("type") == "function_call":
            self._begin_call(item, data)
        elif data.get("type") in STREAMED:
            self._begin_client_call(item, data)
        elif text_of(data, "type") in HOSTED_TYPES:
            item.added = data

    def _options_of(self, data: Object) -> ProviderOptions:
        return item_options(data, self._provider, stored=self._stored)

    def _begin_call(self, item: OpenItem, data: Object) -> int:
        block = item.block("call", 0)
        if block not in item.seen:
            item.seen[block] = 0
            self._out.hold_call(block)
        if block in self._out.held and text_of(data, "name") and _has_ids(data):
            self._start_call(item, block, data)
        return block

    def _start_call(self, item: OpenItem, block: int, data: Object) -> None:
        item.options = self._options_of(data)
        call = self._ids.name(read_call(data, item.options), item.number)
        item.call_id = text_of(data, "call_id")
        self._out.start_call(block, call.id, call.name, call.provider_options)

    def _begin_client_call(self, item: OpenItem, data: Object) -> None:
        received = read_client_call(data, self._provider, stored=self._stored)
        if received is None or item.call is not None or not _has_ids(data):
            return
        call = self._ids.name(received, item.number)
        item.call, item.call_id = StreamedResponsesCall(item.block("part", 0), call), text_of(data, "call_id")
        self._out.start_call(item.call.block, call.id, call.name, call.provider_options)

    def _text(self, event: Object) -> None:
        item, self._content = self._item_at(event), count_of(event, "content_index") or 0
        self._text_item, self._text_block = item, item.block("text", self._content)
        self._add(item, self._text_block, TextDelta, event)

    def _summary(self, event: Object) -> None:
        item = self._item_at(event)
        self._add(item, item.block("summary", count_of(event, "summary_index") or 0), ReasoningDelta, event)

    def _thought(self, event: Object) -> None:
        item = self._item_at(event)
        self._add(item, item.block("content", count_of(event, "content_index") or 0), ReasoningDelta, event)

    def _arguments(self, event: Object) -> None:
        item = self._item_at(event)
        block = self._begin_call(item, {})
        piece = arguments_piece(event, "delta", is_first=item.seen[block] == 0)
        if piece:
            self._write(item, block, ToolCallDelta, piece)

    def _input(self, event: Object) -> None:
        call = self._item_at(event).call
        if call is not None:
            self._add_to_call(call, call.add(text_of(event, "delta") or ""))

    def _command_added(self, event: Object) -> None:
        call, index = self._item_at(event).call, count_of(event, "command_index")
        if call is not None and index is not None:
            self._add_to_call(call, call.begin_command(index))
            self._add_to_call(call, call.add_to_command(index, text_of(event, "command") or ""))

    def _command(self, event: Object) -> None:
        call, index = self._item_at(event).call, count_of(event, "command_index")
        if call is not None and index is not None:
            self._add_to_call(call, call.add_to_command(index, text_of(event, "delta") or ""))

    def _add_to_call(self, call: StreamedResponsesCall, text: str) -> None:
        if text:
            self._out.add(call.block, text)

    def _hosted_call(self, event: Object) -> None:
        """Writes the call of a hosted tool before its result, without the fields of its unfinished item."""
        item = self._item_at(event)
        asked = {name: mend_texts(event[name]) for name in ("arguments", "code") if isinstance(event.get(name), str)}
        if item.added and asked:
            call = read_hosted({**item.added, **asked}, self._provider)[0]
            self._out.part(item.block("part", 0), replace(cast(HostedToolCall, call), provider_metadata={}))

    def _sound(self, event: Object) -> None:
        self._audio.add_sound(text_of(event, "delta") or "")

    def _transcript(self, event: Object) -> None:
        self._audio.add_transcript(text_of(event, "delta") or "")

    def _add(self, item: OpenItem, block: int, piece: Piece, event: Object) -> None:
        text = text_of(event, "delta")
        if text:
            self._write(item, block, piece, text)

    def _write(self, item: OpenItem, block: int, piece: Piece, text: str) -> None:
        """Appends to a block, which is started if it was not open."""
        self._start(item, block, piece)
        item.seen[block] += len(text)
        self._out.add(block, text)

    def _start(self, item: OpenItem, block: int, piece: Piece) -> None:
        if block in self._out.open or block in self._out.held:
            return
        item.seen.setdefault(block, 0)
        if piece is TextDelta:
            self._out.start_text(block, item.options)
        elif piece is ReasoningDelta:
            self._out.start_reasoning(block)
        else:
            self._out.resume_call(block)

    def _annotation(self, event: Object) -> None:
        block = self._item_at(event).block("text", count_of(event, "content_index") or 0)
        self._notes.setdefault(block, []).append(mend_texts(object_of(event, "annotation")))

    def _partial_image(self, event: Object) -> None:
        item = self._item_at(event)
        item.block("part", 0)  # reserved for the call, which is written when the item is done
        self._out.part(item.block("part", 1), partial_image(event))

    def _item_done(self, event: Object) -> None:
        item, data = self._item_at(event), mend_texts(object_of(event, "item"))
        self._done[self._last] = data
        kind = data.get("type")
        if kind in ("message", "function_call") and not item.seen:
            item.options = self._options_of(data)
        if kind == "message":
            self._texts_done(item, data)
        elif kind == "reasoning":
            self._reasoning_done(item, data)
        elif kind == "function_call":
            block = self._begin_call(item, data)
            if block in self._out.held:
                self._start_call(item, block, data)
            self._complete(item, block, ToolCallDelta, self._whole_arguments(item, block, data))
            self._close(block)
        else:
            for index, part in enumerate(read_item(data, self._provider, self._out.origin, stored=self._stored)):
                block = item.block("part", index)
                if isinstance(part, ToolCall):
                    self._client_call_done(item, block, part)
                    self._shells[part.id] = block, data
                else:
                    self._out.part(block, part)
            self._run_by_provider(hosted_output(data))

    def _whole_arguments(self, item: OpenItem, block: int, data: Object) -> str | None:
        """Returns the arguments of a complete call; those of another type than text count if none were streamed."""
        return text_of(data, "arguments") if item.seen[block] else received_arguments(data.get("arguments"))

    def _client_call_done(self, item: OpenItem, block: int, call: ToolCall) -> None:
        if item.call is None:
            named = self._ids.name(call, item.number)
            item.call = StreamedResponsesCall(block, named)
            self._out.start_call(block, named.id, named.name, named.provider_options)
        started = item.call
        rest = started.rest(call)
        if rest:
            self._out.add(block, rest)
        self._close(block)
        if rest is None:
            self._out.part(block, started.named(call))

    def _run_by_provider(self, id: str | None) -> None:
        """Replaces the call of a shell that the provider ran, which its output shows."""
        if id in self._shells:
            block, item = self._shells[id]
            if client_tool(item, {id}) is None:
                self._out.part(block, OpaquePart(self._provider, str(item["type"]), cast(Any, item)))

    def _texts_done(self, item: OpenItem, data: Object) -> None:
        options = self._options_of(data)
        for index, part in enumerate(objects_of(data, "content")):
            block = item.block("text", index)
            text = text_of(part, "text") or text_of(part, "refusal")
            self._complete(item, block, TextDelta, text)
            if part.get("annotations"):
                self._notes[block] = objects_of(part, "annotations")
            citations = read_annotations(self._notes.get(block, ()))
            self._close(block)
            if text and options != item.options:  # they were unknown when the text started
                self._out.part(block, TextPart(text, citations, provider_options=options))

    def _reasoning_done(self, item: OpenItem, data: Object) -> None:
        for kind in KINDS:
            for index, entry in enumerate(objects_of(data, kind)):
                self._complete(item, item.block(kind, index), ReasoningDelta, text_of(entry, "text"))
        signature, redacted = signature_and_redacted(data)
        kinds = item.kinds() or {item.block("summary", 0): "summary"}
        last = max(kinds)
        for block, kind in kinds.items():
            self._start(item, block, ReasoningDelta)
            self._out.flush(block)
            self._out.end_reasoning(block, signature_of(kind, signature), redacted if block == last else None)

    def _complete(self, item: OpenItem, block: int, piece: Piece, text: str | None) -> None:
        """Writes what was not streamed in chunks."""
        self._start(item, block, piece)
        missing = (text or "")[item.seen[block] :]
        if missing:
            self._write(item, block, piece, missing)

    def _close(self, block: int) -> None:
        if block not in self._out.open:
            return
        self._out.flush(block)
        if self._out.open[block] is TextDelta:
            self._out.end_text(block, read_annotations(self._notes.pop(block, ())))
        else:
            self._out.end(block)

    def _complete_response(self, event: Object) -> None:
        response = mend_texts(object_of(event, "response"))
        check_failure(response)
        self._ending = response
        self.complete = True

    def _fail(self, event: Object) -> None:
        check_failure(mend_texts(object_of(event, "response")))
        reported = event.get("error")
        detail = as_object(mend_texts(reported if isinstance(reported, dict) else event))
        kind = detail.pop("type", None)
        kind = detail.get("code") if reported is None else kind
        raise error_in_answer({**detail, "type": kind} if kind else detail)


def _has_ids(data: Object) -> bool:
    """Whether the ids of an item are known; servers that leave one empty send it when the item is done."""
    return "" not in (data.get("call_id"), data.get("id"))
