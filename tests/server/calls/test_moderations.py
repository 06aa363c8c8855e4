"""`/v1/moderations`, with the openai and mistralai packages as the clients, and the bytes of both sides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from mistralai.client import Mistral
from mistralai.client.models import ModerationResponse

from abstractcore_server import Grant, ModelSettings, Settings
from tests.chaos_server import answer, completion, failure, raw_answer
from tests.server.accounts import Accounts
from tests.server.serving import FORMATS, VENDOR_KEY, Served, serving

REPLY = b"""{
  "id": "modr-1", "model": "omni-moderation-latest",
  "results": [{"flagged": true, "categories": {"violence": true}, "category_scores": {"violence": 9.5e-1},
    "category_applied_input_types": {"violence": ["text"]}}], "new_field": 1.0 }
"""
OF_MISTRAL: dict[str, Any] = {
    "id": "m-1",
    "model": "mistral-moderation-latest",
    "results": [{"categories": {"selfharm": False}, "category_scores": {"selfharm": 0.01}}],
}


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts) -> Iterator[Served]:
    groups = {"safe": ModelSettings(("mistral/mistral-moderation-latest", "openai/omni-moderation-latest"))}
    with serving(Settings(models=groups), access=accounts, vendors={**FORMATS, "mistral": "/v1"}) as served:
        yield served


@pytest.fixture
def client(served: Served, accounts: Accounts) -> Iterator[openai.OpenAI]:
    accounts.clear()
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="client-key", max_retries=0) as client:
        yield client


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    "given",
    [
        "a text",
        " ",
        ["two", "texts"],
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}],
        [
            {"type": "text", "text": "a text"},
            {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}},
        ],
    ],
)
def test_client_of_openai_gets_the_moderation(served: Served, client: openai.OpenAI, accounts: Accounts, given: Any):
    served.vendor.script(raw_answer(REPLY))
    moderation = client.moderations.create(input=given, model="openai/omni-moderation-latest")
    assert moderation.results[0].flagged
    assert moderation.results[0].category_scores.violence == 0.95
    (request,) = served.vendor.requests
    assert (request.target, request.json) == ("/v1/moderations", {"input": given, "model": "omni-moderation-latest"})
    (settled,) = accounts.settled
    assert (settled.outcome, settled.cost, settled.estimated) == ("done", 0, True)
    assert settled.usage.input


@pytest.mark.parametrize(
    ("body", "sent", "changed"),
    [
        (b'{ "input" : "h\\u00e9", "new":[1.0] }', None, []),
        (b'{"model":"omni-moderation-latest",\n"input":"x"}', None, []),
        (
            b'{"model" : "openai\\/omni-moderation-latest","input":"x"}',
            b'{"model" : "omni-moderation-latest","input":"x"}',
            ["model"],
        ),
    ],
)
def test_bytes_go_through(served: Served, http: httpx2.Client, body: bytes, sent: bytes | None, changed: list[str]):
    served.vendor.script(raw_answer(REPLY))
    response = http.post("/v1/moderations", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.content) == (200, REPLY)
    (request,) = served.vendor.requests
    assert request.body == (sent or body)
    assert VENDOR_KEY in repr(request.headers)
    call = {"model": "openai/omni-moderation-latest", "request": digest(request.body), "changed": changed}
    assert json.loads(response.headers["x-abstractcore-receipt"]) == {
        "request": digest(body),
        "calls": [{**call, "reply": digest(REPLY)}],
        "reply": digest(REPLY),
    }
    assert response.headers["x-abstractcore-model"] == "openai/omni-moderation-latest"
    assert response.headers["x-abstractcore-cost"] == "0"


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (
            b'{"model":"openai/gpt-5.4","input":"x","model":"omni-moderation-latest"}',
            b'{"model":"omni-moderation-latest","input":"x"}',
        ),
        (b'{"input":"a","input":"b"}', b'{"input":"b","model":"omni-moderation-latest"}'),
        (
            b'{"input":[{"type":"text","text":"a","t\\u0065xt":"b"}]}',
            b'{"input":[{"type":"text","text":"b"}],"model":"omni-moderation-latest"}',
        ),
    ],
)
def test_key_that_stands_twice_is_sent_once_as_it_was_checked(
    served: Served, http: httpx2.Client, body: bytes, sent: bytes
):
    served.vendor.script(raw_answer(REPLY))
    response = http.post("/v1/moderations", content=body, headers={"content-type": "application/json"})
    assert response.headers["x-abstractcore-model"] == "openai/omni-moderation-latest"
    assert [request.body for request in served.vendor.requests] == [sent]


def test_client_of_mistral_gets_the_categories_of_mistral(served: Served):
    served.vendor.script(answer(OF_MISTRAL))
    with Mistral(server_url=served.url, api_key="client-key") as client:
        found = client.classifiers.moderate(model="mistral/mistral-moderation-latest", inputs=["a text"])
    assert isinstance(found, ModerationResponse)
    assert found.model_dump() == OF_MISTRAL
    assert served.vendor.requests[0].json == {"model": "mistral-moderation-latest", "input": ["a text"]}


def test_next_model_of_a_group_moderates_if_one_fails(served: Served, client: openai.OpenAI, accounts: Accounts):
    served.vendor.script(failure(503))
    served.vendor.script(raw_answer(REPLY))
    assert client.moderations.create(input="a text", model="safe").results[0].flagged
    assert [request.json["model"] for request in served.vendor.requests] == [
        "mistral-moderation-latest",
        "omni-moderation-latest",
    ]
    assert [each.outcome for each in accounts.settled] == ["failed", "done"]


def test_errors_of_the_vendor_are_those_of_the_client(served: Served, client: openai.OpenAI):
    served.vendor.script(failure(429, "slow down"))
    served.vendor.script(answer("[1]"))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        client.moderations.create(input="a text")
    with pytest.raises(openai.InternalServerError, match="not a JSON object"):
        client.moderations.create(input="a text")


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({}, openai.BadRequestError, "input"),
        ({"input": []}, openai.BadRequestError, "input"),
        ({"input": ["a", 1]}, openai.BadRequestError, "input"),
        ({"input": "x", "abstractcore": {}}, openai.BadRequestError, "abstractcore"),
        ({"input": "x", "model": 7}, openai.BadRequestError, "model"),
        ({"input": "x", "model": "cohere/command-a"}, openai.BadRequestError, "cohere has no moderation endpoint"),
        ({"input": "x", "model": "default"}, openai.BadRequestError, "set up here: openai, openai-responses, mistral"),
        ({"input": "x", "model": "nobody/model"}, openai.NotFoundError, "Providers with a moderation endpoint: openai"),
    ],
)
def test_what_no_provider_can_do_is_refused_with_those_that_could(
    served: Served, client: openai.OpenAI, body: dict[str, Any], kind: type[openai.APIStatusError], message: str
):
    with pytest.raises(kind, match=message):
        client.post("/moderations", body=body, cast_to=object)
    assert not served.vendor.requests


def test_key_needs_the_right_to_the_model(served: Served, client: openai.OpenAI, accounts: Accounts):
    accounts.grant = Grant(models=("mistral/*",))
    with pytest.raises(openai.PermissionDeniedError, match="may not use"):
        client.moderations.create(input="a text")
    assert not served.vendor.requests


def test_chat_after_a_moderation_is_not_taken_for_one(served: Served, client: openai.OpenAI):
    served.vendor.script(raw_answer(REPLY))
    served.vendor.script(completion("hello"))
    client.moderations.create(input="a text")
    chat = client.chat.completions.create(model="openai/gpt-4.1", messages=[{"role": "user", "content": "hi"}])
    assert chat.choices[0].message.content == "hello"
