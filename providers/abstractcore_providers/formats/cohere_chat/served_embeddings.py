"""The operations `embed` and `rerank` for servers: `POST /v2/embed` and `POST /v2/rerank`.

Sources as in `embeddings`. Vectors are rendered in the types that the request asks for: "float", "base64" or both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.ports import EMBED, RERANK, ServedOperation
from abstractcore.schema import (
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    ImagePart,
    ParsedInput,
    Rendered,
    RerankInput,
    RerankReply,
    TextPart,
    Usage,
    WireRequest,
)
from abstractcore.schema.base_error import shown

from ...common.call_options import read_options
from ...common.data_urls import read_url
from ...common.embeddings import read_input, read_top, read_word
from ...common.reading import (
    Object,
    get_filled,
    get_list,
    get_object,
    get_text,
    make_at,
    read_request,
)
from ...common.vectors import write_base64
from .embeddings import EMBED_FIELDS, IMAGE, PURPOSES, RERANK_FIELDS
from .vocabulary import PROVIDER

_TYPES = ("float", "base64")
_ANY_IMAGE = "image/*"
_INPUT_TYPES: dict[str, EmbedPurpose] = {**{word: purpose for purpose, word in PURPOSES.items()}, IMAGE: "document"}
_SOURCES = ("texts", "images", "inputs")
_CUT = {"NONE": False, "START": True, "END": True}
"""Whether texts that are too long are cut, which they are by default."""


def parse_embed(request: WireRequest) -> ParsedInput[EmbedInput]:
    """Returns the vectors that a client asks for; raises `InvalidInputError` with the path of what is wrong."""
    data = read_request(request)
    warnings: list[CallWarning] = []
    _types(data)
    truncate = read_word(data.get("truncate"), _CUT, "truncate")
    if data.get("truncate") == "START":
        warnings.append(CallWarning("truncate_changed", "truncate", "texts are cut at their end", "START", "END"))
    source, items = _items(data)
    given = read_input(
        EmbedInput,
        {"items": source, "dimensions": "output_dimension"},
        model=get_filled(data.get("model"), "model"),
        provider=PROVIDER,
        items=tuple(items),
        purpose=read_word(data.get("input_type"), _INPUT_TYPES, "input_type"),
        dimensions=data.get("output_dimension"),
        truncate=truncate is not False,
        provider_options=make_at("", read_options, data, EMBED_FIELDS, PROVIDER),
    )
    return ParsedInput(given, tuple(warnings))


def _types(data: Object) -> list[str]:
    """Returns the types of vectors that a client asks for, "float" without any."""
    types = [get_text(each, "embedding_types") for each in get_list(data, "embedding_types")] or ["float"]
    for each in types:
        if each not in _TYPES:
            message = f"{shown(each)} is not available here"
            raise InvalidInputError(message, path="embedding_types", hint=f"Use {' or '.join(_TYPES)}.")
    return types


def _items(data: Object) -> tuple[str, list[EmbedItem]]:
    """Returns the one field that has items, and these."""
    found = [name for name in _SOURCES if get_list(data, name)]
    if len(found) != 1:
        raise InvalidInputError(f"expected items in one of {', '.join(_SOURCES)}", path=found[1] if found else "texts")
    read = {"texts": get_text, "images": _image, "inputs": _item}[found[0]]
    values = enumerate(get_list(data, found[0]))
    return found[0], [read(value, f"{found[0]}[{index}]") for index, value in values]


def _image(value: Any, path: str) -> EmbedItem:
    return (ImagePart(read_url(value, _ANY_IMAGE, path)),)


def _item(value: Any, path: str) -> EmbedItem:
    blocks = get_list(get_object(value, path), "content", f"{path}.")
    if not blocks:
        raise InvalidInputError("expected at least one block", path=f"{path}.content")
    parts = [_part(get_object(each, f"{path}.content[{n}]"), f"{path}.content[{n}]") for n, each in enumerate(blocks)]
    only = parts[0]
    return only.text if len(parts) == 1 and isinstance(only, TextPart) else tuple(parts)


def _part(block: Object, path: str) -> TextPart | ImagePart:
    if block.get("type") == "image_url":
        image = get_object(block.get("image_url"), f"{path}.image_url")
        return ImagePart(read_url(image.get("url"), _ANY_IMAGE, f"{path}.image_url.url"))
    if block.get("type") != "text":
        hint = "Use text or image_url."
        raise InvalidInputError(f"unknown type {shown(block.get('type'))}", path=f"{path}.type", hint=hint)
    return make_at(path, TextPart, get_text(block.get("text"), f"{path}.text"))


def render_embed(reply: EmbedReply, request: WireRequest) -> Rendered:
    """Returns the vectors in the types that the request asks for."""
    data = read_request(request)
    types = _types(data)
    written: Object = {"float": reply.vectors.lists()} if "float" in types else {}
    if "base64" in types:
        written["base64"] = write_base64(reply.vectors)
    body: Object = {
        "id": _id(request),
        "response_type": "embeddings_by_type",
        "embeddings": written,
        "meta": _meta(reply.usage),
    }
    texts = get_list(data, "texts")
    return Rendered(to_json({**body, "texts": texts} if texts else body))


def parse_rerank(request: WireRequest) -> ParsedInput[RerankInput]:
    """Returns the ranking that a client asks for; raises `InvalidInputError` with the path of what is wrong."""
    data = read_request(request)
    documents = [get_text(each, f"documents[{index}]") for index, each in enumerate(get_list(data, "documents"))]
    given = read_input(
        RerankInput,
        {},
        model=get_filled(data.get("model"), "model"),
        provider=PROVIDER,
        query=get_text(data.get("query"), "query"),
        documents=tuple(documents),
        top=read_top(data, "top_n", len(documents)),
        provider_options=make_at("", read_options, data, RERANK_FIELDS, PROVIDER),
    )
    return ParsedInput(given)


def render_rerank(reply: RerankReply, request: WireRequest) -> Rendered:
    """Returns the ranking."""
    results = [{"index": each.index, "relevance_score": each.score} for each in reply.results]
    return Rendered(to_json({"id": _id(request), "results": results, "meta": _meta(reply.usage)}))


def _id(request: WireRequest) -> str:
    """Returns the id of a response, which clients require: the same for the same request."""
    return hashlib.blake2b(request.body, digest_size=16).hexdigest()


def _meta(usage: Usage) -> Object:
    """Returns what was billed, as `embeddings` reads it."""
    counts: Mapping[str, int] = usage.billing.counts if usage.billing else {}
    image_tokens = counts.get("input_image")
    texts = None if usage.input is None else usage.input - (image_tokens or 0)
    billed = {
        "input_tokens": texts,
        "image_tokens": image_tokens,
        "images": counts.get("image_input"),
        "search_units": counts.get("search_unit"),
    }
    meta: Object = {"api_version": {"version": "2"}}
    reported = {name: count for name, count in billed.items() if count is not None}
    return {**meta, "billed_units": reported} if reported else meta


SERVED = {
    EMBED: ServedOperation(EMBED, parse_embed, render_embed),
    RERANK: ServedOperation(RERANK, parse_rerank, render_rerank),
}
"""The operations by name."""
