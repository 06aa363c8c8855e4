"""From the messages of an event stream to deltas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jiter

from abstractcore.errors import InvalidInputError, ServerError, StreamInterruptedError
from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import Delta, ReplyEnd, ReplyStart, SchemaError, TextDelta, UsageDelta, freeze_object

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Cut, Object, as_object, count_of, read_event, text_of
from ...common.surrogates import WaitingHalves
from .block_fields import BLOCK_FIELDS
from .decode import metadata_to_ours
from .failures import RIGHT_ADDRESS, error_in_stream
from .render import STOP_FIELDS
from .streamed_blocks import (
    CallBlock,
    HostedCallBlock,
    HostedResultBlock,
    ImageBlock,
    ReasoningBlock,
    StreamedBlock,
    TextBlock,
)
from .vocabulary import PROVIDER, finish_reason_to_ours, origin_of, usage_to_ours

_MAX_INDEX = 2**31 - 1
_CUT: Cut = {"delta": {"text": {}, "reasoningContent": {"text": {}}, "toolUse": {"input": {}}}}
_INSIDE = {"reasoningContent": "text", "toolUse": "input"}
"""Where the text of a delta stands that is not `text` itself."""


class ConverseDecoder:
    """Decodes one stream, of a reply of `model`. Its last message is the one with the counts."""

    def __init__(self, model: str | None) -> None:
        self.complete = False
        self._model = model
        self._sequence = 0
        self._messages = 0
        self._blocks: dict[int, StreamedBlock] = {}
        self._open: dict[int, StreamedBlock] = {}
        self._places: dict[int, int] = {}
        self._halves = WaitingHalves()
        self._ids = ReceivedIds()
        self._cut = False
        """Whether characters may have come in halves."""
        self._highest = -1
        self._finish: str | None = None
        self._metadata: Object = {}
        self._events: dict[Any, Callable[[Object], list[Delta]]] = {
            "contentBlockDelta": self._delta,
            "contentBlockStart": self._start,
            "contentBlockStop": self._stop,
            "messageStop": self._message_stop,
            "metadata": self._counts,
        }

    def feed(self, frame: AwsEventStreamMessage) -> list[Delta]:
        """The deltas of one message; raises `ServerError` for one that is not JSON, or the error it reports."""
        self._messages += 1
        kind = frame.headers.get(":message-type")
        if kind == "error":
            message = frame.headers.get(":error-message")
            raise error_in_stream(str(frame.headers.get(":error-code")), {"message": message} if message else {})
        try:
            data = as_object(jiter.from_json(frame.payload, allow_inf_nan=False))
        except ValueError:
            data = self._read_with_care(frame.payload)
        if kind == "exception":
            raise error_in_stream(str(frame.headers.get(":exception-type")), data)
        read = self._events.get(frame.headers.get(":event-type"))
        deltas: list[Delta] = [] if self._messages > 1 else [ReplyStart(self._next(), self._model, PROVIDER)]
        try:
            return deltas + read(data) if read is not None else deltas
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"message {self._messages} of the stream does not fit the schema: {error}") from None

    def _read_with_care(self, payload: bytes) -> Object:
        """A message that is not plain JSON, since it holds half a character or NaN."""
        self._cut = True
        try:
            return as_object(read_event(payload, _CUT))
        except ValueError:
            raise ServerError(f"message {self._messages} of the stream is not JSON: {payload[:60]!r}") from None

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no reason for it came."""
        if self._messages == 0:
            raise ServerError("the answer is no stream of messages", hint=RIGHT_ADDRESS)
        if self._finish is None:
            raise StreamInterruptedError("the stream ended without a stop reason")
        try:
            deltas = [delta for index in list(self._open) for delta in self._end(index)]
            metadata = freeze_object(self._metadata, "provider_metadata")
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        calls = any(isinstance(block, CallBlock) for block in self._blocks.values())
        reason = finish_reason_to_ours(self._finish, calls=calls)
        return [*deltas, ReplyEnd(self._next(), reason, self._finish, metadata)]

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _delta(self, data: Object) -> list[Delta]:
        index, delta = self._place(_index(data)), as_object(data.get("delta"))
        block = self._open.get(index)
        text = delta.get("text")
        if text and type(block) is TextBlock and isinstance(text, str) and not self._cut:
            return [TextDelta(self._next(), index, text)]
        deltas: list[Delta] = []
        for name, value in self._mended(index, delta).items():
            if name in ("text", "citation"):
                block = self._opened(index, TextBlock(index), deltas)
            elif name == "reasoningContent":
                block = self._opened(index, ReasoningBlock(index, origin_of(self._model)), deltas)
            else:
                block = self._open.get(index)
            if name == "citation" and isinstance(block, TextBlock):
                block.cite(value)
            elif block is not None and block.name == name:
                deltas += block.add(value, self._next)
        return deltas

    def _mended(self, index: int, delta: Object) -> Object:
        """`delta` without lone surrogates: a first half waits for the block's next text."""
        whole = dict(delta)
        for name, value in delta.items():
            field = _INSIDE.get(name)
            if name == "text" and isinstance(value, str):
                whole[name] = self._halves.mend(index, value)
            elif field is not None and (piece := text_of(as_object(value), field)) is not None:
                whole[name] = {**value, field: self._halves.mend(index, piece)}
        return whole

    def _opened(self, index: int, new: StreamedBlock, deltas: list[Delta]) -> StreamedBlock:
        """The open block at `index`: `new` if there was none before, else that one, which may go on after its end."""
        block = self._blocks.setdefault(index, new)
        if type(block) is not type(new):
            raise ServerError(f"block {index} of the stream changes its kind")
        if index not in self._open:
            self._open[index] = block
            deltas += block.start(self._next)
        return block

    def _start(self, data: Object) -> list[Delta]:
        index, start = _index(data), as_object(data.get("start"))
        place = self._place(index)
        block, known = _begun(place, start, self._ids), self._blocks.get(place)
        deltas: list[Delta] = []
        if isinstance(block, CallBlock) and isinstance(known, CallBlock) and known.received != block.received:
            deltas = self._end(place) if place in self._open else []
            place = self._new_place(index)
            block = _begun(place, start, self._ids)
        if block is not None:
            self._opened(place, block, deltas)
        return deltas

    def _place(self, index: int) -> int:
        """The number of the block at `index`, which is its own unless another call's stands there."""
        place = self._places.get(index)
        return self._new_place(index) if place is None else place

    def _new_place(self, index: int) -> int:
        place = index if index not in self._blocks else self._highest + 1
        self._places[index] = place
        self._highest = max(self._highest, place)
        return place

    def _stop(self, data: Object) -> list[Delta]:
        index = self._place(_index(data))
        return self._end(index) if index in self._open else []

    def _end(self, index: int) -> list[Delta]:
        block, rest = self._open.pop(index), self._halves.rest(index)
        field = _INSIDE.get(block.name)
        deltas = block.add(rest if field is None else {field: rest}, self._next) if rest else []
        return deltas + block.end(self._next)

    def _message_stop(self, data: Object) -> list[Delta]:
        self._finish = text_of(data, "stopReason") or ""
        if data.get(STOP_FIELDS) is not None:
            self._metadata[STOP_FIELDS] = data[STOP_FIELDS]
        return []

    def _counts(self, data: Object) -> list[Delta]:
        self.complete = self._finish is not None
        self._metadata.update(metadata_to_ours(data))
        usage = data.get("usage")
        return [UsageDelta(self._next(), usage_to_ours(as_object(usage)))] if isinstance(usage, dict) else []


def _index(data: Object) -> int:
    index = count_of(data, "contentBlockIndex")
    if index is None or not 0 <= index <= _MAX_INDEX:
        raise ServerError("a block of the stream has no index")
    return index


def _begun(index: int, start: Object, ids: ReceivedIds) -> StreamedBlock | None:
    """The block that an event begins; None for a kind that begins by itself, or is not known."""
    use = as_object(start.get("toolUse"))
    if use:
        id, name = text_of(use, "toolUseId") or "", text_of(use, "name") or ""
        if use.get("type") == "server_tool_use":
            return HostedCallBlock(index, id or f"call_{index}", name)
        return CallBlock(index, id, name, read_options(use, BLOCK_FIELDS["tool_call"], PROVIDER), ids)
    if as_object(start.get("toolResult")):
        return HostedResultBlock(index, as_object(start["toolResult"]))
    if as_object(start.get("image")):
        return ImageBlock(index, as_object(start["image"]))
    return None
