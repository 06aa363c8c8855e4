"""Cached contents (`cachedContents`): created, read, extended and deleted by operations of their own.

A call refers to one with the provider option `cachedContent`, and then has no system message and no tools itself.
Source: https://ai.google.dev/api/caching.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from abstractcore.errors import ServerError, UnsupportedOptionError
from abstractcore.ports import Operation, Operations
from abstractcore.schema import (
    CachedContent,
    CallInput,
    CallWarning,
    Encoded,
    ModelCall,
    OperationInput,
    Sampling,
    SchemaError,
    WireRequest,
    WireResponse,
    to_data,
)
from abstractcore.schema.base_error import shown

from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.google_errors import RIGHT_ADDRESS, error_in_body
from ...common.operations import CACHED_CONTENTS
from ...common.reading import Object, as_object, count_of, text_of
from ...common.response_bodies import read_body
from .encode import body_of, resource_of
from .vocabulary import ARGUMENTS, GenerateContentDialect

Input = TypeVar("Input")
_COLLECTION = "cachedContents"
_KEPT = ("contents", "systemInstruction", "tools", "toolConfig")
_OF_AN_ANSWER = ("sampling", "output", "thinking", "modalities", "parallel_tool_calls")
_NOTHING = (None, (), Sampling())


@dataclass(frozen=True, slots=True)
class CachedContentInput(CallInput):
    """Content to cache for whole `seconds`: the messages and tools of a call. `title` is a display name."""

    seconds: int
    title: str | None = None

    def __post_init__(self) -> None:
        CallInput.__post_init__(self)
        _check_seconds(self.seconds)
        if self.title is not None:
            _check_text(self.title, "title")


@dataclass(frozen=True, slots=True)
class CachedContentName(OperationInput):
    """A cached content, by the `name` that the provider returned."""

    name: str

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        _check_text(self.name, "name")


@dataclass(frozen=True, slots=True)
class CachedContentLifetime(OperationInput):
    """A new lifetime of a cached content: whole `seconds` from now."""

    name: str
    seconds: int

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        _check_text(self.name, "name")
        _check_seconds(self.seconds)


def cached_content_operations(dialect: GenerateContentDialect) -> Operations:
    """Returns the operations on `cachedContents` by name."""

    def operation(
        action: str, input: type[Input], encode: Callable[[Input], Encoded]
    ) -> Operation[Input, CachedContent]:
        return Operation(
            f"{CACHED_CONTENTS}.{action}",
            input,
            encode,
            lambda response, given: decode_kept(response, dialect),
            to_record=to_data,
        )

    operations: tuple[Operation[Any, Any], ...] = (
        operation("create", CachedContentInput, lambda given: encode_keeping(given, dialect)),
        operation("read", CachedContentName, encode_kept),
        operation("extend", CachedContentLifetime, encode_extension),
        Operation(f"{CACHED_CONTENTS}.delete", CachedContentName, encode_deletion, lambda response, given: None),
    )
    return {each.name: each for each in operations}


def _check_seconds(seconds: object) -> None:
    if type(seconds) is not int or seconds < 1:
        raise SchemaError(f"expected a whole number of at least 1, got {shown(seconds)}", "seconds")


def _check_text(value: object, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise SchemaError(f"expected a text, got {shown(value)}", name)


def encode_keeping(given: CachedContentInput, dialect: GenerateContentDialect) -> Encoded:
    """Returns the request that caches the messages and tools of a lowered call.

    Raises `UnsupportedOptionError` for a model without cached contents.
    """
    call = given.call
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
    kept: Object = {"model": f"{parent}{resource_of(call.model, dialect)}", "ttl": f"{given.seconds}s"}
    kept |= {field: body[field] for field in _KEPT if field in body}
    for field in sorted(body.keys() - kept):
        field_path, message = (
            f"provider_options.{dialect.provider}.{field}",
            f"{field} is not allowed in a cached content",
        )
        writer.warnings.append(CallWarning("option_left_out", field_path, message))
    if given.title is not None:
        kept["displayName"] = given.title
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


def encode_kept(given: CachedContentName) -> Encoded:
    """Returns the request that reads one."""
    return Encoded(WireRequest(_path_of(given.name), {}, b"", "GET"))


def encode_extension(given: CachedContentLifetime) -> Encoded:
    """Returns the request that extends the lifetime of one."""
    body = BodyWriter("", ARGUMENTS).json({"ttl": f"{given.seconds}s"})
    return Encoded(WireRequest(f"{_path_of(given.name)}?updateMask=ttl", JSON_HEADERS, body, "PATCH"))


def encode_deletion(given: CachedContentName) -> Encoded:
    """Returns the request that deletes one."""
    return Encoded(WireRequest(_path_of(given.name), {}, b"", "DELETE"))


def _path_of(name: str) -> str:
    """Returns the path of one; on Vertex AI, its name starts with the project, which is already in the base URL."""
    return f"/{_COLLECTION}/{quote(name.rpartition('/')[2], safe='')}"


def decode_kept(response: WireResponse, dialect: GenerateContentDialect) -> CachedContent:
    """Reads a cached content; raises `ServerError` for a body without its name."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    name = text_of(data, "name")
    if not name:
        raise error_in_body(data) or ServerError("the response does not name a cached content", status=response.status)
    options = {dialect.provider: {"cachedContent": name}}
    tokens = count_of(as_object(data.get("usageMetadata")), "totalTokenCount")
    return CachedContent(name, options, text_of(data, "model"), tokens, text_of(data, "expireTime"))
