"""The parts of a tool's result as the content of an MCP result."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from urllib.parse import quote

import mcp_types as types

from ...errors import MediaError
from ...schema import AudioPart, Blob, ContentPart, ImagePart, SchemaError, TextPart

_TEXT_TYPES = ("text/", "application/json", "application/xml")


def mcp_content(parts: Iterable[ContentPart]) -> list[types.ContentBlock]:
    """Returns the content of a result. Raises `MediaError` for a file whose content is not at hand."""
    return [_block(part) for part in parts]


def _block(part: ContentPart) -> types.ContentBlock:
    if isinstance(part, TextPart):
        return types.TextContent(text=part.text)
    blob = part.blob
    if blob.form == "url":
        uri = blob.location or ""
        return types.ResourceLink(name=blob.name or uri, uri=uri, mime_type=blob.media_type)
    data = _data(blob)
    if isinstance(part, ImagePart):
        return types.ImageContent(data=_base64(data), mime_type=blob.media_type)
    if isinstance(part, AudioPart):
        return types.AudioContent(data=_base64(data), mime_type=blob.media_type)
    return types.EmbeddedResource(resource=_resource(blob, data))


def _resource(blob: Blob, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    uri = f"attachment:///{quote(blob.name or blob.sha256 or 'file')}"
    if blob.media_type.startswith(_TEXT_TYPES):
        try:
            return types.TextResourceContents(uri=uri, mime_type=blob.media_type, text=data.decode())
        except UnicodeDecodeError:
            pass  # text in another charset is sent as it is
    return types.BlobResourceContents(uri=uri, mime_type=blob.media_type, blob=_base64(data))


def _data(blob: Blob) -> bytes:
    try:
        return blob.read()
    except (SchemaError, OSError):
        source = blob.name or blob.media_type
        raise MediaError(f"{source} cannot be sent: its content is not at hand.", source=source) from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
