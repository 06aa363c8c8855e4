"""The vendor's client against a server built from our server side, over a socket."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai import OpenAI

from abstractcore.errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    InvalidInputError,
    ModelNotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    ServerError,
)
from abstractcore.schema import (
    Citation,
    HostedTool,
    Message,
    ModelReply,
    ReasoningPart,
    Rendered,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.wire import RESPONSES, answered, message
from tests.providers.serving import FormatServer, serving

ORIGIN = f"{PROVIDER}/m"
REPLY = ModelReply(
    (
        ReasoningPart("Let me see.", "rs_0123456789abcdef", "gAAA", ORIGIN),
        TextPart("Grüße 😀", (Citation("https://a", "A", start=0, end=2),)),
        ToolCall("c1", "weather", '{"city": "Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, cache_written=0, reasoning=7),
    model="m",
    provider=PROVIDER,
    id="r1",
)


class CountingResponses(OpenAIResponses):
    """Answers the count of a call's tokens instead of the call."""

    def render(self, reply: ModelReply) -> Rendered:
        """Seven tokens."""
        return Rendered(b'{"object":"response.input_tokens","input_tokens":7}')


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(RESPONSES, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer) -> Iterator[OpenAI]:
    http = openai.DefaultHttpxClient(trust_env=False)
    with OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, http_client=http) as client:
        yield client


def test_client_reads_our_reply(client: OpenAI):
    response = client.responses.create(model="m", input="hi")
    assert (response.id, response.model, response.status, response.output_text) == ("r1", "m", "completed", "Grüße 😀")
    thought, text, *calls = response.output
    assert thought.type == "reasoning"
    assert thought.summary[0].text == "Let me see."
    assert text.type == "message"
    assert text.content[0].type == "output_text"
    assert text.content[0].annotations[0].type == "url_citation"
    assert [(call.call_id, call.name, call.arguments) for call in calls if call.type == "function_call"] == [
        ("c1", "weather", '{"city": "Zürich"}'),
        ("c2", "weather", "{}"),
    ]
    usage: Any = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (10, 20, 30)
    assert (usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens) == (5, 7)


def test_client_accumulates_our_stream_to_the_reply(client: OpenAI):
    whole = client.responses.create(model="m", input="hi")
    with client.responses.stream(model="m", input="hi") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert {"response.output_text.delta", "response.reasoning_summary_text.delta"} <= set(kinds)
    assert kinds.count("response.function_call_arguments.done") == 2
    assert [item.to_dict() for item in final.output if item.type == "reasoning"] == [
        item.to_dict() for item in whole.output if item.type == "reasoning"
    ]
    assert final.output_text == whole.output_text
    assert final.usage == whole.usage


def test_client_receives_events_one_by_one(client: OpenAI):
    events = list(client.responses.create(model="m", input="hi", stream=True))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "Grüße 😀"
    done = [event.item.id for event in events if event.type == "response.output_item.done"]
    last = events[-1]
    assert last.type == "response.completed"
    assert [item.id for item in last.response.output] == done
    assert len(set(done)) == 4


def test_client_knows_every_event_type_we_send(client: OpenAI, server: FormatServer):
    action = {"type": "computer_call", "id": "cu_1", "call_id": "c3", "action": {"type": "wait"}}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    own = answered(message("Wait.", phase="commentary"), search, {**action, "pending_safety_checks": []}).parts
    server.answer = lambda call: replace(REPLY, parts=(*REPLY.parts, *own))
    with client.responses.stream(model="m", input="hi") as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_response()
    assert kinds == {
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.completed",
    }
    *_, said, searched, acted = final.output
    assert said.type == "message"
    assert said.phase == "commentary"
    assert searched.type == "web_search_call"
    assert acted.type == "computer_call"
    assert acted.call_id == "c3"
    whole = client.responses.create(model="m", input="hi")
    assert [(item.type, item.id) for item in whole.output] == [(item.type, item.id) for item in final.output]


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (ModelReply((TextPart("a"),), "length", model="m"), "incomplete", "max_output_tokens"),
        (ModelReply((TextPart("a"),), "content_filter", model="m"), "incomplete", "content_filter"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_incomplete_reason_is_rendered(
    client: OpenAI, server: FormatServer, reply: Any, status: str, reason: str, stream: bool
):
    server.answer = lambda call: reply
    if stream:
        event = list(client.responses.create(model="m", input="hi", stream=True))[-1]
        assert event.type == "response.incomplete"
        response = event.response
    else:
        response = client.responses.create(model="m", input="hi")
    assert response.incomplete_details is not None
    assert (response.status, response.incomplete_details.reason) == (status, reason)


def test_client_reads_a_refusal(client: OpenAI, server: FormatServer):
    server.answer = lambda call: ModelReply((TextPart("No."),), "refusal", model="m")
    (item,) = client.responses.create(model="m", input="hi").output
    assert item.type == "message"
    assert item.content[0].to_dict() == {"type": "refusal", "refusal": "No."}


def test_client_sends_back_what_the_model_said(client: OpenAI, server: FormatServer):
    first = client.responses.create(model="m", input="hi")
    output: Any = first.output
    results: Any = [
        {"type": "function_call_output", "call_id": "c1", "output": "8 °C"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "9 °C"}]},
    ]
    client.responses.create(
        model="m",
        instructions="Be brief.",
        input=[{"role": "user", "content": "hi"}, *output, *results],
        tools=[
            {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": True},
            {"type": "web_search", "search_context_size": "low"},
        ],
        reasoning={"effort": "high", "summary": "auto"},
        user="u",
    )
    call = server.calls[1]
    assert call.messages == (
        Message.system("Be brief."),
        Message.user("hi"),
        Message("assistant", REPLY.parts),
        Message.tool(ToolResult.text("c1", "8 °C"), ToolResult.text("c2", "9 °C")),
    )
    assert (call.tools[0].name, call.tools[0].strict) == ("weather", True)
    assert call.hosted_tools == (HostedTool("web_search", {"search_context_size": "low"}),)
    assert call.thinking == "high"
    assert call.provider_options == {PROVIDER: {"reasoning": {"summary": "auto"}, "user": "u"}}


def test_client_counts_tokens(client: OpenAI, server: FormatServer):
    server.transpiler = CountingResponses()
    assert client.responses.input_tokens.count(model="m", input="hi").input_tokens == 7
    assert server.paths == ["/v1/responses/input_tokens"]
    assert server.calls[0].messages == (Message.user("hi"),)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BadRequestError("no"), openai.BadRequestError),
        (InvalidInputError("no", path="x"), openai.BadRequestError),
        (ContextOverflowError("no"), openai.BadRequestError),
        (AuthenticationError("no"), openai.AuthenticationError),
        (AccessDeniedError("no"), openai.PermissionDeniedError),
        (ModelNotFoundError("no"), openai.NotFoundError),
        (RateLimitError("no"), openai.RateLimitError),
        (QuotaError("no"), openai.RateLimitError),
        (OverloadedError("no"), openai.InternalServerError),
        (ServerError("no"), openai.InternalServerError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(client: OpenAI, server: FormatServer, error: Any, expected: Any, stream: bool):
    server.answer = lambda call: error
    with pytest.raises(expected, match="no") as caught:
        client.responses.create(model="m", input="hi", stream=stream)
    assert type(caught.value) is expected


def test_client_error_has_the_path(client: OpenAI):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", input=[{"role": "bard", "content": "hi"}])  # type: ignore[list-item, misc]
    assert (caught.value.param, caught.value.type) == ("input[0].role", "invalid_request_error")


def test_error_mid_stream_reaches_the_client_after_the_partial_reply(client: OpenAI, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    events = list(client.responses.create(model="m", input="hi", stream=True))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "Grüße 😀"
    last = events[-1]
    assert last.type == "error"
    assert (last.code, last.message) == ("server_is_overloaded", "too many")
