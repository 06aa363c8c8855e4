"""The result of a server's tool as content for the model and data for the caller."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from ..errors import ToolFailed
from ..outputs import canonical_json
from ..schema import MEDIA_PART_BY_KIND, Blob, ContentPart, DocumentPart, TextPart, ToolResult, media_kind_of
from ..schema.base_error import shown
from ..tools import ToolOutput

_TEXT_TYPE = "text/plain"
_BINARY_TYPE = "application/octet-stream"


def output_of(result: CallToolResult, call_id: str) -> ToolOutput:
    """Returns the content that the model reads of a result, with its error flag, and the rest as data.

    `data` has `structuredContent`, `_meta` and, as `forUser`, the content whose audience is the user alone; each only
    if there is some. Structured content is the model's too where nothing else is
    (https://modelcontextprotocol.io/specification, "Tools"). Raises `ToolFailed` for content that cannot be read.
    """
    for_user = [block for block in result.content if _is_for_user(block)]
    parts = content_of(block for block in result.content if not _is_for_user(block))
    if not parts and result.structured_content is not None:
        parts = (TextPart(canonical_json(result.structured_content)),)
    data: dict[str, Any] = {}
    if result.structured_content is not None:
        data["structuredContent"] = result.structured_content
    if result.meta:
        data["_meta"] = dict(result.meta)
    if for_user:
        data["forUser"] = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in for_user]
    return ToolOutput(ToolResult(call_id, parts, is_error=result.is_error), data or None)


def content_of(blocks: Iterable[ContentBlock]) -> tuple[ContentPart, ...]:
    """Returns blocks as parts: links as a line of text, embedded resources as text or a file."""
    parts: list[ContentPart] = []
    for part in (part for block in blocks for part in _parts(block)):
        if parts and isinstance(part, TextPart) and isinstance(parts[-1], TextPart):
            parts.append(TextPart("\n"))
        parts.append(part)
    return tuple(parts)


def resource_part(contents: TextResourceContents | BlobResourceContents) -> ContentPart:
    """Returns the content of a resource as a file; raises `ToolFailed` for invalid base64."""
    name = contents.uri.rstrip("/").rpartition("/")[2] or contents.uri
    if isinstance(contents, TextResourceContents):
        content = contents.text.encode("utf-8", "replace")
        return DocumentPart(Blob.from_bytes(content, contents.mime_type or _TEXT_TYPE, name=name))
    return _file(contents.blob, contents.mime_type or _BINARY_TYPE, name)


def _parts(block: ContentBlock) -> Iterator[ContentPart]:
    if isinstance(block, TextContent):
        yield _text(block.text)
    elif isinstance(block, ImageContent | AudioContent):
        yield _file(block.data, block.mime_type)
    elif isinstance(block, ResourceLink):
        described = [block.title or block.name, block.uri, block.mime_type, block.description]
        yield _text("[resource: " + ", ".join(each for each in described if each) + "]")
    elif isinstance(block.resource, TextResourceContents):
        yield _text(f"[{block.resource.uri}]\n{block.resource.text}")
    else:
        yield resource_part(block.resource)


def _text(text: str) -> TextPart:
    """Returns a text part; JSON may hold lone surrogates, which no request can."""
    return TextPart(text.encode("utf-8", "replace").decode("utf-8"))


def _file(data: str, media_type: str, name: str | None = None) -> ContentPart:
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ToolFailed(f"the server sent a file of type {shown(media_type)} that is not base64") from None
    return MEDIA_PART_BY_KIND[media_kind_of(media_type)](Blob.from_bytes(content, media_type, name=name))


def _is_for_user(block: ContentBlock) -> bool:
    annotations = block.annotations
    return annotations is not None and annotations.audience == ["user"]
