"""What the tests of this format share: published examples, and bytes to and from streams."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.ollama import OllamaChat

OLLAMA = OllamaChat()
PUBLISHED = Path(__file__).parent / "published"
DONE = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}


def published(name: str) -> Any:
    """A published example: a request, a reply, an error, or the lines of a stream."""
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


def request(body: Any) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest("/api/chat", {"content-type": "application/json"}, content)


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "ollama", **fields)


def body_of(call: ModelCall, transpiler: OllamaChat = OLLAMA) -> Any:
    """The request for `call`, as data."""
    return json.loads(transpiler.encode(call).request.body)


def line(**message: Any) -> dict[str, Any]:
    """One line of a stream."""
    return {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "", **message}, "done": False}


def called(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    """A tool call."""
    return {"function": {"name": name, "arguments": arguments}, **fields}


def lines(data: Iterable[Any], end: bytes = b"\n") -> bytes:
    """A stream of JSON lines."""
    return b"".join((item if isinstance(item, bytes) else json.dumps(item).encode()) + end for item in data)


def decoded(pieces: Iterable[bytes]) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = OLLAMA.framer(), OLLAMA.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*data: Any) -> ModelReply:
    """The reply in a stream of these lines."""
    return accumulate(decoded([lines(data)]))
