"""What the tests of this format share: bytes to and from requests, replies and streams."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.cohere_chat import CohereChat

COHERE = CohereChat()
START = {"type": "message-start", "id": "r", "model": "m", "delta": {"message": {"role": "assistant"}}}


def request(body: Any) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest("/chat", {"content-type": "application/json"}, content)


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "cohere", **fields)


def body_of(call: ModelCall) -> Any:
    """The request for `call`, as data."""
    return json.loads(COHERE.encode(call).request.body)


def event(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    """An event with a message in its delta."""
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, **({"delta": {"message": message}} if message else {})}


def text(piece: str, index: int = 0) -> dict[str, Any]:
    return event("content-delta", index, content={"text": piece})


def thought(piece: str, index: int = 0) -> dict[str, Any]:
    return event("content-delta", index, content={"thinking": piece})


def begun(index: int, id: str | None, name: str) -> dict[str, Any]:
    """The beginning of a tool call."""
    return event("tool-call-start", index, tool_calls={"id": id, "function": {"name": name, "arguments": ""}})


def arguments(index: int, piece: str) -> dict[str, Any]:
    """More of a tool call's arguments."""
    return event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})


def end(reason: str | None = "COMPLETE", **delta: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": reason, **delta}}


def events(data: Iterable[Any], end: bytes = b"\n") -> bytes:
    """A stream of server-sent events."""
    items = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in data]
    return b"".join(b"event: x" + end + b"data: " + item + 2 * end for item in items)


def decoded(pieces: Iterable[bytes]) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = COHERE.framer(), COHERE.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*data: Any) -> ModelReply:
    """The reply in a stream of these events."""
    return accumulate(decoded([events(data)]))
