"""`POST /embeddings` at the network's far end, written from OpenAI's API reference: each vector tells its text."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

from abstractcore import LLM, create_llm
from abstractcore.testing import CallStyle
from tests.chaos_server import ReceivedRequest, ScriptedServer, answer

DIMENSIONS = 8


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text, as float32 has it; none of zeros."""
    digest = hashlib.blake2b(text.encode(), digest_size=32).digest()
    return [(byte - 127.5) / 128 for byte in digest[:dimensions]]


def rows_of(texts: Sequence[str], dimensions: int = DIMENSIONS, *, base64_of: bool = True) -> list[dict[str, Any]]:
    """The objects of a response, in the order of the texts."""
    rows: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        vector: Any = vector_of(text, dimensions)
        if base64_of:
            vector = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
        rows.append({"object": "embedding", "index": index, "embedding": vector})
    return rows


def body_of(rows: list[dict[str, Any]], tokens: int) -> dict[str, Any]:
    """The body of a response."""
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": rows, "model": "embedder-1", "usage": usage}


def embeddings(request: ReceivedRequest) -> Sequence[bytes]:
    """The script of a request: the right answer, one token a text, in the order that base64 is asked for or not."""
    body = request.json
    dimensions = body.get("dimensions", DIMENSIONS)
    rows = rows_of(body["input"], dimensions, base64_of=body.get("encoding_format") == "base64")
    return [answer(body_of(rows, len(rows)))]


def error(status: int, message: str, **headers: str) -> bytes:
    """A response with an error, as OpenAI words it."""
    return answer({"error": {"message": message, "type": "invalid_request_error"}}, status, **headers)


def texts_in(server: ScriptedServer) -> list[list[str]]:
    """The texts of each request that a server has received."""
    return [request.json["input"] for request in server.requests]


def embedder(server: ScriptedServer, rules: dict[str, Any] | None = None, **options: Any) -> LLM:
    """A model at a server, of which these `EmbeddingRules` are known."""
    facts = {} if rules is None else {"facts": {"embedding": rules}}
    settings = {"base_url": f"{server.url}/v1", "api_key": "k", **facts, **options}
    return create_llm("openai-compatible", "embedder", **settings)


def call(style: CallStyle, llm: LLM, name: str, /, *arguments: Any, **options: Any) -> Any:
    """The result of a method of an LLM, or of its async version."""
    if style.name == "sync":
        return getattr(llm, name)(*arguments, **options)
    found: Callable[..., Any] = getattr(llm, f"a{name}")
    return style.run(found(*arguments, **options))
