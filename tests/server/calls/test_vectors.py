"""Vectors and rankings, with the vendors' own packages as the clients, and strict vendors behind the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import cohere
import httpx2
import openai
import pytest
from google import genai
from ollama import Client as OllamaClient

from abstractcore.ports import Refusal
from abstractcore.schema import Message, ModelCall
from abstractcore_server import GuardSettings, ModelSettings, ProviderSettings, Settings, server_services
from tests.providers.strict_fakes import embeddings
from tests.providers.strict_fakes.embeddings import EmbeddingServer, embedding_server, packed, vector
from tests.server.accounts import Accounts
from tests.server.guard_doubles import Double
from tests.server.serving import Served, serving

TEXTS = ["a cat", "a dog", "ünïcode"]
DOCUMENTS = ["the cat sleeps", "who lets the dogs out", "dogs bark"]
VENDORS = {
    "cohere": (embeddings.cohere_v2, "/v2"),
    "google": (embeddings.gemini, "/v1beta"),
    "ollama": (embeddings.ollama, ""),
    "jina": (embeddings.jina, "/v1"),
    "voyage": (embeddings.voyage, "/v1"),
    "mistral": (embeddings.mistral, "/v1"),
}


@contextmanager
def embedding_vendors() -> Iterator[Mapping[str, EmbeddingServer]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(embedding_server(vendor)) for name, (vendor, _) in VENDORS.items()}


@pytest.fixture(scope="module")
def vendors() -> Iterator[Mapping[str, EmbeddingServer]]:
    with embedding_vendors() as running:
        yield running


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts, vendors: Mapping[str, EmbeddingServer]) -> Iterator[Served]:
    options = {"api_key": "vendor-key", "max_retries": 0}
    providers = {
        name: ProviderSettings(base_url=vendors[name].url + path, options=options)
        for name, (_, path) in VENDORS.items()
    }
    groups = {
        "rank": ModelSettings(("jina/jina-reranker-v3", "voyage/rerank-2.5")),
        "mixed": ModelSettings(("mistral/mistral-embed", "voyage/voyage-4")),
    }
    with serving(Settings(models=groups, providers=providers), access=accounts, vendors={}) as served:
        yield served


@pytest.fixture(autouse=True)
def forget(accounts: Accounts, vendors: Mapping[str, EmbeddingServer]) -> None:
    accounts.clear()
    for vendor in vendors.values():
        vendor.bodies.clear()
        vendor.response = lambda body: body


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="client-key", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("encoding", ["float", "base64", None])
def test_client_of_openai_gets_vectors_of_any_vendor(client: openai.OpenAI, accounts: Accounts, encoding: Any):
    more = {} if encoding is None else {"encoding_format": encoding}
    made = client.embeddings.create(model="mistral/mistral-embed", input=TEXTS, **more)
    expected = [packed(text, 8) if encoding == "base64" else vector(text, 8) for text in TEXTS]
    assert [each.embedding for each in made.data] == expected
    assert [each.index for each in made.data] == [0, 1, 2]
    assert (made.model, made.usage.prompt_tokens) == ("mistral/mistral-embed", 9)
    (settled,) = accounts.settled
    assert (settled.outcome, settled.usage.input, settled.estimated) == ("done", 9, False)


def test_client_of_cohere_gets_vectors_and_rankings(served: Served, vendors: Mapping[str, EmbeddingServer]):
    with cohere.ClientV2("client-key", base_url=served.url) as client:
        made = client.embed(model="embed-v4.0", input_type="search_query", texts=TEXTS, embedding_types=["float"])
        assert made.embeddings.float_ == [vector(text, 8) for text in TEXTS]
        assert made.meta is not None
        assert made.meta.billed_units is not None
        assert made.meta.billed_units.input_tokens == 9
        assert vendors["cohere"].bodies[0]["input_type"] == "search_query"
        ranked = client.rerank(model="rerank-v4.0-pro", query="dogs bark", documents=DOCUMENTS, top_n=2)
        assert [each.index for each in ranked.results] == [2, 1]


def test_client_of_google_gets_vectors(served: Served, vendors: Mapping[str, EmbeddingServer]):
    client = genai.Client(api_key="client-key", http_options={"base_url": served.url})
    made = client.models.embed_content(
        model="gemini-embedding-001", contents=TEXTS, config={"task_type": "CLUSTERING", "output_dimensionality": 128}
    )
    assert [each.values for each in made.embeddings or ()] == [vector([{"text": text}], 128) for text in TEXTS]
    assert {each["taskType"] for each in vendors["google"].bodies[0]["requests"]} == {"CLUSTERING"}
    client.close()


def test_client_of_ollama_gets_vectors(served: Served):
    with closing(OllamaClient(served.url, headers={"authorization": "Bearer client-key"})) as client:
        made = client.embed("nomic-embed-text", TEXTS, dimensions=64)
        assert made.embeddings == [vector(text, 64) for text in TEXTS]
        assert made.prompt_eval_count == 9
        assert client.embeddings("nomic-embed-text", "a cat").embedding == vector("a cat", 8)


def test_single_content_of_google_has_one_vector(http: httpx2.Client):
    body = {"content": {"parts": [{"text": "a cat"}]}}
    response = http.post("/v1beta/models/cohere/embed-v4.0:embedContent", json={**body, "taskType": "RETRIEVAL_QUERY"})
    assert response.json()["embedding"]["values"] == vector("a cat", 8)


@pytest.mark.parametrize("model", ["jina/jina-reranker-v3", "voyage/rerank-2.5", "cohere/rerank-v4.0-pro", "rank"])
def test_rerank_has_the_shape_that_servers_of_rerankers_share(http: httpx2.Client, model: str):
    body = {"model": model, "query": "dogs bark", "documents": DOCUMENTS, "top_n": 2, "return_documents": True}
    found = http.post("/v1/rerank", json=body).json()
    assert [each["index"] for each in found["results"]] == [2, 1]
    assert found["results"][0] == {"index": 2, "relevance_score": 1.0, "document": {"text": "dogs bark"}}
    assert found["model"] == model


def test_client_of_voyage_gets_vectors_and_rankings(http: httpx2.Client, vendors: Mapping[str, EmbeddingServer]):
    """The requests are those of the package voyageai, version 0.5, which sends null for what is not asked for. It is
    not installed: it requires langchain-core, langsmith and ten packages more.
    """
    asked = {"input": TEXTS, "model": "voyage/voyage-4", "input_type": "query", "truncation": True}
    rest = {"output_dtype": None, "output_dimension": 256, "encoding_format": "base64"}
    made = http.post("/v1/embeddings", json={**asked, **rest}).json()
    assert [each["embedding"] for each in made["data"]] == [packed(text, 256) for text in TEXTS]
    assert made["usage"]["total_tokens"] == 9
    (sent,) = vendors["voyage"].bodies
    assert (sent["input_type"], sent["truncation"], sent["output_dimension"]) == ("query", True, 256)
    wanted = {"query": "dogs", "documents": DOCUMENTS, "top_k": 1, "truncation": False}
    ranked = http.post("/v1/rerank", json={**wanted, "model": "cohere/rerank-v3.5"}).json()
    assert [each["index"] for each in ranked["data"]] == [1]
    assert "results" not in ranked
    assert vendors["cohere"].bodies[0]["top_n"] == 1
    wanted |= {"top_k": None, "return_documents": True}
    ranked = http.post("/v1/rerank", json={**wanted, "model": "voyage/rerank-2.5"}).json()
    assert sorted(each["document"] for each in ranked["data"]) == sorted(DOCUMENTS)


@pytest.mark.parametrize(
    ("path", "asked"), [("embeddings", {"input": [" "]}), ("rerank", {"query": 1, "documents": []})]
)
def test_errors_are_those_of_openai_and_of_voyage(http: httpx2.Client, path: str, asked: Mapping[str, Any]):
    """The package voyageai makes an error of a class of its own only of a response with `detail`."""
    response = http.post(f"/v1/{path}", json={"model": "voyage/voyage-4", **asked})
    assert response.status_code == 400
    body = response.json()
    assert body["error"]["type"] == "invalid_request_error"
    assert body["detail"] == body["error"]["message"]


def test_client_of_jina_gets_vectors_for_a_purpose(http: httpx2.Client, vendors: Mapping[str, EmbeddingServer]):
    asked = {"model": "voyage/voyage-4", "input": TEXTS, "task": "retrieval.passage", "embedding_type": "base64"}
    made = http.post("/v1/embeddings", json={**asked, "dimensions": 256}).json()
    assert [each["embedding"] for each in made["data"]] == [packed(text, 256) for text in TEXTS]
    (sent,) = vendors["voyage"].bodies
    assert (sent["input_type"], sent["output_dimension"]) == ("document", 256)


def test_next_model_of_a_group_ranks_if_one_fails(http: httpx2.Client, vendors: Mapping[str, EmbeddingServer]):
    vendors["jina"].response = lambda body: {}
    response = http.post("/v1/rerank", json={"model": "rank", "query": "dogs", "documents": DOCUMENTS})
    assert response.status_code == 200
    assert response.headers["x-abstractcore-model"] == "voyage/rerank-2.5"


def test_group_of_different_embedding_models_is_refused(http: httpx2.Client, vendors: Mapping[str, EmbeddingServer]):
    response = http.post("/v1/embeddings", json={"model": "mixed", "input": "a"})
    assert response.status_code == 400
    assert "cannot be compared" in response.json()["error"]["message"]
    assert all(not vendor.bodies for vendor in vendors.values())


def test_many_texts_are_split_within_the_limits_of_the_vendor(
    client: openai.OpenAI, vendors: Mapping[str, EmbeddingServer]
):
    texts = [f"text {number}" for number in range(200)]
    made = client.embeddings.create(model="cohere/embed-v4.0", input=texts, extra_body={"encoding_format": "float"})
    assert [each.embedding for each in made.data] == [vector(text, 8) for text in texts]
    assert max(len(body["texts"]) for body in vendors["cohere"].bodies) <= 96


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/embeddings", {"model": "mistral/mistral-embed"}, "input"),
        ("/v1/embeddings", {"model": "mistral/mistral-embed", "input": [[1, 2]]}, "input[0]"),
        ("/v1/embeddings", {"model": "mistral/mistral-embed", "input": "a", "abstractcore": {}}, "abstractcore"),
        ("/v1/embeddings", {"model": "mistral/mistral-embed", "input": "a", "output_dtype": "int8"}, "output_dtype"),
        ("/v1/embeddings", {"model": "mistral/mistral-embed", "input": "a", "encoding_format": "x"}, "encoding_format"),
        (
            "/v1/embeddings",
            {"model": "mistral/mistral-embed", "input": "a", "embedding_type": "binary"},
            "embedding_type",
        ),
        ("/v1/embeddings", {"model": "mistral/mistral-embed", "input": "a", "input_type": "x"}, "input_type"),
        ("/v1/rerank", {"model": "rank", "query": "q", "documents": []}, "documents"),
    ],
)
def test_what_is_wrong_is_named(http: httpx2.Client, path: str, body: Any, field: str):
    response = http.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == field


def test_receipt_has_each_request_of_the_vendor(http: httpx2.Client, vendors: Mapping[str, EmbeddingServer]):
    texts = [f"text {number}" for number in range(100)]
    response = http.post("/v1/embeddings", json={"model": "cohere/embed-v4.0", "input": texts})
    calls = json.loads(response.headers["x-abstractcore-receipt"])["calls"]
    assert len(calls) == len(vendors["cohere"].bodies) == 2
    assert {call["model"] for call in calls} == {"cohere/embed-v4.0"}
    assert len({call["reply"] for call in calls}) == 2


def test_failure_of_the_vendor_is_that_of_the_clients_api(client: openai.OpenAI, accounts: Accounts):
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="cohere/embed-v4.0", input=["a"], dimensions=7)
    assert [each.outcome for each in accounts.settled] in ([], ["failed"])


def _mask(call: ModelCall, context: Any) -> Any:
    texts = [message.text for message in call.messages]
    if "forbidden" in texts:
        return Refusal("not this")
    return call.with_(messages=tuple(Message.user("***" if text == "secret" else text) for text in texts))


def test_guard_sees_and_changes_the_texts(vendors: Mapping[str, EmbeddingServer]):
    options = {"api_key": "vendor-key", "max_retries": 0}
    provider = ProviderSettings(base_url=vendors["mistral"].url + "/v1", options=options)
    settings = Settings(providers={"mistral": provider}, guards={"g": GuardSettings("masks")})
    services = server_services(Settings(), environment={}, random=lambda: 0.0)
    services.registry.add_guard(Double("masks", ("check_call",), do=_mask))
    with serving(settings, services=services, vendors={}) as served, httpx2.Client(base_url=served.url) as http:
        response = http.post("/v1/embeddings", json={"model": "mistral/mistral-embed", "input": ["a", "secret"]})
        assert response.status_code == 200, response.text
        assert vendors["mistral"].bodies[0]["input"] == ["a", "***"]
        response = http.post("/v1/embeddings", json={"model": "mistral/mistral-embed", "input": ["forbidden"]})
        assert response.status_code == 400
        assert len(vendors["mistral"].bodies) == 1
