"""Content blocks, which are objects with their own options."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, DocumentPart, ImagePart, TextPart

from ...common.call_options import with_options
from ...common.data_urls import COHERE_IMAGES, write_url
from ...common.reading import Object, as_object, read_json
from .vocabulary import PROVIDER, WARNINGS

ENCODABLE = COHERE_IMAGES
"""The files that the format supports."""
JSON_DOCUMENT = "application/json"
"""The media type of a document in tool results: the JSON of its `data` and `id`."""


def text_block(part: TextPart, path: str, lost: tuple[str, ...], warnings: list[CallWarning]) -> Object:
    """Returns a text, with a warning for those of the fields `lost` that it has."""
    WARNINGS.fields(part, path, lost, warnings)
    return with_options({"type": "text", "text": part.text}, part, path, PROVIDER, (), warnings)


def image_block(part: ImagePart, path: str, warnings: list[CallWarning]) -> Object:
    """Returns an image; raises `UnsupportedContentError` for one without bytes or a URL."""
    WARNINGS.fields(part, path, ("cache",), warnings)
    image: Object = {"url": write_url(part.blob, path)}
    if part.detail:
        image["detail"] = part.detail
    return with_options({"type": "image_url", "image_url": image}, part, path, PROVIDER, (), warnings)


def document_block(part: DocumentPart, path: str, warnings: list[CallWarning]) -> Object:
    """Returns a document in Cohere's format, whose fields citations can refer to.

    Raises `UnsupportedContentError` for any other.
    """
    WARNINGS.fields(part, path, ("cache",), warnings)
    data = part.blob.read() if part.blob.form in ("bytes", "file") else b""
    try:
        document = as_object(read_json(data))
        is_own = part.blob.media_type == JSON_DOCUMENT and "data" in document and to_json(document) == data
    except ValueError:
        document, is_own = {}, False
    if not is_own:
        raise UnsupportedContentError(
            f"{path}: a tool result has {part.blob.media_type}, which Cohere's chat format does not support.",
            hint="Pass its text.",
        )
    return with_options({"type": "document", "document": document}, part, path, PROVIDER, (), warnings)
