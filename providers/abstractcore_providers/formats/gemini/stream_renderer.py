"""Renders deltas as events with `GenerateContentResponse` objects (server side)."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, UnsupportedContentError
from abstractcore.schema import (
    Citation,
    Delta,
    JSONObject,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

from ...common.delta_writer import BodyWriter
from ...common.google_errors import render_error
from ...common.reading import Object
from ...common.response_bodies import merge
from ...common.sounds import is_samples
from .blocks import write_grounding
from .content import FIELD, as_transcription, is_transcription
from .render import grouped_metadata, head, shifted
from .vocabulary import ARGUMENTS, GenerateContentDialect, finish_reason_to_theirs, usage_to_theirs
from .write_messages import write_part


@dataclass(slots=True)
class _RenderedText:
    """A text part on the wire, which may consist of several blocks: its number, its chunks, and its citations."""

    number: int
    pieces: list[str] = field(default_factory=list[str])
    citations: list[Citation] = field(default_factory=list[Citation])


class ReplyRenderer:
    """Renders one stream. Each part of the reply is a chunk, and each chunk of a text; the last one has the rest."""

    def __init__(self, dialect: GenerateContentDialect) -> None:
        self._provider = dialect.provider
        self._billing = dialect.billing
        self._head: Object = {}
        self._usage = Usage()
        self._parts = 0
        self._last = ""
        self._texts: list[_RenderedText] = []
        self._blocks: dict[int, tuple[_RenderedText, int]] = {}
        self._transcriptions: set[int] = set()
        """The blocks of texts that are transcriptions."""
        self._thought = False
        self._apart = False
        self._options: JSONObject = {}
        """The options of the current part."""
        self._calls: dict[int, tuple[ToolCallStart, list[str]]] = {}

    def feed(self, delta: Delta) -> bytes:
        """Returns the event of one delta; empty for those without a counterpart.

        A chunk without text would not be read as a part: the next chunk of the part is its first.
        """
        if isinstance(delta, TextDelta):
            return self._text_chunk(delta) if delta.text else b""
        if isinstance(delta, ReasoningDelta):
            return self._reasoning(delta.text) if delta.text else b""
        if isinstance(delta, ToolCallStart):
            self._calls[delta.block] = (delta, [])
        elif isinstance(delta, ToolCallDelta):
            self._calls[delta.block][1].append(delta.arguments_text)
        elif isinstance(delta, ToolCallEnd):
            start, pieces = self._calls.pop(delta.block)
            text = "".join(pieces)
            call = ToolCall(start.id, start.name, text, delta.signature, provider_options=start.provider_options)
            return self._whole(call)
        elif isinstance(delta, PartDelta):
            return self._whole(delta.part)
        else:
            return self._rare(delta)
        return b""

    def finish(self) -> bytes:
        """Returns nothing: the last chunk is the end."""
        return b""

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return _event(render_error(error).body)

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, ReplyStart):
            self._head = head(delta.model, delta.id)
        elif isinstance(delta, TextStart):
            self._begin_text(delta)
        elif isinstance(delta, TextEnd) and delta.citations and delta.block not in self._transcriptions:
            text, offset = self._blocks[delta.block]
            own = TextPart("".join(text.pieces)[offset:], delta.citations)
            text.citations += shifted(own, offset)
        elif isinstance(delta, ReasoningStart):
            self._thought, self._apart = False, self._last == "thought"
        elif isinstance(delta, ReasoningEnd) and delta.signature is not None:
            return self._signature(delta.signature)
        elif isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            return self._end(delta)
        return b""

    def _begin_text(self, start: TextStart) -> None:
        if start.block in self._blocks:
            return
        options = start.provider_options.get(self._provider, {})
        self._apart = self._last == "text" and bool(options or self._options)
        if self._last != "text" or self._apart:
            self._texts.append(_RenderedText(self._parts))
        self._options = options
        if is_transcription(options):
            self._transcriptions.add(start.block)
        text = self._texts[-1]
        self._blocks[start.block] = (text, sum(map(len, text.pieces)))

    def _text(self, block: int) -> _RenderedText:
        """Returns the text on the wire for a chunk of a block: a new one, if another part was in between."""
        text = self._blocks[block][0]
        if text.pieces and self._last != "text":
            text = _RenderedText(self._parts)
            self._texts.append(text)
            self._blocks[block] = (text, 0)
        return text

    def _text_chunk(self, delta: TextDelta) -> bytes:
        """Returns a chunk of text; the first of a part has its options."""
        pieces = self._text(delta.block).pieces
        part: Object = {"text": delta.text} if pieces else {**self._options, "text": delta.text}
        if pieces and delta.block in self._transcriptions:
            part[FIELD] = {}
        pieces.append(delta.text)
        return self._chunk("text", *(as_transcription(piece, "") for piece in self._set_apart(part)))

    def _reasoning(self, text: str) -> bytes:
        self._thought = True
        return self._chunk("thought", *self._set_apart({"text": text, "thought": True}))

    def _set_apart(self, part: Object) -> list[Object]:
        """Returns `part`, after an empty one if it does not continue the previous chunk."""
        apart, self._apart = self._apart, False
        if not apart:
            return [part]
        return [{name: value for name, value in part.items() if name != FIELD} | {"text": ""}, part]

    def _signature(self, signature: str) -> bytes:
        """Returns the signature with the thought before it, or alone."""
        written: list[Object] = []
        write_part(written, ReasoningPart("", signature), "", "", self._writing())
        if not written:
            return b""
        if self._thought:
            written[0] = {"text": "", "thought": True, "thoughtSignature": signature}
        return self._chunk("signature", *written)

    def _whole(self, part: Part) -> bytes:
        written: list[Object] = []
        writer = self._writing()
        try:
            write_part(written, part, part.id if isinstance(part, ToolCall) else "", "", writer)
        except UnsupportedContentError:
            return b""
        if not written:
            return b""
        kind = "sound" if is_samples(part) else ""
        if kind and self._last == kind:
            written.insert(0, {"text": ""})
        return self._chunk(kind, *written, writer=writer)

    def _writing(self) -> BodyWriter:
        return BodyWriter(self._provider, ARGUMENTS, one_line=True)

    def _end(self, delta: ReplyEnd) -> bytes:
        metadata = grouped_metadata(delta.provider_metadata, self._billing, [])
        candidate: Object = {"finishReason": finish_reason_to_theirs(delta.finish_reason), "index": 0}
        texts = [(text.number, "".join(text.pieces), tuple(text.citations), "") for text in self._texts]
        grounding = write_grounding(texts, metadata.grounding, [])
        if grounding:
            candidate["groundingMetadata"] = grounding
        body: Object = {"candidates": [candidate | metadata.candidate], **metadata.reply}
        return _event(to_json(merge(body, usage_to_theirs(self._usage, self._billing, [])) | self._head))

    def _chunk(self, kind: str, *parts: Object, writer: BodyWriter | None = None) -> bytes:
        if kind != "signature" and (kind != self._last or kind == "" or len(parts) > 1):
            self._parts += 1
        self._last = kind
        content = {"role": "model", "parts": parts}
        data: Object = {"candidates": [{"content": content, "index": 0}], **self._head}
        return _event(to_json(data) if writer is None else writer.json(data))


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\r\n\r\n"
