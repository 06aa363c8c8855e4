"""What every handler does first: name a file, read it, look whether it is the kind it is said to be."""

from __future__ import annotations

from contextlib import suppress

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.schema import MediaPart, SchemaError

from .sniffing import media_type_of

HEAD_BYTES = 8192


def source_of(part: MediaPart) -> str:
    """The name of the part's file, for messages."""
    return part.blob.name or "file"


def content_of(part: MediaPart) -> bytes:
    """The bytes of the part's file; raises `MediaError` if they are not at hand, gone or no longer the same."""
    source = source_of(part)
    if part.blob.form == "url":
        raise MediaError(
            f"{source} is given as a URL, which is passed on and never downloaded, and this model cannot be given it.",
            source=source,
            hint="Download it, and pass the path of the file.",
        )
    try:
        return part.blob.read()
    except OSError as error:
        raise MediaError(f"{source} cannot be read: {error.strerror or error}.", source=source) from error
    except SchemaError as error:
        raise MediaError(f"{source} cannot be read: {error}.", source=source) from error


def check_family(part: MediaPart, *families: str) -> str | None:
    """The media type that the content itself shows, which must begin with one of `families`, such as "image/".

    Raises `MediaError` if it does not. None where puremagic would have to tell and is not installed: what is sent as it
    is needs no optional package.
    """
    found = None
    with suppress(MissingExtraError):
        found = media_type_of(content_of(part)[:HEAD_BYTES], "")
        if found is None or not found.startswith(families):
            source, claimed = source_of(part), part.blob.media_type
            what = f"its content is {found}" if found else "its first bytes are those of no known format"
            raise MediaError(
                f"{source} is broken or not {claimed}: {what}.",
                source=source,
                hint="Open it in the program it is for, and export it again.",
            )
    return found
