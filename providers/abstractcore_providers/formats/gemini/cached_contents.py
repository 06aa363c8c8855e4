"""Cached contents (`cachedContents`): created, read, extended and deleted by operations of their own.

A call refers to one with the provider option `cachedContent`, and then has no system message and no tools itself.
Source: https://ai.google.dev/api/caching.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from abstractcore.errors import InvalidInputError, ServerError, UnsupportedOptionError
from abstractcore.ports import Operation, Operations
from abstractcore.schema import (
    CachedContent,
    CallWarning,
    Encoded,
    ModelCall,
    Sampling,
    WireRequest,
    WireResponse,
    to_data,
)
from abstractcore.schema.quoting import shown

from ...common.body_writer import BodyWriter
from ...common.google_errors import RIGHT_ADDRESS, error_in_body
from ...common.json_headers import JSON_HEADERS
from ...common.json_reading import Object, as_object, count_of, text_of
from ...common.operations import CACHED_CONTENTS
from ...common.response_bodies import read_body
from .dialect import Dialect
from .encode import body_of, resource_of
from .vocabulary import ARGUMENTS

_COLLECTION = "cachedContents"
_KEPT = ("contents", "systemInstruction", "tools", "toolConfig")
_OF_AN_ANSWER = ("sampling", "output", "thinking", "modalities", "parallel_tool_calls")
_NOTHING = (None, (), Sampling())


def cached_content_operations(dialect: Dialect) -> Operations:
    """Returns the operations on `cachedContents` by name. Names of contents are those that the provider returned.

    The functions raise `InvalidInputError` for an invalid lifetime in whole seconds, name or title.
    """

    def create(*, seconds: int, title: str | None = None) -> Operation[CachedContent]:
        _check_seconds(seconds)
        if title is not None:
            _check_text(title, "title")
        return operation("create", lambda call: encode_keeping(call, seconds, title, dialect))

    def read(*, name: str) -> Operation[CachedContent]:
        _check_text(name, "name")
        return operation("read", lambda call: encode_kept(name))

    def extend(*, name: str, seconds: int) -> Operation[CachedContent]:
        _check_text(name, "name")
        _check_seconds(seconds)
        return operation("extend", lambda call: encode_extension(name, seconds))

    def delete(*, name: str) -> Operation[None]:
        _check_text(name, "name")
        return Operation(f"{CACHED_CONTENTS}.delete", lambda call: encode_deletion(name), lambda response: None)

    def operation(action: str, encode: Callable[[ModelCall], Encoded]) -> Operation[CachedContent]:
        return Operation(
            f"{CACHED_CONTENTS}.{action}", encode, lambda response: decode_kept(response, dialect), to_record=to_data
        )

    return {f"{CACHED_CONTENTS}.{each.__name__}": each for each in (create, read, extend, delete)}


def _check_seconds(seconds: object) -> None:
    if type(seconds) is not int or seconds < 1:
        message = f"expected a whole number of at least 1, got {shown(seconds)}"
        raise InvalidInputError(message, path="arguments.seconds")


def _check_text(value: object, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidInputError(f"expected a text, got {shown(value)}", path=f"arguments.{name}")


def encode_keeping(call: ModelCall, seconds: int, title: str | None, dialect: Dialect) -> Encoded:
    """Returns the request that caches the messages and tools of a lowered call for `seconds`.

    Raises `UnsupportedOptionError` for a model without cached contents.
    """
    if not dialect.explicit_cache:
        raise UnsupportedOptionError(
            f"{call.model} has no cached contents.",
            hint="It caches prompts that begin alike by itself: send the same messages first.",
            provider=call.provider or None,
            model=call.model,
        )
    writer = BodyWriter(dialect.provider, ARGUMENTS)
    body = body_of(call.with_(**_without_answer(call, writer)), dialect, writer)
    parent = f"{dialect.parent}/" if dialect.parent else ""
    kept: Object = {"model": f"{parent}{resource_of(call.model, dialect)}", "ttl": f"{seconds}s"}
    kept |= {field: body[field] for field in _KEPT if field in body}
    for field in sorted(body.keys() - kept):
        field_path, message = (
            f"provider_options.{dialect.provider}.{field}",
            f"{field} is not allowed in a cached content",
        )
        writer.warnings.append(CallWarning("option_left_out", field_path, message))
    if title is not None:
        kept["displayName"] = title
    return Encoded(WireRequest(f"/{_COLLECTION}", JSON_HEADERS, writer.json(kept)), tuple(writer.warnings))


def _without_answer(call: ModelCall, writer: BodyWriter) -> dict[str, object]:
    """Removes the options of a call that concern its answer, with a warning each: they are set where the content is
    used.
    """
    asked = [name for name in _OF_AN_ANSWER if getattr(call, name) not in _NOTHING]
    for name in asked:
        message = "a cached content has no response: set this in the calls that use it"
        writer.warnings.append(CallWarning("not_kept", name, message))
    return {name: Sampling() if name == "sampling" else () if name == "modalities" else None for name in asked}


def encode_kept(name: str) -> Encoded:
    """Returns the request that reads one."""
    return Encoded(WireRequest(_path_of(name), {}, b"", "GET"))


def encode_extension(name: str, seconds: int) -> Encoded:
    """Returns the request that extends the lifetime of one to `seconds` from now."""
    body = BodyWriter("", ARGUMENTS).json({"ttl": f"{seconds}s"})
    return Encoded(WireRequest(f"{_path_of(name)}?updateMask=ttl", JSON_HEADERS, body, "PATCH"))


def encode_deletion(name: str) -> Encoded:
    """Returns the request that deletes one."""
    return Encoded(WireRequest(_path_of(name), {}, b"", "DELETE"))


def _path_of(name: str) -> str:
    """Returns the path of one; on Vertex AI, its name starts with the project, which is already in the base URL."""
    return f"/{_COLLECTION}/{quote(name.rpartition('/')[2], safe='')}"


def decode_kept(response: WireResponse, dialect: Dialect) -> CachedContent:
    """Reads a cached content; raises `ServerError` for a body without its name."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    name = text_of(data, "name")
    if not name:
        raise error_in_body(data) or ServerError("the response does not name a cached content", status=response.status)
    options = {dialect.provider: {"cachedContent": name}}
    tokens = count_of(as_object(data.get("usageMetadata")), "totalTokenCount")
    return CachedContent(name, options, text_of(data, "model"), tokens, text_of(data, "expireTime"))
