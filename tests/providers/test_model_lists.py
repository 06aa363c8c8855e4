"""The operation `list_models`: ids as the vendors' own clients read them, page by page, sync and async."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import cohere
import httpx
import ollama
import openai
import pytest
from google import genai

from abstractcore import InvalidInputError, RateLimitError, ServerError, UnexpectedResponseError, create_llm
from abstractcore.schema import ModelList
from abstractcore_providers.plugin import register_wire_formats
from tests.chaos_server import answer, failure

KEY = "a-key"
OPENAI = {"object": "list", "data": [{"id": "b", "object": "model", "created": 1, "owned_by": "o"}, {"id": "a"}]}
ANTHROPIC = {
    "data": [{"id": "b", "type": "model", "display_name": "B", "created_at": "2026-01-01T00:00:00Z"}],
    "has_more": False,
    "first_id": "b",
    "last_id": "b",
}
GOOGLE = {"models": [{"name": "models/b", "displayName": "B"}, {"name": "models/a"}]}
COHERE = {"models": [{"name": "b", "endpoints": ["chat"]}, {"name": "a"}]}
OLLAMA = {"models": [{"name": "b:latest", "model": "b:latest", "size": 1}, {"name": "a:8b", "model": "a:8b"}]}


def of_openai(url: str) -> list[str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        return [model.id for model in client.models.list()]


def of_anthropic(url: str) -> list[str]:
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        return [model.id for model in client.models.list(limit=1000)]


def of_google(url: str) -> list[str]:
    with genai.Client(api_key=KEY, http_options={"base_url": url, "api_version": "v1beta"}) as client:
        return [(model.name or "").removeprefix("models/") for model in client.models.list(config={"page_size": 1000})]


def of_cohere(url: str) -> list[str]:
    with httpx.Client() as http:
        client = cohere.Client(api_key=KEY, base_url=url, httpx_client=http)
        return [model.name or "" for model in client.models.list(page_size=1000).models]


def of_ollama(url: str) -> list[str]:
    client = ollama.Client(host=url, trust_env=False)
    with client._client:
        return [model.model or "" for model in client.list().models]


VENDORS: Mapping[str, tuple[str, dict[str, Any], Callable[[str], list[str]]]] = {
    "openai": ("/v1", OPENAI, of_openai),
    "openai-responses": ("/v1", OPENAI, of_openai),
    "openai-compatible": ("/v1", OPENAI, of_openai),
    "mistral": ("/v1", OPENAI, of_openai),
    "anthropic": ("/v1", ANTHROPIC, of_anthropic),
    "google": ("/v1beta", GOOGLE, of_google),
    "cohere": ("/v2", COHERE, of_cohere),
    "ollama": ("", OLLAMA, of_ollama),
}


def listed(call_style: Any, llm: Any, **arguments: Any) -> ModelList:
    if call_style.name == "sync":
        return llm.operate("list_models", arguments=arguments).value
    return call_style.run(llm.aoperate("list_models", arguments=arguments)).value


@pytest.fixture
def connect(services: Any, server: Any) -> Callable[..., Any]:
    def make(provider: str = "openai", path: str = "/v1") -> Any:
        return create_llm(provider, "any", base_url=server.url + path, api_key=KEY, services=services, max_retries=0)

    return make


@pytest.mark.parametrize("provider", VENDORS)
def test_ids_and_request_are_those_of_the_vendors_client(call_style: Any, server: Any, connect: Any, provider: str):
    path, body, theirs = VENDORS[provider]
    for _ in range(2):
        server.script(answer(json.dumps(body).encode(), content_type="application/json"))
    ours = listed(call_style, connect(provider, path))
    assert list(ours.names) == theirs(server.url)
    assert ours.next is None
    mine, other = server.requests
    assert (mine.method, mine.target) == ("GET", other.target.replace("?page=1&", "?"))
    assert not mine.body


def test_bare_list_is_read(call_style: Any, server: Any, connect: Any):
    """Together AI answers without an object around the list."""
    server.script(answer(b'[{"id": "b"}, {"name": "a"}, {"type": "chat"}, 5]', content_type="application/json"))
    assert listed(call_style, connect("together")) == ModelList(("b", "a"))


@pytest.mark.parametrize(
    ("provider", "path", "first", "query"),
    [
        ("anthropic", "/v1", {**ANTHROPIC, "has_more": True, "last_id": "b/1"}, "limit=1000&after_id=b%2F1"),
        ("google", "/v1beta", {**GOOGLE, "nextPageToken": "t=1"}, "pageSize=1000&pageToken=t%3D1"),
        ("cohere", "/v2", {**COHERE, "next_page_token": "t&1"}, "page_size=1000&page_token=t%261"),
    ],
)
def test_next_page_is_asked_for(
    call_style: Any, server: Any, connect: Any, provider: str, path: str, first: dict[str, Any], query: str
):
    for body in (first, VENDORS[provider][1]):
        server.script(answer(json.dumps(body).encode(), content_type="application/json"))
    llm = connect(provider, path)
    page = listed(call_style, llm)
    assert page.next is not None
    assert listed(call_style, llm, after=page.next).next is None
    assert server.requests[1].target.partition("?")[2] == query


@pytest.mark.parametrize("arguments", [{"after": 5}, {"after": "x"}])
def test_page_that_no_list_named_is_refused(connect: Any, arguments: dict[str, Any]):
    with pytest.raises(InvalidInputError, match=r"arguments\.after: expected the `next` of a page, got"):
        connect().operate("list_models", arguments=arguments)


@pytest.mark.parametrize(
    ("scripted", "error"),
    [
        (answer(b"{}", content_type="application/json"), ServerError),
        (answer(b'{"data": {}}', content_type="application/json"), ServerError),
        (answer(b"<html>", content_type="text/html"), UnexpectedResponseError),
        (failure(429, "slow down"), RateLimitError),
    ],
)
def test_answer_without_a_list_is_an_error(call_style: Any, server: Any, connect: Any, scripted: bytes, error: type):
    server.script(scripted)
    with pytest.raises(error) as caught:
        listed(call_style, connect())
    assert KEY not in str(caught.value)


def test_formats_without_a_list_are_known():
    without = [
        format.name
        for format in register_wire_formats()
        if "list_models" not in getattr(format.transpiler(), "operations", {})
    ]
    assert without == ["bedrock_converse"]
