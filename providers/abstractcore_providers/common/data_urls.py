"""Content in JSON: base64, and data URLs (RFC 2397), both ways."""

from __future__ import annotations

import base64

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Blob
from abstractcore.schema.quoting import shown_address


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


def read_url(url: str, media_type: str, path: str, name: str | None = None) -> Blob:
    """What a client's URL stands for; `media_type` is for one that does not say it."""
    if not url:
        raise InvalidInputError("is empty", path=path)
    if url[:5].lower() != "data:":
        return Blob.from_url(url, media_type, name=name)
    header, comma, data = url[5:].partition(",")
    type_, _, encoding = header.rpartition(";")
    if not comma or encoding.strip().lower() != "base64":
        raise InvalidInputError("a data URL here is data:TYPE;base64,DATA", path=path)
    return Blob.from_bytes(read_base64(data, path), type_.partition(";")[0].strip() or media_type, name=name)


def read_base64(data: str, path: str) -> bytes:
    """What a client's base64 stands for; raises `InvalidInputError` with its path for what is none."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError as error:
        raise InvalidInputError(f"not base64: {error}", path=path) from None
