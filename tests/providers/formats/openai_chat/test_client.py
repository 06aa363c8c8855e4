"""The vendor's client against a server built from our server side, over a socket."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from abstractcore.errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConnectionFailedError,
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
    Message,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    Usage,
)
from tests.providers.formats.openai_chat.wire import CHAT
from tests.providers.serving import FormatServer, serving

WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
HELLO: Any = [{"role": "user", "content": "hi"}]
REPLY = ModelReply(
    (
        ReasoningPart("Let me see."),
        TextPart("Grüße 😀", (Citation("https://a", "A", start=0, end=2),)),
        ToolCall("c1", "weather", '{"city": "Zürich"}'),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, reasoning=7),
    model="m",
    id="r1",
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(CHAT, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer) -> Iterator[OpenAI]:
    http = openai.DefaultHttpxClient(trust_env=False)
    with OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, http_client=http) as client:
        yield client


def test_client_reads_our_reply(client: OpenAI):
    completion = client.chat.completions.create(model="m", messages=HELLO)
    (choice,) = completion.choices
    assert (completion.id, completion.model, completion.object) == ("r1", "m", "chat.completion")
    assert (choice.message.content, choice.message.role, choice.finish_reason) == (
        "Grüße 😀",
        "assistant",
        "tool_calls",
    )
    assert choice.message.model_extra == {"reasoning_content": "Let me see."}
    assert choice.message.annotations is not None
    assert choice.message.annotations[0].url_citation.url == "https://a"
    calls: Any = choice.message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == [
        ("c1", "weather", '{"city": "Zürich"}'),
        ("c2", "weather", "{}"),
    ]
    usage: Any = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (10, 20, 30)
    assert (usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens) == (5, 7)


def test_client_accumulates_our_stream_to_the_reply(client: OpenAI):
    whole = client.chat.completions.create(model="m", messages=HELLO)
    with client.chat.completions.stream(model="m", messages=HELLO, stream_options={"include_usage": True}) as stream:
        kinds = [event.type for event in stream]
        completion = stream.get_final_completion()
    assert "content.delta" in kinds
    assert kinds.count("tool_calls.function.arguments.done") == 2
    ours, theirs = completion.choices[0], whole.choices[0]
    assert ours.message.content == theirs.message.content
    assert ours.finish_reason == theirs.finish_reason
    calls, whole_calls = ours.message.tool_calls or [], theirs.message.tool_calls or []
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == [
        (call.id, call.function.name, call.function.arguments) for call in whole_calls if call.type == "function"
    ]
    assert completion.usage == whole.usage


def test_client_receives_chunks_one_by_one(client: OpenAI):
    chunks = list(client.chat.completions.create(model="m", messages=HELLO, stream=True))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "Grüße 😀"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"
    assert chunks[-1].usage is not None
    assert not chunks[-1].choices


def test_client_reads_a_refusal(client: OpenAI, server: FormatServer):
    server.answer = lambda call: ModelReply((TextPart("No."),), "refusal", model="m")
    (choice,) = client.chat.completions.create(model="m", messages=HELLO).choices
    assert (choice.message.refusal, choice.message.content, choice.finish_reason) == ("No.", None, "stop")


def test_requests_of_the_client_are_parsed(client: OpenAI, server: FormatServer):
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Where?"}, {"type": "image_url", "image_url": {"url": "https://a/b"}}],
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "8 °C"},
    ]
    client.chat.completions.create(model="m", messages=messages, tools=[WEATHER], temperature=0, stop=["x"], user="u")
    (call,) = server.calls
    assert [message.role for message in call.messages] == ["system", "user", "assistant", "tool"]
    assert call.messages[2] == Message.assistant(ToolCall("c1", "weather", "{}"))
    assert (call.tools[0].name, call.sampling.temperature, call.sampling.stop) == ("weather", 0.0, ("x",))
    assert call.provider_options == {"openai": {"user": "u"}}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BadRequestError("no"), openai.BadRequestError),
        (InvalidInputError("no", path="x"), openai.BadRequestError),
        (ContextOverflowError("no"), openai.BadRequestError),
        (ContentFilterError("no"), openai.BadRequestError),
        (AuthenticationError("no"), openai.AuthenticationError),
        (AccessDeniedError("no"), openai.PermissionDeniedError),
        (NotFoundError("no"), openai.NotFoundError),
        (ModelNotFoundError("no"), openai.NotFoundError),
        (RequestTimeoutError("no"), openai.APIStatusError),
        (RateLimitError("no"), openai.RateLimitError),
        (QuotaError("no"), openai.RateLimitError),
        (OverloadedError("no"), openai.InternalServerError),
        (ServerError("no"), openai.InternalServerError),
        (ConnectionFailedError("no"), openai.InternalServerError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(client: OpenAI, server: FormatServer, error: Any, expected: Any, stream: bool):
    server.answer = lambda call: error
    with pytest.raises(expected, match="no") as caught:
        client.chat.completions.create(model="m", messages=HELLO, stream=stream)
    assert type(caught.value) is expected
    assert type(CHAT.error(CHAT.render_error(error))).__name__ in (
        type(error).__name__,
        "BadRequestError",
        "ServerError",
    )


def test_client_error_has_code_and_path(client: OpenAI, server: FormatServer):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=[{"role": "bard", "content": "hi"}])  # type: ignore[list-item, misc]
    assert (caught.value.param, caught.value.type) == ("messages[0].role", "invalid_request_error")
    server.answer = lambda call: ContextOverflowError("too long")
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=HELLO)
    assert caught.value.code == "context_length_exceeded"


def test_client_obeys_retry_after(server: FormatServer, monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    answers: list[Any] = [RateLimitError("slow down", retry_after=1.5), REPLY]
    server.answer = lambda call: answers.pop(0)
    url, http = f"{server.url}/v1", openai.DefaultHttpxClient(trust_env=False)
    with OpenAI(base_url=url, api_key="k", max_retries=1, http_client=http) as client:
        completion = client.chat.completions.create(model="m", messages=HELLO)
    assert completion.id == "r1"
    assert 1.5 in waits


def test_error_mid_stream_reaches_the_client_after_the_partial_reply(client: OpenAI, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    texts: list[str] = []
    with pytest.raises(openai.APIError, match="too many"):
        for chunk in client.chat.completions.create(model="m", messages=HELLO, stream=True):
            texts.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 - what came before the error counts
    assert "".join(texts) == "Grüße 😀"
