"""`POST /embeddings`: the operation `embed`, for clients and for servers.

Sources: https://platform.openai.com/docs/api-reference/embeddings/create; `EmbeddingCreateParams` and
`CreateEmbeddingResponse` in the package openai 3.54.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.ports import EMBED, Operation, ServedOperation
from abstractcore.schema import (
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    Encoded,
    ImagePart,
    ParsedInput,
    Rendered,
    TextPart,
    Usage,
    WireRequest,
    WireResponse,
    shown,
)
from abstractcore.schema.json_values import check_text

from ...common.call_options import FormatWarnings, add_provider_options, read_options, unsupported
from ...common.data_urls import read_url, write_url
from ...common.embeddings import embedding_operation, images_in, purpose_sent, read_input, read_word
from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.reading import (
    Object,
    as_object,
    as_objects,
    get_filled,
    get_object,
    get_text,
    make_at,
    object_of,
    read_request,
    text_of,
)
from ...common.response_bodies import UsageTable, no_reply, read_body
from ...common.vectors import by_index, read_vectors, write_base64
from .dialect import EMBEDDINGS_OF_OPENAI, EmbeddingFields
from .vector_dialects import TYPE_OF_NUMBERS, fields_of_client

_USAGE = UsageTable({"input": "prompt_tokens", "total": "total_tokens"})
_ALL_IS_INPUT = UsageTable({"input": "total_tokens"})
_MARKS = frozenset({"data", "usage"})
_BASE64 = "base64"
_WARNINGS = FormatWarnings("the format of multimodal embeddings")


def embedding(provider: str, fields: EmbeddingFields) -> Operation[EmbedInput, EmbedReply]:
    """Returns the operation: the vectors of texts, and of images where the server takes them."""
    return embedding_operation(lambda given: encode_embeddings(given, provider, fields), decode_embeddings)


def served_embedding(provider: str, fields: EmbeddingFields) -> ServedOperation[EmbedInput, EmbedReply]:
    """Returns the server side of the operation."""
    return ServedOperation(EMBED, lambda request: parse_embeddings(request, provider, fields), render_embeddings)


def encode_embeddings(given: EmbedInput, provider: str, fields: EmbeddingFields) -> Encoded:
    """Returns the request; raises `UnsupportedContentError` for a file that it has no field for."""
    warnings: list[CallWarning] = []
    has_parts = fields.parts is not None and fields.parts in given.model
    body: Object = {"model": given.model, **(_inputs(given, warnings) if has_parts else _input(given, fields))}
    if fields.encoding is not None:
        body[fields.encoding] = _BASE64
    if given.dimensions is not None:
        if fields.dimensions is None:
            warnings.append(unsupported("dimensions", given.dimensions, "vectors of another length"))
        else:
            body[fields.dimensions] = given.dimensions
    if fields.purpose is not None:
        word = purpose_sent(given, fields.words, provider, warnings)
        body |= {} if word is None else {fields.purpose: word}
    elif given.purpose is not None:
        warnings.append(unsupported("purpose", given.purpose, "purposes of vectors"))
    if fields.truncate is not None:
        body[fields.truncate] = fields.cut if given.truncate else fields.refuse
    elif given.truncate:
        warnings.append(unsupported("truncate", True, "cutting texts that are too long"))
    add_provider_options(body, given, provider, lambda name, value: name in _known(fields), warnings)
    path = fields.parts_path if has_parts else fields.path
    return Encoded(WireRequest(path, JSON_HEADERS, to_json(body)), tuple(warnings))


def _input(given: EmbedInput, fields: EmbeddingFields) -> Object:
    return {"input": [_write(item, index, fields) for index, item in enumerate(given.items)]}


def _inputs(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    """Returns items of parts, as Voyage has them (https://docs.voyageai.com/reference/multimodal-embeddings-api)."""
    inputs: list[Object] = []
    for index, item in enumerate(given.items):
        parts = images_in(item, index, given, _WARNINGS, warnings)
        inputs.append({"content": [_part(*part) for part in parts]})
    return {"inputs": inputs}


def _part(part: TextPart | ImagePart, path: str) -> Object:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    kind = "image_url" if part.blob.form == "url" else "image_base64"
    return {"type": kind, kind: write_url(part.blob, path)}


def _known(fields: EmbeddingFields) -> set[str]:
    own = (fields.encoding, fields.dimensions, fields.purpose, fields.truncate)
    return {"model", "input", "inputs", *(name for name in own if name is not None)}


def _write(item: EmbedItem, index: int, fields: EmbeddingFields) -> str | Object:
    if isinstance(item, str):
        return {"text": item} if fields.image is not None else item
    if fields.image is not None and len(item) == 1 and isinstance(item[0], ImagePart):
        return {fields.image: write_url(item[0].blob, f"items[{index}]")}
    kinds = ", ".join(part.type for part in item)
    taken = "a text or an image alone" if fields.image is not None else "texts only"
    raise UnsupportedContentError(
        f"items[{index}]: this API embeds {taken}, and this item has {kinds}.",
        hint="Use a multimodal embedding model, or embed a description of the file.",
    )


def decode_embeddings(response: WireResponse, given: EmbedInput) -> EmbedReply:
    """Returns the vectors in the order of the items.

    Raises the error that the body reports, and `ServerError` unless it has exactly one vector for each item, all of the
    same length, which is the requested one.
    """
    data = as_object(read_body(response, RIGHT_ADDRESS))
    if not isinstance(data.get("data"), list):
        raise error_in_body(data) or no_reply(response, data, "vectors", _MARKS, RIGHT_ADDRESS)
    rows = by_index(response, as_objects(data["data"]), len(given.items))
    vectors = read_vectors(response, [row.get("embedding") for row in rows], given.dimensions)
    return EmbedReply(vectors, _usage(object_of(data, "usage")), text_of(data, "model"))


def _usage(data: Object) -> Usage:
    """Returns the tokens; those of some servers are in the total only. There are none but of the input."""
    usage = (_USAGE if data.get("prompt_tokens") is not None else _ALL_IS_INPUT).read(data)
    return usage if usage.input is None else Usage(usage.input, 0)


def parse_embeddings(request: WireRequest, provider: str, fields: EmbeddingFields) -> ParsedInput[EmbedInput]:
    """Returns the input of a client's request; raises `InvalidInputError` with the path of an invalid value.

    A server with OpenAI's path reads the fields of Voyage's and Jina's clients too. How the vectors are to be encoded
    is not part of the input: the rendering reads it.
    """
    data = read_request(request)
    if fields == EMBEDDINGS_OF_OPENAI:
        fields = fields_of_client(data)
    for name in (fields.encoding, TYPE_OF_NUMBERS):
        if name is not None and data.get(name) not in (None, "float", _BASE64):
            raise InvalidInputError(f"expected 'float' or 'base64', got {shown(data[name])}", path=name)
    given = read_input(
        EmbedInput,
        {"items": "input", "dimensions": fields.dimensions or ""},
        items=_items(data.get("input"), fields),
        model=get_filled(data.get("model"), "model"),
        provider=provider,
        purpose=_purpose(data, fields),
        dimensions=None if fields.dimensions is None else data.get(fields.dimensions),
        truncate=fields.truncate is not None and data.get(fields.truncate) == fields.cut,
        provider_options=make_at("", read_options, data, {*_known(fields), TYPE_OF_NUMBERS}, provider),
    )
    return ParsedInput(given)


def _purpose(data: Object, fields: EmbeddingFields) -> EmbedPurpose | None:
    if fields.purpose is None:
        return None
    words: dict[str, EmbedPurpose] = {word: ours for ours, word in fields.words.items()}
    return read_word(data.get(fields.purpose), words, fields.purpose)


def _items(value: Any, fields: EmbeddingFields) -> list[EmbedItem]:
    """Returns the items at `input`: a text, or a list."""
    if isinstance(value, str):
        return [get_filled(value, "input")]
    if not isinstance(value, list) or not value:
        raise InvalidInputError("expected a text, or a list of at least one", path="input")
    return [_item(each, f"input[{index}]", fields) for index, each in enumerate(cast("list[Any]", value))]


def _item(value: Any, path: str, fields: EmbeddingFields) -> EmbedItem:
    if isinstance(value, str):
        return make_at(path, _text, value)
    if isinstance(value, int | list):
        hint = "Send the texts: tokens are those of one tokenizer, which the model here may not have."
        raise InvalidInputError("tokens are not accepted", path=path, hint=hint)
    if fields.image is None:
        raise InvalidInputError(f"expected text, got {type(value).__name__}", path=path)
    item = get_object(value, path)
    if item.get(fields.image) is None:
        return make_at(path, _text, get_text(item.get("text"), f"{path}.text"))
    return (ImagePart(read_url(item[fields.image], "image/*", f"{path}.{fields.image}")),)


def _text(value: str) -> str:
    return check_text(value, "")


def render_embeddings(reply: EmbedReply, request: WireRequest) -> Rendered:
    """Returns the body with the vectors as base64 if the request asks for it, else as numbers."""
    data: Mapping[str, Any] = read_request(request)
    as_base64 = _BASE64 in (data.get("encoding_format"), data.get("embedding_type"))
    written = write_base64(reply.vectors) if as_base64 else reply.vectors.lists()
    rows = [{"object": "embedding", "index": index, "embedding": each} for index, each in enumerate(written)]
    body: Object = {"object": "list", "data": rows, "model": reply.model or data.get("model")}
    tokens = reply.usage.input or 0
    body["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Rendered(to_json(body))
