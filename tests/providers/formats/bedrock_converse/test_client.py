"""The vendor's client against a server built from our server side, over a socket."""

import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from botocore.serialize import create_serializer
from botocore.session import Session
from hypothesis import given

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
    UnsupportedContentError,
)
from abstractcore.schema import (
    Blob,
    Citation,
    DocumentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    WireRequest,
)
from tests.properties import examples
from tests.providers.formats.bedrock_converse import generated
from tests.providers.formats.bedrock_converse.wire import CONVERSE, MODEL, OPERATIONS, call, service, with_bytes
from tests.providers.serving import FormatServer, serving

HELLO: Any = [{"role": "user", "content": [{"text": "hi"}]}]
PNG = Blob.from_bytes(b"\x89PNG", "image/png")
REPLY = ModelReply(
    (
        ReasoningPart("Let me see.", "c2ln"),
        ReasoningPart(redacted_data="aGlkZGVu"),
        TextPart("Grüße 😀", (Citation("https://a", "A", quote="q", start=0, end=7),)),
        ToolCall("c1", "weather", '{"city": "Zürich", "at": 1.50}'),
        HostedToolCall("h1", "nova_grounding", '{"q":"x"}'),
        HostedToolResult("h1", (TextPart("found"),), {"status": "success", "type": "nova_grounding_result"}),
        ImagePart(PNG),
    ),
    "tool_calls",
    usage=Usage(100, 20, cached=60, cache_written=10),
    provider_metadata={"metrics": {"latencyMs": 7}, "additionalModelResponseFields": {"stop_sequence": "x"}},
)


@pytest.fixture(scope="module")
def shared_server() -> Iterator[FormatServer]:
    with serving(CONVERSE, "application/vnd.amazon.eventstream", REPLY) as server:
        yield server


@pytest.fixture(scope="module")
def client(shared_server: FormatServer) -> Iterator[Any]:
    """One client for all tests: making it reads the vendor's model of the service."""
    client = Session().create_client(
        "bedrock-runtime",
        "us-east-1",
        endpoint_url=shared_server.url,
        aws_access_key_id="A",
        aws_secret_access_key="S",
        config=Config(retries={"total_max_attempts": 1}, proxies={}),
    )
    yield client
    client.close()


@pytest.fixture
def server(shared_server: FormatServer) -> FormatServer:
    shared_server.calls.clear()
    shared_server.answer = lambda call: REPLY
    return shared_server


def test_client_reads_our_reply(client: Any, server: FormatServer):
    reply = client.converse(modelId=MODEL, messages=HELLO)
    assert reply["output"]["message"]["role"] == "assistant"
    assert reply["output"]["message"]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": b"hidden"}},
        {
            "citationsContent": {
                "content": [{"text": "Grüße 😀"}],
                "citations": [{"title": "A", "source": "https://a", "sourceContent": [{"text": "q"}]}],
            }
        },
        {"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Zürich", "at": 1.5}}},
        {"toolUse": {"toolUseId": "h1", "name": "nova_grounding", "input": {"q": "x"}, "type": "server_tool_use"}},
        {
            "toolResult": {
                "toolUseId": "h1",
                "content": [{"text": "found"}],
                "status": "success",
                "type": "nova_grounding_result",
            }
        },
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
    ]
    assert reply["stopReason"] == "tool_use"
    assert reply["usage"] == {
        "inputTokens": 30,
        "outputTokens": 20,
        "totalTokens": 120,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 10,
    }
    assert reply["metrics"] == {"latencyMs": 7}
    assert reply["additionalModelResponseFields"] == {"stop_sequence": "x"}


def test_client_reads_our_stream(client: Any, server: FormatServer):
    events = list(client.converse_stream(modelId=MODEL, messages=HELLO)["stream"])
    assert server.calls[0].stream
    assert events[0] == {"messageStart": {"role": "assistant"}}
    assert [next(iter(event)) for event in events[-2:]] == ["messageStop", "metadata"]
    said: dict[int, list[Any]] = {}
    for event in events:
        ((name, data),) = event.items()
        if name in ("contentBlockStart", "contentBlockDelta"):
            said.setdefault(data["contentBlockIndex"], []).append(data.get("start") or data["delta"])
    assert list(said.values()) == [
        [{"reasoningContent": {"text": "Let me see."}}, {"reasoningContent": {"signature": "c2ln"}}],
        [{"reasoningContent": {"redactedContent": b"hidden"}}],
        [
            {"text": "Grüße 😀"},
            {"citation": {"title": "A", "source": "https://a", "sourceContent": [{"text": "q"}]}},
        ],
        [
            {"toolUse": {"toolUseId": "c1", "name": "weather"}},
            {"toolUse": {"input": '{"city": "Zürich", "at": 1.50}'}},
        ],
        [
            {"toolUse": {"toolUseId": "h1", "name": "nova_grounding", "type": "server_tool_use"}},
            {"toolUse": {"input": '{"q":"x"}'}},
        ],
        [
            {"toolResult": {"toolUseId": "h1", "status": "success", "type": "nova_grounding_result"}},
            {"toolResult": [{"text": "found"}]},
        ],
        [{"image": {"format": "png"}}, {"image": {"source": {"bytes": b"\x89PNG"}}}],
    ]
    assert events[-2]["messageStop"]["stopReason"] == "tool_use"
    assert events[-1]["metadata"]["usage"]["cacheReadInputTokens"] == 60
    assert events[-1]["metadata"]["metrics"] == {"latencyMs": 7}


def test_requests_of_the_client_are_parsed(client: Any, server: FormatServer):
    client.converse(
        modelId="arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
        system=[{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        messages=[
            {
                "role": "user",
                "content": [
                    {"text": "Where?"},
                    {"image": {"format": "png", "source": {"bytes": b"png"}}},
                    {"document": {"format": "pdf", "name": "a", "source": {"s3Location": {"uri": "s3://bucket/a"}}}},
                ],
            },
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"a": 1}}}]},
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"json": {"t": 8}}], "status": "error"}}],
            },
        ],
        toolConfig={
            "tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": {"type": "object"}}}}],
            "toolChoice": {"any": {}},
        },
        inferenceConfig={"maxTokens": 5, "temperature": 0.5, "stopSequences": ["x"]},
        additionalModelRequestFields={"inferenceConfig": {"topK": 3}, "other": 1},
        serviceTier={"type": "flex"},
    )
    (call,) = server.calls
    assert call.model.endswith("inference-profile/us.amazon.nova-pro-v1:0")
    assert call.messages[1:] == (
        Message.user(
            "Where?",
            ImagePart(Blob.from_bytes(b"png", "image/png")),
            DocumentPart(Blob.from_url("s3://bucket/a", "application/pdf")),
        ),
        Message.assistant(ToolCall("c1", "weather", '{"a": 1}')),
        Message.tool(ToolResult.text("c1", '{"t":8}', is_error=True)),
    )
    (system,) = call.messages[0].parts
    assert isinstance(system, TextPart)
    assert (system.text, system.cache and system.cache.ttl) == ("Be brief.", 3600)
    assert call.tools == (ToolSpec("weather", parameters={"type": "object"}),)
    assert call.tool_choice is not None
    assert call.tool_choice.mode == "required"
    sampling = call.sampling
    assert (sampling.max_output_tokens, sampling.temperature, sampling.stop, sampling.top_k) == (5, 0.5, ("x",), 3)
    assert call.provider_options == {
        "bedrock": {"additionalModelRequestFields": {"other": 1}, "serviceTier": {"type": "flex"}}
    }


@examples(25)
@given(generated.calls(optioned=False))
def test_client_writes_the_same_request(call: ModelCall):
    """Its serialiser writes our URL and an equal body from the values of our body."""
    try:
        ours = CONVERSE.encode(call.with_(provider_options={})).request
    except (InvalidInputError, UnsupportedContentError):
        return
    check_serialized(ours)


def test_client_writes_the_same_url_for_an_arn():
    check_serialized(CONVERSE.encode(call(model="arn:aws:bedrock:us-east-1:1:prompt/ABCDEFGHIJ:1")).request)


def check_serialized(ours: WireRequest) -> None:
    _, _, model, name = ours.url.split("/")
    operation = service().operation_model(OPERATIONS[name])
    values = with_bytes({"modelId": unquote(model), **json.loads(ours.body)}, operation.input_shape, b64decode)
    theirs = create_serializer("rest-json").serialize_to_request(values, operation)
    assert theirs["url_path"] == ours.url
    assert theirs["method"] == ours.method
    assert json.loads(theirs["body"]) == json.loads(ours.body)


@pytest.mark.parametrize(
    ("error", "name", "status"),
    [
        (BadRequestError("no"), "ValidationException", 400),
        (InvalidInputError("no", path="x"), "ValidationException", 400),
        (ContextOverflowError("no"), "ValidationException", 400),
        (ContentFilterError("no"), "ValidationException", 400),
        (AuthenticationError("no"), "UnrecognizedClientException", 403),
        (AccessDeniedError("no"), "AccessDeniedException", 403),
        (NotFoundError("no"), "UnknownOperationException", 404),
        (ModelNotFoundError("no"), "ResourceNotFoundException", 404),
        (RequestTimeoutError("no"), "ModelTimeoutException", 408),
        (RateLimitError("no"), "ThrottlingException", 429),
        (QuotaError("no"), "ServiceQuotaExceededException", 400),
        (OverloadedError("no"), "ServiceUnavailableException", 503),
        (ServerError("no"), "InternalServerException", 500),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
@pytest.mark.parametrize("operation", ["converse", "converse_stream"])
def test_error_has_the_clients_own_class(
    client: Any, server: FormatServer, error: Any, name: str, status: int, operation: str
):
    server.answer = lambda call: error
    with pytest.raises(ClientError, match="no") as caught:
        getattr(client, operation)(modelId=MODEL, messages=HELLO)
    assert caught.value.response["Error"]["Code"] == name
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    if hasattr(client.exceptions, name):
        assert isinstance(caught.value, getattr(client.exceptions, name))


def test_client_error_has_the_path(client: Any, server: FormatServer):
    content: Any = [{"toolResult": {"toolUseId": "c1", "content": [{"text": "x"}]}}]
    with pytest.raises(client.exceptions.ValidationException, match=r"'c1' has no such call"):
        client.converse(modelId=MODEL, messages=[*HELLO, {"role": "user", "content": content}])


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (RateLimitError("busy"), "throttlingException"),
        (OverloadedError("busy"), "serviceUnavailableException"),
        (BadRequestError("busy"), "validationException"),
        (QuotaError("busy"), "validationException"),
        (ServerError("busy"), "internalServerException"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_error_mid_stream_reaches_the_client_after_the_partial_reply(
    client: Any, server: FormatServer, error: Any, name: str
):
    server.answer = lambda call: (REPLY, error)
    events: list[Any] = []
    with pytest.raises(EventStreamError, match="busy") as caught:
        for event in client.converse_stream(modelId=MODEL, messages=HELLO)["stream"]:
            events.append(event)  # noqa: PERF402 - what came before the error counts
    assert caught.value.response["Error"]["Code"] == name
    assert {"contentBlockDelta": {"delta": {"text": "Grüße 😀"}, "contentBlockIndex": 2}} in events
