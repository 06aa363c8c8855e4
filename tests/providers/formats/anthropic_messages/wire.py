"""What the tests of this format share: calls, and bytes to and from streams."""

import json
from collections.abc import Sequence
from typing import Any

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, Sampling, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages
from tests.providers.published import decoded, frames_of, stream_of

MESSAGES = AnthropicMessages()
ORIGIN = "anthropic/m"
LIMIT = Sampling(max_output_tokens=20_000)


def request(body: Any, **headers: str) -> WireRequest:
    """`headers` have underscores for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WireRequest("/messages", named, json.dumps({"model": "m", "max_tokens": 100, **body}).encode())


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, **fields: Any) -> ModelCall:
    """A call with a token limit, as set by the provider's profile."""
    given: Any = {"sampling": LIMIT, **fields}
    return ModelCall("m", messages or (Message.user("hi"),), "anthropic", **given)


def body_of(call: ModelCall, transpiler: AnthropicMessages = MESSAGES) -> Any:
    """The request for `call`, as data."""
    return json.loads(transpiler.encode(call).request.body)


def message(*content: Any, **fields: Any) -> dict[str, Any]:
    """A reply's body."""
    usage = {"input_tokens": 3, "output_tokens": 5}
    head = {"id": "r", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**head, "content": list(content), "usage": usage, **fields}


def start(**usage: Any) -> dict[str, Any]:
    """The beginning of a stream."""
    return {"type": "message_start", "message": message(stop_reason=None, usage=usage)}


def block(index: int, *deltas: dict[str, Any], **content: Any) -> list[dict[str, Any]]:
    """The events of one block."""
    begun = {"type": "content_block_start", "index": index, "content_block": content}
    pieces = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [begun, *pieces, {"type": "content_block_stop", "index": index}]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    return block(index, *({"type": "text_delta", "text": piece} for piece in pieces), type="text", text="")


def tool(index: int, id: str, *pieces: str, input: Any = None) -> list[dict[str, Any]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, *deltas, type="tool_use", id=id, name="f", input=input or {})


def end(reason: str | None = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    """The end of a stream."""
    change = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
    return [{**change, **({"usage": usage} if usage else {})}, {"type": "message_stop"}]


def streamed(*events: Any) -> ModelReply:
    """The reply in a stream of these events."""
    return accumulate(deltas_of_stream(stream_of(MESSAGES, events)))


def deltas_of_stream(*pieces: bytes) -> list[Delta]:
    return list(decoded(MESSAGES, frames_of(MESSAGES, pieces)))


def rendered_events(deltas: Sequence[Delta]) -> list[Any]:
    """What our server sends for `deltas`, as data."""
    renderer = MESSAGES.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas) + renderer.finish()
    return [json.loads(frame.data) for frame in MESSAGES.framer().feed(stream)]
