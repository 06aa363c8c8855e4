"""Decodes `GenerateContentResponse` objects to deltas: the chunks of a stream, or a whole reply as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import Delta

from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.google_errors import RIGHT_ADDRESS, error_in_answer
from ...common.reading import Cut, Object, count_of, mend_texts, object_of, objects_of, text_of
from .blocks import Blocks, rest_of_grounding
from .vocabulary import (
    GenerateContentDialect,
    billing_to_ours,
    block_reason,
    finish_reason_to_ours,
    metadata_to_ours,
    usage_to_ours,
)

_NO_REASON = "FINISH_REASON_UNSPECIFIED"
_CUT: Cut = {"candidates": {"content": {"parts": {"text": {}, "audioTranscription": {"text": {}}}}}}
MARKS = frozenset({"candidates", "modelVersion", "promptFeedback", "responseId", "usageMetadata"})
"""Fields that only replies have."""
_USAGE = "usageMetadata"
_COUNTED = 64
"""Each chunk has usage: within a text, it is written only once every so many chunks, and at the end."""


class ReplyDecoder(FrameDecoder):
    """Decodes one reply: its first candidate. The end of a stream is only marked by a finish reason."""

    def __init__(self, dialect: GenerateContentDialect) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended without a finish reason", cut=_CUT)
        self._provider = dialect.provider
        self._billing = dialect.billing
        self._blocks = Blocks(dialect.provider, self._out)
        self._finish: str | None = None
        self._blocked: str | None = None
        self._is_whole = False
        self._counts: Any = None
        self._written_counts: Any = None
        self._grounding: Object = {}
        self._metadata: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            data = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read(self._read_with_care(frame.data), frame.data) if frame.data else []
        try:
            # Fast path: nearly all chunks append to the open text.
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
                    self._counts = data.get(_USAGE) or self._counts
                    return [piece] if self._count % _COUNTED else [piece, *self._deltas_of(self._add_counts)]
        except (KeyError, TypeError, ValueError):
            return self._read(data, frame.data)
        return self._read(data, frame.data)

    def _read(self, data: Any, raw: bytes) -> list[Delta]:
        items = cast("list[Any]", data) if data and isinstance(data, list) else [data]
        chunks = [self._object(item) for item in items]
        return self._deltas_of(self._chunks, chunks, raw)

    def whole(self, chunks: Sequence[Object], body: bytes) -> list[Delta]:
        """Returns the deltas of a whole reply in chunks, whose text is `body`, with or without a finish reason.

        Raises the error that a chunk contains, and `SchemaError`.
        """
        self._is_whole = True
        self._chunks(chunks, body)
        self._end()
        return self._out.take()

    def _chunks(self, chunks: Sequence[Object], body: bytes) -> None:
        for data in chunks:
            self._chunk(data, body)

    def _chunk(self, data: Object, body: bytes) -> None:
        if reports_error(data, marks=MARKS):
            raise error_in_answer(mend_texts(data))
        if MARKS.isdisjoint(data):
            self._ignore(data)
        is_first = self._out.awaits_start
        if is_first:
            self._begin(data)
        candidate = next((item for item in objects_of(data, "candidates") if not count_of(item, "index")), None)
        if candidate is not None:
            content = candidate.get("content")
            if content is not None:
                self._blocks.feed(object_of(candidate, "content"), body)
            if content is None or len(candidate) > 1:
                self._rest_of_candidate(candidate)
        if data.get(_USAGE) is not None:
            self._counts = data[_USAGE]
        if not self._is_whole:
            self._add_counts()
        if self._finish is not None or candidate is None or is_first:
            self._blocked = block_reason(data) or self._blocked
            self._metadata |= metadata_to_ours(data, candidate or {}, self._billing)

    def _add_counts(self) -> None:
        """Writes the usage so far, if it changed."""
        if self._counts is not None and self._counts is not self._written_counts:
            self._written_counts = self._counts
            self._out.count(usage_to_ours(object_of({_USAGE: self._counts}, _USAGE)))

    def _is_begun(self) -> bool:
        return self._out.sequence > 0

    def _is_over(self) -> bool:
        return self._finish is not None or self._blocked is not None

    def _end(self) -> None:
        counts = object_of({_USAGE: self._counts}, _USAGE)
        billing = billing_to_ours(counts, self._grounding, self._billing)
        if billing is None:
            self._add_counts()
        else:
            self._out.count(usage_to_ours(counts, billing))
        self._blocks.close()
        self._blocks.cite(self._grounding)
        rest = rest_of_grounding(self._grounding)
        metadata = {**self._metadata, "groundingMetadata": rest} if rest else self._metadata
        reason = finish_reason_to_ours(self._finish, self._blocks.calls > 0)
        if self._finish is None and self._blocked is not None:
            reason = "content_filter"
        self._out.end_reply(reason, self._finish or self._blocked, metadata)

    def _begin(self, data: Object) -> None:
        model = text_of(data, "modelVersion")
        self._out.start_reply(model, self._provider, text_of(data, "responseId"))

    def _rest_of_candidate(self, candidate: Object) -> None:
        reason = text_of(candidate, "finishReason")
        if reason and reason != _NO_REASON:
            self._finish = reason
        grounding = object_of(candidate, "groundingMetadata")
        if grounding:
            self._grounding = grounding
