"""What the tests of this format share: the vendor's schemas, and bytes to and from streams."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, Part, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from tests.providers.formats.openai_responses.generated import PROVIDER

RESPONSES = OpenAIResponses()
HERE = Path(__file__).parent


@cache
def _validator(name: str) -> Draft202012Validator:
    document = json.loads((HERE / "openapi.json").read_text(encoding="utf-8"))
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(name: str, data: Any) -> list[str]:
    """In what `data` does not fit the vendor's schema `name`."""
    return [f"{error.json_path}: {error.message:.200}" for error in _validator(name).iter_errors(data)]


def request(body: Any) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest("/responses", {"content-type": "application/json"}, content)


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def call(*messages: Message, model: str = "m", **fields: Any) -> ModelCall:
    return ModelCall(model, messages or (Message.user("hi"),), PROVIDER, **fields)


def body_of(call: ModelCall) -> Any:
    """The request for `call`, as data."""
    return json.loads(RESPONSES.encode(call).request.body)


def parsed(*items: Any, **fields: Any) -> ModelCall:
    """The call in a client's request with these items."""
    return RESPONSES.parse(request({"model": "m", "input": list(items), **fields})).call


def answered(*items: Any, **fields: Any) -> ModelReply:
    """The reply in a response with these output items."""
    return RESPONSES.decode(response(completed(*items, **fields)))


def parts(*items: Any) -> tuple[Part, ...]:
    return answered(*items).parts


def completed(*items: Any, **fields: Any) -> dict[str, Any]:
    """A response object, of a response that is not kept."""
    response = {"id": "r", "object": "response", "status": "completed", "model": "m", "store": False}
    return {**response, "output": list(items), **fields}


def message(text: str = "hi", **fields: Any) -> dict[str, Any]:
    """An output item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "msg_abc",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **fields,
    }


def function_call(call_id: str = "c1", arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    """An output item."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}x",
        "call_id": call_id,
        "name": "f",
        "arguments": arguments,
    } | fields


def begin(store: bool = False) -> dict[str, Any]:
    response = {"id": "r", "model": "m", "status": "in_progress", "store": store, "output": []}
    return {"type": "response.created", "response": response}


def end(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": completed(*items, **fields)}


def added(item: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(item: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, text: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    """A piece of a text, of arguments, or of reasoning."""
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **fields}


def events(items: Iterable[Any]) -> bytes:
    """A stream of server-sent events."""
    return b"".join(b"data: " + (i if isinstance(i, bytes) else json.dumps(i).encode()) + b"\n\n" for i in items)


def decoded(pieces: Iterable[bytes]) -> Iterator[Delta]:
    """Yields the deltas of a stream until it is complete."""
    framer, decoder = RESPONSES.framer(), RESPONSES.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
            if decoder.complete:
                yield from decoder.finish()
                return
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*items: Any) -> ModelReply:
    """The reply in a stream of these events."""
    return accumulate(decoded([events(items)]))


def rendered_events(deltas: Sequence[Delta]) -> list[Any]:
    """What our server sends for `deltas`, as data."""
    renderer = RESPONSES.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas) + renderer.finish()
    return [json.loads(frame.data) for frame in RESPONSES.framer().feed(stream)]
