"""How requests find their routes, and what those without one are answered."""

from __future__ import annotations

import httpx2
import pytest

from abstractcore_server.context import RouteTable
from abstractcore_server.requests import RequestHead
from abstractcore_server.routes import ROUTES
from tests.server.serving import Served

TABLE = RouteTable(ROUTES)


@pytest.mark.parametrize("path", ["/v1/messages?beta=true", "/v1/messages?", "/v1/messages?a=b&a=c#x"])
def test_any_query_is_the_same_route(served: Served, http: httpx2.Client, path: str):
    served.script("hello")
    body = {"model": "scripted", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
    assert http.post(path, json=body).json()["content"][0]["text"] == "hello"


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1beta/models/openai/gpt-5:generateContent", "openai/gpt-5"),
        ("/v1beta/models/openai%2Fgpt-5:generateContent", "openai/gpt-5"),
        ("/v1/models/a:b:generateContent", "a:b"),
        ("/v1beta/openai/gpt-5:generateContent", "openai/gpt-5"),
        ("/v1/openai/gpt-5:streamGenerateContent", "openai/gpt-5"),
        ("/v1alpha/openai/gpt-5:countTokens", "openai/gpt-5"),
    ],
)
def test_model_in_the_path_may_have_a_provider(path: str, model: str):
    found = TABLE.find(RequestHead("POST", path, "", {}))
    assert found is not None
    assert found.handler is not None
    assert found.request.parameters == {"model": model}


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/../x:generateContent",
        "/v1beta/models/%2e%2e/x:generateContent",
        "/v1beta/models/a//b:generateContent",
        "/v1beta/../x:generateContent",
        "/v1beta/:generateContent",
        "/v1beta/models/a%00b:generateContent",
        "//v1/models",
        "/V1/models",
        "/v1/models/",
        "/v1/chat/completions/",
    ],
)
def test_no_other_spelling_of_a_path_is_a_route(path: str):
    assert TABLE.find(RequestHead("POST", path, "", {})) is None


def test_other_methods_name_those_that_are_allowed(http: httpx2.Client):
    response = http.put("/v1/chat/completions", json={})
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert http.post("/v1/models").headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("path", "headers", "where"),
    [
        ("/v1/nothing", {}, ("error", "type")),
        ("/v1/nothing", {"anthropic-version": "2023-06-01"}, ("error", "details")),
        ("/v1beta/nothing", {}, ("error", "status")),
        ("/v2/nothing", {}, ("code",)),
        ("/api/nothing", {}, ("code",)),
    ],
)
def test_unknown_path_is_404_in_the_shape_of_the_client(
    http: httpx2.Client, path: str, headers: dict[str, str], where: tuple[str, ...]
):
    response = http.get(path, headers=headers)
    assert response.status_code == 404
    found = response.json()
    for name in where:
        found = found[name]
    assert found


def test_head_of_the_root_is_answered(http: httpx2.Client):
    response = http.head("/")
    assert (response.status_code, response.content) == (200, b"")
