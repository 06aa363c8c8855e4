"""What the tests of this format share: calls, requests, chunks of streams, and the vendor's types."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from google.genai import types

from abstractcore.schema import Delta, Message, ModelCall, ModelReply, WireRequest, WireResponse, accumulate
from abstractcore_providers.formats.gemini import Gemini

GEMINI = Gemini()
URL = "/models/m:generateContent"


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "google", **fields)


def body_of(call: ModelCall, transpiler: Gemini = GEMINI) -> Any:
    """The request for `call`, as data."""
    return json.loads(transpiler.encode(call).request.body)


def parts_of(*messages: Message, transpiler: Gemini = GEMINI) -> Any:
    """The parts of the last content of the request for these messages, after a user's."""
    return body_of(call(Message.user("hi"), *messages), transpiler)["contents"][-1]["parts"]


def request(body: Any, url: str = URL) -> WireRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireRequest(url, {"content-type": "application/json"}, content)


def read(*contents: Any, **fields: Any) -> ModelCall:
    """The call in a client's request with these contents."""
    return GEMINI.parse(request({"contents": list(contents), **fields})).call


def response(body: Any, status: int = 200, **headers: str) -> WireResponse:
    """`headers` have underscores for dashes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return WireResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def chunk(*parts: Any, finish: str | None = None, usage: Any = None, **candidate: Any) -> dict[str, Any]:
    """One response object: a chunk of a stream, or a whole reply."""
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    reason = {} if finish is None else {"finishReason": finish}
    counts = {} if usage is None else {"usageMetadata": usage}
    return {"candidates": [{**content, **reason, **candidate}], "modelVersion": "m", "responseId": "r", **counts}


def events(chunks: Iterable[Any], *, end: bytes = b"\r\n") -> bytes:
    data = [chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode() for chunk in chunks]
    return b"".join(b"data: " + item + 2 * end for item in data)


def decoded(pieces: Iterable[bytes]) -> Iterator[Delta]:
    """The deltas of a stream, as they come."""
    framer, decoder = GEMINI.framer(), GEMINI.decoder()
    for piece in pieces:
        for frame in framer.feed(piece):
            yield from decoder.feed(frame)
    for frame in framer.finish():
        yield from decoder.feed(frame)
    yield from decoder.finish()


def streamed(*chunks: Any) -> ModelReply:
    return accumulate(decoded([events(chunks)]))


def whole(*parts: Any, finish: str | None = "STOP", usage: Any = None, **candidate: Any) -> ModelReply:
    """The reply in one response object."""
    return GEMINI.decode(response(chunk(*parts, finish=finish, usage=usage, **candidate)))


def check_types(body: Any) -> None:
    """Raise `ValidationError` for a request that the vendor's types refuse, fields they do not know included."""
    for content in [*body["contents"], body.get("systemInstruction", {"parts": []})]:
        types.Content.model_validate(content)
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    settings = {name: body[name] for name in ("tools", "toolConfig") if name in body}
    types.GenerateContentConfig.model_validate(settings)
