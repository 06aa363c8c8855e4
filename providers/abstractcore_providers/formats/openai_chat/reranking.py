"""The operation `rerank` of servers with OpenAI's API: `POST /rerank`, as Jina has it and others after it.

Its client and server sides. Sources: https://api.jina.ai/redoc (`/v1/rerank`), https://docs.voyageai.com/reference/reranker-api,
docs.vllm.ai/en/latest/serving/openai_compatible_server (Re-rank API), tools/server/README.md of llama.cpp, and
docs/openapi.json of text-embeddings-inference, whose response is the list of results alone.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.ports import RERANK, Operation, ServedOperation
from abstractcore.schema import (
    CallWarning,
    Encoded,
    ParsedInput,
    Rendered,
    RerankInput,
    RerankReply,
    Usage,
    WireRequest,
    WireResponse,
)

from ...common.call_options import add_provider_options, read_options, unsupported
from ...common.embeddings import read_input, read_ranking, read_top, reranking_operation
from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.reading import (
    Object,
    as_object,
    count_of,
    get_filled,
    get_list,
    get_object,
    get_text,
    make_at,
    object_of,
    text_of,
)
from ...common.response_bodies import read_body
from .dialect import ChatDialect, RerankFields

_OF_VOYAGE = frozenset({"top_k", "truncation"})
"""Fields that the requests of Voyage's client have."""
_SERVED = frozenset({"model", "query", "documents", "top_n", "return_documents", *_OF_VOYAGE})


def reranking(dialect: ChatDialect, fields: RerankFields) -> Operation[RerankInput, RerankReply]:
    """Returns the operation of a server whose request has these `fields`."""
    return reranking_operation(
        lambda given: encode_rerank(given, dialect, fields),
        lambda response, given: decode_rerank(response, given, fields),
    )


def encode_rerank(given: RerankInput, dialect: ChatDialect, fields: RerankFields) -> Encoded:
    """Returns the request for a ranking."""
    warnings: list[CallWarning] = []
    body: Object = {"model": given.model, "query": given.query, fields.documents: list(given.documents)}
    if given.top is not None and fields.top is not None:
        body[fields.top] = given.top
    if fields.truncate is not None:
        body[fields.truncate] = given.truncate
    elif given.truncate:
        warnings.append(unsupported("truncate", True, "a request to cut documents: the server decides that itself"))
    if fields.return_documents is not None:
        body[fields.return_documents] = False
    add_provider_options(body, given, dialect.provider, lambda name, value: name in body, warnings)
    return Encoded(WireRequest(fields.path, JSON_HEADERS, to_json(body)), tuple(warnings))


def decode_rerank(response: WireResponse, given: RerankInput, fields: RerankFields) -> RerankReply:
    """Returns the ranking; raises the error that a body reports, and `ServerError` for an invalid ranking."""
    body: Any = read_body(response, RIGHT_ADDRESS)
    data = as_object(body)
    error = error_in_body(data)
    if error is not None:
        raise error
    results = data.get(fields.results) if fields.results else body
    usage = object_of(data, "usage")
    tokens = count_of(usage, "total_tokens")
    ranked = read_ranking(response, results, given, fields.score)
    return RerankReply(ranked, Usage(input=tokens), text_of(data, "model"))


SERVED_RERANK: ServedOperation[RerankInput, RerankReply] = ServedOperation(
    RERANK, lambda request: parse_rerank(request), lambda reply, request: render_rerank(reply, request)
)
"""`POST /v1/rerank` for servers."""


def parse_rerank(request: WireRequest) -> ParsedInput[RerankInput]:
    """Returns the ranking that a client asks for; raises `InvalidInputError` with the path of what is wrong.

    Documents may be objects with a `text`, as in version 1 of Cohere's API. Fields of Voyage's client are read too.
    """
    from ...common.reading import read_request

    data = read_request(request)
    documents = [_document(each, f"documents[{index}]") for index, each in enumerate(get_list(data, "documents"))]
    given = read_input(
        RerankInput,
        {},
        model=get_filled(data.get("model"), "model"),
        provider="openai",
        query=get_text(data.get("query"), "query"),
        documents=tuple(documents),
        top=read_top(data, "top_n" if data.get("top_k") is None else "top_k", len(documents)),
        truncate=data.get("truncation") is True,
        provider_options=make_at("", read_options, data, _SERVED, "openai"),
    )
    return ParsedInput(given)


def _document(value: Any, path: str) -> str:
    if isinstance(value, str):
        return value
    text = get_object(value, path).get("text")
    if not isinstance(text, str):
        raise InvalidInputError("expected a text, or an object with a text", path=path)
    return text


def render_rerank(reply: RerankReply, request: WireRequest) -> Rendered:
    """Returns the ranking, with the documents where the request asks for them; for Voyage's client, as it reads it."""
    from ...common.reading import read_request

    data = read_request(request)
    documents = get_list(data, "documents") if data.get("return_documents") is True else None
    is_of_voyage = not _OF_VOYAGE.isdisjoint(data)
    results: list[Object] = []
    for each in reply.results:
        result: Object = {"index": each.index, "relevance_score": each.score}
        if documents is not None:
            text = _document(documents[each.index], "documents")
            result["document"] = text if is_of_voyage else {"text": text}
        results.append(result)
    tokens = reply.usage.input or 0
    body: Object = {
        "object": "list",
        "model": reply.model or text_of(data, "model"),
        "data" if is_of_voyage else "results": results,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return Rendered(to_json(body))
