"""Converts parts of an answer to deltas, for whole replies and for a stream's chunks.

Grounding metadata: citations in texts, written and read. Offsets are in bytes on the wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from abstractcore.schema import (
    EMPTY,
    NO_OPTIONS,
    AudioPart,
    CallWarning,
    Citation,
    JSONObject,
    ProviderOptions,
    TextDelta,
)

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, WrittenArguments
from ...common.data_urls import bytes_of, characters_in
from ...common.delta_writer import DeltaWriter
from ...common.reading import Object, as_object, count_of, counts_of, flag_of, object_of, objects_of, text_of
from ...common.sounds import SoundPieces, is_samples
from .content import CALL_FIELDS, FIELD, TEXT_FIELDS, GeminiTranscription, read_transcription, read_whole
from .vocabulary import ARGUMENTS

_WEB, _RETRIEVED = "web", "retrievedContext"
_CHUNK, _SCORES = "groundingChunk", "confidenceScores"


@dataclass(frozen=True, slots=True)
class GroundedText:
    """A text part of a reply: its number among non-empty parts on the wire, its block, and its text."""

    part: int
    block: int
    text: str


def read_grounding(metadata: Any, texts: Sequence[GroundedText]) -> dict[int, list[Citation]]:
    """Reads the citations in a candidate's `groundingMetadata`, by the blocks of the texts that they refer to."""
    data = as_object(metadata)
    chunks = objects_of(data, "groundingChunks")
    cited: dict[int, list[Citation]] = {}
    for support in objects_of(data, "groundingSupports"):
        segment = object_of(support, "segment")
        begins, ends = count_of(segment, "startIndex") or 0, count_of(segment, "endIndex")
        text, shift = _find(texts, count_of(segment, "partIndex") or 0, begins)
        if text is None:
            continue
        start = characters_in(text.text, begins - shift)
        end = None if ends is None else characters_in(text.text, max(ends - shift, 0))
        for number, index in enumerate(_indexes(support)):
            if index < len(chunks):
                citation = _citation(chunks[index], support, number, start, end)
                cited.setdefault(text.block, []).append(citation)
    return cited


def rest_of_grounding(metadata: Any) -> Object:
    """Returns the rest of the metadata: queries, the search entry point, and sources without citations."""
    data = as_object(metadata)
    rest = {name: value for name, value in data.items() if name not in ("groundingSupports", "groundingChunks")}
    cited = {index for support in objects_of(data, "groundingSupports") for index in _indexes(support)}
    chunks = [chunk for index, chunk in enumerate(objects_of(data, "groundingChunks")) if index not in cited]
    return {**rest, "groundingChunks": chunks} if chunks else rest


def _indexes(support: Object) -> list[int]:
    return counts_of(support, "groundingChunkIndices")


def _find(texts: Sequence[GroundedText], part: int, begins: int) -> tuple[GroundedText | None, int]:
    """Returns the text of part `part`, and the bytes before it; else the one that contains byte `begins` of all of
    them.
    """
    named = next((text for text in texts if text.part == part), None)
    if named is not None:
        return named, 0
    shift = 0
    for text in texts:
        size = len(text.text.encode())
        if begins < shift + size or text is texts[-1]:
            return text, shift
        shift += size
    return None, 0


def _citation(chunk: Object, support: Object, number: int, start: int, end: int | None) -> Citation:
    kind = next((name for name, value in chunk.items() if isinstance(value, dict)), _WEB)
    source = object_of(chunk, kind)
    quote = text_of(source, "text") or None
    taken = ("uri", "title", "text")
    rest = {name: value for name, value in source.items() if name not in taken}
    metadata: Object = {}
    if rest or kind != (_RETRIEVED if quote else _WEB):
        metadata[_CHUNK] = {kind: rest}
    scores = support.get(_SCORES)
    if isinstance(scores, list) and number < len(cast("list[Any]", scores)):
        metadata[_SCORES] = list(cast("list[Any]", scores))[number : number + 1]
    return Citation(text_of(source, "uri") or "", text_of(source, "title"), quote, start, end, metadata)


def write_grounding(
    texts: Iterable[tuple[int, str, tuple[Citation, ...], str]], rest: JSONObject, warnings: list[CallWarning]
) -> Object:
    """Returns the `groundingMetadata` for texts, each with its number among the parts, its citations and its path."""
    supports: list[Object] = []
    chunks: list[Any] = list(cast("Sequence[Any]", rest.get("groundingChunks", ())))
    for part, text, citations, path in texts:
        for index, citation in enumerate(citations):
            chunk, scores = _source(citation, citation.provider_metadata), citation.provider_metadata.get(_SCORES)
            support: Object = {"segment": _segment(citation, part, text), "groundingChunkIndices": [len(chunks)]}
            if scores is not None:
                support[_SCORES] = scores
            if _citation(chunk, support, 0, citation.start or 0, citation.end) != citation:
                message = "the generateContent format has no field for metadata of citations"
                metadata_path = f"{path}.citations[{index}].provider_metadata"
                warnings.append(CallWarning("provider_metadata_left_out", metadata_path, message))
                chunk = _source(citation, EMPTY)
                support.pop(_SCORES, None)
            supports.append(support)
            chunks.append(chunk)
    metadata: Object = dict(rest)
    if chunks:
        metadata["groundingChunks"] = chunks
    if supports:
        metadata["groundingSupports"] = supports
    return metadata


def _segment(citation: Citation, part: int, text: str) -> Object:
    start, end = citation.start or 0, citation.end or 0
    segment: Object = {"partIndex": part} if part else {}
    return segment | {"startIndex": bytes_of(text, start), "endIndex": bytes_of(text, end), "text": text[start:end]}


def _source(citation: Citation, metadata: JSONObject) -> Object:
    """Returns a chunk: a web page, a retrieved text, or another kind according to `metadata`."""
    kind, rest = _RETRIEVED if citation.quote else _WEB, {}
    for name, value in object_of(metadata, _CHUNK).items():
        kind, rest = name, as_object(value)
    quote = None if kind == _WEB else citation.quote
    source: Object = {"uri": citation.source, "title": citation.title, "text": quote}
    return {kind: {**{name: value for name, value in source.items() if value is not None}, **rest}}


def is_rest_of_grounding(value: Any) -> bool:
    """Whether it is a non-empty result of `rest_of_grounding`."""
    data = as_object(value)
    chunks = data.get("groundingChunks")
    if chunks is not None or "groundingChunks" in data:
        listed = cast("Sequence[Any]", chunks) if isinstance(chunks, list) else ()
        if not listed or not all(isinstance(item, dict) for item in listed):
            return False
    return bool(data) and "groundingSupports" not in data


class Blocks:
    """The blocks of one reply. Text continues in the next chunk; a signature ends the block that it signs."""

    def __init__(self, provider: str, out: DeltaWriter) -> None:
        self.calls = 0
        """The number of blocks."""
        self._out = out
        self._ids = ReceivedIds()
        self._provider = provider
        self._next_block = 0
        self._parts = 0
        self._text: int | None = None
        """The open text block."""
        self._thought: int | None = None
        """The open reasoning block."""
        self._transcript: int | None = None
        """The open block of a transcription."""
        self._options = NO_OPTIONS
        """The options of the open text."""
        self._pieces: list[str] = []
        self._texts: list[GroundedText] = []
        self._sound = SoundPieces()

    def feed(self, content: Object, body: bytes) -> None:
        """Reads the parts of one chunk, or of a whole reply (`body`); raises `SchemaError` for invalid parts."""
        written = WrittenArguments(body, ARGUMENTS)
        for index, data in enumerate(objects_of(content, "parts")):
            self._part(data, index > 0, written)

    def more_text(self, text: str) -> TextDelta | None:
        """Returns the delta of a chunk of the open text; None if none is open, or a surrogate is pending in it."""
        out, block = self._out, self._text
        if block is None or out.surrogates:
            return None
        self._pieces.append(text)
        out.sequence += 1
        return TextDelta(out.sequence - 1, block, text)

    def close(self, signature: str | None = None) -> None:
        """Ends open blocks; the signature is that of the reasoning."""
        out = self._out
        if self._sound:
            out.part(self._block(), self._sound.end())
        if self._thought is not None:
            out.flush(self._thought)
            out.end_reasoning(self._thought, signature)
        elif self._transcript is not None:
            out.flush(self._transcript)
            out.end_text(self._transcript)
        elif self._text is not None:
            self._append(out.surrogates.rest(self._text))
            out.end_text(self._text)
            self._texts.append(GroundedText(self._parts - 1, self._text, "".join(self._pieces)))
            self._pieces.clear()
        self._text = self._thought = self._transcript = None

    def cite(self, metadata: Any) -> None:
        """Writes the citations of texts that are complete."""
        for block, citations in read_grounding(metadata, self._texts).items():
            self._out.cite(block, tuple(citations))

    def _part(self, data: Object, separate: bool, written: WrittenArguments) -> None:
        signature = text_of(data, "thoughtSignature")
        transcription = read_transcription(data, self._provider) if FIELD in data else None
        if "functionCall" in data:
            self._call(data, signature, written)
        elif transcription is not None:
            self._add_transcription(transcription, separate)
            self._signature(signature)
        elif "text" in data:
            text = text_of(data, "text") or ""
            if flag_of(data, "thought"):
                self._add_thought(text, signature, separate)
            else:
                self._add_text(text, read_options(data, TEXT_FIELDS, self._provider), separate)
                self._signature(signature)
        else:
            part = read_whole(data, self._provider, written)
            if isinstance(part, AudioPart) and is_samples(part):
                self._sounds(part, separate)
            elif part is not None:
                self.close()
                self._parts += 1
                self._out.part(self._block(), part)
            if part is None or part.type != "opaque":
                self._signature(signature)

    def _add_thought(self, text: str, signature: str | None, separate: bool) -> None:
        if self._thought is None or (separate and text):
            if not text:
                self._signature(signature)
                return
            self.close()
            self._parts += 1
            self._thought = self._block()
            self._out.start_reasoning(self._thought)
        self._out.add(self._thought, text)
        if signature:
            self.close(signature)

    def _add_transcription(self, piece: GeminiTranscription, separate: bool) -> None:
        if not piece.text:
            return
        if self._transcript is None or separate or not piece.is_more:
            self.close()
            self._parts += 1
            self._transcript = self._block()
            self._out.start_text(self._transcript, piece.options)
        self._out.add(self._transcript, piece.text)
        if piece.is_finished:
            self.close()

    def _add_text(self, text: str, options: ProviderOptions, separate: bool) -> None:
        """Reads a chunk of text. One with options is a block of its own."""
        if not text:
            return
        if self._text is None or (separate and self._options) or (options and (separate or options != self._options)):
            self.close()
            self._parts += 1
            self._text, self._options = self._block(), options
            self._out.start_text(self._text, options)
        self._append(self._out.surrogates.mend(self._text, text))

    def _append(self, text: str) -> None:
        if text and self._text is not None:
            self._pieces.append(text)
            self._out.write(self._text, text)

    def _sounds(self, part: AudioPart, separate: bool) -> None:
        """Reads a chunk of audio, which continues in the next chunk."""
        if separate or not self._sound.takes(part):
            self.close()
            self._parts += 1
        self._sound.add(part)

    def _signature(self, signature: str | None) -> None:
        """Reads a signature outside of a thought: a block of its own, after the block that it signs."""
        if signature:
            self.close()
            block = self._block()
            self._out.start_reasoning(block)
            self._out.end_reasoning(block, signature)

    def _call(self, data: Object, signature: str | None, written: WrittenArguments) -> None:
        self.close()
        self._parts += 1
        call = object_of(data, "functionCall")
        options = read_options(data, CALL_FIELDS, self._provider)
        id, options = self._ids.give(text_of(call, "id"), self.calls, options)
        self.calls += 1
        block = self._block()
        self._out.start_call(block, id, text_of(call, "name") or "", options)
        if call.get(ARGUMENTS) is not None:
            self._out.write(block, written.text_of(call[ARGUMENTS]))
        self._out.end_call(block, signature)

    def _block(self) -> int:
        self._next_block += 1
        return self._next_block - 1
