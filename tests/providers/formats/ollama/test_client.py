"""The vendor's client against a server built from our server side, and its types for our requests."""

import json
from collections.abc import Iterator
from typing import Any

import ollama
import pytest
from hypothesis import given

from abstractcore.errors import (
    InvalidInputError,
    ModelNotFoundError,
    OverloadedError,
    UnsupportedContentError,
)
from abstractcore.schema import (
    Blob,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.properties import examples
from tests.providers.formats.ollama import generated
from tests.providers.formats.ollama.wire import OLLAMA
from tests.providers.serving import FormatServer, serving

HELLO = [{"role": "user", "content": "hi"}]
REPLY = ModelReply(
    (
        ReasoningPart("Let me see."),
        TextPart("Grüße 😀"),
        ToolCall("c1", "weather", '{"city":"Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20),
    model="m",
    provider_metadata={"created_at": "2026-01-01T00:00:00Z", "total_duration": 5},
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(OLLAMA, "application/x-ndjson", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer) -> Iterator[ollama.Client]:
    with ollama.Client(server.url, trust_env=False) as client:
        yield client


def test_client_reads_our_reply(client: ollama.Client):
    answer = client.chat("m", HELLO)
    assert (answer.model, answer.done, answer.done_reason) == ("m", True, "stop")
    assert (answer.message.content, answer.message.thinking) == ("Grüße 😀", "Let me see.")
    calls = [(call.function.name, call.function.arguments) for call in answer.message.tool_calls or ()]
    assert calls == [("weather", {"city": "Zürich"}), ("weather", {})]
    assert (answer.prompt_eval_count, answer.eval_count, answer.total_duration) == (10, 20, 5)


def test_client_accumulates_our_stream_to_the_reply(client: ollama.Client):
    whole = client.chat("m", HELLO)
    parts = list(client.chat("m", HELLO, stream=True))
    assert "".join(part.message.content or "" for part in parts) == whole.message.content
    assert "".join(part.message.thinking or "" for part in parts) == whole.message.thinking
    assert [call for part in parts for call in part.message.tool_calls or ()] == whole.message.tool_calls
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert (parts[-1].done_reason, parts[-1].eval_count) == ("stop", 20)


def test_requests_of_the_client_are_parsed(client: ollama.Client, server: FormatServer):
    weather: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where?", "images": [generated.PNG]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": {"a": 1}}}]},
        {"role": "tool", "tool_name": "weather", "content": "8 °C"},
    ]
    options = {"temperature": 0, "num_ctx": 2048, "stop": ["x"]}
    client.chat("m", messages, tools=[weather], options=options, think=True, keep_alive="5m", format={"type": "object"})
    (call,) = server.calls
    image = ImagePart(Blob.from_bytes(generated.PNG, "image/png"))
    assert call.messages == (
        Message.system("Be brief."),
        Message.user(image, "Where?"),
        Message.assistant(ToolCall("call_2_0", "weather", '{"a":1}')),
        Message.tool(ToolResult.text("call_2_0", "8 °C")),
    )
    assert (call.tools[0].name, call.thinking, call.stream) == ("weather", "medium", False)
    assert (call.sampling.temperature, call.sampling.stop) == (0.0, ("x",))
    assert call.output is not None
    assert call.provider_options == {"ollama": {"keep_alive": "5m", "options": {"num_ctx": 2048}}}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(client: ollama.Client, server: FormatServer, stream: bool):
    server.answer = lambda call: ModelNotFoundError("model 'm' not found")
    with pytest.raises(ollama.ResponseError, match="not found") as caught:
        list(client.chat("m", HELLO, stream=stream))
    assert (caught.value.status_code, caught.value.error) == (404, "model 'm' not found")


def test_client_error_has_the_path(client: ollama.Client):
    with pytest.raises(ollama.ResponseError, match=r"messages\[0\].role") as caught:
        client.chat("m", [{"role": "bard", "content": "hi"}])
    assert caught.value.status_code == 400


def test_error_mid_stream_reaches_the_client_after_the_partial_reply(client: ollama.Client, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    texts: list[str] = []
    with pytest.raises(ollama.ResponseError, match="too many"):
        for part in client.chat("m", HELLO, stream=True):
            texts.append(part.message.content or "")  # noqa: PERF401 - what came before the error counts
    assert "".join(texts) == "Grüße 😀"


def with_images(messages: list[Any]) -> None:
    """Images as the client's types take them, which write them as base64."""
    for message in messages:
        if "images" in message:
            message["images"] = [{"value": image} for image in message["images"]]


@examples(60)
@given(generated.calls())
def test_requests_match_the_clients_types(call: ModelCall):
    try:
        body = json.loads(OLLAMA.encode(call).request.body)
    except (InvalidInputError, UnsupportedContentError):
        return
    with_images(body["messages"])
    request = ollama._types.ChatRequest.model_validate(body)
    assert [message["role"] for message in request.messages or ()] == [message["role"] for message in body["messages"]]
    for message in body["messages"]:
        ollama.Message.model_validate(message)


@examples(40)
@given(generated.replies())
def test_replies_match_the_clients_types(reply: ModelReply):
    body = json.loads(OLLAMA.render(reply).body)
    with_images([body["message"]])
    body = {"message": body["message"], "done": body["done"]}
    answer = ollama.ChatResponse.model_validate(body)
    assert answer.message.content == reply.text
