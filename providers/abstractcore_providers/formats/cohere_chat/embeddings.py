"""The operations `embed` and `rerank`: `POST /v2/embed` and `POST /v2/rerank`, for clients.

Sources: https://docs.cohere.com/reference/embed and https://docs.cohere.com/reference/rerank, and the types of the
cohere package 7.3. Vectors are requested as base64, which is a third of the bytes; numbers are read, too.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.ports import EMBED, RERANK, Operations
from abstractcore.schema import (
    Billing,
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    Encoded,
    ImagePart,
    RerankInput,
    RerankReply,
    TextPart,
    Usage,
    WireRequest,
    WireResponse,
)

from ...common.call_options import FormatWarnings, add_provider_options
from ...common.data_urls import write_url
from ...common.embeddings import (
    embedding_operation,
    images_in,
    purpose_sent,
    read_ranking,
    reranking_operation,
    vectors_of,
)
from ...common.endpoints import JSON_HEADERS
from ...common.reading import Object, as_object, object_of, text_of
from ...common.response_bodies import read_body
from .errors import RIGHT_ADDRESS, error_in_body
from .vocabulary import PROVIDER, whole

WARNINGS = FormatWarnings("Cohere's embed format")
PURPOSES: dict[EmbedPurpose, str] = {
    "document": "search_document",
    "query": "search_query",
    "classification": "classification",
    "clustering": "clustering",
}
NEAREST: dict[EmbedPurpose, EmbedPurpose] = {"similarity": "clustering"}
IMAGE = "image"
"""The `input_type` of images alone, for models before version 4."""
EMBED_FIELDS = frozenset(
    {
        "model",
        "texts",
        "images",
        "inputs",
        "input_type",
        "output_dimension",
        "embedding_types",
        "truncate",
    }
)
RERANK_FIELDS = frozenset({"model", "query", "documents", "top_n"})


def encode_embed(given: EmbedInput) -> Encoded:
    """Returns the request for vectors; raises `UnsupportedContentError` for files that are no images."""
    warnings: list[CallWarning] = []
    items, is_images = _items(given, warnings)
    body: Object = {"model": given.model, **items}
    purpose = purpose_sent(given, PURPOSES, WARNINGS.name, warnings, NEAREST)
    if is_images:
        purpose = IMAGE
        if given.purpose not in (None, "document"):
            message = "images alone have no purpose at this model"
            warnings.append(CallWarning("purpose_changed", "purpose", message, given.purpose, "document"))
    if purpose is not None:
        body["input_type"] = purpose
    if given.dimensions is not None:
        body["output_dimension"] = given.dimensions
    body |= {"embedding_types": ["base64"], "truncate": "END" if given.truncate else "NONE"}
    add_provider_options(body, given, PROVIDER, lambda name, value: name in EMBED_FIELDS, warnings)
    return Encoded(WireRequest("/embed", JSON_HEADERS, to_json(body)), tuple(warnings))


def _items(given: EmbedInput, warnings: list[CallWarning]) -> tuple[Object, bool]:
    """Returns the field with the items, and whether they are images for a model that embeds images alone."""
    texts = [item for item in given.items if isinstance(item, str)]
    if len(texts) == len(given.items):
        return {"texts": texts}, False
    if "-v3" in given.model and all(map(_is_image, given.items)):
        parts = [next(images_in(item, n, given, WARNINGS, warnings)) for n, item in enumerate(given.items)]
        return {"images": [write_url(p.blob, path) for p, path in parts if isinstance(p, ImagePart)]}, True
    inputs = [
        {"content": [_block(*part) for part in images_in(item, index, given, WARNINGS, warnings)]}
        for index, item in enumerate(given.items)
    ]
    return {"inputs": inputs}, False


def _is_image(item: EmbedItem) -> bool:
    return not isinstance(item, str) and len(item) == 1 and isinstance(item[0], ImagePart)


def _block(part: TextPart | ImagePart, path: str) -> Object:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": write_url(part.blob, path)}}


def decode_embed(response: WireResponse, given: EmbedInput) -> EmbedReply:
    """Returns the vectors; raises `ServerError` for a body without one for each item."""
    data = _body(response)
    embeddings: Any = data.get("embeddings")
    if isinstance(embeddings, dict):
        kinds = as_object(embeddings)
        embeddings = kinds.get("base64") or kinds.get("float")
    vectors = vectors_of(response, embeddings, given)
    return EmbedReply(vectors, _usage(data), text_of(data, "model"))


def encode_rerank(given: RerankInput) -> Encoded:
    """Returns the request for a ranking. Longer documents are always cut, at `max_tokens_per_doc`."""
    warnings: list[CallWarning] = []
    body: Object = {"model": given.model, "query": given.query, "documents": list(given.documents)}
    if given.top is not None:
        body["top_n"] = given.top
    add_provider_options(body, given, PROVIDER, lambda name, value: name in RERANK_FIELDS, warnings)
    return Encoded(WireRequest("/rerank", JSON_HEADERS, to_json(body)), tuple(warnings))


def decode_rerank(response: WireResponse, given: RerankInput) -> RerankReply:
    """Returns the ranking; raises `ServerError` for an invalid one."""
    data = _body(response)
    return RerankReply(read_ranking(response, data.get("results"), given), _usage(data), text_of(data, "model"))


def _body(response: WireResponse) -> Object:
    """Returns the object in a response; raises the error that it reports."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    error = error_in_body(data)
    if error is not None:
        raise error
    return data


def _usage(data: Object) -> Usage:
    """Returns what is billed: tokens of texts and of images, images, and search units, which are floats here."""
    meta = object_of(data, "meta")
    billed, tokens = object_of(meta, "billed_units"), object_of(meta, "tokens")
    image_tokens = whole(billed, "image_tokens") or None
    text_tokens = whole(billed, "text_tokens")
    texts = whole(billed, "input_tokens") if text_tokens is None else text_tokens
    texts = whole(tokens, "input_tokens") if texts is None else texts
    counts = {
        "input_image": image_tokens,
        "image_input": whole(billed, "images") or None,
        "search_unit": whole(billed, "search_units"),
    }
    reported = {name: count for name, count in counts.items() if count is not None}
    total = texts if image_tokens is None else (texts or 0) + image_tokens
    return Usage(input=total, billing=Billing(counts=reported) if reported else None)


OPERATIONS: Operations = {
    EMBED: embedding_operation(encode_embed, decode_embed),
    RERANK: reranking_operation(encode_rerank, decode_rerank),
}
"""The operations by name."""
