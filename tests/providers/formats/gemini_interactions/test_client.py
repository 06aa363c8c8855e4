"""The vendor's client against a server built from our server side, over a socket."""

from collections.abc import Iterator
from typing import Any

import pytest
from google import genai
from google.genai import _interactions as theirs
from google.genai import types

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    ModelNotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    ServerError,
)
from abstractcore.schema import (
    Billing,
    Citation,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.providers.formats.gemini_interactions.wire import INTERACTIONS, PROVIDER
from tests.providers.serving import FormatServer, serving

SIGNATURE = "U2lnbmVk"
REPLY = ModelReply(
    (
        ReasoningPart("Let me see.", SIGNATURE, origin=f"{PROVIDER}/m"),
        HostedToolCall("h", "google_search", '{"queries":["a"]}', {PROVIDER: {"type": "google_search_call"}}),
        HostedToolResult(
            "h", (), {PROVIDER: {"type": "google_search_result", "result": [{"search_suggestions": "b"}]}}
        ),
        TextPart("Grüße 😀", (Citation("https://a", "A", start=0, end=7),)),
        ToolCall("c1", "weather", '{"city": "Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, reasoning=7, billing=Billing(tier="flex", counts={"web_search": 2})),
    model="m",
    id="r1",
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(INTERACTIONS, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[genai.Client]:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    retries = types.HttpRetryOptions(attempts=1)
    options = types.HttpOptions(base_url=server.url, retry_options=retries)
    client = genai.Client(api_key="k", http_options=options, vertexai=False)
    yield client
    client.close()


def create(client: genai.Client, input: Any = "hi", **fields: Any) -> Any:
    given: Any = {"model": "m", "input": input, **fields}
    return client.interactions.create(**given)


def test_client_reads_our_reply(client: genai.Client):
    answer = create(client)
    thought, search, found, output, first, second = answer.steps
    assert (thought.type, thought.signature, thought.summary[0].text) == ("thought", SIGNATURE, "Let me see.")
    assert (search.type, search.id, search.arguments.queries) == ("google_search_call", "h", ["a"])
    assert (found.call_id, found.result[0].search_suggestions) == ("h", "b")
    (text,) = output.content
    (note,) = text.annotations
    assert (note.url, note.title, note.start_index, note.end_index) == ("https://a", "A", 0, len("Grüße 😀".encode()))
    assert (first.id, first.name, first.arguments) == ("c1", "weather", {"city": "Zürich"})
    assert (second.id, second.arguments) == ("c2", {})
    assert (answer.id, answer.model, answer.status, answer.service_tier) == ("r1", "m", "requires_action", "flex")
    usage = answer.usage
    assert (usage.total_input_tokens, usage.total_output_tokens, usage.total_thought_tokens) == (10, 13, 7)
    assert (usage.total_cached_tokens, usage.total_tokens) == (5, 30)
    assert [(each.type, each.count) for each in usage.grounding_tool_count] == [("google_search", 2)]


def test_client_reads_our_stream(client: genai.Client):
    events = list(create(client, stream=True))
    assert events[0].event_type == "interaction.created"
    assert events[-1].event_type == "interaction.completed"
    assert (events[-1].interaction.id, events[-1].interaction.status) == ("r1", "requires_action")
    assert events[-1].interaction.usage.total_tokens == 30
    deltas = [event.delta for event in events if event.event_type == "step.delta"]
    assert "".join(delta.text for delta in deltas if delta.type == "text") == "Grüße 😀"
    assert [delta.content.text for delta in deltas if delta.type == "thought_summary"] == ["Let me see."]
    assert [delta.signature for delta in deltas if delta.type == "thought_signature"] == [SIGNATURE]
    assert [delta.arguments for delta in deltas if delta.type == "arguments_delta"] == ['{"city": "Zürich"}', "{}"]
    starts = [event.step for event in events if event.event_type == "step.start"]
    assert [step.id for step in starts if step.type == "function_call"] == ["c1", "c2"]
    assert [event.index for event in events if event.event_type == "step.stop"] == list(range(6))


def test_client_reads_the_text_of_our_reply(client: genai.Client, server: FormatServer):
    server.answer = lambda call: ModelReply((TextPart("Hello"),), "stop", model="m", id="r2")
    answer = create(client)
    assert (answer.output_text, answer.status) == ("Hello", "completed")


def test_client_can_send_our_reply_back(client: genai.Client, server: FormatServer):
    """Signatures, order and hosted tools come back as they went out."""
    answer = create(client)
    said = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
    results = [
        {"type": "function_result", "call_id": "c1", "name": "weather", "result": "8 °C"},
        {"type": "function_result", "call_id": "c2", "name": "weather", "result": [{"type": "text", "text": "9 °C"}]},
    ]
    steps = [step.model_dump(exclude_none=True, by_alias=True) for step in answer.steps]
    create(client, [said, *steps, *results])
    user, replayed, tool = server.calls[1].messages
    assert user.text == "hi"
    assert replayed.parts[:4] == REPLY.parts[:4]
    assert [(call.id, call.arguments) for call in replayed.tool_calls] == [("c1", {"city": "Zürich"}), ("c2", {})]
    assert tool.parts == (ToolResult.text("c1", "8 °C"), ToolResult.text("c2", "9 °C"))


def test_requests_of_the_client_are_parsed(client: genai.Client, server: FormatServer):
    create(
        client,
        [{"type": "text", "text": "Where?"}, {"type": "image", "mime_type": "image/png", "data": "aWE="}],
        system_instruction="Be brief.",
        generation_config={
            "temperature": 0,
            "max_output_tokens": 5,
            "stop_sequences": ["x"],
            "seed": 7,
            "thinking_level": "low",
            "thinking_summaries": "auto",
            "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["weather"]}},
        },
        tools=[
            {"type": "function", "name": "weather", "description": "The weather.", "parameters": {"type": "object"}},
            {"type": "google_search"},
            {"type": "url_context"},
        ],
        response_format=[{"type": "text"}, {"type": "image"}],
        safety_settings=[{"type": "harassment", "threshold": "block_none"}],
        service_tier="flex",
    )
    (call,) = server.calls
    assert [message.role for message in call.messages] == ["system", "user"]
    assert [type(part) for part in call.messages[1].parts] == [TextPart, ImagePart]
    assert (call.tools[0].name, call.tools[0].description) == ("weather", "The weather.")
    assert [tool.kind for tool in call.hosted_tools] == ["web_search"]
    assert call.tool_choice is not None
    assert (call.tool_choice.mode, call.tool_choice.tool) == ("tool", "weather")
    sampling = call.sampling
    assert (sampling.temperature, sampling.max_output_tokens, sampling.stop, sampling.seed) == (0.0, 5, ("x",), 7)
    assert (call.thinking, call.modalities) == ("low", ("text", "image"))
    assert set(call.provider_options[PROVIDER]) == {"safety_settings", "service_tier", "tools"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadRequestError("no"), "invalid_request"),
        (ContextOverflowError("no"), "context_length_exceeded"),
        (AuthenticationError("no"), "authentication"),
        (AccessDeniedError("no"), "permission_denied"),
        (ModelNotFoundError("no"), "model_not_found"),
        (RateLimitError("no", retry_after=1.5), "rate_limit_exceeded"),
        (QuotaError("no"), "quota_exceeded"),
        (OverloadedError("no"), "service_unavailable"),
        (ServerError("no"), "internal_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_its_status_and_code(
    client: genai.Client, server: FormatServer, error: AbstractCoreError, code: str, stream: bool
):
    server.answer = lambda call: error
    with pytest.raises(theirs.APIStatusError, match="no") as caught:
        create(client, stream=stream)
    body: Any = caught.value.body
    assert body["error"]["code"] == code
    assert isinstance(caught.value, theirs.InternalServerError) == (code in ("service_unavailable", "internal_error"))


def test_client_error_has_the_path(client: genai.Client, server: FormatServer):
    with pytest.raises(theirs.BadRequestError, match=r"no such call 'c9' .* \(at input\[0\]\.call_id\)"):
        create(client, [{"type": "function_result", "call_id": "c9", "result": "8 °C"}])


def test_error_mid_stream_reaches_the_client(client: genai.Client, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    *events, last = create(client, stream=True)
    assert (last.event_type, last.error.code, last.error.message) == ("error", "service_unavailable", "too many")
    texts = [event.delta.text for event in events if event.event_type == "step.delta" and event.delta.type == "text"]
    assert "".join(texts) == "Grüße 😀"
