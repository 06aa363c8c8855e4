"""Contents that the provider keeps for later calls, made and ended by calls of their own (`cachedContents`).

A call refers to one with the provider option `cachedContent`, and then brings no system message and no tools itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from abstractcore.errors import ServerError
from abstractcore.schema import Encoded, ModelCall, WireRequest, WireResponse

from ..json_reading import Object, as_object, count_of, read_answer, text_of
from .dialect import Dialect
from .encode import HEADERS, body_of, path_of
from .writing import Writing

_KEPT = ("contents", "systemInstruction", "tools", "toolConfig")


@dataclass(frozen=True, slots=True)
class CachedContent:
    """What is kept: its name, for the option; its model; its size in tokens; and until when, in RFC 3339."""

    name: str
    model: str | None = None
    tokens: int | None = None
    expires: str | None = None


def encode_creation(call: ModelCall, seconds: int, dialect: Dialect, name: str | None = None) -> Encoded:
    """The request that keeps the messages and tools of a lowered call for `seconds`; `name` is for people."""
    writing = Writing(dialect.provider)
    body = body_of(call, dialect, writing)
    kept: Object = {"model": path_of(call.model)[1:], "ttl": f"{seconds}s"}
    kept |= {field: body[field] for field in _KEPT if field in body}
    if name is not None:
        kept["displayName"] = name
    return Encoded(WireRequest("/cachedContents", HEADERS, writing.json(kept)), tuple(writing.warnings))


def encode_reading(name: str) -> Encoded:
    """The request that asks for one."""
    return Encoded(WireRequest(f"/{name}", {}, b"", "GET"))


def encode_extension(name: str, seconds: int) -> Encoded:
    """The request that keeps one for `seconds` from now on."""
    body = Writing("").json({"ttl": f"{seconds}s"})
    return Encoded(WireRequest(f"/{name}?updateMask=ttl", HEADERS, body, "PATCH"))


def encode_deletion(name: str) -> Encoded:
    """The request that ends one."""
    return Encoded(WireRequest(f"/{name}", {}, b"", "DELETE"))


def decode_cached_content(response: WireResponse) -> CachedContent:
    """What is kept; raises `ServerError` for a body that does not name it."""
    try:
        data: Any = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    name = text_of(data, "name")
    if name is None:
        raise ServerError("the answer names no cached content", status=response.status)
    tokens = count_of(as_object(data.get("usageMetadata")), "totalTokenCount")
    return CachedContent(name, text_of(data, "model"), tokens, text_of(data, "expireTime"))
