"""The operations `embed` and `rerank` of all formats: items as texts and files, purposes, vectors and rankings read.

A response with another number of vectors, of another length or in another order, or with a number that is not finite,
is a `ServerError`: vectors that belong to other texts are worse than none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from abstractcore.errors import InvalidInputError, ServerError, UnsupportedContentError
from abstractcore.ports import EMBED, RERANK, Operation
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    Encoded,
    ImagePart,
    MediaPart,
    RankedIndex,
    RerankInput,
    RerankReply,
    SchemaError,
    TextPart,
    Vectors,
    WireResponse,
)
from abstractcore.schema.base_error import shown

from .call_options import FormatWarnings
from .reading import Object, as_object
from .vectors import read_vectors

T = TypeVar("T")
W = TypeVar("W")
SEARCH_PURPOSES: tuple[EmbedPurpose, ...] = ("query", "question", "fact", "code")
"""Purposes of texts that are searched with. A vendor without a word of its own for one has that for a query."""


def vectors_of(response: WireResponse, rows: object, given: EmbedInput) -> Vectors:
    """Returns the vectors in `rows`, one for each item in order: lists of numbers, or float32 as base64.

    Raises `ServerError` unless there are as many as items, all finite, and as long as requested.
    """
    if not isinstance(rows, list):
        raise ServerError("the response has no vectors", status=response.status)
    rows = cast("list[Any]", rows)
    if len(rows) != len(given.items):
        message = f"{len(given.items):,} vectors were requested, and the response has {len(rows):,}"
        raise ServerError(message, status=response.status)
    return read_vectors(response, rows, given.dimensions)


def read_ranking(
    response: WireResponse, results: object, given: RerankInput, score: str = "relevance_score"
) -> tuple[RankedIndex, ...]:
    """Returns the ranking in `results`, objects with an `index` and a `score`, the best first.

    At most `top` are returned, whatever the server does. Raises `ServerError` for a document that is not among those of
    the request or occurs twice, for a score that is not finite, and for fewer documents than requested.
    """
    if not isinstance(results, list):
        raise ServerError("the response has no results", status=response.status)
    expected = min(given.top or len(given.documents), len(given.documents))
    ranked: dict[int, float] = {}
    for result in map(as_object, cast("list[Any]", results)):
        index, number = result.get("index"), result.get(score)
        if type(index) is not int or not 0 <= index < len(given.documents) or index in ranked:
            message = f"the response ranks the document {index!r} of {len(given.documents):,}, or ranks one twice"
            raise ServerError(message, status=response.status)
        if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
            raise ServerError(f"the response has no score of the document {index}", status=response.status)
        ranked[index] = float(number)
    if len(ranked) < expected:
        raise ServerError(f"expected {expected:,} ranked documents, got {len(ranked):,}", status=response.status)
    best = sorted(ranked.items(), key=lambda pair: -pair[1])[:expected]
    return tuple(RankedIndex(index, number) for index, number in best)


def read_top(data: Object, name: str, documents: int) -> int | None:
    """Returns how many documents a client asks for; None for all. Raises `InvalidInputError` for no number."""
    top = data.get(name)
    if top is None:
        return None
    if type(top) is not int or top < 1:
        raise InvalidInputError(f"expected a whole number of at least 1, got {shown(top)}", path=name)
    return min(top, documents) if documents else top


def texts_in(given: EmbedInput, name: str) -> list[str]:
    """Returns the items as texts; raises `UnsupportedContentError` with the path of a file. `name` is the format's."""
    texts: list[str] = []
    for index, item in enumerate(given.items):
        if not isinstance(item, str):
            raise UnsupportedContentError(
                f"items[{index}]: {name} has no field for files that are embedded.",
                hint="Pass texts, or use a model that embeds images.",
                provider=given.provider or None,
                model=given.model,
            )
        texts.append(item)
    return texts


def parts_in(item: EmbedItem) -> tuple[TextPart | MediaPart, ...]:
    """Returns the parts of an item."""
    return (TextPart(item),) if isinstance(item, str) else item


def images_in(
    item: EmbedItem, index: int, given: EmbedInput, names: FormatWarnings, warnings: list[CallWarning]
) -> Iterator[tuple[TextPart | ImagePart, str]]:
    """Yields the parts of an item and their paths, with a warning for the fields that no format has a field for.

    Raises `UnsupportedContentError` for a file that is no image.
    """
    for position, part in enumerate(parts_in(item)):
        path = f"items[{index}]" if isinstance(item, str) else f"items[{index}][{position}]"
        if not isinstance(part, TextPart | ImagePart):
            raise UnsupportedContentError(
                f"{path}: {names.name} embeds texts and images, not {part.blob.media_type}.",
                hint="Pass its text, or its pages or frames as images.",
                provider=given.provider or None,
                model=given.model,
            )
        warn_of_part(part, path, names, warnings)
        yield part, path


def warn_of_part(part: TextPart | MediaPart, path: str, names: FormatWarnings, warnings: list[CallWarning]) -> None:
    """Warns of what a part has beside its content: requests for vectors have no fields for it."""
    names.fields(part, path, ("citations", "cache", "detail", "title", "provider_options"), warnings)
    if not isinstance(part, TextPart):
        names.controls(part, path, (), warnings)


def purpose_sent(
    given: EmbedInput,
    words: Mapping[EmbedPurpose, str],
    name: str,
    warnings: list[CallWarning],
    nearest: Mapping[EmbedPurpose, EmbedPurpose] = EMPTY,  # pyright: ignore[reportArgumentType]
) -> str | None:
    """Returns the format's word for the purpose of an input, None for one without a purpose.

    One without a word has that of a query if it is one, else the one that is `nearest`, or none, with a warning.
    """
    purpose = given.purpose
    if purpose is None or purpose in words:
        return None if purpose is None else words[purpose]
    sent = "query" if purpose in SEARCH_PURPOSES and "query" in words else nearest.get(purpose)
    message = f"{name} has no word for this purpose"
    warnings.append(CallWarning("purpose_changed", "purpose", message, purpose, sent))
    return None if sent is None else words[sent]


def read_word(value: object, words: Mapping[str, W], path: str) -> W | None:
    """Returns what the word in a client's request stands for, None without one; raises `InvalidInputError` for another
    value.
    """
    if value is None:
        return None
    if not isinstance(value, str) or value not in words:
        raise InvalidInputError(f"unknown value {shown(value)}", path=path, hint=f"Use {', '.join(words)}.")
    return words[value]


def read_input(make: Callable[..., T], names: Mapping[str, str], **fields: object) -> T:
    """Returns the input with these fields; raises `InvalidInputError` with the path in the client's request, in which
    fields have other `names`.
    """
    try:
        return make(**fields)
    except SchemaError as error:
        path = error.path.removeprefix(".")
        head = re.split(r"[.\[]", path, maxsplit=1)[0]
        raise InvalidInputError(error.message, path=names.get(head, head) + path[len(head) :]) from None


def embedding_operation(
    encode: Callable[[EmbedInput], Encoded],
    decode: Callable[[WireResponse, EmbedInput], EmbedReply],
    reads_headers: frozenset[str] = frozenset(),
) -> Operation[EmbedInput, EmbedReply]:
    """Returns the operation that embeds; its records have the number and the length of vectors, not their numbers."""
    return Operation(
        EMBED,
        EmbedInput,
        encode,
        decode,
        usage=lambda reply: reply.usage,
        to_record=lambda reply: {"count": len(reply.vectors), "dimensions": reply.vectors.dimensions},
        reads_headers=reads_headers,
    )


def reranking_operation(
    encode: Callable[[RerankInput], Encoded],
    decode: Callable[[WireResponse, RerankInput], RerankReply],
    reads_headers: frozenset[str] = frozenset(),
) -> Operation[RerankInput, RerankReply]:
    """Returns the operation that ranks documents; its records have the ranking."""
    return Operation(
        RERANK,
        RerankInput,
        encode,
        decode,
        usage=lambda reply: reply.usage,
        to_record=lambda reply: [{"index": each.index, "score": each.score} for each in reply.results],
        reads_headers=reads_headers,
    )
