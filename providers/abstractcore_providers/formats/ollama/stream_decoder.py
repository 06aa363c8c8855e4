"""Decodes the lines of a stream to deltas."""

from __future__ import annotations

import jiter

from abstractcore.schema import Delta, ImagePart, ReasoningDelta, TextDelta

from ...common.conversations import ReceivedIds, WrittenArguments
from ...common.delta_writer import Piece
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.reading import Object, as_object, flag_of, mend_texts, object_of, objects_of, text_of
from .decode import read_call, read_images
from .errors import RIGHT_ADDRESS, error_in_answer
from .vocabulary import ARGUMENTS, PROVIDER, USAGE, finish_reason_to_ours, metadata_to_ours

_REASONING, _TEXT, _FIRST_CALL = range(3)
"""Blocks have the order of parts in an unstreamed reply, so that both give the same reply."""
_KINDS: dict[int, Piece] = {_REASONING: ReasoningDelta, _TEXT: TextDelta}

_MARKS = frozenset({"done"})
"""Fields that only lines of replies have."""


class OllamaDecoder(FrameDecoder):
    """Decodes one stream. A line has a chunk of text or reasoning, or complete tool calls; the last one is done."""

    def __init__(self) -> None:
        super().__init__(
            RIGHT_ADDRESS, "the stream ended before it was done", nothing="the answer is empty", frame="line"
        )
        self._calls = 0
        self._ids = ReceivedIds()
        self._images: list[ImagePart] = []
        self._logprobs: list[Object] = []
        self._last: Object = {}

    def feed(self, frame: bytes) -> list[Delta]:
        """Returns the deltas of one line; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            data = jiter.from_json(frame, allow_inf_nan=False)
        except ValueError:
            return self._read(self._object(self._read_with_care(frame)), frame)
        try:
            # Fast path: nearly all lines append to the open text.
            out = self._out
            message = data["message"]
            text = message["content"]
            if (
                out.current == _TEXT
                and text
                and type(text) is str
                and data["done"] is False
                and (len(message) == 2 or (len(message) == 3 and not message["images"]))
                and "error" not in data
                and "logprobs" not in data
                and message["role"] == "assistant"
                and not out.surrogates
            ):
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, _TEXT, text)]
        except (KeyError, TypeError):
            return self._read(self._object(data), frame)
        return self._read(self._object(data), frame)

    def _read(self, data: Object, raw: bytes) -> list[Delta]:
        if reports_error(data, marks=_MARKS):
            raise error_in_answer(as_object(mend_texts(data)))
        if _MARKS.isdisjoint(data):
            self._ignore(data)
        return self._deltas_of(self._line, data, raw)

    def _end(self) -> None:
        out = self._out
        for block in list(out.surrogates):
            out.flush_current(block, _KINDS[block])
        out.end_current()
        for index, image in enumerate(self._images):
            out.part(_FIRST_CALL + self._calls + index, image)
        raw = text_of(self._last, "done_reason")
        out.count(USAGE.read(self._last))
        out.end_reply(finish_reason_to_ours(raw, calls=self._calls > 0), raw, metadata_to_ours(self._last))

    def _line(self, data: Object, frame: bytes) -> None:
        if self._out.awaits_start:
            model = mend_texts(text_of(data, "model"))
            self._out.start_reply(model, PROVIDER)
        message = object_of(data, "message")
        self._out.add_current(_REASONING, ReasoningDelta, text_of(message, "thinking") or "")
        self._out.add_current(_TEXT, TextDelta, text_of(message, "content") or "")
        if message.get("tool_calls") is not None:
            written = WrittenArguments(frame, ARGUMENTS)
            for call in objects_of(message, "tool_calls"):
                self._call(as_object(mend_texts(call)), written)
        if message.get("images") is not None:
            self._images += read_images(message)
        if data.get("logprobs") is not None:
            self._logprobs += objects_of(data, "logprobs")
        if flag_of(data, "done"):
            self.complete = True
            self._last = as_object(mend_texts(data | {"logprobs": self._logprobs} if self._logprobs else data))

    def _call(self, data: Object, written: WrittenArguments) -> None:
        self._out.end_current()
        block = _FIRST_CALL + self._calls
        call = self._ids.name(read_call(data, written), self._calls)
        self._calls += 1
        self._out.start_call(block, call.id, call.name, call.provider_options)
        self._out.write(block, call.arguments_text)
        self._out.end_call(block)
