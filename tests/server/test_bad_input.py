"""Bad input on every route that takes a body: the client's error shape, the right status, no traceback, and a server
that goes on.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Generator
from typing import Any

import httpx2
import pytest

from abstractcore_server import ServerLimits, Settings
from tests.chaos_server import failure
from tests.server.serving import Served, serving

BODY_BYTES = 100_000
CHAT: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
CONTENTS: dict[str, Any] = {"contents": [{"parts": [{"text": "hi"}]}]}


def _openai(data: Any) -> str:
    assert data["error"].keys() >= {"message", "type", "param", "code"}
    return data["error"]["message"]


def _anthropic(data: Any) -> str:
    assert data["type"] == "error"
    assert data["error"]["type"]
    return data["error"]["message"]


def _google(data: Any) -> str:
    assert type(data["error"]["code"]) is int
    assert data["error"]["status"]
    return data["error"]["message"]


def _cohere(data: Any) -> str:
    return data["message"]


def _ollama(data: Any) -> str:
    return data["error"]


Shape = Callable[[Any], str]
ROUTES: dict[str, tuple[dict[str, Any], Shape]] = {
    "/v1/chat/completions": (CHAT, _openai),
    "/v1/completions": ({"model": "scripted", "prompt": "hi"}, _openai),
    "/v1/responses": ({"model": "scripted", "input": "hi"}, _openai),
    "/v1/messages": ({**CHAT, "max_tokens": 9}, _anthropic),
    "/v1/messages/count_tokens": (CHAT, _anthropic),
    "/v1beta/models/scripted:generateContent": (CONTENTS, _google),
    "/v1beta/models/scripted:streamGenerateContent": (CONTENTS, _google),
    "/v1beta/models/scripted:countTokens": (CONTENTS, _google),
    "/v2/chat": (CHAT, _cohere),
    "/api/chat": ({**CHAT, "stream": False}, _ollama),
    "/api/generate": ({"model": "scripted", "prompt": "hi", "stream": False}, _ollama),
    "/api/show": ({"model": "scripted"}, _ollama),
}
in_each_route = pytest.mark.parametrize("path", ROUTES)


@pytest.fixture(scope="module")
def running() -> Generator[Served]:
    with serving(Settings(limits=ServerLimits(body_bytes=BODY_BYTES, body_seconds=60))) as served:
        served.vendor.always(failure(404, "no such model"))  # bare names are sent to the vendor of a client's API
        yield served


def refused(http: httpx2.Client, path: str, content: bytes, status: int, **headers: str) -> str:
    """Sends a body that is refused; returns the message."""
    headers = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    response = http.post(path, content=content, headers=headers)
    assert response.status_code == status, response.text
    assert response.headers["x-abstractcore-trace-id"]
    assert "Traceback" not in response.text
    assert "/site-packages/" not in response.text
    message = ROUTES[path][1](response.json())
    assert message
    assert http.get("/health").status_code == 200
    return message


NOT_JSON = {
    "nothing": b"",
    "half": b'{"model": "scripted", "mess',
    "text": b"hello",
    "a form": b"model=scripted",
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "NaN": b'{"model": "scripted", "temperature": NaN}',
    "Latin-1": '{"model": "é"}'.encode("latin-1"),
    "a lone surrogate": b'{"model": "\\ud800"}',
    "two objects": b"{}{}",
    "10,000 levels": b'{"model": "scripted", "messages": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "90,000 digits": b'{"model": "scripted", "max_tokens": ' + b"9" * 90_000 + b"}",
}


@in_each_route
@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_no_json_object_is_refused(http: httpx2.Client, path: str, body: bytes):
    refused(http, path, body, 400)


@in_each_route
@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data", "x"])
def test_other_content_types_are_refused(http: httpx2.Client, path: str, content_type: str):
    body = json.dumps(ROUTES[path][0]).encode()
    assert "application/json" in refused(http, path, body, 415, content_type=content_type)


@in_each_route
def test_a_body_that_is_too_large_is_refused(http: httpx2.Client, path: str):
    body = b'{"model": "scripted", "x": "' + b"x" * BODY_BYTES + b'"}'
    assert "100000 bytes" in refused(http, path, body, 413)


@in_each_route
def test_a_packed_body_that_is_too_large_is_refused(http: httpx2.Client, path: str):
    bomb = gzip.compress(b" " * (BODY_BYTES * 100))
    assert "100000 bytes" in refused(http, path, bomb, 413, content_encoding="gzip")


@in_each_route
@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate"])
def test_other_encodings_are_refused(http: httpx2.Client, path: str, encoding: str):
    assert "gzip" in refused(http, path, b"{}", 415, content_encoding=encoding)


@in_each_route
def test_a_damaged_packed_body_is_refused(http: httpx2.Client, path: str):
    packed = gzip.compress(json.dumps(ROUTES[path][0]).encode())
    for damaged in (packed[:-5], packed + b"x", packed + packed, b"{}"):
        refused(http, path, damaged, 400, content_encoding="gzip")


WRONG: list[Any] = [
    1,
    1.5,
    True,
    None,
    "",
    "x",
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    [[[]]],
    [None],
    -1,
    2**63,
    [{"role": 1}],
    [{}],
]


def fields(path: str) -> list[str]:
    """The names of fields that a route reads, and one that it does not."""
    more = ["stream", "temperature", "max_tokens", "tools", "tool_choice", "stop", "unknown_field"]
    google = ["generationConfig", "systemInstruction", "tools", "toolConfig", "safetySettings", "unknownField"]
    own = list(ROUTES[path][0])
    return [*own, *(google if "contents" in own else more), "abstractcore"]


@pytest.mark.process
@in_each_route
def test_values_of_wrong_types_are_no_failures_of_the_server(served: Served, http: httpx2.Client, path: str):
    for name in fields(path):
        for value in WRONG:
            served.script(*["hello"] * 3)
            response = http.post(path, json={**ROUTES[path][0], name: value})
            served.begin_test()
            assert response.status_code in (200, 400, 404), (name, value, response.text)
            assert "Traceback" not in response.text
            if response.status_code >= 400:
                assert ROUTES[path][1](response.json()), (name, value)


@in_each_route
def test_unknown_models_have_the_nearest_names(http: httpx2.Client, path: str):
    body = json.dumps({**ROUTES[path][0], "model": "x/scripted"}).encode()
    if "scripted:" in path:
        response = http.post(path.replace("scripted:", "x/scripted:"), content=body)
        assert response.status_code == 404
        message = ROUTES[path][1](response.json())
    else:
        message = refused(http, path, body, 404)
    assert "Did you mean scripted?" in message


def test_infinite_numbers_are_refused(http: httpx2.Client):
    body = b'{"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "temperature": 1e999}'
    assert "temperature" in refused(http, "/v1/chat/completions", body, 400)


def test_unknown_names_in_our_own_field_are_refused_with_similar_ones(http: httpx2.Client):
    body = json.dumps({**CHAT, "abstractcore": {"media_polcy": "auto"}}).encode()
    assert "media_policy" in refused(http, "/v1/chat/completions", body, 400)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True, 9, 10**9])
def test_number_of_answers_is_limited(http: httpx2.Client, n: Any):
    refused(http, "/v1/chat/completions", json.dumps({**CHAT, "n": n}).encode(), 400)


def test_packed_bodies_are_read(served: Served, http: httpx2.Client):
    served.script("hello")
    body = gzip.compress(json.dumps(CHAT).encode())
    headers = {"content-encoding": "gzip", "content-type": "application/json; charset=utf-8"}
    response = http.post("/v1/chat/completions", content=body, headers=headers)
    assert response.json()["choices"][0]["message"]["content"] == "hello"
