"""The vendor's client against a server built from our server side, over a socket."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from abstractcore.errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    InvalidInputError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from abstractcore.schema import (
    Citation,
    HostedToolCall,
    HostedToolResult,
    Message,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from abstractcore_providers.formats.anthropic_messages.blocks import result_text
from tests.providers.formats.anthropic_messages.wire import MESSAGES
from tests.providers.serving import FormatServer, serving

HELLO: Any = [{"role": "user", "content": "hi"}]
FOUND = {
    "type": "web_search_tool_result",
    "content": [{"type": "web_search_result", "title": "A", "url": "https://a", "encrypted_content": "x"}],
}
REPLY = ModelReply(
    (
        ReasoningPart("Let me see.", "sig"),
        ReasoningPart(redacted_data="xyz"),
        HostedToolCall("s1", "web_search", '{"query": "ulm"}', {"type": "server_tool_use"}),
        HostedToolResult("s1", result_text(FOUND), FOUND),
        TextPart("Grüße 😀", (Citation("https://a", "A", "q", 0, 7, {"encrypted_index": "e"}),)),
        ToolCall("c1", "weather", '{"city": "Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, reasoning=7),
    model="m",
    provider="anthropic",
    id="r1",
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(MESSAGES, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer) -> Iterator[Anthropic]:
    http = anthropic.DefaultHttpxClient(trust_env=False)
    with Anthropic(base_url=server.url, api_key="k", max_retries=0, http_client=http) as client:
        yield client


def create(client: Anthropic, **fields: Any) -> Any:
    given: Any = {"model": "m", "max_tokens": 100, "messages": HELLO, **fields}
    return client.messages.create(**given)


def check_content(content: list[Any]) -> None:
    """`content` is the content of `REPLY`."""
    thought, redacted, asked, found, text, one, two = content
    assert (thought.type, thought.thinking, thought.signature) == ("thinking", "Let me see.", "sig")
    assert (redacted.type, redacted.data) == ("redacted_thinking", "xyz")
    assert (asked.type, asked.id, asked.name, asked.input) == (
        "server_tool_use",
        "s1",
        "web_search",
        {"query": "ulm"},
    )
    assert (found.type, found.tool_use_id, found.content[0].url) == ("web_search_tool_result", "s1", "https://a")
    assert (text.type, text.text, text.citations[0].url) == ("text", "Grüße 😀", "https://a")
    assert [(call.id, call.name, call.input) for call in (one, two)] == [
        ("c1", "weather", {"city": "Zürich"}),
        ("c2", "weather", {}),
    ]


def test_client_reads_our_reply(client: Anthropic):
    message = create(client)
    assert (message.id, message.model, message.stop_reason) == ("r1", "m", "tool_use")
    check_content(message.content)
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (5, 5, 20)
    assert usage.output_tokens_details.thinking_tokens == 7


def test_client_accumulates_our_stream_to_the_reply(client: Anthropic):
    whole = create(client)
    with client.messages.stream(model="m", max_tokens=100, messages=HELLO) as stream:
        kinds = [event.type for event in stream]
        message = stream.get_final_message()
    check_content(message.content)
    assert {"text", "thinking", "signature", "citation", "input_json"} <= set(kinds)
    assert (message.id, message.stop_reason, message.stop_sequence) == ("r1", "tool_use", None)
    assert message.usage.to_dict() == whole.usage.to_dict()


def test_client_receives_streamed_text_in_chunks(client: Anthropic, server: FormatServer):
    server.answer = lambda call: ModelReply((TextPart("Hello"),), "stop", model="m")
    with client.messages.stream(model="m", max_tokens=100, messages=HELLO) as stream:
        assert "".join(stream.text_stream) == "Hello"
    assert server.calls[0].stream


def test_requests_of_the_client_are_parsed(client: Anthropic, server: FormatServer):
    answer: Any = create(client).content
    turn: Any = [
        *HELLO,
        {"role": "assistant", "content": answer},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "8 °C"},
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": [{"type": "text", "text": "?"}],
                    "is_error": True,
                },
            ],
        },
    ]
    tools: Any = [{"name": "weather", "input_schema": {"type": "object", "properties": {}}}]
    create(client, system="Be brief.", messages=turn, tools=tools, stop_sequences=["x"], extra_body={"temperature": 0})
    call = server.calls[1]
    assert [message.role for message in call.messages] == ["system", "user", "assistant", "tool"]
    said = call.messages[2].parts
    assert [type(part) for part in said] == [type(part) for part in REPLY.parts]
    assert said[:2] == tuple(replace(part, origin="anthropic/m") for part in REPLY.parts[:2])
    assert said[4] == REPLY.parts[4]
    assert [(call.name, call.arguments) for call in call.messages[2].tool_calls] == [
        ("weather", {"city": "Zürich"}),
        ("weather", {}),
    ]
    assert call.messages[3] == Message.tool(
        ToolResult.text("c1", "8 °C"), ToolResult("c2", (TextPart("?"),), is_error=True)
    )
    assert (call.tools[0].name, call.sampling.temperature, call.sampling.stop) == ("weather", 0.0, ("x",))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BadRequestError("no"), anthropic.BadRequestError),
        (InvalidInputError("no", path="x"), anthropic.BadRequestError),
        (ContextOverflowError("no"), anthropic.BadRequestError),
        (ContentFilterError("no"), anthropic.BadRequestError),
        (AuthenticationError("no"), anthropic.AuthenticationError),
        (QuotaError("no"), anthropic.APIStatusError),
        (AccessDeniedError("no"), anthropic.PermissionDeniedError),
        (NotFoundError("no"), anthropic.NotFoundError),
        (ModelNotFoundError("no"), anthropic.NotFoundError),
        (RequestTimeoutError("no"), anthropic.InternalServerError),
        (RateLimitError("no"), anthropic.RateLimitError),
        (OverloadedError("no"), anthropic.InternalServerError),
        (ServerError("no"), anthropic.InternalServerError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(
    client: Anthropic, server: FormatServer, error: Any, expected: Any, stream: bool
):
    server.answer = lambda call: error
    with pytest.raises(expected, match="no"):
        create(client, stream=stream)


def test_client_error_has_the_path(client: Anthropic):
    with pytest.raises(anthropic.BadRequestError, match=r"messages\[0\]\.role"):
        create(client, messages=[{"role": "bard", "content": "hi"}])


def test_client_obeys_retry_after(server: FormatServer, monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    answers: list[Any] = [OverloadedError("slow down", retry_after=1.5), REPLY]
    server.answer = lambda call: answers.pop(0)
    http = anthropic.DefaultHttpxClient(trust_env=False)
    with Anthropic(base_url=server.url, api_key="k", max_retries=1, http_client=http) as client:
        assert create(client).id == "r1"
    assert 1.5 in waits


def test_error_mid_stream_reaches_the_client_after_the_partial_reply(client: Anthropic, server: FormatServer):
    server.answer = lambda call: (ModelReply((TextPart("Grüße"),), model="m"), OverloadedError("too many"))
    texts: list[str] = []
    with pytest.raises(anthropic.APIStatusError, match="too many"):
        for event in create(client, stream=True):
            if event.type == "content_block_delta":
                texts.append(event.delta.text)  # noqa: PERF401 - what came before the error counts
    assert "".join(texts) == "Grüße"
