"""From `GenerateContentResponse` objects to deltas: the chunks of a stream, or one that is a whole reply."""

from __future__ import annotations

from typing import Any

import jiter

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent
from abstractcore.schema import Delta, ReplyEnd, ReplyStart, SchemaError, UsageDelta, freeze_object

from ...common.json_reading import Cut, Object, as_object, as_objects, read_event, text_of
from .blocks import Blocks
from .dialect import Dialect
from .failures import RIGHT_ADDRESS, error_in_answer
from .grounding import rest_of_grounding
from .vocabulary import block_reason, finish_reason_to_ours, metadata_to_ours, origin_of, usage_to_ours

_NO_REASON = "FINISH_REASON_UNSPECIFIED"
_CUT: Cut = {"candidates": {"content": {"parts": {"text": {}}}}}
_COUNTED = 64
"""Each chunk has counts: in the middle of a text, those of every so many are told, and the last."""


class ReplyDecoder:
    """Decodes one reply: its first candidate. Nothing marks the end of a stream but the finish reason before it."""

    def __init__(self, dialect: Dialect) -> None:
        self.complete = False
        self._provider = dialect.provider
        self._blocks = Blocks(dialect.provider)
        self._events = 0
        self._finish: str | None = None
        self._blocked: str | None = None
        self._counts: Any = None
        self._told: Any = None
        self._grounding: Object = {}
        self._metadata: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event; raises `ServerError` for one that is not JSON, or the error it reports."""
        try:
            data = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame.data)
        try:
            # Nearly all chunks are one more piece of the open text, and need none of the care that the others do.
            (candidate,) = data["candidates"]
            (part,) = candidate["content"]["parts"]
            text = part["text"]
            if (
                len(part) == 1
                and text
                and type(text) is str
                and len(candidate) == 2
                and candidate["index"] == 0
                and "error" not in data
            ):
                piece = self._blocks.more_text(text)
                if piece is not None:
                    self._events += 1
                    self._counts = data.get("usageMetadata") or self._counts
                    return [piece, *self._count()] if self._events % _COUNTED == 0 else [piece]
        except (KeyError, TypeError, ValueError):
            return self._read(data, frame.data)
        return self._read(data, frame.data)

    def _read_with_care(self, raw: bytes) -> list[Delta]:
        """An event that is not plain JSON: an empty one, or one that holds half a character or NaN."""
        if not raw:
            return []
        try:
            data = read_event(raw, _CUT)
        except ValueError:
            raise ServerError(f"event {self._events + 1} of the stream is not JSON: {raw[:60]!r}") from None
        return self._read(data, raw)

    def _read(self, data: Any, raw: bytes) -> list[Delta]:
        chunks = as_objects(data) if isinstance(data, list) else [as_object(data)]
        try:
            return [delta for chunk in chunks for delta in self.read(chunk, raw)]
        except SchemaError as error:
            raise ServerError(f"event {self._events} of the stream does not fit the schema: {error}") from None

    def read(self, data: Object, body: bytes) -> list[Delta]:
        """The deltas of one response object, whose text is `body`; raises the error it reports, and `SchemaError`."""
        if data.get("error") is not None:
            raise error_in_answer(data)
        deltas: list[Delta] = []
        self._events += 1
        if self._events == 1:
            self._begin(data, deltas)
        candidate = next((item for item in as_objects(data.get("candidates")) if not item.get("index")), None)
        if candidate is not None:
            content = candidate.get("content")
            if content is not None:
                self._blocks.feed(as_object(content).get("parts"), body, deltas)
            if content is None or len(candidate) > 1:
                self._rest_of_candidate(candidate)
        self._counts = data.get("usageMetadata") or self._counts
        deltas += self._count()
        if self._finish is not None or candidate is None or self._events == 1:
            self._blocked = block_reason(data) or self._blocked
            self._metadata |= metadata_to_ours(data, candidate or {})
        return deltas

    def _count(self) -> list[Delta]:
        """The counts so far, if they are others than those that were told."""
        if self._counts is None or self._counts is self._told:
            return []
        self._told = self._counts
        return [UsageDelta(self._blocks.next(), usage_to_ours(as_object(self._counts)))]

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no finish reason came."""
        if self._events == 0:
            raise ServerError("the answer is no stream of events", hint=RIGHT_ADDRESS)
        if self._finish is None and self._blocked is None:
            raise StreamInterruptedError("the stream ended without a finish reason")
        try:
            return self.end()
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None

    def end(self) -> list[Delta]:
        """The end of the reply, whether or not it has a finish reason; raises `SchemaError`."""
        deltas: list[Delta] = []
        deltas += self._count()
        self._blocks.close(deltas)
        self._blocks.cite(self._grounding, deltas)
        rest = rest_of_grounding(self._grounding)
        metadata = {**self._metadata, "groundingMetadata": rest} if rest else self._metadata
        reason = finish_reason_to_ours(self._finish, self._blocks.calls > 0)
        if self._finish is None and self._blocked is not None:
            reason = "content_filter"
        frozen = freeze_object(metadata, "provider_metadata")
        deltas.append(ReplyEnd(self._blocks.next(), reason, self._finish or self._blocked, frozen))
        return deltas

    def _begin(self, data: Object, deltas: list[Delta]) -> None:
        model = text_of(data, "modelVersion")
        self._blocks.origin = origin_of(self._provider, model)
        deltas.append(ReplyStart(self._blocks.next(), model, self._provider, text_of(data, "responseId")))

    def _rest_of_candidate(self, candidate: Object) -> None:
        reason = text_of(candidate, "finishReason")
        if reason and reason != _NO_REASON:
            self._finish = reason
        grounding = as_object(candidate.get("groundingMetadata"))
        if grounding:
            self._grounding = grounding
