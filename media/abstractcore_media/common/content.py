"""Names and reads a file, and checks that its content matches its declared type."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart, SchemaError
from abstractcore.schema.base_error import shown_file_name

HEAD_BYTES = 8192
LARGE_BYTES = 256 * 1024 * 1024


def source_of(part: MediaPart) -> str:
    """Returns the name of the part's file, for messages."""
    return shown_file_name(part.blob.name or "") or "file"


def content_of(part: MediaPart) -> bytes:
    """Returns the bytes of the part's file; raises `MediaError` if they are elsewhere, deleted or changed."""
    source = source_of(part)
    if part.blob.form == "url":
        raise MediaError(
            f"{source} is a URL: its content is not at hand.",
            source=source,
            hint="Download it, and pass the path of the file.",
        )
    try:
        return part.blob.read()
    except OSError as error:
        raise MediaError(f"{source} cannot be read: {error.strerror or error}.", source=source) from error
    except SchemaError as error:
        raise MediaError(f"{source} cannot be read: {error}.", source=source) from error


def check_unchanged(part: MediaPart) -> None:
    """Raises `MediaError` if a file that will be read in pieces has been deleted, or changed since it was added."""
    source = source_of(part)
    try:
        part.blob.check_unchanged()
    except OSError as error:
        raise MediaError(f"{source} cannot be read: {error.strerror or error}.", source=source) from error
    except SchemaError as error:
        raise MediaError(f"{source} cannot be read: {error}.", source=source) from error


def _head_of(part: MediaPart) -> bytes:
    """Returns the first bytes of the part's file, which is not read as a whole."""
    if part.blob.form != "file":
        return content_of(part)[:HEAD_BYTES]
    try:
        with open(part.blob.location or "", "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        source = source_of(part)
        raise MediaError(f"{source} cannot be read: {error.strerror or error}.", source=source) from error


def is_large(part: MediaPart) -> bool:
    """Returns whether a file is too large to be read into memory, or sent in a request."""
    return (part.blob.size or 0) > LARGE_BYTES


def check_family(part: MediaPart, *families: str) -> str:
    """Returns the media type of the content, which must begin with one of `families`, such as "image/".

    Raises `MediaError` if it does not.
    """
    from .sniffing import media_type_of

    found = media_type_of(_head_of(part), "")
    if found is None or not found.startswith(families):
        source, claimed = source_of(part), part.blob.media_type
        what = f"its content is {found}" if found else "its content has an unknown format"
        raise MediaError(
            f"{source} is corrupt or not {claimed}: {what}.",
            source=source,
            hint="Open it in its application, and export it again.",
        )
    return found
