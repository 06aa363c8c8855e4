"""Answers beyond an API's own words: several choices, the field and the headers of AbstractCore, ids and costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from abstractcore import AuthenticationError, CallRecord, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served

CHAT: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_choices_are_as_many_calls(served: Served, client: openai.OpenAI):
    served.script(*(ScriptedReply.text(text, usage=Usage(7, 3)) for text in "abc"))
    completion = client.chat.completions.create(
        model="scripted", messages=[{"role": "user", "content": "hi"}], n=3, temperature=1
    )
    assert sorted(choice.message.content or "" for choice in completion.choices) == ["a", "b", "c"]
    assert [choice.index for choice in completion.choices] == [0, 1, 2]
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.total_tokens) == (21, 30)
    assert all(not call.provider_options for call in served.calls)


def test_choices_are_streamed_beside_each_other(served: Served, client: openai.OpenAI):
    served.script(*(ScriptedReply.chunks([text, text], usage=Usage(7, 3)) for text in "ab"))
    stream = client.chat.completions.create(
        model="scripted",
        messages=[{"role": "user", "content": "hi"}],
        n=2,
        stream=True,
        stream_options={"include_usage": True},
    )
    texts, ended, usages = {0: "", 1: ""}, set[int](), list[int]()
    for chunk in stream:
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
            if choice.finish_reason == "stop":
                ended.add(choice.index)
        if chunk.usage is not None:
            usages.append(chunk.usage.total_tokens)
    assert sorted(texts.values()) == ["aa", "bb"]
    assert (ended, usages) == ({0, 1}, [20])


def test_one_failed_choice_fails_the_request(served: Served, client: openai.OpenAI):
    served.script("a", AuthenticationError("no"))
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "hi"}], n=2)


BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": {"model": "scripted", "prompt": "hi"},
    "/v1/responses": {"model": "scripted", "input": "hi"},
    "/v1/messages": {**CHAT, "max_tokens": 9},
    "/v1beta/models/scripted:generateContent": {"contents": [{"parts": [{"text": "hi"}]}]},
    "/v2/chat": CHAT,
    "/api/chat": {**CHAT, "stream": False},
    "/api/generate": {"model": "scripted", "prompt": "hi", "stream": False},
}


@pytest.mark.parametrize("path", BODIES)
def test_each_reply_has_our_field_if_the_request_has_it(served: Served, http: httpx2.Client, path: str):
    served.script(*[ScriptedReply.text("hello", usage=Usage(7, 3))] * 2)
    with_field = http.post(path, json={**BODIES[path], "abstractcore": {"tags": {"a": "b"}}})
    without = http.post(path, json=BODIES[path])
    found = with_field.json()["abstractcore"]
    assert (found["model"], found["cost"], found["usage"]) == ("scripted/scripted", "0", {"input": 7, "output": 3})
    assert "abstractcore" not in without.json()
    assert [dict(call.tags) for call in served.calls] == [{"a": "b"}, {}]
    assert all(not call.provider_options for call in served.calls)
    for response in (with_field, without):
        assert response.headers["x-abstractcore-model"] == "scripted/scripted"
        assert response.headers["x-abstractcore-cost"] == "0"


@pytest.mark.parametrize("path", BODIES)
def test_the_last_object_of_a_stream_has_our_field(served: Served, http: httpx2.Client, path: str):
    served.script(ScriptedReply.chunks(["hel", "lo"], usage=Usage(7, 3)))
    body: dict[str, Any] = {**BODIES[path], "abstractcore": {}}
    if "contents" in body:
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    else:
        body["stream"] = True
    lines = http.post(path, json=body).text.splitlines()
    objects = [json.loads(line.removeprefix("data: ")) for line in lines if line.removeprefix("data: ").startswith("{")]
    assert [index for index, each in enumerate(objects) if "abstractcore" in each] == [len(objects) - 1]
    assert objects[-1]["abstractcore"]["cost"] == "0"


def test_media_policy_and_options_of_our_field_are_those_of_the_call(served: Served, client: openai.OpenAI):
    served.script("hello")
    extension = {"media_policy": {"image": "refuse"}, "thinking": "high", "strict": True, "output_mode": "prompted"}
    client.chat.completions.create(
        model="scripted",
        messages=[{"role": "user", "content": "hi"}],
        extra_body={"abstractcore": extension},
    )
    call = served.call
    assert (dict(call.media_policy), call.thinking, call.strict) == ({"image": "refuse"}, "high", True)


@pytest.mark.parametrize(
    ("extension", "path"),
    [
        ({"thinking": "very"}, "abstractcore.thinking"),
        ({"strict": 1}, "abstractcore.strict"),
        ({"timeout": -1}, "abstractcore.timeout"),
        ({"media_policy": {"pictures": "auto"}}, "abstractcore.media_policy"),
        ({"api_key": "x"}, "abstractcore.api_key"),
        (["x"], "abstractcore"),
    ],
)
def test_invalid_values_of_our_field_are_named(http: httpx2.Client, extension: Any, path: str):
    response = http.post("/v1/chat/completions", json={**CHAT, "abstractcore": extension})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == path


def test_record_of_a_call_has_the_id_of_the_response(served: Served, http: httpx2.Client):
    records: list[CallRecord] = []
    served.script("hello")
    with served.application.state.services.records.subscribe(records.append) as subscription:
        headers = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        response = http.post("/v1/chat/completions", json=CHAT, headers=headers)
        subscription.flush()
    assert [record.trace_id for record in records] == [response.headers["x-abstractcore-trace-id"]]
    assert response.headers["x-request-id"] == records[0].trace_id
    assert dict(served.call.trace_context) == headers


def test_ids_of_requests_reach_the_vendors_clients(served: Served):
    served.script("hello")
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        message = client.messages.create(model="scripted", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert message._request_id  # pyright: ignore[reportPrivateUsage]
    assert message.id == f"msg_{message._request_id}"  # pyright: ignore[reportPrivateUsage]
