"""From the lines of a stream to deltas."""

from __future__ import annotations

from typing import Any, cast

import jiter

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.schema import (
    Delta,
    ImagePart,
    PartDelta,
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
from ...common.json_reading import Object, as_object, as_objects, mended, read_answer, text_of
from ...common.raw_arguments import WrittenArguments
from ...common.surrogates import WaitingHalves
from .decode import read_call, read_images
from .failures import RIGHT_ADDRESS, error_in_answer
from .vocabulary import PROVIDER, finish_reason_to_ours, metadata_to_ours, origin_of, usage_to_ours
from .writing import ARGUMENTS

_REASONING, _TEXT, _FIRST_CALL = range(3)
"""Blocks have the places that parts have in a whole reply, so that a stream adds up to the same."""


class OllamaDecoder:
    """Decodes one stream. A line holds a piece of text or reasoning, or whole tool calls; the last one is done."""

    def __init__(self) -> None:
        self.complete = False
        self._sequence = 0
        self._lines = 0
        self._open: int | None = None
        self._origin: str | None = None
        self._calls = 0
        self._ids = ReceivedIds()
        self._images: list[ImagePart] = []
        self._halves = WaitingHalves()
        self._logprobs: list[Any] = []
        self._end: Object = {}

    def feed(self, frame: bytes) -> list[Delta]:
        """The deltas of one line; raises `ServerError` for one that is not JSON, or the error it reports."""
        self._lines += 1
        try:
            data = jiter.from_json(frame, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame)
        try:
            # Nearly all lines are one more piece of the open text, and need none of the care that the others do.
            message = data["message"]
            text = message["content"]
            if (
                self._open == _TEXT
                and text
                and type(text) is str
                and data["done"] is False
                and (len(message) == 2 or (len(message) == 3 and not message["images"]))
                and "error" not in data
                and "logprobs" not in data
                and message["role"] == "assistant"
                and not self._halves
            ):
                sequence = self._sequence
                self._sequence = sequence + 1
                return [TextDelta(sequence, _TEXT, text)]
        except (KeyError, TypeError):
            return self._read(as_object(data), frame)
        return self._read(as_object(data), frame)

    def _read_with_care(self, raw: bytes) -> list[Delta]:
        """A line that is not plain JSON, since it holds half a character or NaN."""
        try:
            data = as_object(read_answer(raw, halves=True))
        except ValueError:
            hint = RIGHT_ADDRESS if self._lines == 1 else None
            raise ServerError(f"line {self._lines} of the stream is not JSON: {raw[:60]!r}", hint=hint) from None
        return self._read(data, raw)

    def _read(self, data: Object, raw: bytes) -> list[Delta]:
        if data.get("error"):
            raise error_in_answer(as_object(mended(data)))
        deltas: list[Delta] = []
        try:
            self._line(data, raw, deltas)
        except SchemaError as error:
            raise ServerError(f"line {self._lines} of the stream does not fit the schema: {error}") from None
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no line said that it is done."""
        if self._lines == 0:
            raise ServerError("the answer is empty", hint=RIGHT_ADDRESS)
        if not self.complete:
            raise StreamInterruptedError("the stream ended before it was done")
        deltas: list[Delta] = []
        for block in list(self._halves):
            self._write(block, self._halves.rest(block), deltas)
        self._close(deltas)
        first_image = _FIRST_CALL + self._calls
        deltas += [PartDelta(self._next(), first_image + i, image) for i, image in enumerate(self._images)]
        raw = text_of(self._end, "done_reason")
        reason = finish_reason_to_ours(raw, calls=self._calls > 0)
        try:
            metadata = freeze_object(metadata_to_ours(self._end), "provider_metadata")
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        deltas.append(UsageDelta(self._next(), usage_to_ours(self._end)))
        deltas.append(ReplyEnd(self._next(), reason, raw, metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _line(self, data: Object, frame: bytes, deltas: list[Delta]) -> None:
        if self._lines == 1:
            model = mended(text_of(data, "model"))
            self._origin = origin_of(model)
            deltas.append(ReplyStart(self._next(), model, PROVIDER))
        message = as_object(data.get("message"))
        self._text(_REASONING, message.get("thinking"), deltas)
        self._text(_TEXT, message.get("content"), deltas)
        if message.get("tool_calls"):
            written = WrittenArguments(frame, ARGUMENTS)
            for call in as_objects(message["tool_calls"]):
                self._call(as_object(mended(call)), written, deltas)
        if message.get("images"):
            self._images += read_images(message)
        if isinstance(data.get("logprobs"), list):
            self._logprobs += cast("list[Any]", data["logprobs"])
        if data.get("done") is True:
            self.complete = True
            self._end = as_object(mended(data | {"logprobs": self._logprobs} if self._logprobs else data))

    def _text(self, block: int, text: Any, deltas: list[Delta]) -> None:
        if not text or not isinstance(text, str):
            return
        self._write(block, self._halves.mend(block, text), deltas)

    def _write(self, block: int, text: str, deltas: list[Delta]) -> None:
        if not text:
            return
        if self._open != block:
            self._close(deltas)
            self._open = block
            deltas.append(
                TextStart(self._next(), block) if block == _TEXT else ReasoningStart(self._next(), block, self._origin)
            )
        deltas.append((TextDelta if block == _TEXT else ReasoningDelta)(self._next(), block, text))

    def _call(self, data: Object, written: WrittenArguments, deltas: list[Delta]) -> None:
        self._close(deltas)
        block = _FIRST_CALL + self._calls
        call = self._ids.name(read_call(data, written), self._calls)
        self._calls += 1
        deltas.append(ToolCallStart(self._next(), block, call.id, call.name, call.provider_options))
        deltas.append(ToolCallDelta(self._next(), block, call.arguments_text))
        deltas.append(ToolCallEnd(self._next(), block))

    def _close(self, deltas: list[Delta]) -> None:
        if self._open is not None:
            block, self._open = self._open, None
            deltas.append(TextEnd(self._next(), block) if block == _TEXT else ReasoningEnd(self._next(), block))
