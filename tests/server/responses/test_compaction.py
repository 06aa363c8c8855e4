"""`/v1/responses/compact`, with the openai package as the client
(https://platform.openai.com/docs/api-reference/responses/compact).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from openai.types.responses import CompactedResponse

from tests.chaos_server import PATIENCE_SECONDS, completion, raw_answer
from tests.server.serving import Served, serving

CALL: dict[str, Any] = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Bern"}'}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # a PNG
IMAGE: dict[str, Any] = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PIXEL}"}
CONVERSATION: list[Any] = [
    {"role": "developer", "content": "Answer in French."},
    {"role": "user", "content": [{"type": "input_text", "text": "The weather in Bern?"}, IMAGE]},
    CALL,
    {"type": "function_call_output", "call_id": "c1", "output": "sunny, 20 degrees"},
    {"role": "assistant", "content": "Il fait beau."},
]
SUMMARY = "The user asked for the weather in Bern: sunny, 20 degrees."
GIVEN = f"This is a summary of the conversation until here:\n\n{SUMMARY}"


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def compacted(served: Served, client: openai.OpenAI) -> CompactedResponse:
    """The compaction of `CONVERSATION`."""
    served.script(SUMMARY)
    return client.responses.compact(model="scripted", input=CONVERSATION, instructions="Be brief.")


def items(compacted: CompactedResponse) -> list[Any]:
    """The items, as the client sends them back: its type of messages is that of answers."""
    return [item.to_dict(warnings=False) for item in compacted.output]


def texts(served: Served) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in served.calls[-1].messages]


def test_compaction_has_the_users_messages_and_one_item_with_a_summary(served: Served, compacted: CompactedResponse):
    assert (compacted.object, compacted.id[:5]) == ("response.compaction", "resp_")
    assert compacted.created_at > 1e9
    assert compacted.usage.output_tokens > 0
    message, item = items(compacted)
    assert (message["role"], message["content"]) == ("user", CONVERSATION[1]["content"])
    assert {name: type(value) for name, value in item.items()} == dict.fromkeys(
        ("id", "type", "encrypted_content"), str
    )
    assert (item["type"], item["id"][:4]) == ("compaction", "cmp_")
    assert SUMMARY not in item["encrypted_content"]
    (system, asked) = served.call.messages
    assert "nothing else" in system.text
    assert asked.text.split("\n\n") == [
        "[system]\nBe brief.",
        "[system]\nAnswer in French.",
        "[user]\nThe weather in Bern?\n(image)",
        '[assistant]\n(calls weather with {"city":"Bern"})',
        "[tool]\nsunny, 20 degrees",
        "[assistant]\nIl fait beau.",
    ]


def test_calls_of_mcp_servers_are_in_the_conversation(served: Served, client: openai.OpenAI):
    served.script(SUMMARY)
    fields = {"id": "mcp_1", "server_label": "shop", "name": "get_price", "arguments": '{"item":"tea"}'}
    call: Any = {"type": "mcp_call", **fields, "output": "7 francs"}
    client.responses.compact(model="scripted", input=[{"role": "user", "content": "The price?"}, call])
    text = served.call.messages[-1].text
    assert 'get_price with {"item":"tea"}' in text
    assert "7 francs" in text


def test_conversation_goes_on_from_the_summary_and_is_stored(
    served: Served, client: openai.OpenAI, compacted: CompactedResponse
):
    served.script("Yes, sunny.", "Still.")
    asked: Any = [*items(compacted), {"role": "user", "content": "Sure?"}]
    first = client.responses.create(model="scripted", input=asked)
    expected = texts(served)
    assert expected[0][1].startswith("The weather in Bern?<untrusted-file")  # the image, which the model does not see
    assert expected[1:] == [("user", GIVEN), ("user", "Sure?")]
    client.responses.create(model="scripted", input="And now?", previous_response_id=first.id)
    assert texts(served) == [*expected, ("assistant", "Yes, sunny."), ("user", "And now?")]
    kept = [item.to_dict(warnings=False) for item in client.responses.input_items.list(first.id, order="asc")]
    assert kept[1] == items(compacted)[1]


def test_another_model_of_another_server_reads_the_summary(compacted: CompactedResponse):
    """Nothing of the server that has made it is needed: it may have been started again."""
    body = {"input": [*items(compacted)[1:], {"role": "user", "content": "Sure?"}]}
    reply: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}
    with serving() as other, httpx2.Client(base_url=other.url, trust_env=False, timeout=PATIENCE_SECONDS) as http:
        other.vendor.script(raw_answer(json.dumps(reply).encode()))
        other.vendor.script(completion("Yes."))
        for model in ("openai-responses/gpt-5.4", "openai-compatible/m"):
            assert http.post("/v1/responses", json={"model": model, **body}).status_code == 200
        own, foreign = (json.loads(request.body) for request in other.vendor.requests)
    assert own["input"] == [{"role": "user", "content": GIVEN}, {"role": "user", "content": "Sure?"}]
    assert [each["content"] for each in foreign["messages"]] == [GIVEN, "Sure?"]


def test_compaction_of_a_stored_response_and_of_a_compaction(
    served: Served, client: openai.OpenAI, compacted: CompactedResponse
):
    served.script("Yes, sunny.", "A second summary.")
    asked: Any = [*items(compacted), {"role": "user", "content": "Sure?"}]
    made = client.responses.create(model="scripted", input=asked)
    again = client.responses.compact(
        model="scripted", previous_response_id=made.id, input=[{"role": "user", "content": "Thanks."}]
    )
    assert [item.type for item in again.output] == ["message", "message", "message", "compaction"]
    contents = [item["content"][0]["text"] for item in items(again)[:3]]
    assert contents == ["The weather in Bern?", "Sure?", "Thanks."]
    transcript = served.calls[-1].messages[-1].text
    assert transcript.endswith(f"[user]\n{GIVEN}\n\n[user]\nSure?\n\n[assistant]\nYes, sunny.\n\n[user]\nThanks.")


def test_compaction_of_the_vendor_goes_to_its_own_models_alone(served: Served, http: httpx2.Client):
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABo"}
    body = {"input": [item, {"role": "user", "content": "Sure?"}]}
    reply: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    assert http.post("/v1/responses", json={"model": "openai-responses/gpt-5.4", **body}).status_code == 200
    assert json.loads(served.vendor.requests[0].body)["input"][0] == item
    for path, model in (("", "scripted"), ("/compact", "scripted"), ("/compact", "openai-responses/gpt-5.4")):
        refused = http.post(f"/v1/responses{path}", json={"model": model, **body})
        assert refused.status_code == 400
        assert "only the vendor's models can read" in refused.json()["error"]["message"]


def test_answer_has_its_cost_and_a_receipt(served: Served, http: httpx2.Client):
    served.vendor.script(completion(SUMMARY))
    body: dict[str, Any] = {"model": "openai-compatible/m", "input": "hi", "tools": [], "abstractcore": {}}
    response = http.post("/v1/responses/compact", json=body)
    assert response.json()["abstractcore"]["model"] == "openai-compatible/m-1"
    assert response.json()["usage"]["total_tokens"] == 5
    assert '"calls":[{"model":"openai-compatible/m"' in response.headers["x-abstractcore-receipt"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "input: expected a text or a list of items, got NoneType"),
        ({"input": []}, 400, "input: expected at least one item"),
        ({"input": 7}, 400, "input"),
        ({"input": [{"role": "user", "content": [{"type": "nonsense"}]}]}, 400, "input[0].content[0]"),
        ({"input": "hi", "previous_response_id": "resp_none"}, 400, "there is no response 'resp_none'"),
        ({"input": "hi", "conversation": "conv_1"}, 400, "conversation: "),
        ({"input": "hi", "model": "nothing/at-all"}, 404, "does not exist here"),
        ({"input": "hi"}, 500, "wrote no summary"),
        ({"input": "hi", "model": "openai-compatible/m"}, 500, "summary was cut off"),
    ],
)
def test_wrong_requests_are_refused(
    served: Served, http: httpx2.Client, body: dict[str, Any], status: int, message: str
):
    served.script(" ")
    if body.get("model") == "openai-compatible/m":
        served.vendor.script(completion(SUMMARY, finish_reason="length"))
    response = http.post("/v1/responses/compact", json={"model": "scripted", **body})
    assert (response.status_code, message in response.json()["error"]["message"]) == (status, True), response.text


@pytest.mark.parametrize("content", ["", "[]", '{"summary": 7}', "[" * 3000])
def test_broken_seal_is_no_summary(http: httpx2.Client, content: str):
    seal = base64.b64encode(b"abstractcore:1:" + content.encode()).decode()
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": seal}
    response = http.post("/v1/responses", json={"model": "scripted", "input": [item]})
    assert response.status_code == 400


def test_get_is_not_allowed(http: httpx2.Client):
    assert http.get("/v1/responses/compact").status_code in (404, 405)
