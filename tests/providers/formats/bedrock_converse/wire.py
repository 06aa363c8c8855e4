"""What the tests of this format share: published examples, the vendor's own model of the service, and streams."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from botocore.session import Session
from botocore.validate import ParamValidator

from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.bedrock_converse import BedrockConverse, ConverseDialect

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CONVERSE = BedrockConverse(MODEL)
NOVA = BedrockConverse(dialect=ConverseDialect("reasoningConfig", "inferenceConfig.topK"))
GPT_OSS = BedrockConverse(dialect=ConverseDialect("reasoning_effort", ""))
GPT = BedrockConverse(dialect=ConverseDialect("reasoning.effort", ""))
QWEN = BedrockConverse(dialect=ConverseDialect("reasoning_config", ""))
OTHER = BedrockConverse(dialect=ConverseDialect("", ""))
NEWEST = BedrockConverse(
    dialect=ConverseDialect(
        tool_choice_none=True, display=True, thinks_by_default=True, block_binding=True, off_effort="high"
    )
)
DIALECTS = {
    "claude": BedrockConverse(),
    "newest": NEWEST,
    "nova": NOVA,
    "gpt-oss": GPT_OSS,
    "gpt": GPT,
    "qwen": QWEN,
    "other": OTHER,
}
"""The format for models of each kind."""
PUBLISHED = Path(__file__).parent / "published"
OPERATIONS = {"converse": "Converse", "converse-stream": "ConverseStream", "count-tokens": "CountTokens"}


def published(name: str) -> Any:
    """A published example: a request, a reply, or the messages of a stream."""
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


@cache
def service() -> Any:
    """The vendor's model of the service."""
    return Session().get_service_model("bedrock-runtime")


def faults(request: WireRequest) -> str:
    """In what a request does not fit the vendor's model."""
    _, _, model, operation = request.url.split("/")
    shape = service().operation_model(OPERATIONS[operation]).input_shape
    values = {"modelId": unquote(model), **json.loads(request.body)}
    return ParamValidator().validate(with_bytes(values, shape), shape).generate_report()


def with_bytes(value: Any, shape: Any, as_bytes: Callable[[str], bytes] = str.encode) -> Any:
    """Returns the values of a body as the vendor's client would pass them: bytes are not text there."""
    if shape.type_name == "blob" and isinstance(value, str):
        return as_bytes(value)
    if shape.type_name == "list" and isinstance(value, list):
        return [with_bytes(item, shape.member, as_bytes) for item in value]
    if shape.type_name == "structure" and isinstance(value, dict) and not getattr(shape, "is_document_type", False):
        known = shape.members
        return {key: with_bytes(item, known[key], as_bytes) if key in known else item for key, item in value.items()}
    return value


def request(body: Any, operation: str = "converse", model: str = "m") -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest(f"/model/{model}/{operation}", {"content-type": "application/json"}, content)


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall(fields.pop("model", MODEL), messages or (Message.user("hi"),), "bedrock", **fields)


def body_of(call: ModelCall, transpiler: BedrockConverse = CONVERSE) -> Any:
    """The request for `call`, as data."""
    return json.loads(transpiler.encode(call).request.body)


def reply_with(*content: Any, **fields: Any) -> Any:
    """A reply with these blocks."""
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": "end_turn", **fields}


def decoded_reply(*content: Any, **fields: Any) -> ModelReply:
    return CONVERSE.decode(response(reply_with(*content, **fields)))


def event(name: str, data: Any, kind: str = "event") -> bytes:
    """A message of a stream; `data` may be bytes that are not JSON."""
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    payload = data if isinstance(data, bytes) else json.dumps(data).encode()
    return AwsEventStreamMessage(headers, payload).encode()


def stream_of(events: Iterable[Mapping[str, Any]]) -> bytes:
    """A stream; each message is an object with its name as only key."""
    return b"".join(event(name, data) for item in events for name, data in item.items())


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def start(index: int, **start: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": start}}


def stop(index: int) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


START: dict[str, Any] = {"messageStart": {"role": "assistant"}}
END: dict[str, Any] = {"messageStop": {"stopReason": "end_turn"}}
COUNTS: dict[str, Any] = {
    "metadata": {"usage": {"inputTokens": 3, "outputTokens": 5, "totalTokens": 8}, "metrics": {"latencyMs": 7}}
}


def decoded(pieces: Iterable[bytes], transpiler: BedrockConverse = CONVERSE) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = transpiler.framer(), transpiler.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*events: Mapping[str, Any]) -> ModelReply:
    """The reply in a stream of these messages, between a beginning and an end."""
    return accumulate(decoded([stream_of((START, *events, END, COUNTS))]))


def rendered_events(deltas: Sequence[Delta]) -> list[Any]:
    """What our server sends for `deltas`, as data."""
    renderer = CONVERSE.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas) + renderer.finish()
    frames = CONVERSE.framer().feed(stream)
    return [{frame.headers[":event-type"]: json.loads(frame.payload)} for frame in frames]
