"""The examples in the vendor's documentation, read and written."""

import json
from typing import Any

import pytest

from abstractcore.schema import (
    Billing,
    Blob,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolSpec,
    Usage,
)
from tests.providers.formats.openai_chat.wire import CHAT, faults, published, request, response, streamed

WEATHER = published("functions.request.json")["tools"][0]["function"]
BOARDWALK = published("image_input.request.json")["messages"][0]["content"][1]["image_url"]["url"]
CALLS = {
    "default": ModelCall(
        "VAR_chat_model_id", (Message.system("You are a helpful assistant."), Message.user("Hello!")), "openai"
    ),
    "streaming": ModelCall(
        "VAR_chat_model_id",
        (Message.system("You are a helpful assistant."), Message.user("Hello!")),
        "openai",
        stream=True,
    ),
    "image_input": ModelCall(
        "gpt-5.4",
        (Message.user("What is in this image?", ImagePart(Blob.from_url(BOARDWALK, "image/*"))),),
        "openai",
        sampling=Sampling(max_output_tokens=300),
    ),
    "functions": ModelCall(
        "gpt-5.4",
        (Message.user("What is the weather like in Boston today?"),),
        "openai",
        tools=(ToolSpec(WEATHER["name"], WEATHER["description"], WEATHER["parameters"]),),
        tool_choice=ToolChoice("auto"),
    ),
    "logprobs": ModelCall("VAR_chat_model_id", (Message.user("Hello!"),), "openai", sampling=Sampling(top_logprobs=2)),
}
WRITTEN_OTHERWISE: dict[str, dict[str, Any]] = {
    "image_input": {"max_tokens": None, "max_completion_tokens": 300},
    "streaming": {"stream_options": {"include_usage": True}},
}
"""The newer name of a field, and the usage we always ask for."""

REPLIES = {
    "default": ModelReply(
        (TextPart("Hello! How can I assist you today?"),),
        "stop",
        "stop",
        Usage(19, 10, cached=0, reasoning=0, input_audio=0, output_audio=0, billing=Billing(tier="default")),
        "gpt-5.4",
        "openai",
        "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        provider_metadata={"created": 1741569952},
    ),
    "functions": ModelReply(
        (ToolCall("call_abc123", "get_current_weather", '{\n"location": "Boston, MA"\n}'),),
        "tool_calls",
        "tool_calls",
        Usage(82, 17, reasoning=0),
        "gpt-4o-mini",
        "openai",
        "chatcmpl-abc123",
        provider_metadata={"created": 1699896916},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_published_request_is_parsed_without_loss(name: str):
    parsed = CHAT.parse(request(published(f"{name}.request.json")))
    assert parsed.call == CALLS[name]
    assert parsed.warnings == ()


@pytest.mark.parametrize("name", CALLS)
def test_published_request_is_encoded_identically(name: str):
    encoded = CHAT.encode(CALLS[name])
    expected = published(f"{name}.request.json") | WRITTEN_OTHERWISE.get(name, {})
    for message in expected["messages"]:
        message["role"] = message["role"].replace("developer", "system")
    assert json.loads(encoded.request.body) == {key: value for key, value in expected.items() if value is not None}
    assert encoded.warnings == ()


@pytest.mark.parametrize("name", REPLIES)
def test_published_reply_is_read(name: str):
    assert CHAT.decode(response(published(f"{name}.reply.json"))) == REPLIES[name]


@pytest.mark.parametrize("name", ["default", "functions", "image_input", "logprobs"])
def test_published_reply_is_rendered_identically(name: str):
    printed = published(f"{name}.reply.json")
    rendered = CHAT.render(CHAT.decode(response(printed)))
    ours = json.loads(rendered.body)
    assert rendered.warnings == ()
    assert _without_nothing(ours) == _without_nothing(printed)
    schema = "CreateChatCompletionResponse"
    assert set(faults(schema, ours)) <= set(faults(schema, printed)), "what is printed does not always fit the schema"


def _without_nothing(reply: dict[str, Any]) -> dict[str, Any]:
    """Without nulls, empty lists, and the counts that `Usage` has no field for."""
    if isinstance(reply, dict):
        cleaned = {key: _without_nothing(value) for key, value in reply.items()}
        return {k: v for k, v in cleaned.items() if v not in (None, [], {}) and "prediction" not in k}
    return [_without_nothing(item) for item in reply] if isinstance(reply, list) else reply


def test_log_probabilities_are_kept():
    reply = CHAT.decode(response(published("logprobs.reply.json")))
    assert reply.provider_metadata["logprobs"]["content"][0]["token"] == "Hello"  # type: ignore[index, call-overload]


def test_published_stream_is_read():
    reply = streamed(*published("streaming.stream.jsonl"))
    assert reply == ModelReply(
        (TextPart("Hello"),),
        "stop",
        "stop",
        model="gpt-4o-mini",
        provider="openai",
        id="chatcmpl-123",
        provider_metadata={"created": 1694268190, "system_fingerprint": "fp_44709d6fcb"},
    )


def test_obfuscation_padding_is_dropped():
    assert streamed(*published("padded.stream.jsonl")) == streamed(*published("streaming.stream.jsonl"))


def test_published_tool_call_stream_is_read():
    reply = streamed(*published("function_calling.stream.jsonl"))
    assert reply.parts == (ToolCall("call_DdmO9pD3xa9XTPNJ32zg2hcA", "get_weather", '{"location":"Paris, France"}'),)
    assert reply.finish_reason == "tool_calls"
    assert reply.usage == Usage(50, 17, cached=0, reasoning=0, input_audio=0, output_audio=0)
