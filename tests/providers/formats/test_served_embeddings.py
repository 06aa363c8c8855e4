"""The server sides of `embed` and `rerank`: laws with the client sides, and errors with the path of what is wrong."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import InvalidInputError
from abstractcore.ports import EMBED, RERANK, ServedOperation
from abstractcore.schema import (
    EMBED_PURPOSES,
    Billing,
    Blob,
    EmbedInput,
    EmbedReply,
    ImagePart,
    RankedIndex,
    RerankInput,
    RerankReply,
    TextPart,
    Usage,
    Vectors,
    WireRequest,
    WireResponse,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.properties import examples
from tests.providers.operations import operations_of

PROVIDERS = {"cohere_chat": "cohere", "gemini": "google", "ollama": "ollama", "openai_chat": "openai"}
EMBEDDERS = tuple(PROVIDERS)
MULTIMODAL = ("cohere_chat", "gemini")
RERANKERS = ("cohere_chat", "openai_chat")
FIELDS = ("items", "purpose", "dimensions", "truncate", "provider_options")

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
images = st.binary(min_size=1, max_size=8).map(lambda data: ImagePart(Blob.from_bytes(data, "image/png")))
parts = st.lists(texts.map(TextPart) | images, min_size=1, max_size=3).filter(
    lambda found: any(isinstance(part, ImagePart) for part in found)
)


def inputs(format: str) -> st.SearchStrategy[EmbedInput]:
    """Inputs for a format."""
    items = texts | parts.map(tuple) if format in MULTIMODAL else texts
    return st.builds(
        EmbedInput,
        model=st.just("m"),
        provider=st.just(PROVIDERS[format]),
        items=st.lists(items, min_size=1, max_size=4).map(tuple),
        purpose=st.none() | st.sampled_from(EMBED_PURPOSES),
        dimensions=st.none() | st.integers(1, 4096),
        truncate=st.booleans(),
    )


rankings = st.builds(
    RerankInput,
    model=st.just("m"),
    query=texts,
    documents=st.lists(texts, min_size=1, max_size=5).map(tuple),
    top=st.none() | st.integers(1, 9),
)


def served(format: str, name: str) -> ServedOperation[Any, Any]:
    transpiler: Any = FORMATS[format]()
    return transpiler.served_operations[name]


def encoded(format: str, name: str, value: Any) -> Any:
    return operations_of(FORMATS[format]())[name].encode(value)


@pytest.mark.parametrize("format", EMBEDDERS)
@examples(60)
@given(data=st.data())
def test_parsed_request_differs_only_in_what_warnings_name(format: str, data: st.DataObject):
    sent = data.draw(inputs(format))
    request = encoded(format, EMBED, sent)
    parsed = served(format, EMBED).parse(request.request)
    changed = {name for name in FIELDS if getattr(parsed.input, name) != getattr(sent, name)}
    assert changed == {warning.path for warning in request.warnings}
    assert parsed.warnings == ()
    assert parsed.input.model == sent.model
    again = encoded(format, EMBED, parsed.input)
    assert (again.request, again.warnings) == (request.request, ())


floats = st.floats(-1000, 1000, width=32, allow_nan=False)
counts = st.none() | st.integers(0, 10_000)


@pytest.mark.parametrize("format", EMBEDDERS)
@examples(60)
@given(data=st.data())
def test_rendered_vectors_are_decoded_unchanged(format: str, data: st.DataObject):
    sent = replace(data.draw(inputs(format)), dimensions=None)
    size = data.draw(st.integers(1, 4))
    row = st.lists(floats, min_size=size, max_size=size).filter(any)  # a vector of zeros is an error
    rows = data.draw(st.lists(row, min_size=len(sent.items)))
    rows = rows[: len(sent.items)]
    tokens = data.draw(st.integers(1, 10_000))
    reply = EmbedReply(Vectors.of(rows), Usage(input=tokens), "m")
    request = encoded(format, EMBED, sent).request
    rendered = served(format, EMBED).render(reply, request)
    decoded = operations_of(FORMATS[format]())[EMBED].decode(WireResponse(200, {}, rendered.body), sent)
    assert decoded.vectors == reply.vectors
    assert decoded.usage.input == tokens
    assert rendered.warnings == ()


@pytest.mark.parametrize("format", RERANKERS)
@examples(60)
@given(sent=rankings)
def test_a_ranking_is_parsed_as_it_was_sent(format: str, sent: RerankInput):
    sent = replace(sent, provider=PROVIDERS[format])
    if format == "openai_chat":  # OpenAI itself has no rankings: servers with its API do
        body = {"model": "m", "query": sent.query, "documents": sent.documents, "top_n": sent.top}
        request = WireRequest("/v1/rerank", {}, json.dumps(body).encode())
    else:
        request = encoded(format, RERANK, sent).request
    parsed = served(format, RERANK).parse(request).input
    top = None if sent.top is None else min(sent.top, len(sent.documents))
    assert parsed == replace(sent, top=top)


@pytest.mark.parametrize("format", RERANKERS)
@examples(60)
@given(scores=st.lists(floats, min_size=1, max_size=5), units=counts)
def test_a_rendered_ranking_is_decoded_unchanged(format: str, scores: list[float], units: int | None):
    best = sorted(scores, reverse=True)
    results = tuple(RankedIndex(index, number) for index, number in enumerate(best))
    billing = None if units is None else Billing(counts={"search_unit": units})
    reply = RerankReply(results, Usage(billing=billing if format == "cohere_chat" else None), "m")
    sent = RerankInput(model="m", query="q", documents=tuple(map(str, scores)))
    body = {"model": "m", "query": "q", "documents": [*sent.documents]}
    rendered = served(format, RERANK).render(reply, WireRequest("/rerank", {}, json.dumps(body).encode()))
    if format == "openai_chat":
        from abstractcore_providers.formats.openai_chat.dialect import RerankFields
        from abstractcore_providers.formats.openai_chat.reranking import decode_rerank

        decoded = decode_rerank(WireResponse(200, {}, rendered.body), sent, RerankFields())
    else:
        decoded = operations_of(FORMATS[format]())[RERANK].decode(WireResponse(200, {}, rendered.body), sent)
    assert decoded.results == results
    assert decoded.usage.billing == reply.usage.billing


def refused(format: str, name: str, body: Any, url: str = "") -> str:
    """The path of what is wrong."""
    urls = {"gemini": "/v1beta/models/m:batchEmbedContents", "ollama": "/api/embed"}
    request = WireRequest(url or urls.get(format, "/x"), {}, json.dumps(body).encode())
    with pytest.raises(InvalidInputError) as caught:
        served(format, name).parse(request)
    return caught.value.path or ""


GOOD: dict[str, dict[str, Any]] = {
    "cohere_chat": {"model": "m", "texts": ["a"], "input_type": "search_query"},
    "gemini": {"requests": [{"content": {"parts": [{"text": "a"}]}}]},
    "ollama": {"model": "m", "input": ["a"]},
    "openai_chat": {"model": "m", "input": ["a"]},
}


def changed(format: str, **fields: Any) -> dict[str, Any]:
    return {name: value for name, value in {**GOOD[format], **fields}.items() if value != "absent"}


@pytest.mark.parametrize(
    ("format", "fields", "path"),
    [
        ("cohere_chat", {"model": "absent"}, "model"),
        ("cohere_chat", {"model": ""}, "model"),
        ("cohere_chat", {"texts": "absent"}, "texts"),
        ("cohere_chat", {"texts": []}, "texts"),
        ("cohere_chat", {"texts": ["a", 5]}, "texts[1]"),
        ("cohere_chat", {"images": ["data:image/png;base64,AA=="]}, "images"),
        ("cohere_chat", {"texts": "absent", "images": ["data:image/png;base64,!"]}, "images[0]"),
        ("cohere_chat", {"texts": "absent", "inputs": [{"content": []}]}, "inputs[0].content"),
        ("cohere_chat", {"texts": "absent", "inputs": [{"content": [{"type": "x"}]}]}, "inputs[0].content[0].type"),
        ("cohere_chat", {"input_type": "poem"}, "input_type"),
        ("cohere_chat", {"embedding_types": ["int8"]}, "embedding_types"),
        ("cohere_chat", {"truncate": "MIDDLE"}, "truncate"),
        ("cohere_chat", {"output_dimension": 0}, "output_dimension"),
        ("gemini", {"requests": []}, "requests"),
        ("gemini", {"requests": [{"content": {"parts": []}}]}, "requests[0].content.parts"),
        ("gemini", {"requests": [{"content": {"parts": [{"x": 1}]}}]}, "requests[0].content.parts[0].text"),
        (
            "gemini",
            {"requests": [*GOOD["gemini"]["requests"], {**GOOD["gemini"]["requests"][0], "taskType": "CLUSTERING"}]},
            "requests[1].taskType",
        ),
        ("gemini", {"requests": [{**GOOD["gemini"]["requests"][0], "taskType": "POEM"}]}, "requests[0].taskType"),
        ("ollama", {"input": []}, "input"),
        ("ollama", {"input": ["a", None]}, "input[1]"),
        ("ollama", {"truncate": "yes"}, "truncate"),
        ("openai_chat", {"input": [[1, 2]]}, "input[0]"),
    ],
)
def test_what_is_wrong_in_a_request_is_named(format: str, fields: dict[str, Any], path: str):
    assert refused(format, EMBED, changed(format, **fields)) == path


@pytest.mark.parametrize("format", RERANKERS)
@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"query": None}, "query"),
        ({"documents": []}, "documents"),
        ({"documents": ["a", 5]}, "documents[1]"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": 1.5}, "top_n"),
    ],
)
def test_what_is_wrong_in_a_ranking_is_named(format: str, fields: dict[str, Any], path: str):
    assert refused(format, RERANK, {"model": "m", "query": "q", "documents": ["a"], **fields}) == path


def test_documents_of_rankings_may_be_objects_and_come_back_if_asked():
    body = {"model": "m", "query": "q", "documents": [{"text": "a"}, "b"], "return_documents": True}
    request = WireRequest("/v1/rerank", {}, json.dumps(body).encode())
    assert served("openai_chat", RERANK).parse(request).input.documents == ("a", "b")
    reply = RerankReply((RankedIndex(1, 0.5),))
    found = json.loads(served("openai_chat", RERANK).render(reply, request).body)["results"]
    assert found == [{"index": 1, "relevance_score": 0.5, "document": {"text": "b"}}]


def test_the_single_requests_of_google_and_ollama_have_one_vector():
    body = {"content": {"parts": [{"text": "a"}]}, "taskType": "CLUSTERING", "outputDimensionality": 2}
    request = WireRequest("/v1beta/models/m:embedContent", {}, json.dumps(body).encode())
    parsed = served("gemini", EMBED).parse(request).input
    assert (parsed.items, parsed.purpose, parsed.dimensions) == (("a",), "clustering", 2)
    reply = EmbedReply(Vectors.of([[1.0, 2.0]]))
    assert json.loads(served("gemini", EMBED).render(reply, request).body) == {"embedding": {"values": [1.0, 2.0]}}
    request = WireRequest("/api/embeddings", {}, b'{"model": "m", "prompt": "a"}')
    assert served("ollama", EMBED).parse(request).input.items == ("a",)
    assert json.loads(served("ollama", EMBED).render(reply, request).body) == {"embedding": [1.0, 2.0]}


def test_clients_of_cohere_get_the_types_that_they_ask_for():
    body = {**GOOD["cohere_chat"], "embedding_types": ["float", "base64"]}
    request = WireRequest("/v2/embed", {}, json.dumps(body).encode())
    found = json.loads(served("cohere_chat", EMBED).render(EmbedReply(Vectors.of([[1.0]])), request).body)
    assert found["embeddings"] == {"float": [[1.0]], "base64": ["AACAPw=="]}
    assert found["texts"] == ["a"]


JUNK = [None, 0, -1, 1.5, True, "", "x", [], [[]], {}, {"a": 1}, [None], [{}], "\ud800"]


@pytest.mark.parametrize("format", EMBEDDERS)
def test_junk_in_any_field_is_read_or_refused_with_its_path(format: str):
    urls = {"gemini": "/v1beta/models/m:batchEmbedContents", "ollama": "/api/embed"}
    names = {
        "cohere_chat": ("model", "texts", "images", "inputs", "input_type", "output_dimension", "truncate"),
        "gemini": ("requests", "taskType", "outputDimensionality"),
        "ollama": ("model", "input", "truncate", "dimensions", "options"),
        "openai_chat": ("model", "input", "dimensions", "encoding_format", "user"),
    }
    for name in names[format]:
        for junk in JUNK:
            body = json.dumps({**GOOD[format], name: junk}).encode()
            path = _path_or_none(served(format, EMBED).parse, WireRequest(urls.get(format, "/x"), {}, body))
            assert path is None or path, (name, junk)


def _path_or_none(parse: Callable[[WireRequest], Any], request: WireRequest) -> str | None:
    """The path of what is wrong, None for a request that is read; what is no JSON is wrong as a whole."""
    try:
        parse(request)
    except InvalidInputError as error:
        return "the body" if "not JSON" in error.message else error.path or ""
    return None


def test_scores_that_are_not_finite_are_refused_when_a_ranking_is_made():
    with pytest.raises(ValueError, match="score"):
        RankedIndex(0, math.inf)
