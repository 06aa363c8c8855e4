"""Media, written and read: inline bytes, or the URI of a file."""

from __future__ import annotations

import base64
from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    DocumentPart,
    ImagePart,
    MediaPart,
    SchemaError,
    VideoPart,
    to_data,
)

from ...common.data_urls import kept_id
from ...common.item_options import read_options, with_options
from ...common.json_reading import Object, as_object, text_of
from .vocabulary import WARNINGS, with_names

_UPLOADED = "https://generativelanguage.googleapis.com/"
MEDIA_FIELDS = frozenset({"inlineData", "fileData", "thought", "thoughtSignature"})
"""The fields of a media part that the schema models."""

_PARTS: dict[str, type[MediaPart]] = {"image": ImagePart, "audio": AudioPart, "video": VideoPart}


def write_media(part: MediaPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns an `inlineData` or `fileData` part; raises `UnsupportedContentError` with its path for unsupported
    content.
    """
    blob = part.blob
    if kind_of(blob.media_type) is not type(part):
        raise UnsupportedContentError(f"{path}: {blob.media_type} cannot be sent as {part.type}.")
    if blob.form == "artifact":
        raise UnsupportedContentError(
            f"{path}: the content is artifact {blob.sha256}, whose bytes are not available.",
            hint="Pass the file itself.",
        )
    _check_uploaded(blob, path, provider)
    WARNINGS.fields(part, path, ("detail", "transcript", "id"), warnings)
    if blob.form in ("url", "provider_file"):
        body = _file(blob, path, provider, warnings)
    else:
        body = {"inlineData": {"mimeType": blob.media_type, "data": base64.b64encode(blob.read()).decode("ascii")}}
    return with_options(body, part, path, provider, MEDIA_FIELDS, warnings)


def _file(blob: Blob, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    location = blob.location or ""
    if blob.form == "url" and location.startswith(_UPLOADED):
        kept = Blob.from_provider_file(provider, location, blob.media_type)
        message = "this is a file stored by the provider"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    return {"fileData": {"mimeType": blob.media_type, "fileUri": location}}


def kind_of(media_type: str) -> type[MediaPart]:
    """Returns the class of part for a media type: a document if it is not image, audio or video."""
    return _PARTS.get(media_type.partition("/")[0], DocumentPart)


def _check_uploaded(blob: Blob, path: str, provider: str) -> None:
    kept = kept_id(blob, provider, path)
    if kept is not None and not kept.startswith(_UPLOADED):
        raise UnsupportedContentError(
            f"{path}: {kept!r} is not the URI of an uploaded file.",
            hint=f"It begins with {_UPLOADED}; a file in Cloud Storage is a URL (gs://...).",
        )


def read_media(data: Object, provider: str) -> MediaPart:
    """Reads the part in `inlineData` or `fileData`; raises `SchemaError` for invalid base64, or without a URI."""
    blob = _inline(data["inlineData"]) if "inlineData" in data else _kept(data["fileData"], provider)
    return kind_of(blob.media_type)(blob, provider_options=read_options(data, MEDIA_FIELDS, provider))


def _inline(value: Any) -> Blob:
    inline = with_names(as_object(value))
    return Blob.from_bytes(from_base64(inline.get("data"), "inlineData.data"), _media_type(inline))


def _kept(value: Any, provider: str) -> Blob:
    file = with_names(as_object(value))
    uri = text_of(file, "fileUri")
    if not uri:
        raise SchemaError("expected text", "fileData.fileUri")
    if uri.startswith(_UPLOADED):
        return Blob.from_provider_file(provider, uri, _media_type(file))
    return Blob.from_url(uri, _media_type(file))


def _media_type(data: Object) -> str:
    return text_of(data, "mimeType") or "application/octet-stream"


def from_base64(text: Any, path: str) -> bytes:
    """Decodes base64 in either alphabet; raises `SchemaError` if it is invalid."""
    if not isinstance(text, str):
        raise SchemaError(f"expected text, got {type(text).__name__}", path)
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except ValueError as error:
        raise SchemaError(f"not base64: {error}", path) from None


def is_base64(text: str) -> bool:
    """Whether `text` is valid base64."""
    try:
        return bool(from_base64(text, ""))
    except SchemaError:
        return False
