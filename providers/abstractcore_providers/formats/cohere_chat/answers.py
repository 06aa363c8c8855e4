"""Assistant messages: in a request's history, and in a reply.

Content blocks, which are objects with their own options. Citations: spans of an answer, each with the documents or
tool results that support it.

Blocks of text and reasoning keep their order. In a request, text with tool calls is their plan (`tool_plan`).

A citation of the schema has one source: the first one. All are kept in the citation's metadata if there is more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, Citation, DocumentPart, ImagePart, Part, ReasoningPart, TextPart, ToolCall

from ...common.call_options import name_options_left_out, reasoning_left_out, with_options
from ...common.conversations import append_block, in_order
from ...common.data_urls import COHERE_IMAGES, write_url
from ...common.function_tools import write_function_call
from ...common.reading import Object, as_object, as_objects, count_of, object_of, objects_of, read_json, text_of
from .vocabulary import PROVIDER, WARNINGS

ENCODABLE = COHERE_IMAGES
"""The files that the format supports."""
JSON_DOCUMENT = "application/json"
"""The media type of a document in tool results: the JSON of its `data` and `id`."""


def text_block(part: TextPart, path: str, lost: tuple[str, ...], warnings: list[CallWarning]) -> Object:
    """Returns a text, with a warning for those of the fields `lost` that it has."""
    WARNINGS.fields(part, path, lost, warnings)
    return with_options({"type": "text", "text": part.text}, part, path, PROVIDER, (), warnings)


def image_block(part: ImagePart, path: str, warnings: list[CallWarning]) -> Object:
    """Returns an image; raises `UnsupportedContentError` for one without bytes or a URL."""
    WARNINGS.fields(part, path, ("cache",), warnings)
    image: Object = {"url": write_url(part.blob, path)}
    if part.detail:
        image["detail"] = part.detail
    return with_options({"type": "image_url", "image_url": image}, part, path, PROVIDER, (), warnings)


def document_block(part: DocumentPart, path: str, warnings: list[CallWarning]) -> Object:
    """Returns a document in Cohere's format, whose fields citations can refer to.

    Raises `UnsupportedContentError` for any other.
    """
    WARNINGS.fields(part, path, ("cache",), warnings)
    data = part.blob.read() if part.blob.form in ("bytes", "file") else b""
    try:
        document = as_object(read_json(data))
        is_own = part.blob.media_type == JSON_DOCUMENT and "data" in document and to_json(document) == data
    except ValueError:
        document, is_own = {}, False
    if not is_own:
        raise UnsupportedContentError(
            f"{path}: a tool result has {part.blob.media_type}, which Cohere's chat format does not support.",
            hint="Pass its text.",
        )
    return with_options({"type": "document", "document": document}, part, path, PROVIDER, (), warnings)


PLAN = "PLAN"
"""The type of a citation in a plan of tool calls; others are in the content block of their index."""


def citation_to_ours(data: Object) -> Citation:
    """Reads one citation; raises `SchemaError` for an invalid span."""
    sources = data.get("sources")
    source, title, quote = _named(as_objects(sources))
    plain = sources is None or sources == _sources(source, title, quote)
    return Citation(
        source, title, quote, count_of(data, "start"), count_of(data, "end"), {} if plain else {"sources": sources}
    )


def citations_of(message: Object) -> tuple[list[Object], dict[int, list[Object]]]:
    """Returns the citations of the plan, and those of each content block; one without a block is of the first text."""
    plan: list[Object] = []
    blocks: dict[int, list[Object]] = {}
    content = objects_of(message, "content")
    first = next((index for index, block in enumerate(content) if "text" in block), 0)
    for citation in objects_of(message, "citations"):
        if citation.get("type") == PLAN:
            plan.append(citation)
        else:
            index = count_of(citation, "content_index")
            blocks.setdefault(first if index is None else index, []).append(citation)
    return plan, blocks


def citations_to_theirs(text: str, citations: Iterable[Citation], index: int | None) -> list[Object]:
    """Returns the citations of a text in the content block at `index`, or in the plan."""
    position: Object = {"type": PLAN} if index is None else {"type": "TEXT_CONTENT", "content_index": index}
    return [
        {
            "start": citation.start,
            "end": citation.end,
            "text": text[citation.start : citation.end],
            "sources": citation.provider_metadata.get("sources", _sources(*_own(citation))),
            **position,
        }
        for citation in citations
    ]


def fitting(citations: Iterable[Citation], path: str, warnings: list[CallWarning]) -> list[Citation]:
    """Returns the citations of the text at `path` that the format can express, and a warning for the rest."""
    return [_fitting(item, f"{path}.citations[{i}]", warnings) for i, item in enumerate(citations)]


def _fitting(citation: Citation, path: str, warnings: list[CallWarning]) -> Citation:
    own, metadata = _own(citation), citation.provider_metadata
    sources = _objects(metadata.get("sources"))
    kept = sources is not None and _named(sources) == own and sources != _sources(*own)
    rest: Object = {"sources": sources} if kept else {}
    if len(metadata) > len(rest):
        message = "only the sources of a citation can be sent beside its span"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, sent=rest or None))
    return Citation(*own, citation.start, citation.end, rest)


def _own(citation: Citation) -> tuple[str, str | None, str | None]:
    return citation.source, citation.title, citation.quote


def _objects(sources: Any) -> list[Object] | None:
    """Returns a list of objects; None for anything else."""
    if not isinstance(sources, list):
        return None
    items = cast("list[Any]", sources)
    return list(items) if all(isinstance(item, dict) for item in items) else None


def _named(sources: list[Object]) -> tuple[str, str | None, str | None]:
    """Returns source, title and quote, from the first of the sources."""
    first = sources[0] if sources else {}
    document = object_of(first, "document")
    return text_of(first, "id") or "", text_of(document, "title") or None, text_of(document, "snippet") or None


def _sources(source: str, title: str | None, quote: str | None) -> list[Object]:
    """Returns the sources for a citation without metadata."""
    data: Object = {"type": "document", "id": source}
    document = {name: text for name, text in (("title", title), ("snippet", quote)) if text is not None}
    return [data | {"document": document} if document else data]


_ORDER: dict[type[Part], int] = {TextPart: 0, ReasoningPart: 0, ToolCall: 1}
"""Tool calls come after the content."""
_ORDER_WITH_PLAN: dict[type[Part], int] = {ReasoningPart: 0, TextPart: 1, ToolCall: 2}
"""The plan comes between the content, which is reasoning, and the calls."""


def write_answer(
    parts: Sequence[Part], path: str, warnings: list[CallWarning], *, planned: bool = False, origin: str | None = None
) -> Object:
    """Returns the fields of a message, empty if nothing can be sent; with `planned`, text with tool calls is their
    plan.

    With `origin`, only that model's reasoning is sent.
    """
    kept = [(i, part) for i, part in enumerate(parts) if _is_kept(part, f"{path}[{i}]", origin, warnings)]
    calls = any(type(part) is ToolCall for _, part in kept)
    if calls and len(kept) > 1:
        kept = in_order(kept, _ORDER_WITH_PLAN if planned else _ORDER, path, warnings)
    answer = _Answer(planned and calls, warnings)
    for index, part in kept:
        answer.add(part, f"{path}[{index}]")
    return answer.body()


def _is_kept(part: Part, path: str, origin: str | None, warnings: list[CallWarning]) -> bool:
    if isinstance(part, TextPart | ToolCall):
        return True
    if isinstance(part, ReasoningPart) and part.text:
        if origin is None or part.origin == origin:
            return True
        warnings.append(reasoning_left_out(path))
    else:
        warnings.append(WARNINGS.part(part, path))
    return False


class _Answer:
    """Collects the blocks, the plan, the calls and the citations of one message."""

    def __init__(self, planned: bool, warnings: list[CallWarning]) -> None:
        self._planned = planned
        self._warnings = warnings
        self._blocks: list[Object] = []
        self._plan = ""
        self._calls: list[Object] = []
        self._cited: dict[int | None, list[Citation]] = {}
        """Citations by the block that they refer to; None is the plan."""

    def add(self, part: Part, path: str) -> None:
        """Adds a part that can be sent."""
        if isinstance(part, TextPart):
            self._text(part, path)
        elif isinstance(part, ToolCall):
            WARNINGS.fields(part, path, ("signature", "cache"), self._warnings)
            call = write_function_call(part.id, part.name, part.arguments_text)
            self._calls.append(with_options(call, part, path, PROVIDER, (), self._warnings))
        elif isinstance(part, ReasoningPart):
            WARNINGS.fields(part, path, ("signature", "redacted_data"), self._warnings)
            append_block(self._blocks, {"type": "thinking", "thinking": part.text})

    def body(self) -> Object:
        """The message's fields, without empty ones."""
        citations = [
            citation
            for index, cited in self._cited.items()
            for citation in citations_to_theirs(self._text_at(index), cited, index)
        ]
        fields: Object = {
            "content": self._blocks,
            "tool_plan": self._plan,
            "tool_calls": self._calls,
            "citations": citations,
        }
        return {name: value for name, value in fields.items() if value}

    def _text(self, part: TextPart, path: str) -> None:
        index = None
        if self._planned:
            WARNINGS.fields(part, path, ("cache",), self._warnings)
            name_options_left_out(part, path, PROVIDER, "a plan of tool calls is plain text", self._warnings)
            self._plan += part.text
        else:
            append_block(self._blocks, text_block(part, path, ("cache",), self._warnings))
            index = len(self._blocks) - 1
        if part.citations:
            offset = len(self._text_at(index)) - len(part.text)
            cited = fitting(part.citations, path, self._warnings)
            self._cited.setdefault(index, []).extend(item.spanning(len(part.text), offset) for item in cited)

    def _text_at(self, index: int | None) -> str:
        text: Any = self._plan if index is None else self._blocks[index]["text"]
        return text
