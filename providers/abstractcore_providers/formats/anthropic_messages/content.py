"""Content of users and tool results, as written by the format."""

from __future__ import annotations

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ImagePart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
)

from ...common.call_options import with_options
from ...common.conversations import is_plain
from ...common.data_urls import content_of, kept_id, write_base64
from ...common.reading import Object
from .block_fields import BLOCK_FIELDS
from .vocabulary import WARNINGS, cache_to_theirs
from .writing import RequestState

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
