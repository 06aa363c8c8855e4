"""The vendor's client against a server built from our server side, and its types for our requests."""

import json
from collections.abc import Iterator
from typing import Any

import cohere
import httpx
import pytest
from cohere.core.api_error import ApiError
from hypothesis import given
from pydantic import TypeAdapter

from abstractcore.errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    InvalidInputError,
    ModelNotFoundError,
    OverloadedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnsupportedContentError,
)
from abstractcore.schema import (
    Billing,
    Citation,
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
from tests.providers.formats.cohere_chat import generated
from tests.providers.formats.cohere_chat.wire import COHERE
from tests.providers.serving import FormatServer, serving

HELLO: Any = [{"role": "user", "content": "hi"}]
REPLY = ModelReply(
    (
        ReasoningPart("Let me see."),
        TextPart("Grüße 😀", (Citation("d1", "A", start=0, end=5),)),
        ToolCall("c1", "weather", '{"city": "Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, billing=Billing(counts={"billed_input": 3})),
    id="r1",
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(COHERE, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer) -> Iterator[cohere.ClientV2]:
    with httpx.Client(trust_env=False) as http:
        yield cohere.ClientV2("k", base_url=server.url, httpx_client=http)


NO_RETRY: Any = {"max_retries": 0}


def test_client_reads_our_reply(client: cohere.ClientV2, server: FormatServer):
    answer = client.chat(model="m", messages=HELLO)
    assert server.paths == ["/v2/chat"]
    assert (answer.id, answer.finish_reason) == ("r1", "TOOL_CALL")
    content: Any = answer.message.content
    assert [(block.type, getattr(block, block.type)) for block in content] == [
        ("thinking", "Let me see."),
        ("text", "Grüße 😀"),
    ]
    calls: Any = answer.message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == [
        ("c1", "weather", '{"city": "Zürich"}'),
        ("c2", "weather", "{}"),
    ]
    (citation,) = answer.message.citations or ()
    assert (citation.start, citation.end, citation.text, citation.content_index) == (0, 5, "Grüße", 1)
    source: Any = (citation.sources or [])[0]
    assert (source.type, source.id, source.document) == ("document", "d1", {"title": "A"})
    usage: Any = answer.usage
    assert (usage.tokens.input_tokens, usage.tokens.output_tokens, usage.cached_tokens) == (10, 20, 5)
    assert usage.billed_units.input_tokens == 3


def test_client_accumulates_our_stream_to_the_reply(client: cohere.ClientV2):
    stream: list[Any] = list(client.chat_stream(model="m", messages=HELLO))
    kinds = [event.type for event in stream]
    assert (kinds[0], kinds[-1]) == ("message-start", "message-end")
    assert kinds.count("content-start") == kinds.count("content-end") == 2
    assert kinds.count("tool-call-start") == kinds.count("tool-call-end") == 2
    pieces = [event.delta.message.content for event in stream if event.type == "content-delta"]
    assert "".join(piece.text or "" for piece in pieces) == "Grüße 😀"
    assert "".join(piece.thinking or "" for piece in pieces) == "Let me see."
    begun = [event.delta.message.tool_calls for event in stream if event.type == "tool-call-start"]
    assert [(call.id, call.function.name) for call in begun] == [("c1", "weather"), ("c2", "weather")]
    written = [event for event in stream if event.type == "tool-call-delta"]
    assert [(event.index, event.delta.message.tool_calls.function.arguments) for event in written] == [
        (0, '{"city": "Zürich"}'),
        (1, "{}"),
    ]
    (cited,) = [event.delta.message.citations for event in stream if event.type == "citation-start"]
    assert (cited.start, cited.end, cited.text) == (0, 5, "Grüße")
    assert (stream[-1].delta.finish_reason, stream[-1].delta.usage.tokens.output_tokens) == ("TOOL_CALL", 20)


def test_requests_of_the_client_are_parsed(client: cohere.ClientV2, server: FormatServer):
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Where?"}]},
        {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "8 °C"},
    ]
    weather: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    client.chat(
        model="m",
        messages=messages,
        tools=[weather],
        strict_tools=True,
        tool_choice="REQUIRED",
        temperature=0,
        k=5,
        stop_sequences=["x"],
        thinking={"type": "enabled", "token_budget": 100},  # type: ignore[arg-type]
        safety_mode="OFF",
    )
    (call,) = server.calls
    assert call.messages == (
        Message.system("Be brief."),
        Message.user("Where?"),
        Message.assistant("I will look.", ToolCall("c1", "weather", "{}")),
        Message.tool(ToolResult.text("c1", "8 °C")),
    )
    assert (call.tools[0].name, call.tools[0].strict, call.thinking) == ("weather", True, 100)
    assert (call.sampling.temperature, call.sampling.top_k, call.sampling.stop) == (0.0, 5, ("x",))
    assert call.provider_options == {"cohere": {"safety_mode": "OFF"}}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BadRequestError("no"), cohere.BadRequestError),
        (ContextOverflowError("no"), cohere.BadRequestError),
        (AuthenticationError("no"), cohere.UnauthorizedError),
        (AccessDeniedError("no"), cohere.ForbiddenError),
        (ModelNotFoundError("no"), cohere.NotFoundError),
        (RateLimitError("no"), cohere.TooManyRequestsError),
        (ContentFilterError("no"), cohere.InvalidTokenError),
        (RequestTimeoutError("no"), cohere.GatewayTimeoutError),
        (OverloadedError("no"), cohere.ServiceUnavailableError),
        (ServerError("no"), cohere.InternalServerError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(
    client: cohere.ClientV2, server: FormatServer, error: Any, expected: type[ApiError], stream: bool
):
    server.answer = lambda call: error
    with pytest.raises(expected) as caught:
        if stream:
            list(client.chat_stream(model="m", messages=HELLO, request_options=NO_RETRY))
        else:
            client.chat(model="m", messages=HELLO, request_options=NO_RETRY)
    assert caught.value.body["message"] == "no"


def test_error_mid_stream_reaches_the_client_after_the_partial_reply(client: cohere.ClientV2, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    stream: list[Any] = list(client.chat_stream(model="m", messages=HELLO))
    assert (stream[-1].delta.finish_reason, stream[-1].delta.error) == ("ERROR", "too many")


MESSAGES = TypeAdapter(cohere.ChatMessageV2)


@pytest.mark.exhaustive
@examples(60)
@given(generated.calls())
def test_requests_match_the_clients_types(call: ModelCall):
    try:
        body = json.loads(COHERE.encode(call).request.body)
    except (InvalidInputError, UnsupportedContentError):
        return
    for message in body["messages"]:
        read: Any = MESSAGES.validate_python(message)
        assert read.role == message["role"]
    for tool in body.get("tools", ()):
        assert cohere.ToolV2.model_validate(tool).type == "function"
    if "thinking" in body:
        assert cohere.Thinking.model_validate(body["thinking"]).type in ("enabled", "disabled")


@examples(40)
@given(generated.replies())
def test_replies_match_the_clients_types(reply: ModelReply):
    body = json.loads(COHERE.render(reply).body)
    message = cohere.AssistantMessageResponse.model_validate(body["message"])
    texts = [block.text for block in message.content or () if block.type == "text"]
    assert "".join(texts) == reply.text
