"""From the events of a stream to deltas."""

from __future__ import annotations

from typing import Any

import jiter

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    NO_OPTIONS,
    Citation,
    Delta,
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
    UsageDelta,
    freeze_object,
)

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Object, as_object, as_objects, count_of, mended, read_answer, text_of
from ...common.surrogates import WaitingHalves
from .citations import PLAN, citation_to_ours
from .decode import read_call
from .failures import FAILED, RIGHT_ADDRESS, error_in_answer
from .vocabulary import PROVIDER, TEXT_FIELDS, finish_reason_to_ours, metadata_to_ours, origin_of, usage_to_ours

_PLAN = 1 << 20
_FIRST_CALL = _PLAN + 1
"""Blocks have the order that parts have in a whole reply: the content, whose blocks have their own numbers, then the
plan, then the calls."""


class CohereDecoder:
    """Decodes one stream, from `model` unless it says another."""

    def __init__(self, model: str | None) -> None:
        self.complete = False
        self._model = model
        self._origin = origin_of(model)
        self._sequence = 0
        self._events = 0
        self._begun = False
        self._open: dict[int, bool] = {}
        """The blocks of text (True) and reasoning (False) that have begun and not ended."""
        self._first_text: int | None = None
        """The text that citations without a place speak of."""
        self._text_block: int | None = None
        """The block of the text that came last, if it is open and no half of a character waits anywhere."""
        self._citations: dict[int, tuple[Citation, ...]] = {}
        self._calls: dict[int, int] = {}
        self._ids = ReceivedIds()
        self._halves = WaitingHalves()
        self._logprobs: list[Any] = []
        self._end: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event; raises `ServerError` for one that is not JSON, or the error it reports."""
        self._events += 1
        try:
            data = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame.data)
        try:
            # Nearly all events are one more piece of an open text, and need none of the care that the others do.
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
                sequence = self._sequence
                self._sequence = sequence + 1
                return [TextDelta(sequence, block, text)]
        except (KeyError, TypeError):
            return self._read(as_object(data))
        return self._read(as_object(data))

    def _read_with_care(self, raw: bytes) -> list[Delta]:
        """An event that is not plain JSON: an empty one, or one that holds half a character or NaN."""
        if not raw or raw == b"[DONE]":
            return []
        try:
            data = as_object(read_answer(raw, halves=True))
        except ValueError:
            raise ServerError(f"event {self._events} of the stream is not JSON: {raw[:60]!r}") from None
        return self._read(data)

    def _read(self, data: Object) -> list[Delta]:
        deltas: list[Delta] = []
        try:
            self._event(data, deltas)
        except SchemaError as error:
            raise ServerError(f"event {self._events} of the stream does not fit the schema: {error}") from None
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no event said that it is complete."""
        if not self._begun:
            raise ServerError("the answer is no stream of events", hint=RIGHT_ADDRESS)
        if not self.complete:
            raise StreamInterruptedError("the stream ended before its message-end")
        deltas: list[Delta] = []
        for block in list(self._halves):
            self._write(block, self._halves.rest(block), deltas)
        for block in list(self._open):
            self._close(block, deltas)
        for block, citations in self._citations.items():
            deltas += [TextStart(self._next(), block), TextEnd(self._next(), block, citations)]
        deltas += [ToolCallEnd(self._next(), block) for block in self._calls.values()]
        delta = as_object(self._end.get("delta"))
        raw = text_of(delta, "finish_reason")
        extras = {"logprobs": self._logprobs} if self._logprobs else {}
        try:
            usage = usage_to_ours(as_object(delta.get("usage")))
            said = metadata_to_ours(self._end | {"usage": delta.get("usage")} | extras)
            metadata = freeze_object(mended(said), "provider_metadata")
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        deltas.append(UsageDelta(self._next(), usage))
        deltas.append(ReplyEnd(self._next(), finish_reason_to_ours(raw, calls=bool(self._calls)), raw, metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _event(self, data: Object, deltas: list[Delta]) -> None:
        kind = data.get("type")
        if kind is None and isinstance(data.get("message"), str):
            raise error_in_answer(as_object(mended(data)))
        if not self._begun:
            self._begun = True
            model = mended(text_of(data, "model")) or self._model
            self._origin = origin_of(model)
            id = mended(text_of(data, "id")) if kind == "message-start" else None
            deltas.append(ReplyStart(self._next(), model, PROVIDER, id))
        index = count_of(data, "index") or 0
        message = as_object(as_object(data.get("delta")).get("message"))
        if kind in ("content-delta", "content-start"):
            if kind == "content-start":
                self._options(index, as_object(mended(message.get("content"))), deltas)
            self._content(index, as_object(message.get("content")), data, deltas)
        elif kind == "content-end" and index in self._open:
            self._close(index, deltas)
        elif kind == "tool-plan-delta":
            self._text(_PLAN, message.get("tool_plan"), True, deltas)
        elif kind == "tool-call-start":
            self._begin_call(index, as_object(mended(message.get("tool_calls"))), deltas)
        elif kind == "tool-call-delta":
            self._continue_call(index, as_object(message.get("tool_calls")), deltas)
        elif kind == "citation-start":
            self._cite(message.get("citations"))
        elif kind == "message-end":
            self._finish(data)

    def _options(self, index: int, content: Object, deltas: list[Delta]) -> None:
        """What a text says beside itself is said at its beginning."""
        options = read_options(content, TEXT_FIELDS, PROVIDER)
        if options and content.get("type") == "text":
            self._begin(min(index, _PLAN - 1), True, deltas, options)

    def _content(self, index: int, content: Object, data: Object, deltas: list[Delta]) -> None:
        block = min(index, _PLAN - 1)
        self._text(block, content.get("thinking"), False, deltas)
        self._text(block, content.get("text"), True, deltas)
        self._text_block = block if self._open.get(block) and not self._halves else None
        if data.get("logprobs") is not None:
            self._logprobs.append(data["logprobs"])

    def _text(self, block: int, text: Any, is_text: bool, deltas: list[Delta]) -> None:
        if not text or not isinstance(text, str):
            return
        if block not in self._open:
            self._begin(block, is_text, deltas)
        self._write(block, self._halves.mend(block, text), deltas)

    def _begin(self, block: int, is_text: bool, deltas: list[Delta], options: ProviderOptions = NO_OPTIONS) -> None:
        self._open[block] = is_text
        if not is_text:
            deltas.append(ReasoningStart(self._next(), block, self._origin))
            return
        if self._first_text is None and block != _PLAN:
            self._first_text = block
        deltas.append(TextStart(self._next(), block, options))

    def _write(self, block: int, text: str, deltas: list[Delta]) -> None:
        if not text:
            return
        if block >= _FIRST_CALL:
            deltas.append(ToolCallDelta(self._next(), block, text))
        else:
            kind = TextDelta if self._open.get(block, True) else ReasoningDelta
            deltas.append(kind(self._next(), block, text))

    def _begin_call(self, index: int, data: Object, deltas: list[Delta]) -> None:
        """A call; one with an index that has been is another call."""
        number = len(self._calls)
        if index in self._calls:
            deltas.append(ToolCallEnd(self._next(), self._calls.pop(index)))
            number = self._last_call + 1
        self._last_call = number
        call = self._ids.name(read_call(data), number)
        block = self._calls[index] = _FIRST_CALL + number
        deltas.append(ToolCallStart(self._next(), block, call.id, call.name, call.provider_options))
        if call.arguments_text:
            self._write(block, call.arguments_text, deltas)

    def _continue_call(self, index: int, data: Object, deltas: list[Delta]) -> None:
        arguments = text_of(as_object(data.get("function")), "arguments")
        block = self._calls.get(index)
        if block is None or not arguments:
            return
        self._write(block, self._halves.mend(block, arguments), deltas)

    def _cite(self, citations: Any) -> None:
        for citation in as_objects(citations if isinstance(citations, list) else [citations]):
            said = as_object(mended(citation))
            number = count_of(said, "content_index")
            number = (self._first_text or 0) if number is None else min(number, _PLAN - 1)
            block = _PLAN if said.get("type") == PLAN else number
            self._citations[block] = (*self._citations.get(block, ()), citation_to_ours(said))

    def _finish(self, data: Object) -> None:
        delta = as_object(data.get("delta"))
        if delta.get("error") or text_of(delta, "finish_reason") in FAILED:
            raise error_in_answer(as_object(mended({**delta, "code": data.get("code")})))
        self.complete = True
        self._end = as_object(mended(data))

    def _close(self, block: int, deltas: list[Delta]) -> None:
        self._write(block, self._halves.rest(block), deltas)
        is_text = self._open.pop(block)
        self._text_block = None
        citations = self._citations.pop(block, ())
        deltas.append(TextEnd(self._next(), block, citations) if is_text else ReasoningEnd(self._next(), block))
