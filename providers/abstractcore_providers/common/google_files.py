"""Files in requests to Google's APIs: stored by the Files API, at another URL, or inline as base64."""

from __future__ import annotations

import base64
from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import Blob, CallWarning, SchemaError, to_data

from .data_urls import kept_id

_UPLOADED = "https://generativelanguage.googleapis.com/"


def check_blob(blob: Blob, path: str, provider: str) -> None:
    """Raises `UnsupportedContentError` with the path of content whose bytes are not available, and of a stored file of
    another provider or without the URI of an uploaded file.
    """
    if blob.form == "artifact":
        raise UnsupportedContentError(
            f"{path}: the content is artifact {blob.sha256}, whose bytes are not available.",
            hint="Pass the file itself.",
        )
    kept = kept_id(blob, provider, path)
    if kept is not None and not kept.startswith(_UPLOADED):
        raise UnsupportedContentError(
            f"{path}: {kept!r} is not the URI of an uploaded file.",
            hint=f"It begins with {_UPLOADED}; a file in Cloud Storage is a URL (gs://...).",
        )


def file_uri(blob: Blob, path: str, provider: str, warnings: list[CallWarning]) -> str | None:
    """Returns the URI of a checked blob; None for one that is sent inline.

    Warns of a URL that is that of an uploaded file, which is read as a stored file.
    """
    if blob.form not in ("url", "provider_file"):
        return None
    uri = blob.location or ""
    if blob.form == "url" and uri.startswith(_UPLOADED):
        kept = Blob.from_provider_file(provider, uri, blob.media_type)
        message = "this is a file stored by the provider"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    return uri


def blob_at(uri: str, media_type: str, provider: str) -> Blob:
    """Returns the blob of a URI: a stored file if it is that of an uploaded one."""
    if uri.startswith(_UPLOADED):
        return Blob.from_provider_file(provider, uri, media_type)
    return Blob.from_url(uri, media_type)


def to_base64(blob: Blob) -> str:
    """Returns the content of a blob whose bytes are available."""
    return base64.b64encode(blob.read()).decode("ascii")


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
