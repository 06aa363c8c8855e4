"""Clients of one API, models of another vendor: tools, reasoning, images and structured output on the way there and
back. The vendors' answers are those of their API references.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Generator
from typing import Any

import anthropic
import httpx2
import openai
import pydantic
import pytest

from tests.chaos_server import LAST_CHUNK, answer, chunk, stream_head
from tests.server.serving import VENDOR_KEY, Served

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
WEATHER: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLAUDE = "anthropic/claude-sonnet-4-5"
GPT = "openai-responses/gpt-5.6"


def message(*content: dict[str, Any], stop_reason: str = "end_turn") -> bytes:
    """An answer of Anthropic's (https://platform.claude.com/docs/en/api/messages)."""
    return answer(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": list(content),
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 12, "output_tokens": 8},
        }
    )


def response(*output: dict[str, Any]) -> bytes:
    """An answer of OpenAI's (https://platform.openai.com/docs/api-reference/responses)."""
    return answer(
        {
            "id": "resp_01",
            "object": "response",
            "created_at": 1_750_000_000,
            "status": "completed",
            "model": "gpt-5.6",
            "output": list(output),
            "usage": {"input_tokens": 12, "output_tokens": 8, "total_tokens": 20},
        }
    )


SAID: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}],
}
THOUGHT: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Let me think."}],
    "encrypted_content": "gAAAA+encrypted/==",
}


@pytest.fixture
def chat(served: Served) -> Generator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(served: Served) -> Generator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def sent(served: Served, index: int = -1) -> Any:
    """The body of a request to the vendor."""
    return served.vendor.requests[index].json


def test_openai_client_calls_tools_of_claude_with_an_image(served: Served, chat: openai.OpenAI):
    served.vendor.script(
        message(
            {"type": "thinking", "thinking": "I look.", "signature": "c2lnbmVk"},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Ulm"}},
            stop_reason="tool_use",
        )
    )
    completion = chat.chat.completions.create(
        model=CLAUDE,
        messages=[
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "How is it there?"},
                    {"type": "image_url", "image_url": {"url": DATA_URL}},
                ],
            },
        ],
        tools=[{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}],
        reasoning_effort="high",
        user="someone",
    )
    body = sent(served)
    assert body["model"] == "claude-sonnet-4-5"
    assert body["system"] == "Be brief."
    assert body["messages"][0]["content"][1]["source"]["media_type"] == "image/png"
    assert body["tools"][0]["name"] == "weather"
    assert "user" not in body
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert (call.id, call.function.name, call.function.arguments) == ("toolu_1", "weather", '{"city": "Ulm"}')
    assert choice.message.model_extra is not None
    assert choice.message.model_extra["reasoning_content"] == "I look."


class City(pydantic.BaseModel):
    name: str


def test_structured_output_is_requested_as_the_vendor_does(served: Served, chat: openai.OpenAI):
    served.vendor.script(message({"type": "text", "text": '{"name": "Ulm"}'}))
    completion = chat.chat.completions.parse(
        model=CLAUDE, messages=[{"role": "user", "content": "Which city?"}], response_format=City
    )
    assert completion.choices[0].message.parsed == City(name="Ulm")
    assert "name" in str(sent(served)["output_config"])


def test_signature_of_claude_is_untouched_for_its_own_client(served: Served, claude: anthropic.Anthropic):
    thought = {"type": "thinking", "thinking": "Let me think.", "signature": "c2lnbmVk"}
    served.vendor.script(message(thought, {"type": "text", "text": "Sunny."}))
    served.vendor.script(message({"type": "text", "text": "Yes."}))
    first = claude.messages.create(model=CLAUDE, max_tokens=2000, messages=[{"role": "user", "content": "hi"}])
    assert first.content[0].to_dict() == thought
    claude.messages.create(
        model=CLAUDE,
        max_tokens=2000,
        thinking={"type": "enabled", "budget_tokens": 1024},
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": "sure?"},
        ],
    )
    assert sent(served)["messages"][1]["content"][0] == thought


def test_reasoning_of_openai_comes_back_through_a_client_of_anthropic(served: Served, claude: anthropic.Anthropic):
    served.vendor.script(response(THOUGHT, SAID))
    served.vendor.script(response(SAID))
    first = claude.messages.create(model=GPT, max_tokens=2000, messages=[{"role": "user", "content": "hi"}])
    assert first.content[0].type == "thinking"
    assert first.content[0].thinking == "Let me think."
    conversation: list[anthropic.types.MessageParam] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": "sure?"},
    ]
    claude.messages.create(model=GPT, max_tokens=2000, messages=conversation)
    (item,) = [each for each in sent(served)["input"] if each.get("type") == "reasoning"]
    assert item["encrypted_content"] == THOUGHT["encrypted_content"]
    assert item["id"] == "rs_1"


def test_reasoning_of_another_model_is_left_out(served: Served, claude: anthropic.Anthropic):
    served.vendor.script(response(THOUGHT, SAID))
    served.vendor.script(message({"type": "text", "text": "Yes."}))
    first = claude.messages.create(model=GPT, max_tokens=2000, messages=[{"role": "user", "content": "hi"}])
    moved = claude.messages.with_raw_response.create(
        model=CLAUDE,
        max_tokens=2000,
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": "sure?"},
        ],
    )
    assert [block["type"] for block in sent(served)["messages"][1]["content"]] == ["text"]
    assert int(moved.headers["x-abstractcore-warnings"]) >= 1


SIGNED: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "weather", "args": {"city": "Ulm"}}, "thoughtSignature": "c2lnbmVk"}
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "modelVersion": "gemini-3-pro-preview",
}
"""A signed call (https://ai.google.dev/gemini-api/docs/thought-signatures)."""


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("model", "signed"), [("gemini-3-pro-preview", True), ("gemini-2.5-flash", False)])
def test_signed_call_of_gemini_comes_back_through_a_client_of_openai(
    served: Served, http: httpx2.Client, stream: bool, model: str, signed: bool
):
    events = stream_head() + chunk(b"data: " + json.dumps(SIGNED).encode() + b"\n\n") + LAST_CHUNK
    served.vendor.script(events if stream else answer(SIGNED))
    served.vendor.script(answer({"candidates": [{"content": {"parts": [{"text": "Sunny."}]}, "finishReason": "STOP"}]}))
    tools = [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}]
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "tools": tools}
    first = http.post("/v1/chat/completions", json={**body, "model": "google/gemini-3-pro-preview", "stream": stream})
    call: Any = re.search(r'"id":"(call[^"]+)"', first.text)
    function = {"name": "weather", "arguments": '{"city": "Ulm"}'}
    turn = {"role": "assistant", "tool_calls": [{"id": call[1], "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": call[1], "content": "20 C"}
    body["messages"] = [*body["messages"], turn, result]
    assert http.post("/v1/chat/completions", json={**body, "model": f"google/{model}"}).status_code == 200
    (part,) = sent(served)["contents"][1]["parts"]
    assert (part.get("thoughtSignature") == "c2lnbmVk") is signed


def test_beta_headers_are_forwarded(served: Served, claude: anthropic.Anthropic):
    served.vendor.script(message({"type": "text", "text": "Yes."}))
    claude.beta.messages.create(
        model=CLAUDE, max_tokens=9, messages=[{"role": "user", "content": "hi"}], betas=["new-thing-2026-11-01"]
    )
    assert served.vendor.requests[-1].headers["anthropic-beta"] == "new-thing-2026-11-01"


HOSTILE = {
    "api_base": "http://evil.example",
    "base_url": "http://evil.example",
    "api_key": "stolen",
    "extra_headers": {"x-evil": "1"},
    "headers": {"x-evil": "1"},
    "organization": "org-evil",
    "http_client": "x",
    "proxy": "http://evil.example",
    "timeout": 1,
    "custom_llm_provider": "evil",
}


@pytest.mark.parametrize("model", ["openai/gpt-4.1", CLAUDE])
def test_no_field_of_a_request_changes_where_or_how_a_provider_is_called(
    served: Served, http: httpx2.Client, model: str
):
    ok = answer({"choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]})
    served.vendor.script(ok if model.startswith("openai") else message({"type": "text", "text": "x"}))
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **HOSTILE}
    headers = {"x-evil": "1", "openai-organization": "org-evil", "authorization": "Bearer client", "cookie": "a=b"}
    url = f"{served.url}/v1/chat/completions?api_base=http://evil.example&base_url=http://evil.example"
    assert http.post(url, json=body, headers=headers).status_code == 200
    request = served.vendor.requests[-1]
    assert request.target in ("/v1/chat/completions", "/v1/messages")
    assert VENDOR_KEY in (request.headers.get("x-api-key"), request.headers.get("authorization", "")[7:])
    assert not {"x-evil", "openai-organization", "cookie"} & request.headers.keys()
    assert "client" not in str(request.headers)


@pytest.mark.parametrize(
    "model", ["google/../../x", "google/a?b", "google/a#b", "google/a%2fb", "openai/", "google//x"]
)
def test_names_that_would_be_another_address_are_unknown(served: Served, http: httpx2.Client, model: str):
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    assert http.post("/v1/chat/completions", json=body).status_code == 404


@pytest.mark.parametrize(
    "model", ["local//etc/passwd.gguf", "local/../x.gguf", "local/qwen2.5-coder-1.5b", "local/hf:a/b"]
)
def test_names_of_clients_load_no_model_on_this_machine(served: Served, http: httpx2.Client, model: str):
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    assert http.post("/v1/chat/completions", json=body).status_code == 404
