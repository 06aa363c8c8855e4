"""Content in JSON: base64, and data URLs (RFC 2397), both ways."""

from __future__ import annotations

import base64
from typing import Any

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Blob
from abstractcore.schema.quoting import shown_address

from .reading import get_text


def write_url(blob: Blob, path: str) -> str:
    """Where the content is if it has a URL, else the content itself as a data URL."""
    return blob.location if blob.form == "url" and blob.location else data_url(blob, path)


def data_url(blob: Blob, path: str) -> str:
    """The content as a data URL."""
    return f"data:{blob.media_type};base64,{write_base64(blob, path)}"


def write_base64(blob: Blob, path: str) -> str:
    """The content as base64; raises `UnsupportedContentError` with its path if it is not at hand."""
    return base64.b64encode(content_of(blob, path)).decode("ascii")


def content_of(blob: Blob, path: str) -> bytes:
    """The content itself; raises `UnsupportedContentError` with its path if it is not at hand."""
    if blob.form not in ("bytes", "file"):
        place = f"{blob.form.replace('_', ' ')} {shown_address(blob.location or blob.sha256 or '')}"
        raise UnsupportedContentError(
            f"{path}: the content is {place}, which is not at hand.",
            hint="Pass the file itself.",
        )
    return blob.read()


def kept_id(blob: Blob, provider: str, path: str) -> str | None:
    """The id under which the provider keeps the content; None if it does not.

    Raises `UnsupportedContentError` with the path of content that another provider keeps.
    """
    if blob.form != "provider_file":
        return None
    if blob.provider != provider:
        raise UnsupportedContentError(f"{path}: the file is kept by {blob.provider!r}, not by {provider!r}.")
    return blob.location


def read_url(value: Any, media_type: str, path: str, name: str | None = None) -> Blob:
    """What a client's URL stands for; `media_type` is for one that does not say it."""
    url = get_text(value, path)
    if not url:
        raise InvalidInputError("is empty", path=path)
    if url[:5].lower() != "data:":
        return Blob.from_url(url, media_type, name=name)
    header, comma, data = url[5:].partition(",")
    type_, _, encoding = header.rpartition(";")
    if not comma or encoding.strip().lower() != "base64":
        raise InvalidInputError("a data URL here is data:TYPE;base64,DATA", path=path)
    return Blob.from_bytes(read_base64(data, path), type_.partition(";")[0].strip() or media_type, name=name)


def read_base64(value: Any, path: str) -> bytes:
    """What a client's base64 stands for; raises `InvalidInputError` with its path for what is none."""
    data = get_text(value, path)
    try:
        return base64.b64decode(data, validate=True)
    except ValueError as error:
        raise InvalidInputError(f"not base64: {error}", path=path) from None
