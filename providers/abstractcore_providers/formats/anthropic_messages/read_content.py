"""Strict reading of content blocks in a client's messages (server side)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Blob, ContentPart, DocumentPart, ImagePart, OpaquePart, Part, SchemaError, TextPart

from ...common.call_options import read_options
from ...common.data_urls import read_base64
from ...common.reading import Object, as_object, error_at, get_filled, get_object, get_text, text_of
from .block_fields import BLOCK_FIELDS
from .content import IMAGE_TYPES, PDF, PLAIN
from .vocabulary import cache_to_ours

_INPUT_TYPES = ("text", "image", "document")
_SOURCES = {"image": ("base64", "url", "file"), "document": ("base64", "text", "url", "file")}
Read = Callable[[Object, str], Part]


def read_content(content: Any, path: str, read: Read) -> tuple[Part, ...]:
    """Returns the parts of a text or a list of blocks; raises `InvalidInputError` with the path of what is wrong."""
    if content is None:
        return ()
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of blocks, got {type(content).__name__}", path=path)
    parts: list[Part] = []
    for index, value in enumerate(cast("list[Any]", content)):
        block_path = f"{path}[{index}]"
        data = get_object(value, block_path)
        get_text(data.get("type"), f"{block_path}.type")
        try:
            parts.append(read(data, block_path))
        except SchemaError as error:
            raise error_at(block_path, error) from None
    return tuple(parts)


def read_input_block(data: Object, path: str, provider: str) -> Part:
    """Reads a block of a user's message: a text, an image or a document; any other is an opaque part."""
    if not _is_modelled(data):
        return OpaquePart(provider, str(data["type"]), {key: value for key, value in data.items() if key != "type"})
    return _modelled(data, path, provider)


def reads_as_opaque(part: OpaquePart, provider: str) -> bool:
    """Whether a part is of this provider, and sent back unchanged."""
    data = part.data
    if part.provider != provider or not isinstance(data, dict) or "type" in data or part.kind == "tool_result":
        return False
    return not _is_modelled({**data, "type": part.kind})


def read_by_tool(data: Object, path: str, provider: str) -> ContentPart:
    """Reads a block of a tool's result; raises `InvalidInputError` for one that the schema does not model."""
    if data["type"] not in _INPUT_TYPES:
        raise InvalidInputError(f"content of type {data['type']!r} is not allowed in a result", path=f"{path}.type")
    return _modelled(data, path, provider)


def _is_modelled(data: Object) -> bool:
    """Whether the schema models the content of a block."""
    kind = str(data["type"])
    source = as_object(data.get("source")).get("type")
    return kind in _INPUT_TYPES and (kind == "text" or source in _SOURCES[kind] or not isinstance(source, str))


def _modelled(data: Object, path: str, provider: str) -> ContentPart:
    cache = cache_to_ours(data.get("cache_control"))
    options = read_options(data, BLOCK_FIELDS[data["type"]], provider)
    if data["type"] == "text":
        text = get_text(data.get("text"), f"{path}.text")
        return TextPart(text, cache=cache, provider_options=options) if text else TextPart("")
    source = get_object(data.get("source"), f"{path}.source")
    if data["type"] == "image":
        blob = _blob(source, f"{path}.source", provider, "image/*", IMAGE_TYPES, None)
        return ImagePart(blob, cache=cache, provider_options=options)
    types = frozenset({PLAIN if source.get("type") == "text" else PDF})
    blob = _blob(source, f"{path}.source", provider, PDF, types, text_of(data, "title"))
    return DocumentPart(blob, cache, options)


def _blob(source: Object, path: str, provider: str, unnamed: str, types: frozenset[str], name: str | None) -> Blob:
    kind = source.get("type")
    if kind == "url":
        return Blob.from_url(get_filled(source.get("url"), f"{path}.url"), unnamed, name=name)
    if kind == "file":
        return Blob.from_provider_file(
            provider, get_filled(source.get("file_id"), f"{path}.file_id"), unnamed, name=name
        )
    media_type = get_text(source.get("media_type"), f"{path}.media_type").lower()
    if media_type not in types:
        raise InvalidInputError(f"use {' or '.join(map(repr, sorted(types)))}", path=f"{path}.media_type")
    data = get_text(source.get("data"), f"{path}.data")
    if kind == "text":
        return Blob.from_bytes(_utf8(data, f"{path}.data"), PLAIN, name=name)
    if kind != "base64":
        raise InvalidInputError(f"unknown source {kind!r}", path=f"{path}.type")
    return Blob.from_bytes(read_base64(data, f"{path}.data"), media_type, name=name)


def _utf8(text: str, path: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInputError("a lone surrogate is not valid Unicode text", path=path) from None
