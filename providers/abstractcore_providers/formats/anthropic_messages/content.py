"""Content of users and tool results, as written by the format.

Strict reading of content blocks in a client's messages (server side). The fields that the schema models: all others
of a block or message are its provider options. State while a request is written, in the order in which it is sent:
the provider, warnings, and cache points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Part,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
)

from ...common.call_options import read_options, with_options
from ...common.conversations import is_plain
from ...common.data_urls import content_of, kept_id, read_base64, write_base64
from ...common.reading import Object, as_object, error_at, get_filled, get_object, get_text, text_of
from ...common.thinking import CacheTimes
from .vocabulary import WARNINGS, cache_to_ours, cache_to_theirs

BLOCK_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "text": frozenset({"type", "text", "citations", "cache_control"}),
        "image": frozenset({"type", "source", "cache_control"}),
        "document": frozenset({"type", "source", "title", "cache_control"}),
        "tool_use": frozenset({"type", "id", "name", "input", "partial_json", "cache_control"}),
        "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    }
)
"""By the type of a block."""

MESSAGE_FIELDS = frozenset({"role", "content"})


@dataclass(frozen=True, slots=True)
class RequestState:
    """The state of one request. `provider` is the one whose files, options and opaque parts are sent."""

    provider: str
    warnings: list[CallWarning]
    cache_times: CacheTimes = field(default_factory=CacheTimes)


IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF = "application/pdf"
PLAIN = "text/plain"
ENCODABLE = IMAGE_TYPES | {PDF, PLAIN}
"""The files that are sent to models of which it is not known what they accept."""
_PLAIN_OR_CACHED = {"type", "text", "cache_control"}
_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/yaml", "application/x-yaml"})


def write_content(part: ContentPart, path: str, writing: RequestState) -> Object:
    """Returns a text, image or document block; raises `UnsupportedContentError` with the path for any other content."""
    if isinstance(part, TextPart):
        if part.citations:
            writing.warnings.append(WARNINGS.field("citations", path))
        block: Object = {"type": "text", "text": part.text}
    elif isinstance(part, ImagePart):
        block = {"type": "image", "source": _image_source(part.blob, path, writing.provider)}
        if part.detail is not None:
            message = "the image's detail has no field in this format"
            writing.warnings.append(CallWarning("detail_left_out", f"{path}.detail", message, part.detail))
    elif isinstance(part, DocumentPart):
        block = {"type": "document", "source": _document_source(part.blob, path, writing)}
        if part.blob.name:
            block["title"] = part.blob.name
    else:
        raise _unsupported(f"{part.type} content of type {part.blob.media_type}", path)
    return with_extras(block, part, path, writing)


def with_extras(block: Object, part: ContentPart | ToolCall | ToolResult, path: str, writing: RequestState) -> Object:
    """Returns `block` with the cache point and the provider options of its part."""
    block = with_cache(block, part, path, writing)
    return with_options(block, part, path, writing.provider, BLOCK_FIELDS[block["type"]], writing.warnings)


def with_cache(
    block: Object, item: ContentPart | ToolCall | ToolResult | ToolSpec, path: str, writing: RequestState
) -> Object:
    """Returns `block` with the cache point of its part."""
    cache = writing.cache_times.fit(item.cache, path, writing.warnings)
    if cache is not None:
        block["cache_control"] = cache_to_theirs(cache)
    return block


def append_block(blocks: list[Object], block: Object) -> None:
    """Appends `block` to `blocks`. Plain texts between which nothing is sent are merged."""
    if blocks and is_plain(blocks[-1]) and block["type"] == "text" and block.keys() <= _PLAIN_OR_CACHED:
        blocks[-1] = {**block, "text": blocks[-1]["text"] + block["text"]}
    else:
        blocks.append(block)


def _image_source(blob: Blob, path: str, provider: str) -> Object:
    if blob.form == "url":
        return {"type": "url", "url": blob.location}
    kept = kept_id(blob, provider, path)
    if kept is not None:
        return {"type": "file", "file_id": kept}
    if blob.media_type not in IMAGE_TYPES:
        raise _unsupported(f"an image of type {blob.media_type}", path)
    return {"type": "base64", "media_type": blob.media_type, "data": write_base64(blob, path)}


def _document_source(blob: Blob, path: str, writing: RequestState) -> Object:
    kept = kept_id(blob, writing.provider, path)
    if kept is not None:
        return {"type": "file", "file_id": kept}
    if blob.form == "url" and blob.media_type in (PDF, "application/*"):
        return {"type": "url", "url": blob.location}
    if blob.media_type == PDF:
        return {"type": "base64", "media_type": PDF, "data": write_base64(blob, path)}
    if not blob.media_type.startswith("text/") and blob.media_type not in _TEXT_TYPES:
        raise _unsupported(f"a document of type {blob.media_type}", path)
    try:
        text = content_of(blob, path).decode("utf-8")
    except UnicodeDecodeError:
        raise UnsupportedContentError(
            f"{path}: the document is not text in UTF-8.", hint="Convert it, or send it as a PDF."
        ) from None
    if blob.media_type != PLAIN:
        message = f"text documents have one type: {blob.media_type} is sent as {PLAIN}"
        writing.warnings.append(CallWarning("relabelled", f"{path}.blob.media_type", message, blob.media_type, PLAIN))
    return {"type": "text", "media_type": PLAIN, "data": text}


def _unsupported(what: str, path: str) -> UnsupportedContentError:
    return UnsupportedContentError(
        f"{path}: the Messages format does not support {what}.",
        hint="It supports text, PDF, and images of type JPEG, PNG, GIF and WebP.",
    )


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
