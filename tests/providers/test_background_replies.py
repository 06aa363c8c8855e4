"""Replies made in the background: started by a call, and read later with the operation `retrieve_reply`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx2
import openai
import pytest
from google import genai

from abstractcore import InvalidInputError, ServerError, create_llm, record, replay
from abstractcore.schema import CallRecord, Message, ReasoningPart, Usage
from tests.chaos_server import answer

MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "42", "annotations": []}],
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
RESPONSE = {
    "id": "resp_1/a",
    "object": "response",
    "model": "gpt-5.4-mini-2026-03-17",
    "background": True,
    "output": [],
}
INTERACTION = {"id": "v1_a/b", "object": "interaction", "model": "gemini-2.5-flash"}


@dataclass(frozen=True)
class Vendor:
    """One vendor's background mode: its answers at each stage, and where a reply is read."""

    provider: str
    model: str
    started: dict[str, Any]
    finished: dict[str, Any]
    failed: dict[str, Any]
    path: str
    cost: Decimal


VENDORS = (
    Vendor(
        "openai-responses",
        "gpt-5.4-mini",
        {**RESPONSE, "status": "queued"},
        {
            **RESPONSE,
            "status": "completed",
            "output": [REASONING, MESSAGE],
            "usage": {"input_tokens": 1000, "output_tokens": 2000, "total_tokens": 3000},
        },
        {**RESPONSE, "status": "failed", "error": {"code": "server_error", "message": "it broke"}},
        "/v1/responses/resp_1%2Fa?include%5B%5D=reasoning.encrypted_content",
        Decimal("0.00975"),
    ),
    Vendor(
        "google-interactions",
        "gemini-2.5-flash",
        {**INTERACTION, "status": "in_progress"},
        {
            **INTERACTION,
            "status": "completed",
            "steps": [
                {"type": "thought", "summary": [{"type": "text", "text": "Hm."}], "signature": "c2ln"},
                {"type": "model_output", "content": [{"type": "text", "text": "42"}]},
            ],
            "usage": {"total_input_tokens": 1000, "total_output_tokens": 2000},
        },
        {**INTERACTION, "status": "failed", "error": {"code": "server_error", "message": "it broke"}},
        "/v1/interactions/v1_a%2Fb",
        Decimal("0.0053"),
    ),
)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.provider)
def vendor(request: Any) -> Vendor:
    return request.param


def served(server: Any, *bodies: dict[str, Any]) -> None:
    for body in bodies:
        server.script(answer(json.dumps(body).encode(), content_type="application/json"))


def connect(server: Any, services: Any, vendor: Vendor, *middleware: Any) -> Any:
    return create_llm(
        vendor.provider,
        model=vendor.model,
        base_url=f"{server.url}/v1",
        api_key="k",
        services=services,
        middleware=list(middleware),
        max_retries=0,
    )


def generate(call_style: Any, llm: Any, prompt: str, **options: Any) -> Any:
    return (
        llm.generate(prompt, **options)
        if call_style.name == "sync"
        else call_style.run(llm.agenerate(prompt, **options))
    )


def retrieve(call_style: Any, llm: Any, id: str) -> Any:
    arguments = {"id": id}
    if call_style.name == "sync":
        return llm.operate("retrieve_reply", arguments=arguments)
    return call_style.run(llm.aoperate("retrieve_reply", arguments=arguments))


def test_reply_is_paused_until_it_is_finished(call_style, server, services, vendor):
    served(server, vendor.started, {**vendor.started, "status": "in_progress"}, vendor.finished)
    llm = connect(server, services, vendor)
    begun = generate(call_style, llm, "hi", provider_options={vendor.provider: {"background": True}})
    assert (begun.finish_reason, begun.content, begun.usage) == ("paused", "", Usage())
    sent = server.requests[0].json
    assert sent["background"] is True
    assert "store" not in sent, "the provider stores it unless told otherwise"
    waiting = retrieve(call_style, llm, begun.reply.id)
    assert (waiting.value.finish_reason, waiting.usage) == ("paused", Usage(input=0, output=0))
    reply = retrieve(call_style, llm, begun.reply.id).value
    assert (reply.finish_reason, reply.text, reply.usage.output) == ("stop", "42", 2000)
    reads = server.requests[1:]
    assert {(request.method, request.target, request.body) for request in reads} == {("GET", vendor.path, b"")}


def test_reasoning_of_a_retrieved_reply_belongs_to_the_model_that_was_asked(call_style, server, services, vendor):
    served(server, vendor.finished)
    reply = retrieve(call_style, connect(server, services, vendor), "id").value
    (thought,) = (part for part in reply.parts if isinstance(part, ReasoningPart))
    assert (thought.text, thought.origin) == ("Hm.", f"{vendor.provider}/{vendor.model}")


def test_finished_reply_is_charged_and_recorded_where_it_is_read(call_style, server, services, vendor):
    records: list[CallRecord] = []
    served(server, vendor.started, vendor.started, vendor.finished)
    llm = connect(server, services, vendor)
    with services.records.subscribe(records.append):
        begun = generate(call_style, llm, "hi", provider_options={vendor.provider: {"background": True}})
        for _ in range(2):
            retrieve(call_style, llm, begun.reply.id)
    assert [(each.operation, each.cost) for each in records[1:]] == [
        ("retrieve_reply", Decimal(0)),
        ("retrieve_reply", vendor.cost),
    ]


def test_failed_reply_raises_its_error(call_style, server, services, vendor):
    served(server, vendor.failed)
    with pytest.raises(ServerError, match="it broke"):
        retrieve(call_style, connect(server, services, vendor), "id")


def test_retrieval_is_recorded_and_replayed(call_style, server, services, vendor, tmp_path):
    served(server, vendor.finished)
    path = tmp_path / "cassette.jsonl"
    retrieved = retrieve(call_style, connect(server, services, vendor, record(path)), "id")
    assert retrieve(call_style, connect(server, services, vendor, replay(path)), "id").value == retrieved.value
    assert len(server.requests) == 1


@pytest.mark.parametrize("id", ["", None, 5])
def test_id_that_is_not_a_text_is_refused_with_a_hint(server, services, vendor, id):
    with pytest.raises(InvalidInputError, match="expected the id of a reply") as caught:
        connect(server, services, vendor).operate("retrieve_reply", arguments={"id": id})
    assert (caught.value.path, caught.value.hint) == ("arguments.id", "Pass the id of the reply: response.reply.id.")


def test_stream_in_the_background_is_read_to_its_end(call_style, server, services):
    vendor = VENDORS[0]
    begun = {**vendor.started, "output": []}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.queued", "response": begun},
        {"type": "response.in_progress", "response": {**begun, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        {"type": "response.completed", "response": {**vendor.finished, "output": [MESSAGE]}},
    ]
    body = b"".join(b"event: %s\ndata: %s\n\n" % (each["type"].encode(), json.dumps(each).encode()) for each in events)
    server.script(answer(body, content_type="text/event-stream"))
    llm = connect(server, services, vendor)
    options = {vendor.provider: {"background": True}}
    if call_style.name == "sync":
        with llm.stream("hi", provider_options=options) as stream:
            assert "".join(stream.text()) == "42"
            response = stream.response
    else:
        response = call_style.run(_streamed(llm, options))
    assert (response.content, response.finish_reason) == ("42", "stop")


async def _streamed(llm: Any, options: Any) -> Any:
    async with llm.astream("hi", provider_options=options) as stream:
        assert "".join([piece async for piece in stream.text()]) == "42"
        return stream.response


def test_reply_is_read_where_the_vendors_clients_read_it(server, services):
    """The paths and queries are those that the clients of OpenAI and Google send, but for a default of Google's."""
    for vendor in VENDORS:
        served(server, vendor.finished)
        connect(server, services, vendor).operate("retrieve_reply", arguments={"id": "an_id"})
    served(server, *(vendor.finished for vendor in VENDORS))
    http = httpx2.Client(trust_env=False)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", http_client=http) as client:
        found = client.responses.retrieve("an_id", include=["reasoning.encrypted_content"])
        assert found.output_text == "42"
    options: Any = {"base_url": server.url, "api_version": "v1"}
    google = genai.Client(api_key="k", http_options=options)
    assert google.interactions.get(id="an_id").status == "completed"
    google.close()
    targets = [request.target.removesuffix("?stream=false") for request in server.requests]
    assert [each.replace("%5B%5D", "[]") for each in targets[:2]] == [
        each.replace("%5B%5D", "[]") for each in targets[2:]
    ]


def test_messages_may_be_given_beside_the_id(server, services, vendor):
    served(server, vendor.finished)
    llm = connect(server, services, vendor)
    assert llm.operate("retrieve_reply", messages=[Message.user("hi")], arguments={"id": "a"}).value.text == "42"
