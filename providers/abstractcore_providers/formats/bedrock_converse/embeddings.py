"""The operations `embed` and `rerank` of models at Amazon Bedrock, for clients: `POST /model/{modelId}/invoke`.

Each maker has a body of its own. Tokens are in a header of the response. A model whose id names none of these makers is
an error. Sources: model-parameters-titan-embed-text.html, model-parameters-titan-embed-mm.html,
model-parameters-embed-v3.html, model-parameters-embed-v4.html and rerank-use.html (InvokeModel) at
https://docs.aws.amazon.com/bedrock/latest/userguide/.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError, UnsupportedOptionError
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

from ...common.call_options import FormatWarnings, add_provider_options, unsupported
from ...common.data_urls import data_url, write_base64
from ...common.embeddings import (
    embedding_operation,
    images_in,
    purpose_sent,
    read_ranking,
    reranking_operation,
    vectors_of,
)
from ...common.endpoints import JSON_HEADERS
from ...common.reading import Object, as_object, count_of
from ...common.response_bodies import read_body
from .errors import RIGHT_ADDRESS, error_in_body
from .vocabulary import PROVIDER

WARNINGS = FormatWarnings("Bedrock's embedding format")
TOKENS = "x-amzn-bedrock-input-token-count"
"""The header with the tokens of a request."""
_PURPOSES: dict[EmbedPurpose, str] = {
    "document": "search_document",
    "query": "search_query",
    "classification": "classification",
    "clustering": "clustering",
}
_NEAREST: dict[EmbedPurpose, EmbedPurpose] = {"similarity": "clustering"}
_TITAN, _TITAN_IMAGE, _COHERE = "amazon.titan-embed-text", "amazon.titan-embed-image", "cohere.embed"
_RERANKERS = {"cohere.rerank": {"api_version": 2}, "amazon.rerank": {}}
_CHOICES = "amazon.titan-embed-text-v2:0, amazon.titan-embed-image-v1 and cohere.embed-v4:0"


def encode_embed(given: EmbedInput) -> Encoded:
    """Returns the request for vectors.

    Raises `UnsupportedOptionError` for a model without vectors, and for several items of a model that embeds one at a
    time, `UnsupportedContentError` for files that the model does not embed.
    """
    warnings: list[CallWarning] = []
    body = _writer(given)(given, warnings)
    add_provider_options(body, given, PROVIDER, lambda name, value: name in body, warnings)
    return Encoded(_invoke(given.model, body), tuple(warnings))


def _invoke(model: str, body: Object) -> WireRequest:
    return WireRequest(f"/model/{quote(model, safe='')}/invoke", JSON_HEADERS, to_json(body))


def _writer(given: EmbedInput) -> Callable[[EmbedInput, list[CallWarning]], Object]:
    for name, write in ((_TITAN_IMAGE, _titan_image), (_TITAN, _titan), (_COHERE, _cohere)):
        if name in given.model:
            return write
    raise UnsupportedOptionError(
        f"{given.model} has no embeddings at Bedrock that are known here.",
        hint=f"Models with embeddings are {_CHOICES}.",
        provider=given.provider or None,
        model=given.model,
    )


def _only_item(given: EmbedInput, warnings: list[CallWarning]) -> list[TextPart | ImagePart]:
    """Returns the parts of the one item that a Titan model embeds; it has no purposes, and never cuts."""
    if len(given.items) > 1:
        raise UnsupportedOptionError(
            f"{given.model} embeds one item a request, and the request has {len(given.items)}.",
            hint="llm.embed() sends each in a request of its own.",
            provider=given.provider or None,
            model=given.model,
        )
    if given.purpose is not None:
        warnings.append(unsupported("purpose", given.purpose, "purposes of the vectors of this model"))
    if given.truncate:
        warnings.append(unsupported("truncate", True, "a request to cut texts at this model"))
    item = next(iter(given.items))
    return [part for part, _ in images_in(item, 0, given, WARNINGS, warnings)]


def _titan(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    text = _joined(_only_item(given, warnings), given)
    if "-v1" in given.model:
        if given.dimensions is not None:
            warnings.append(unsupported("dimensions", given.dimensions, "another length of the vectors of this model"))
        return {"inputText": text}
    lengths = {} if given.dimensions is None else {"dimensions": given.dimensions}
    return {"inputText": text, **lengths, "normalize": True}


def _joined(parts: list[TextPart | ImagePart], given: EmbedInput) -> str:
    if any(isinstance(part, ImagePart) for part in parts):
        raise _unsupported_item(given, "embeds texts, not images", "Use amazon.titan-embed-image-v1.")
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _titan_image(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    parts = _only_item(given, warnings)
    images = [part for part in parts if isinstance(part, ImagePart)]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if len(images) > 1:
        raise _unsupported_item(given, "embeds one image an item", "Pass the others as items of their own.")
    body: Object = {"inputText": "\n".join(texts)} if texts else {}
    if images:
        body["inputImage"] = write_base64(images[0].blob, "items[0]")
    if given.dimensions is not None:
        body["embeddingConfig"] = {"outputEmbeddingLength": given.dimensions}
    return body


def _unsupported_item(given: EmbedInput, what: str, hint: str) -> UnsupportedContentError:
    message = f"items[0]: {given.model} {what}."
    return UnsupportedContentError(message, hint=hint, provider=given.provider or None, model=given.model)


def _cohere(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    body = _cohere_items(given, warnings)
    if "images" not in body:
        purpose = purpose_sent(given, _PURPOSES, WARNINGS.name, warnings, _NEAREST)
        body |= {} if purpose is None else {"input_type": purpose}
    if given.dimensions is not None:
        if "v3" in given.model:
            warnings.append(unsupported("dimensions", given.dimensions, "another length of the vectors of this model"))
        else:
            body["output_dimension"] = given.dimensions
    return {**body, "embedding_types": ["float"], "truncate": _truncate(given)}


def _truncate(given: EmbedInput) -> str:
    if not given.truncate:
        return "NONE"
    return "END" if "v3" in given.model else "RIGHT"


def _cohere_items(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    texts = [item for item in given.items if isinstance(item, str)]
    if len(texts) == len(given.items):
        return {"texts": texts}
    written = [
        [_cohere_block(part, path) for part, path in images_in(item, index, given, WARNINGS, warnings)]
        for index, item in enumerate(given.items)
    ]
    if "v3" not in given.model:
        return {"inputs": [{"content": blocks} for blocks in written]}
    if len(written) > 1 or len(written[0]) > 1 or "image_url" not in written[0][0]:
        raise _unsupported_item(given, "embeds one image a request, without a text", "Use cohere.embed-v4:0.")
    if given.purpose not in (None, "document"):
        message = "an image has no purpose at this model"
        warnings.append(CallWarning("purpose_changed", "purpose", message, given.purpose, "document"))
    return {"images": [written[0][0]["image_url"]], "input_type": "image"}


def _cohere_block(part: TextPart | ImagePart, path: str) -> Object:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": data_url(part.blob, path)}


def decode_embed(response: WireResponse, given: EmbedInput) -> EmbedReply:
    """Returns the vectors; raises `ServerError` for a body without one for each item."""
    data = _body(response)
    rows = data.get("embeddings")
    if isinstance(rows, dict):
        rows = as_object(rows).get("float")
    if rows is None and "embedding" in data:
        rows = [data["embedding"]]
    counted = count_of(data, "inputTextTokenCount")
    tokens = _tokens(response) if counted is None else counted
    images = sum(isinstance(part, ImagePart) for item in given.items for part in _parts_of(item))
    billing = Billing(counts={"image_input": images}) if images and _TITAN_IMAGE in given.model else None
    each = () if tokens is None or len(given.items) > 1 else (tokens,)
    return EmbedReply(vectors_of(response, rows, given), Usage(input=tokens, billing=billing), given.model, each)


def _parts_of(item: EmbedItem) -> tuple[object, ...]:
    return () if isinstance(item, str) else item


def encode_rerank(given: RerankInput) -> Encoded:
    """Returns the request for a ranking; raises `UnsupportedOptionError` for a model that has none."""
    fields = next((fields for name, fields in _RERANKERS.items() if name in given.model), None)
    if fields is None:
        raise UnsupportedOptionError(
            f"{given.model} does not rank documents at Bedrock.",
            hint="Models that do are cohere.rerank-v3-5:0 and amazon.rerank-v1:0.",
            provider=given.provider or None,
            model=given.model,
        )
    warnings: list[CallWarning] = []
    body: Object = {"query": given.query, "documents": list(given.documents), **fields}
    body["top_n"] = len(given.documents) if given.top is None else min(given.top, len(given.documents))
    add_provider_options(body, given, PROVIDER, lambda name, value: name in body, warnings)
    return Encoded(_invoke(given.model, body), tuple(warnings))


def decode_rerank(response: WireResponse, given: RerankInput) -> RerankReply:
    """Returns the ranking; raises `ServerError` for an invalid one.

    A query is billed for each 100 documents (aws.amazon.com/bedrock/pricing, "Rerank").
    """
    results = read_ranking(response, _body(response).get("results"), given)
    queries = -(-len(given.documents) // _DOCUMENTS_OF_A_QUERY)
    usage = Usage(input=_tokens(response), billing=Billing(counts={"search_unit": queries}))
    return RerankReply(results, usage, given.model)


_DOCUMENTS_OF_A_QUERY = 100


def _body(response: WireResponse) -> Object:
    data = as_object(read_body(response, RIGHT_ADDRESS))
    error = error_in_body(data, response.headers)
    if error is not None:
        raise error
    return data


def _tokens(response: WireResponse) -> int | None:
    text = response.headers.get(TOKENS, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_COUNT else None


_LONGEST_COUNT = 18


OPERATIONS: Operations = {
    EMBED: embedding_operation(encode_embed, decode_embed, frozenset({TOKENS})),
    RERANK: reranking_operation(encode_rerank, decode_rerank, frozenset({TOKENS})),
}
"""The operations by name."""
