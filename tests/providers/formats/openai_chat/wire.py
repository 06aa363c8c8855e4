"""What the tests of this format share: published examples, the vendor's schemas, and bytes to and from streams."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.openai_chat import OpenAIChat

CHAT = OpenAIChat()
HERE = Path(__file__).parent
PUBLISHED = HERE / "published"


def published(name: str) -> Any:
    """A published example: a request, a reply, or the events of a stream."""
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


@cache
def _validator(name: str) -> Draft202012Validator:
    """For the vendor's schema `name`. `nullable` is of an older OpenAPI, and JSON Schema passes it over."""
    document = _with_nulls(json.loads((HERE / "openapi.json").read_text(encoding="utf-8")))
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _with_nulls(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_nulls(item) for item in node]
    if not isinstance(node, dict):
        return node
    rest = {key: _with_nulls(item) for key, item in node.items() if key != "nullable"}
    return {"anyOf": [rest, {"type": "null"}]} if node.get("nullable") is True else rest


def faults(name: str, data: Any) -> list[str]:
    """In what `data` does not fit the vendor's schema `name`."""
    return [f"{error.json_path}: {error.message:.200}" for error in _validator(name).iter_errors(data)]


def request(body: Any) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest("/chat/completions", {"content-type": "application/json"}, content)


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "openai", **fields)


def body_of(call: ModelCall, transpiler: OpenAIChat = CHAT) -> Any:
    """The request for `call`, as data."""
    return json.loads(transpiler.encode(call).request.body)


def chunk(
    finish_reason: str | None = None, /, *, usage: Any = None, logprobs: Any = None, **delta: Any
) -> dict[str, Any]:
    """One chunk of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    head = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **({} if usage is None else {"usage": usage})}


def called(*fragments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chunk of tool calls."""
    return chunk(tool_calls=list(fragments), **fields)


def fragment(arguments: str = "", **fields: Any) -> dict[str, Any]:
    """A fragment of a tool call; `name` belongs to its function."""
    function = {"arguments": arguments, **({"name": fields.pop("name")} if "name" in fields else {})}
    return {**fields, "function": function}


def events(chunks: Iterable[Any], *, done: bool = True, end: bytes = b"\n", space: bytes = b" ") -> bytes:
    """A stream of server-sent events."""
    data = [chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode() for chunk in chunks]
    return b"".join(b"data:" + space + item + 2 * end for item in (*data, *([b"[DONE]"] if done else [])))


def decoded(pieces: Iterable[bytes], transpiler: OpenAIChat = CHAT) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = transpiler.framer(), transpiler.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*chunks: Any) -> ModelReply:
    """The reply in a stream of these chunks."""
    return accumulate(decoded([events(chunks)]))


def rendered_chunks(deltas: Sequence[Delta]) -> list[Any]:
    """What our server sends for `deltas`, as data."""
    renderer = CHAT.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas) + renderer.finish()
    data = [frame.data for frame in CHAT.framer().feed(stream)]
    assert data.pop() == b"[DONE]"
    return [json.loads(item) for item in data]
