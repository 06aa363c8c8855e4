"""Counts of tokens in every API: everything that is sent counts, and an estimate says that it is one.

What each API has: "Count tokens" of Anthropic, `POST /responses/input_tokens` of OpenAI, `countTokens` of Google. The
settlements are those of answers of a vendor that reports no usage.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore_server.access.stored_keys import StoredKeys
from abstractcore_server.calls.answers import count_tokens
from abstractcore_server.routes import ROUTES
from abstractcore_server.store import KeyLimits, Keys, Store
from tests.chaos_server import DONE, LAST_CHUNK, answer, chunk, completion_body, delta, stream_head
from tests.server.accounts import Accounts
from tests.server.counted_bodies import (
    KINDS,
    chat,
    cohere,
    completions,
    gemini,
    messages,
    ollama,
    ollama_generate,
    responses,
)
from tests.server.serving import Served, serving

MODEL = "openai/gpt-4.1"
Body = Callable[[str], dict[str, Any]]
COUNTED: Mapping[str, tuple[Body, str, frozenset[str]]] = {
    "/v1/messages/count_tokens": (messages, "input_tokens", frozenset({"audio"})),
    "/v1/responses/input_tokens": (responses, "input_tokens", frozenset({"audio"})),
    "/v1beta/models/{model}:countTokens": (gemini, "totalTokens", frozenset()),
}
"""For each route that counts: its bodies, where the count is, and kinds that the API has no part for."""
_NO_FILES = frozenset({"image", "pdf", "audio"})
ANSWERED: Mapping[str, tuple[Body, frozenset[str]]] = {
    "/v1/chat/completions": (chat, frozenset({"audio"})),
    "/v1/completions": (completions, _NO_FILES | {"tools", "schema"}),
    "/v1/responses": (responses, frozenset({"audio"})),
    "/v1/messages": (lambda kind: {**messages(kind), "max_tokens": 100}, frozenset({"audio"})),
    "/v1beta/models/{model}:generateContent": (gemini, frozenset({"audio"})),
    "/v2/chat": (cohere, frozenset({"pdf", "audio"})),
    "/api/chat": (ollama, frozenset({"pdf", "audio"})),
    "/api/generate": (ollama_generate, frozenset({"tools", "pdf", "audio"})),
}
"""For each route that answers: its bodies, and kinds that the API has no part for, or whose conversion takes long."""


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts) -> Iterator[Served]:
    with serving(access=accounts) as served:
        yield served


def post(http: httpx2.Client, path: str, body: dict[str, Any], model: str = MODEL) -> httpx2.Response:
    if "{model}" not in path:
        body = {**body, "model": model}
    elif path.endswith(":countTokens"):
        body = {"generateContentRequest": {**body, "model": f"models/{model}"}}
    response = http.post(path.replace("{model}", model), json=body)
    assert response.status_code == 200, response.text
    return response


def test_every_route_that_counts_is_walked():
    found = {route.path for route in ROUTES if count_tokens in route.methods.values()}
    assert {re.sub(r"^/v1(alpha|beta)?/models/", "/v1beta/models/", path) for path in found} == {*COUNTED}


def uncounted(text: str) -> bytes:
    """An answer of a vendor that reports no usage."""
    return answer({**completion_body(text), "usage": None})


@pytest.mark.parametrize("model", [MODEL, "scripted"])
def test_everything_that_is_sent_counts_and_an_estimate_says_so(served: Served, http: httpx2.Client, model: str):
    walked = 0
    for path, (body, field, absent) in COUNTED.items():
        least = post(http, path, body(""), model).json()[field]
        for kind in KINDS:
            if kind in absent:
                continue
            response = post(http, path, body(kind), model)
            assert response.json()[field] > least + 5, (path, kind)
            assert response.headers["x-abstractcore-estimate"] == "true", (path, kind)
            walked += 1
    assert walked == 3 * 6 - 2
    assert not served.vendor.requests


def test_chat_has_no_route_that_counts_and_its_decisions_have_the_estimate(http: httpx2.Client):
    found = {kind: post(http, "/v1/decisions", chat(kind)).json()["estimated_input_tokens"] for kind in ("", *KINDS)}
    least = found.pop("")
    assert all(tokens > least + 5 for tokens in found.values()), (least, found)
    assert len(found) == 6


@pytest.mark.parametrize("path", COUNTED)
def test_count_of_a_provider_says_nothing_of_an_estimate(served: Served, http: httpx2.Client, path: str):
    served.vendor.always(answer({"totalTokens": 17}))
    response = post(http, path, COUNTED[path][0]("tools"), "google/gemini-3.8-flash")
    assert response.json()[COUNTED[path][1]] == 17
    assert "x-abstractcore-estimate" not in response.headers


def test_upstream_without_a_route_for_counts_has_an_estimate_and_no_error(served: Served, http: httpx2.Client):
    served.vendor.always(answer({"type": "error", "error": {"type": "not_found_error", "message": "Not Found"}}, 404))
    for path, (body, field, _) in COUNTED.items():
        response = post(http, path, body("tools"), "anthropic/claude-opus-4-5")
        assert response.headers["x-abstractcore-estimate"] == "true", path
        assert response.json()[field] > 50, path
    assert len(served.vendor.requests) == 3


def test_everything_that_is_sent_is_settled_if_the_vendor_reports_nothing(
    served: Served, http: httpx2.Client, accounts: Accounts
):
    walked = 0
    for path, (body, absent) in ANSWERED.items():
        found: dict[str, int] = {}
        for kind in ("", *KINDS):
            if kind in absent:
                continue
            served.vendor.script(uncounted("{}"))
            accounts.clear()
            post(http, path, body(kind))
            settled = accounts.wait()
            assert settled.estimated, (path, kind)
            found[kind] = settled.usage.input or 0
        least = found.pop("")
        assert all(tokens > least + 5 for tokens in found.values()), (path, least, found)
        walked += len(found)
    assert walked == 8 * 6 - 16


def test_one_estimate_is_used_everywhere(served: Served, http: httpx2.Client, accounts: Accounts):
    body = {**messages("image"), **messages("tools"), "max_tokens": 100}
    body["messages"] = messages("image")["messages"]
    counted = post(http, "/v1/messages/count_tokens", body).json()["input_tokens"]
    served.vendor.script(uncounted("EUR 12"))
    accounts.clear()
    post(http, "/v1/messages", body)
    settled = accounts.wait().usage.input
    served.vendor.script(
        stream_head() + b"".join(map(chunk, (delta("EUR 12"), delta(finish_reason="stop"), DONE))) + LAST_CHUNK
    )
    lines = post(http, "/v1/messages", {**body, "stream": True}).text.splitlines()
    first = next(json.loads(line[6:]) for line in lines if line.startswith("data: {"))
    planned = http.post("/v1/decisions", json={**body, "model": MODEL}, headers={"anthropic-version": "2023-06-01"})
    found = (
        counted,
        settled,
        first["message"]["usage"]["input_tokens"],
        planned.json()["estimated_input_tokens"],
    )
    assert found == (counted,) * 4
    assert counted > 700, "the tiles of the image, and the tool"


def test_continued_response_counts_with_what_it_continues(served: Served, http: httpx2.Client):
    served.script("The total is twelve euros.")
    first = post(http, "/v1/responses", responses("text"), "scripted").json()
    body = {"input": "And the date?"}
    alone = post(http, "/v1/responses/input_tokens", body, "scripted").json()["input_tokens"]
    continued = post(http, "/v1/responses/input_tokens", {**body, "previous_response_id": first["id"]}, "scripted")
    assert continued.json()["input_tokens"] > alone + 15


def test_tokens_of_a_file_are_reserved_of_the_limits_of_a_key(tmp_path: Path):
    store = Store(tmp_path / "server.db")
    secret = Keys(store, time.time).create("alice", limits=KeyLimits(tokens_per_minute=1000)).secret
    headers = {"authorization": f"Bearer {secret}"}
    with serving(access=StoredKeys(store)) as served:
        for kind, expected in (("", 200), ("", 200), ("image", 429)):
            served.vendor.script(uncounted("EUR 12"))
            body = {**chat(kind), "model": MODEL, "max_tokens": 10}
            response = httpx2.post(f"{served.url}/v1/chat/completions", json=body, headers=headers, trust_env=False)
            assert response.status_code == expected, response.text
    store.close()
