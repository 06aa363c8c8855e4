"""The vendor's client against a server built from our server side, over a socket."""

from collections.abc import Iterator
from typing import Any

import pytest
from google import genai
from google.genai import errors as theirs
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
    Usage,
)
from tests.providers.formats.gemini.wire import GEMINI
from tests.providers.serving import FormatServer, serving

SIGNATURE = "U2lnbmVk"
REPLY = ModelReply(
    (
        ReasoningPart("Let me see.", origin="google/m"),
        TextPart("Grüße 😀", (Citation("https://a", "A", start=0, end=7),)),
        ReasoningPart("", SIGNATURE, origin="google/m"),
        HostedToolCall("", "code_execution", '{"language":"PYTHON","code":"1"}'),
        HostedToolResult("", (TextPart("1"),), {"outcome": "OUTCOME_OK"}),
        ToolCall("c1", "weather", '{"city": "Zürich"}', SIGNATURE),
        ToolCall("c2", "weather", "{}"),
    ),
    "tool_calls",
    usage=Usage(10, 20, cached=5, reasoning=7, billing=Billing(tier="standard", counts={"input_image": 4})),
    model="m",
    id="r1",
)


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(GEMINI, "text/event-stream", REPLY) as server:
        yield server


@pytest.fixture
def client(server: FormatServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[genai.Client]:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    options = types.HttpOptions(base_url=server.url)
    client = genai.Client(api_key="k", http_options=options, vertexai=False)
    yield client
    client.close()


def generate(client: genai.Client, contents: Any = "hi", **config: Any) -> types.GenerateContentResponse:
    plain = {"automatic_function_calling": {"disable": True}, **config}
    return client.models.generate_content(model="m", contents=contents, config=types.GenerateContentConfig(**plain))


def parts_of(answer: types.GenerateContentResponse) -> list[types.Part]:
    assert answer.candidates
    assert answer.candidates[0].content
    return answer.candidates[0].content.parts or []


def test_client_reads_our_reply(client: genai.Client):
    answer = generate(client)
    thought, text, code, result, first, second = parts_of(answer)
    assert (thought.text, thought.thought) == ("Let me see.", True)
    assert (text.text, text.thought_signature) == ("Grüße 😀", b"Signed")
    assert code.executable_code is not None
    assert code.executable_code.code == "1"
    assert result.code_execution_result is not None
    assert result.code_execution_result.output == "1"
    assert first.function_call is not None
    assert (first.function_call.id, first.function_call.args) == ("c1", {"city": "Zürich"})
    assert first.thought_signature == b"Signed"
    assert second.function_call is not None
    assert second.function_call.id == "c2"
    assert (answer.response_id, answer.model_version) == ("r1", "m")
    usage = answer.usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count) == (10, 13, 30)
    assert (usage.cached_content_token_count, usage.thoughts_token_count) == (5, 7)
    assert usage.prompt_tokens_details == [types.ModalityTokenCount(modality=types.MediaModality.IMAGE, token_count=4)]
    assert answer.candidates
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP
    grounding = answer.candidates[0].grounding_metadata
    assert grounding is not None
    assert grounding.grounding_chunks is not None
    assert grounding.grounding_chunks[0].web is not None
    assert grounding.grounding_chunks[0].web.uri == "https://a"
    assert grounding.grounding_supports is not None
    assert grounding.grounding_supports[0].segment == types.Segment(
        part_index=1, start_index=0, end_index=len("Grüße 😀".encode()), text="Grüße 😀"
    )


def test_client_accumulates_our_stream_to_the_reply(client: genai.Client):
    chunks = list(client.models.generate_content_stream(model="m", contents="hi"))
    parts = [part for chunk in chunks if chunk.candidates and chunk.candidates[0].content for part in parts_of(chunk)]
    assert "".join(part.text or "" for part in parts if not part.thought) == "Grüße 😀"
    assert [part.function_call.id for part in parts if part.function_call] == ["c1", "c2"]
    assert b"Signed" in [part.thought_signature for part in parts]
    assert chunks[-1].candidates
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert chunks[-1].usage_metadata is not None
    assert chunks[-1].usage_metadata.total_token_count == 30


def test_client_can_send_our_reply_back(client: genai.Client, server: FormatServer):
    """Signatures, order and code come back as they went out."""
    answer = generate(client)
    assert answer.candidates
    given = [types.Part.from_function_response(name="weather", response={"output": text}) for text in ("8 °C", "9 °C")]
    for part, id in zip(given, ("c1", "c2"), strict=True):
        assert part.function_response is not None
        part.function_response.id = id
    said = types.Content(role="user", parts=[types.Part(text="hi")])
    generate(client, [said, answer.candidates[0].content, types.Content(role="user", parts=given)])
    replayed = server.calls[1].messages[1]
    assert [type(part) for part in replayed.parts] == [type(part) for part in REPLY.parts]
    assert replayed.parts[0] == REPLY.parts[0]
    assert replayed.parts[2:5] == REPLY.parts[2:5]
    assert [call.signature for call in replayed.tool_calls] == [SIGNATURE, None]
    assert [result.call_id for result in server.calls[1].messages[2].parts] == ["c1", "c2"]  # type: ignore[union-attr]


def test_requests_of_the_client_are_parsed(client: genai.Client, server: FormatServer):
    def weather(city: str) -> str:
        """The weather."""
        return city

    generate(
        client,
        ["Where?", types.Part.from_bytes(data=b"png", mime_type="image/png")],
        system_instruction="Be brief.",
        temperature=0,
        top_k=3,
        max_output_tokens=5,
        stop_sequences=["x"],
        seed=7,
        tools=[weather, types.Tool(google_search=types.GoogleSearch())],
        tool_config={"function_calling_config": {"mode": "ANY", "allowed_function_names": ["weather"]}},
        thinking_config={"thinking_budget": 100, "include_thoughts": True},
        response_modalities=["TEXT"],
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    )
    (call,) = server.calls
    assert [message.role for message in call.messages] == ["system", "user"]
    assert [type(part) for part in call.messages[1].parts] == [TextPart, ImagePart]
    assert (call.tools[0].name, call.tools[0].description) == ("weather", "The weather.")
    assert call.tools[0].parameters["properties"]["city"]["type"] == "string"  # type: ignore[index, call-overload]
    assert [tool.kind for tool in call.hosted_tools] == ["web_search"]
    assert call.tool_choice is not None
    assert (call.tool_choice.mode, call.tool_choice.tool) == ("tool", "weather")
    sampling = call.sampling
    assert (sampling.temperature, sampling.top_k, sampling.max_output_tokens) == (0.0, 3, 5)
    assert (sampling.stop, sampling.seed, call.thinking, call.modalities) == (("x",), 7, 100, ("text",))
    assert list(call.provider_options["google"]) == ["safetySettings"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadRequestError("no"), "INVALID_ARGUMENT"),
        (ContextOverflowError("no"), "INVALID_ARGUMENT"),
        (AuthenticationError("no"), "UNAUTHENTICATED"),
        (AccessDeniedError("no"), "PERMISSION_DENIED"),
        (ModelNotFoundError("no"), "NOT_FOUND"),
        (RateLimitError("no", retry_after=1.5), "RESOURCE_EXHAUSTED"),
        (QuotaError("no"), "RESOURCE_EXHAUSTED"),
        (OverloadedError("no"), "UNAVAILABLE"),
        (ServerError("no"), "INTERNAL"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_error_has_the_clients_own_class(
    client: genai.Client, server: FormatServer, error: AbstractCoreError, status: str, stream: bool
):
    server.answer = lambda call: error
    expected = theirs.ServerError if status in ("UNAVAILABLE", "INTERNAL") else theirs.ClientError
    with pytest.raises(expected, match="no") as caught:
        if stream:
            list(client.models.generate_content_stream(model="m", contents="hi"))
        else:
            generate(client)
    assert (caught.value.status, caught.value.message) == (status, "no")


def test_client_error_has_the_path(client: genai.Client, server: FormatServer):
    with pytest.raises(theirs.ClientError) as caught:
        generate(client, [types.Content(role="bard", parts=[types.Part(text="hi")])])
    (detail,) = caught.value.details["error"]["details"]
    assert detail["fieldViolations"][0]["field"] == "contents[0].role"


def test_error_mid_stream_reaches_the_client(client: genai.Client, server: FormatServer):
    server.answer = lambda call: (REPLY, OverloadedError("too many"))
    texts: list[str] = []
    with pytest.raises(theirs.APIError, match="too many"):
        for chunk in client.models.generate_content_stream(model="m", contents="hi"):
            texts += [part.text or "" for part in parts_of(chunk) if not part.thought]
    assert "".join(texts) == "Grüße 😀"
