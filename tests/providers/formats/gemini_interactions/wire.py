"""What the tests of this format share: calls, requests, events of streams, and the vendor's types."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.gemini_interactions import GeminiInteractions

INTERACTIONS = GeminiInteractions()
PROVIDER = INTERACTIONS.provider
HEAD = {"id": "v1_a", "object": "interaction", "model": "m"}


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), PROVIDER, **fields)


def body_of(call: ModelCall) -> Any:
    """The request for `call`, as data."""
    return json.loads(INTERACTIONS.encode(call).request.body)


def steps_of(*messages: Message) -> Any:
    """The steps of the request for these messages, after those of a user's."""
    return body_of(call(Message.user("hi"), *messages))["input"][1:]


def request(body: Any) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest("/interactions", {"content-type": "application/json"}, content)


def read(input: Any, **fields: Any) -> ModelCall:
    """The call in a client's request with this input."""
    return INTERACTIONS.parse(request({"model": "m", "input": input, **fields})).call


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def whole(*steps: Any, status: str = "completed", **fields: Any) -> ModelReply:
    """The reply in one interaction."""
    return INTERACTIONS.decode(response({**HEAD, "status": status, "steps": list(steps), **fields}))


def event(event_type: str, **fields: Any) -> dict[str, Any]:
    return {**fields, "event_type": event_type}


CREATED = event("interaction.created", interaction={**HEAD, "status": "in_progress"})


def start(index: int, type: str, **fields: Any) -> dict[str, Any]:
    return event("step.start", index=index, step={"type": type, **fields})


def delta(index: int, type: str, **fields: Any) -> dict[str, Any]:
    return event("step.delta", index=index, delta={"type": type, **fields})


def text(piece: str, index: int = 0) -> dict[str, Any]:
    return delta(index, "text", text=piece)


def stop(index: int, **fields: Any) -> dict[str, Any]:
    return event("step.stop", index=index, **fields)


def completed(status: str | None = "completed", **fields: Any) -> dict[str, Any]:
    return event("interaction.completed", interaction={**HEAD, "status": status, **fields})


def events(frames: Iterable[Any], *, end: bytes = b"\n") -> bytes:
    """The bytes of a stream, with its end mark."""
    data = [frame if isinstance(frame, bytes) else json.dumps(frame).encode() for frame in frames]
    return b"".join(b"data: " + item + 2 * end for item in [*data, b"[DONE]"])


def decoded(pieces: Iterable[bytes]) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = INTERACTIONS.framer(), INTERACTIONS.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*frames: Any) -> ModelReply:
    """The reply of a stream of these events, which is complete."""
    return accumulate(decoded([events([CREATED, *frames, completed()])]))
