"""The examples in the vendor's documentation, read and written."""

import json
from typing import Any

import pytest

from abstractcore import errors
from abstractcore.schema import (
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    Sampling,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from tests.providers.formats.ollama.wire import OLLAMA, PUBLISHED, published, request, response, streamed

SKY = (Message.user("why is the sky blue?"),)
WEATHER = published("tools.request.json")["tools"][0]["function"]
STRUCTURED = published("structured_outputs.request.json")
CITIES = [("get_temperature", "New York"), ("get_conditions", "New York"), ("get_temperature", "London")]
CITIES.append(("get_conditions", "London"))
CALLS = {
    "default": ModelCall("gemma4", SKY, "ollama", stream=True),
    "non_streaming": ModelCall("gemma4", SKY, "ollama"),
    "thinking": ModelCall("gpt-oss", (Message.user("What is 1+1?"),), "ollama", thinking="low", stream=True),
    "structured_outputs": ModelCall(
        "llama3.1",
        (Message.user(STRUCTURED["messages"][0]["content"]),),
        "ollama",
        sampling=Sampling(temperature=0),
        output=OutputSchema("output", STRUCTURED["format"]),
    ),
    "tools": ModelCall(
        "llama3.2",
        (Message.user("What is the weather today in Paris?"),),
        "ollama",
        tools=(ToolSpec(WEATHER["name"], WEATHER["description"], WEATHER["parameters"]),),
    ),
    "parallel_results": ModelCall(
        "qwen3",
        (
            Message.user("What are the current weather conditions and temperature in New York and London?"),
            Message.assistant(
                *(ToolCall(f"call_1_{i}", name, f'{{"city": "{city}"}}') for i, (name, city) in enumerate(CITIES))
            ),
            Message.tool(
                *(
                    ToolResult.text(f"call_1_{i}", text)
                    for i, text in enumerate(("22°C", "Partly cloudy", "15°C", "Rainy"))
                )
            ),
        ),
        "ollama",
    ),
}
REPLIES = {
    "default": ModelReply(
        (TextPart("Hello! How are you today?"),), "unknown", None, Usage(26, 298), "llama3.2", "ollama"
    ),
    "structured_outputs": ModelReply(
        (TextPart('{"age": 22, "available": false}'),), "stop", "stop", Usage(34, 12), "llama3.1", "ollama"
    ),
    "tools": ModelReply(
        (ToolCall("call_0", "get_current_weather", '{"format": "celsius", "location": "Paris, FR"}'),),
        "tool_calls",
        "stop",
        Usage(122, 33),
        "llama3.2",
        "ollama",
    ),
}
FAILURES = sorted(path.name for path in PUBLISHED.glob("*.error.json"))


@pytest.mark.parametrize("name", CALLS)
def test_published_request_is_parsed_without_loss(name: str):
    parsed = OLLAMA.parse(request(published(f"{name}.request.json")))
    assert parsed.call == CALLS[name]
    assert parsed.warnings == ()


@pytest.mark.parametrize("name", CALLS)
def test_published_request_is_encoded_identically(name: str):
    encoded = OLLAMA.encode(CALLS[name])
    ours, printed = json.loads(encoded.request.body), published(f"{name}.request.json")
    assert encoded.warnings == ()
    assert (ours.pop("truncate"), ours.pop("shift")) == (False, False)
    for message in ours["messages"]:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            del call["id"]
    for message in printed["messages"]:
        message.setdefault("content", "")
    assert ours == {"stream": True} | printed


@pytest.mark.parametrize("name", REPLIES)
def test_published_reply_is_read(name: str):
    printed = published(f"{name}.reply.json")
    reply = OLLAMA.decode(response(printed))
    kept = {key: printed[key] for key in printed if key == "created_at" or key.endswith("_duration")}
    assert reply.provider_metadata == kept
    assert reply == ModelReply(**{**_fields(REPLIES[name]), "provider_metadata": kept})


def _fields(reply: ModelReply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in reply.__slots__}


@pytest.mark.parametrize("name", REPLIES)
def test_published_reply_is_rendered_identically(name: str):
    printed = published(f"{name}.reply.json")
    rendered = OLLAMA.render(OLLAMA.decode(response(printed)))
    ours = json.loads(rendered.body)
    for call in ours["message"].get("tool_calls", ()):
        del call["id"], call["type"], call["function"]["index"]
    assert (ours, rendered.warnings) == (printed, ())


def test_published_stream_is_read():
    reply = streamed(*published("streaming.stream.jsonl"))
    assert (reply.text, reply.usage, reply.model) == ("The", Usage(26, 282), "llama3.2")
    assert reply.finish_reason == "unknown"
    assert reply.provider_metadata["total_duration"] == 4883583458


@pytest.mark.parametrize("name", FAILURES)
def test_published_failure_is_classified_by_cause(name: str):
    failure = published(name)
    if failure["status"] == 200:
        with pytest.raises(getattr(errors, failure["class"]), match="an error was encountered"):
            streamed(failure["body"])
        return
    error = OLLAMA.error(response(failure["body"], failure["status"]))
    assert type(error).__name__ == failure["class"]


def test_every_published_example_is_read_by_a_test():
    known = {f"{name}.request.json" for name in CALLS} | {f"{name}.reply.json" for name in REPLIES}
    assert {path.name for path in PUBLISHED.iterdir()} == known | {"streaming.stream.jsonl", *FAILURES}
