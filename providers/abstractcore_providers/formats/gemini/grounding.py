"""Grounding metadata: citations in texts, written and read. Offsets are in bytes on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from abstractcore.schema import EMPTY, CallWarning, Citation, JSONObject

from ...common.data_urls import bytes_of, characters_in
from ...common.reading import Object, as_object, count_of, counts_of, object_of, objects_of, text_of

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
