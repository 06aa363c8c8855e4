"""Vectors and rankings of every vendor, against strict servers written from its documentation."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import cohere
import pytest
from google import genai
from ollama import Client as OllamaClient

from abstractcore import create_llm
from abstractcore.errors import (
    AbstractCoreError,
    BadRequestError,
    ServerError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from abstractcore.ports import OperationResult
from abstractcore.schema import Blob, EmbedReply, ImagePart, RerankReply, TextPart
from tests.providers.strict_fakes import embeddings
from tests.providers.strict_fakes.embeddings import Answer, embedding_server, packed, score, vector

TEXTS = ["a cat", "a dog", "ünïcode"]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
IMAGE = ImagePart(Blob.from_bytes(PNG, "image/png"))


@dataclass(frozen=True)
class Vendor:
    """A vendor with its fake. `item` is what the fake hashes of a text, `dimensions` a length that its model has."""

    provider: str
    model: str
    answer: Answer
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=lambda: {"api_key": "k"})
    item: Callable[[str], Any] = lambda text: text
    dimensions: int | None = 256
    purpose: str | None = "query"
    at_once: bool = True


def _parts(text: str) -> Any:
    return [{"text": text}]


PROJECT = {"project": "p", "location": "us-central1", "access_token": "t"}
AWS = {"api_key": "k"}
VENDORS = [
    Vendor("cohere", "embed-v4.0", embeddings.cohere_v2, "/v2"),
    Vendor("google", "gemini-embedding-001", embeddings.gemini, "/v1beta", item=_parts),
    Vendor("vertex", "text-embedding-005", embeddings.vertex, options=PROJECT),
    Vendor("vertex", "gemini-embedding-2", embeddings.vertex, options=PROJECT, item=_parts),
    Vendor("vertex", "multimodalembedding@001", embeddings.vertex, options=PROJECT, purpose=None),
    Vendor("ollama", "nomic-embed-text", embeddings.ollama, options={}, purpose=None),
    Vendor("bedrock", "cohere.embed-v4:0", embeddings.bedrock, options=AWS),
    Vendor("bedrock", "cohere.embed-english-v3", embeddings.bedrock, options=AWS, dimensions=None),
    Vendor(
        "bedrock",
        "amazon.titan-embed-text-v2:0",
        embeddings.bedrock,
        options=AWS,
        purpose=None,
        at_once=False,
        item=lambda text: {"inputText": text},
    ),
    Vendor(
        "bedrock",
        "amazon.titan-embed-text-v1",
        embeddings.bedrock,
        options=AWS,
        purpose=None,
        at_once=False,
        dimensions=None,
        item=lambda text: {"inputText": text},
    ),
    Vendor(
        "bedrock",
        "amazon.titan-embed-image-v1",
        embeddings.bedrock,
        options=AWS,
        purpose=None,
        at_once=False,
        item=lambda text: {"inputText": text},
    ),
    Vendor("mistral", "codestral-embed-2505", embeddings.mistral, "/v1", purpose=None),
    Vendor("voyage", "voyage-4", embeddings.voyage, "/v1"),
    Vendor("jina", "jina-embeddings-v4", embeddings.jina, "/v1", item=lambda text: {"text": text}),
    Vendor("tei", "BAAI/bge-m3", embeddings.tei, "/v1", options={}, purpose=None),
    Vendor("llama-cpp", "bge-m3", embeddings.llama_cpp, "/v1", options={}, purpose=None),
    Vendor("vllm", "bge-m3", embeddings.llama_cpp, "/v1", options={}, purpose=None),
]
NAMES = [f"{vendor.provider}-{vendor.model}" for vendor in VENDORS]
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=NAMES)


def connected(vendor: Vendor, url: str) -> Any:
    return create_llm(vendor.provider, vendor.model, base_url=url + vendor.path, max_retries=0, **vendor.options)


def embed(llm: Any, items: Sequence[Any], **arguments: Any) -> OperationResult[EmbedReply]:
    return llm.operate("embed", arguments={"items": items, **arguments})


@every_vendor
def test_each_text_has_its_vector_in_order(vendor: Vendor):
    texts = TEXTS if vendor.at_once else TEXTS[:1]
    with embedding_server(vendor.answer) as server:
        reply = embed(connected(vendor, server.url), texts, purpose=vendor.purpose).value
    assert reply.vectors.lists() == [pytest.approx(vector(vendor.item(text), 8)) for text in texts]


@every_vendor
def test_purpose_dimensions_and_refusal_of_long_texts_are_sent(vendor: Vendor):
    texts = TEXTS if vendor.at_once else TEXTS[:1]
    with embedding_server(vendor.answer) as server:
        result = embed(connected(vendor, server.url), texts, purpose=vendor.purpose, dimensions=vendor.dimensions)
    assert result.warnings == ()
    assert result.value.vectors.dimensions == (vendor.dimensions or 8)


@every_vendor
def test_tokens_are_reported(vendor: Vendor):
    texts = TEXTS if vendor.at_once else TEXTS[:1]
    with embedding_server(vendor.answer) as server:
        usage = embed(connected(vendor, server.url), texts, purpose=vendor.purpose).usage
    reports = vendor.model not in ("multimodalembedding@001", "cohere.embed-v4:0", "cohere.embed-english-v3")
    assert usage.input == (3 * len(texts) if reports else None)


WORDS = {
    "cohere": ("input_type", "search_query", "search_document"),
    "voyage": ("input_type", "query", "document"),
    "jina": ("task", "retrieval.query", "retrieval.passage"),
    "bedrock": ("input_type", "search_query", "search_document"),
}


@pytest.mark.parametrize("purpose", ["query", "document"])
@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.provider in WORDS and v.purpose], ids=lambda v: v.model)
def test_purposes_have_the_vendors_words(vendor: Vendor, purpose: str):
    name, query, document = WORDS[vendor.provider]
    with embedding_server(vendor.answer) as server:
        embed(connected(vendor, server.url), ["a"], purpose=purpose)
    assert server.bodies[0][name] == (query if purpose == "query" else document)


def test_a_purpose_without_a_word_is_the_nearest_one_with_a_warning():
    with embedding_server(embeddings.cohere_v2) as server:
        result = embed(connected(VENDORS[0], server.url), ["a"], purpose="question")
    assert server.bodies[0]["input_type"] == "search_query"
    assert [(w.code, w.path, w.sent) for w in result.warnings] == [("purpose_changed", "purpose", "query")]


@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.purpose is None], ids=lambda v: f"{v.provider}-{v.model}")
def test_strict_calls_refuse_a_purpose_that_the_vendor_has_not(vendor: Vendor):
    with embedding_server(vendor.answer) as server, pytest.raises(UnsupportedOptionError):
        connected(vendor, server.url).operate("embed", arguments={"items": ["a"], "purpose": "query"}, strict=True)


IMAGES: list[tuple[Vendor, Any, int]] = [
    (VENDORS[0], {"content": [{"type": "image_url", "image_url": {"url": "URL"}}]}, 2),
    (Vendor("cohere", "embed-english-v3.0", embeddings.cohere_v2, "/v2"), "URL", 1),
    (
        Vendor("voyage", "voyage-multimodal-3.5", embeddings.voyage, "/v1"),
        [{"type": "image_base64", "image_base64": "URL"}],
        2,
    ),
    (VENDORS[13], {"image": "URL"}, 2),
    (Vendor("bedrock", "amazon.titan-embed-image-v1", embeddings.bedrock, options=AWS), {"inputImage": "DATA"}, 1),
    (
        Vendor("bedrock", "cohere.embed-v4:0", embeddings.bedrock, options=AWS),
        {"content": [{"type": "image_url", "image_url": "URL"}]},
        2,
    ),
    (Vendor("bedrock", "cohere.embed-english-v3", embeddings.bedrock, options=AWS), "URL", 1),
    (
        Vendor("vertex", "multimodalembedding@001", embeddings.vertex, options=PROJECT),
        {"bytesBase64Encoded": "DATA"},
        2,
    ),
    (
        Vendor("google", "gemini-embedding-2", embeddings.gemini, "/v1beta"),
        [{"inlineData": {"mimeType": "image/png", "data": "DATA"}}],
        2,
    ),
]


def _filled(item: Any) -> Any:
    """The item with the image in place of its placeholder."""
    data = base64.b64encode(PNG).decode()
    if isinstance(item, str):
        return {"URL": f"data:image/png;base64,{data}", "DATA": data}.get(item, item)
    if isinstance(item, list):
        return [_filled(each) for each in item]
    return {name: _filled(value) for name, value in item.items()}


@pytest.mark.parametrize(("vendor", "item", "count"), IMAGES, ids=[f"{v.provider}-{v.model}" for v, _, _ in IMAGES])
def test_images_are_embedded_where_the_model_embeds_them(vendor: Vendor, item: Any, count: int):
    purposes = {"amazon.titan-embed-image-v1": None, "multimodalembedding@001": None}
    purpose = purposes.get(vendor.model, "document")
    with embedding_server(vendor.answer) as server:
        reply = embed(connected(vendor, server.url), [(IMAGE,)] * count, purpose=purpose).value
    assert reply.vectors.lists() == [pytest.approx(vector(_filled(item), 8))] * count


@pytest.mark.parametrize(
    ("provider", "model", "answer", "path"),
    [
        ("cohere", "embed-v4.0", embeddings.cohere_v2, "/v2"),
        ("voyage", "voyage-multimodal-3.5", embeddings.voyage, "/v1"),
        ("google", "gemini-embedding-2", embeddings.gemini, "/v1beta"),
    ],
)
def test_a_text_and_an_image_have_one_vector(provider: str, model: str, answer: Answer, path: str):
    vendor = Vendor(provider, model, answer, path)
    with embedding_server(answer) as server:
        reply = embed(connected(vendor, server.url), [(TextPart("a chart"), IMAGE)], purpose="document").value
    assert len(reply.vectors) == 1


@pytest.mark.parametrize("vendor", [VENDORS[5], VENDORS[8], VENDORS[11], VENDORS[14]], ids=lambda v: v.provider)
def test_an_image_for_a_text_model_is_an_error_with_its_position(vendor: Vendor):
    with embedding_server(vendor.answer) as server, pytest.raises(UnsupportedContentError, match=r"items\[0\]"):
        embed(connected(vendor, server.url), [(IMAGE,)])
    assert server.bodies == []


def test_bedrock_models_of_one_item_refuse_several():
    with embedding_server(embeddings.bedrock) as server, pytest.raises(UnsupportedOptionError, match="one item"):
        embed(connected(VENDORS[8], server.url), TEXTS)


def test_a_bedrock_model_without_vectors_names_those_that_have_them():
    vendor = Vendor("bedrock", "anthropic.claude-opus-5", embeddings.bedrock, options=AWS)
    with pytest.raises(UnsupportedOptionError) as caught:
        embed(connected(vendor, "http://127.0.0.1:1"), ["a"])
    assert "amazon.titan-embed-text-v2:0" in (caught.value.hint or "")


def _rows(body: Any) -> list[Any]:
    """The list with the vectors in a response."""
    found = body.get("embeddings", body.get("predictions", body.get("data")))
    return next(iter(found.values())) if isinstance(found, dict) else found


def _without_one(body: Any) -> Any:
    _rows(body).pop()
    return body


def _with_one_more(body: Any) -> Any:
    _rows(body).append(_rows(body)[0])
    return body


def _with_nan(body: Any) -> Any:
    rows = _rows(body)
    bad = packed("x", 8)[:-8] + "AADAfw=="
    rows[0] = _replaced(rows[0], bad)
    return body


def _replaced(row: Any, bad: str) -> Any:
    if isinstance(row, str):
        return bad
    if isinstance(row, list):
        return [math.nan, *row[1:]]
    return {name: _replaced(value, bad) if _is_vector(name, value) else value for name, value in row.items()}


def _is_vector(name: str, value: Any) -> bool:
    return name in ("values", "embedding", "embeddings", "textEmbedding", "imageEmbedding")


def _with_a_shorter_one(body: Any) -> Any:
    rows = _rows(body)
    rows[0] = _shortened(rows[0])
    return body


def _shortened(row: Any) -> Any:
    if isinstance(row, str):
        return packed("x", 4)
    if isinstance(row, list):
        return row[:-1]
    return {name: _shortened(value) if _is_vector(name, value) else value for name, value in row.items()}


DAMAGES = [_without_one, _with_one_more, _with_nan, _with_a_shorter_one, lambda body: {}, lambda body: []]


@pytest.mark.parametrize("damage", DAMAGES, ids=["missing", "extra", "nan", "short", "empty", "list"])
@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.at_once], ids=[n for n in NAMES if "titan" not in n])
def test_a_damaged_response_is_a_server_error(vendor: Vendor, damage: Callable[[Any], Any]):
    with embedding_server(vendor.answer) as server:
        server.response = damage
        with pytest.raises(ServerError):
            embed(connected(vendor, server.url), TEXTS, purpose=vendor.purpose)


SIZES = frozenset({"output_dimension", "outputDimensionality", "dimensions", "dimension", "outputEmbeddingLength"})


def _without_sizes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_sizes(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_sizes(each) for name, each in value.items() if name not in SIZES}
    return value


@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.dimensions], ids=lambda v: f"{v.provider}-{v.model}")
def test_another_length_than_the_requested_one_is_a_server_error(vendor: Vendor):
    texts = TEXTS if vendor.at_once else TEXTS[:1]

    def of_its_own_length(path: str, body: Any) -> Any:
        vendor.answer(path, body)
        return vendor.answer(path, _without_sizes(body))

    with embedding_server(of_its_own_length) as server, pytest.raises(ServerError, match="256"):
        embed(connected(vendor, server.url), texts, purpose=vendor.purpose, dimensions=256)


@every_vendor
def test_a_refusal_is_a_bad_request(vendor: Vendor):
    texts = TEXTS if vendor.at_once else TEXTS[:1]

    def refuses(path: str, body: Any) -> Any:
        raise embeddings.RefusedRequestError("texts[0] is too long")

    with embedding_server(refuses) as server, pytest.raises(AbstractCoreError, match="too long") as caught:
        embed(connected(vendor, server.url), texts, purpose=vendor.purpose)
    assert isinstance(caught.value, BadRequestError)


def test_truncated_items_are_named_where_the_vendor_names_them():
    with embedding_server(embeddings.vertex) as server:
        reply = embed(connected(VENDORS[2], server.url), ["a", "b" * 200], truncate=True).value
    assert (reply.truncated, reply.tokens) == ((1,), (3, 3))
    assert server.bodies[0]["parameters"]["autoTruncate"] is True


RERANKERS = [
    Vendor("cohere", "rerank-v4.0-pro", embeddings.cohere_v2, "/v2"),
    Vendor("bedrock", "cohere.rerank-v3-5:0", embeddings.bedrock, options=AWS),
    Vendor("bedrock", "amazon.rerank-v1:0", embeddings.bedrock, options=AWS),
    Vendor("voyage", "rerank-2.5", embeddings.voyage, "/v1"),
    Vendor("jina", "jina-reranker-v3", embeddings.jina, "/v1"),
    Vendor("tei", "BAAI/bge-reranker-v2-m3", embeddings.tei, "/v1", options={}),
    Vendor("llama-cpp", "bge-reranker", embeddings.llama_cpp, "/v1", options={}),
    Vendor("vllm", "bge-reranker", embeddings.llama_cpp, "/v1", options={}),
    Vendor("openai-compatible", "bge-reranker", embeddings.llama_cpp, "/v1", options={}),
]
every_reranker = pytest.mark.parametrize("vendor", RERANKERS, ids=[f"{v.provider}-{v.model}" for v in RERANKERS])
DOCUMENTS = ["the cat sleeps", "who lets the dogs out", "dogs bark", "fish"]


def rerank(llm: Any, query: str, documents: Sequence[str], **arguments: Any) -> OperationResult[RerankReply]:
    return llm.operate("rerank", arguments={"query": query, "documents": documents, **arguments})


@every_reranker
@pytest.mark.parametrize("top", [None, 2, 9])
def test_documents_are_ranked_best_first(vendor: Vendor, top: int | None):
    with embedding_server(vendor.answer) as server:
        result = rerank(connected(vendor, server.url), "dogs bark", DOCUMENTS, top=top)
    expected = sorted(range(4), key=lambda n: -score("dogs bark", DOCUMENTS[n]))[:top]
    assert [each.index for each in result.value.results] == expected
    assert result.value.results[0].score == 1.0
    assert result.warnings == ()


@pytest.mark.parametrize(
    "damage",
    [
        lambda results: [*results, results[0]],
        lambda results: [{**results[0], "index": 9}, *results[1:]],
        lambda results: [{**results[0], "relevance_score": math.nan, "score": math.nan}, *results[1:]],
        lambda results: results[:-1],
        lambda results: None,
    ],
    ids=["twice", "unknown", "nan", "missing", "none"],
)
@every_reranker
def test_a_damaged_ranking_is_a_server_error(vendor: Vendor, damage: Callable[[Any], Any]):
    def damaged(body: Any) -> Any:
        if isinstance(body, list):
            return damage(body)
        name = "data" if "data" in body else "results"
        return {**body, name: damage(body[name])}

    with embedding_server(vendor.answer) as server:
        server.response = damaged
        with pytest.raises(ServerError):
            rerank(connected(vendor, server.url), "dogs bark", DOCUMENTS)


@pytest.mark.parametrize(
    ("vendor", "dollars"), [(VENDORS[12], "0.00000054"), (VENDORS[0], "0.00000108"), (VENDORS[1], "0.00000135")]
)
def test_tokens_have_the_price_of_the_catalogue(vendor: Vendor, dollars: str):
    with embedding_server(vendor.answer) as server:
        result = embed(connected(vendor, server.url), TEXTS, purpose=vendor.purpose)
    assert result.cost == Decimal(dollars)


def test_search_units_are_billed():
    with embedding_server(embeddings.cohere_v2) as server:
        usage = rerank(connected(RERANKERS[0], server.url), "a", DOCUMENTS).usage
    assert usage.billing is not None
    assert dict(usage.billing.counts) == {"search_unit": 1}


@pytest.mark.parametrize("provider", ["voyage", "jina", "tei"])
def test_a_vendor_without_chat_says_what_it_has(provider: str):
    llm = create_llm(provider, "m", api_key="k")
    with pytest.raises(UnsupportedOptionError, match="no chat models") as caught:
        llm.generate("hi")
    assert "llm.embed" in (caught.value.hint or "")


def test_fakes_take_what_the_vendors_own_clients_send():
    with embedding_server(embeddings.cohere_v2) as server, cohere.ClientV2("k", base_url=server.url) as client:
        reply = client.embed(model="embed-v4.0", input_type="search_query", texts=TEXTS, embedding_types=["base64"])
        assert reply.embeddings.base64 == [packed(text, 8) for text in TEXTS]
        ranked = client.rerank(model="rerank-v4.0-pro", query="dogs", documents=DOCUMENTS, top_n=1)
        assert ranked.results[0].index == 1
    with embedding_server(embeddings.gemini) as server:
        google = genai.Client(api_key="k", http_options={"base_url": server.url})
        found = google.models.embed_content(model="gemini-embedding-001", contents=TEXTS)
        assert [each.values for each in found.embeddings or ()] == [vector(_parts(text), 8) for text in TEXTS]
        google.close()
    with embedding_server(embeddings.ollama) as server, closing(OllamaClient(server.url)) as ollama:
        made = ollama.embed("m", TEXTS, dimensions=4)
        assert made.embeddings == [vector(text, 4) for text in TEXTS]
