"""Decodes the events of a stream to deltas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import NO_OPTIONS, Citation, Delta, ProviderOptions, TextDelta, ToolCall

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, arguments_piece
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.function_tools import decode_function_call
from ...common.reading import Object, as_object, count_of, mend_texts, object_of, objects_of, text_of
from .answers import PLAN, citation_to_ours
from .errors import FAILED, RIGHT_ADDRESS, error_in_answer
from .vocabulary import CALL_FIELDS, FINISH_REASONS, PROVIDER, TEXT_FIELDS, metadata_to_ours, usage_to_ours

_PLAN = 1 << 20
_FIRST_CALL = _PLAN + 1
"""Blocks have the order of parts in an unstreamed reply: content blocks by their index, then the plan, then the calls.
"""


class CohereDecoder(FrameDecoder):
    """Decodes one stream, of `model` unless it names another."""

    def __init__(self, model: str | None) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended before its message-end")
        self._model = model
        self._first_text: int | None = None
        """The text that citations without a block refer to."""
        self._text_block: int | None = None
        """The block of the last text, if it is open and no surrogate is pending anywhere."""
        self._citations: dict[int, tuple[Citation, ...]] = {}
        self._calls: dict[int, int] = {}
        self._begun_calls = 0
        self._held: dict[int, ToolCall] = {}
        """The calls whose names are not known yet, by their blocks."""
        self._with_arguments: set[int] = set()
        self._ids = ReceivedIds()
        self._logprobs: list[Any] = []
        self._last: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            data = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            if not frame.data or frame.data == b"[DONE]":
                return []
            return self._deltas_of(self._event, self._object(self._read_with_care(frame.data)))
        try:
            # Fast path: nearly all events append to an open text.
            block = self._text_block
            content = data["delta"]["message"]["content"]
            text = content["text"]
            if (
                block is not None
                and data["index"] == block
                and text
                and type(text) is str
                and len(content) == 1
                and len(data) == 3
            ):
                out = self._out
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, block, text)]
        except (KeyError, TypeError):
            return self._deltas_of(self._event, self._object(data))
        return self._deltas_of(self._event, self._object(data))

    def _is_begun(self) -> bool:
        return self._out.sequence > 0

    def _end(self) -> None:
        out = self._out
        calls = list(self._calls.values())
        for block in list(out.surrogates):
            out.flush(block)
        for block in [block for block in out.open if block not in calls]:
            self._close(block)
        for block, citations in self._citations.items():
            out.cite(block, citations)
        for block in calls:
            self._end_call(block)
        delta = object_of(self._last, "delta")
        raw = text_of(delta, "finish_reason")
        extras = {"logprobs": self._logprobs} if self._logprobs else {}
        metadata = metadata_to_ours(self._last | {"usage": delta.get("usage")} | extras)
        out.count(usage_to_ours(delta))
        out.end_reply(FINISH_REASONS.read(raw, calls=bool(calls)), raw, mend_texts(metadata))

    def _event(self, data: Object) -> None:
        kind = text_of(data, "type")
        if reports_error(data):
            raise error_in_answer(as_object(mend_texts(data)))
        if kind is None:
            self._ignore(data)
        if self._out.awaits_start:
            model = mend_texts(text_of(data, "model")) or self._model
            id = mend_texts(text_of(data, "id")) if kind == "message-start" else None
            self._out.start_reply(model, PROVIDER, id)
        index = count_of(data, "index") or 0
        message = object_of(object_of(data, "delta"), "message")
        if kind in ("content-delta", "content-start"):
            if kind == "content-start":
                self._options(index, as_object(mend_texts(object_of(message, "content"))))
            self._content(index, object_of(message, "content"), data)
        elif kind == "content-end" and index < _FIRST_CALL and index in self._out.open:
            self._close(index)
        elif kind == "tool-plan-delta":
            self._text(_PLAN, text_of(message, "tool_plan"), True)
        elif kind == "tool-call-start":
            self._begin_call(index, as_object(mend_texts(object_of(message, "tool_calls"))))
        elif kind == "tool-call-delta":
            self._continue_call(index, object_of(message, "tool_calls"))
        elif kind == "citation-start":
            self._cite(message)
        elif kind == "message-end":
            self._finish(data)

    def _options(self, index: int, content: Object) -> None:
        """Reads the options of a text, which are in its start event."""
        options = read_options(content, TEXT_FIELDS, PROVIDER)
        if options and content.get("type") == "text":
            self._begin(min(index, _PLAN - 1), True, options)

    def _content(self, index: int, content: Object, data: Object) -> None:
        block = min(index, _PLAN - 1)
        self._text(block, text_of(content, "thinking"), False)
        self._text(block, text_of(content, "text"), True)
        self._text_block = block if self._out.open.get(block) is TextDelta and not self._out.surrogates else None
        if data.get("logprobs") is not None:
            self._logprobs.append(data["logprobs"])

    def _text(self, block: int, text: str | None, is_text: bool) -> None:
        if not text:
            return
        if block not in self._out.open:
            self._begin(block, is_text)
        self._out.add(block, text)

    def _begin(self, block: int, is_text: bool, options: ProviderOptions = NO_OPTIONS) -> None:
        if not is_text:
            self._out.start_reasoning(block)
            return
        if self._first_text is None and block != _PLAN:
            self._first_text = block
        self._out.start_text(block, options)

    def _begin_call(self, index: int, data: Object) -> None:
        """Starts a call; an index that was used before is a different call."""
        number = self._begun_calls
        self._begun_calls += 1
        if index in self._calls:
            self._end_call(self._calls.pop(index))
        call = decode_function_call(data, CALL_FIELDS, PROVIDER)
        block = self._calls[index] = _FIRST_CALL + number
        self._out.hold_call(block)
        if object_of(data, "function").get("arguments"):
            self._out.write(block, call.arguments_text)
            self._with_arguments.add(block)
        self._named(block, call)

    def _named(self, block: int, call: ToolCall, *, is_over: bool = False) -> None:
        """Starts a call as soon as its name is known."""
        self._held[block] = call
        if call.name or is_over:
            call = self._ids.name(self._held.pop(block), block - _FIRST_CALL)
            self._out.start_call(block, call.id, call.name, call.provider_options)

    def _end_call(self, block: int) -> None:
        if block in self._held:
            self._named(block, self._held[block], is_over=True)
        self._out.end_call(block)

    def _continue_call(self, index: int, data: Object) -> None:
        block = self._calls.get(index)
        if block is None:
            return
        function = object_of(data, "function")
        held = self._held.get(block)
        if held is not None:
            id, name = mend_texts(text_of(data, "id")), mend_texts(text_of(function, "name"))
            self._named(block, replace(held, id=held.id or id or "", name=name or ""))
        arguments = arguments_piece(function, "arguments", is_first=block not in self._with_arguments)
        if arguments:
            self._with_arguments.add(block)
            self._out.add(block, arguments)

    def _cite(self, message: Object) -> None:
        """Reads a citation: an object, though the field is a list in an unstreamed reply."""
        cited = message.get("citations")
        whole = objects_of(message, "citations") if cited and isinstance(cited, list) else None
        for citation in [object_of(message, "citations")] if whole is None else whole:
            data = as_object(mend_texts(citation))
            number = count_of(data, "content_index")
            number = (self._first_text or 0) if number is None else min(number, _PLAN - 1)
            block = _PLAN if data.get("type") == PLAN else number
            self._citations[block] = (*self._citations.get(block, ()), citation_to_ours(data))

    def _finish(self, data: Object) -> None:
        delta = object_of(data, "delta")
        if delta.get("error") or text_of(delta, "finish_reason") in FAILED:
            raise error_in_answer(as_object(mend_texts({**delta, "code": data.get("code")})))
        self.complete = True
        self._last = as_object(mend_texts(data))

    def _close(self, block: int) -> None:
        self._out.flush(block)
        self._text_block = None
        citations = self._citations.pop(block, ())
        if self._out.open[block] is TextDelta:
            self._out.end_text(block, citations)
        else:
            self._out.end_reasoning(block)
