"""Content that a program has in its hands: open files, pictures of Pillow, data URLs. Pillow is never imported here."""

from __future__ import annotations

import base64
import inspect
import io
import os
import sys
from dataclasses import dataclass
from typing import IO, Any, Protocol, cast, runtime_checkable
from urllib.parse import unquote_to_bytes

from .errors import AbstractCoreError, InvalidInputError, MediaError

_CHUNK_BYTES = 1 << 20
_PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
"""What Pillow writes as PNG: https://pillow.readthedocs.io/en/stable/handbook/image-file-formats.html#png-saving."""
_JPEG_MODES = frozenset({"L", "RGB"})
"""Not CMYK: what reads pictures for models may take it for inverted colours, or refuse it."""


@runtime_checkable
class OpenFile(Protocol):
    """A file opened for reading, `io.BytesIO`, or anything else with `read(size)`."""

    def read(self, size: int = ..., /) -> bytes | str:
        """At most `size` bytes; none at the end."""
        ...


class Picture(Protocol):
    """A `PIL.Image.Image`."""

    @property
    def mode(self) -> str:
        """The kind of its pixels."""
        ...

    def save(self, fp: IO[bytes], format: str | None = None, **params: Any) -> None:
        """Write it to a file."""
        ...


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes, with the type and the name that are known of them."""

    data: bytes
    media_type: str | None = None
    name: str | None = None


def is_picture(item: object) -> bool:
    """Whether it is one of Pillow's, which is loaded then."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(item, pillow.Image)


def of_picture(item: object, path: str, limit: int) -> Content:
    """A picture as it is now, with its EXIF data: as JPEG with the same quality if it was read from one, else as PNG.

    Raises `MediaError` for one that cannot be written, or is longer than `limit` bytes.
    """
    picture = cast(Any, item)
    stem = os.path.splitext(os.path.basename(str(getattr(picture, "filename", ""))))[0] or "image"
    file = io.BytesIO()
    exif = {"exif": picture.info["exif"]} if picture.info.get("exif") else {}
    try:
        if picture.format == "JPEG" and picture.mode in _JPEG_MODES:
            picture.save(file, "JPEG", quality="keep", **exif)
            media_type, ending = "image/jpeg", ".jpg"
        else:
            savable = picture if picture.mode in _PNG_MODES else picture.convert("RGB")
            savable.save(file, "PNG", **exif)
            media_type, ending = "image/png", ".png"
    except Exception as error:  # decoders of damaged and closed files raise anything
        raise MediaError(
            f"{path}: the picture cannot be read: {str(error).rstrip('.') or type(error).__name__}.", source=path
        ) from None
    return Content(checked(file.getvalue(), path, limit), media_type, stem + ending)


def of_open_file(file: OpenFile, path: str, limit: int) -> Content:
    """What is left to read in a file, which is put back where it stood if it can be. Text is encoded as UTF-8.

    Raises `MediaError` for a file that cannot be read, has nothing left, or more than `limit` bytes.
    """
    name = getattr(file, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else None
    try:
        position = _position(file)
        data = _read(file, path, limit)
        if position is not None:
            cast(Any, file).seek(position)
    except UnicodeDecodeError:
        hint = "Open it for bytes: open(path, 'rb')."
        raise MediaError(f"{path} is not text, and was opened as text.", source=name or path, hint=hint) from None
    except AbstractCoreError:
        raise
    except Exception as error:  # files of other libraries raise anything
        hint = "Make the call while the file is open." if getattr(file, "closed", False) else None
        reason = str(error).rstrip(".") or type(error).__name__
        raise MediaError(f"{path} cannot be read: {reason}.", source=name or path, hint=hint) from None
    if not data:
        hint = "It has been read already: put it back with file.seek(0)." if position else None
        raise MediaError(f"{path} is empty: there is nothing to send.", source=name or path, hint=hint)
    return Content(data, None, name)


def _position(file: object) -> int | None:
    """Where a file stands; None for one that cannot be put back."""
    given = cast(Any, file)
    try:
        return given.tell() if given.seekable() else None
    except Exception:  # what cannot be put back is still read
        return None


def _read(file: OpenFile, path: str, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        piece: object = file.read(_CHUNK_BYTES)
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "replace")
        if not isinstance(piece, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _no_bytes(piece, path)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise _too_long(size, path, limit)


def _no_bytes(piece: object, path: str) -> InvalidInputError:
    if inspect.iscoroutine(piece):
        piece.close()
        return InvalidInputError("the file is to be awaited", path=path, hint="Pass its bytes: await file.read().")
    return InvalidInputError(f"read() of the file gives {type(piece).__name__} in place of bytes", path=path)


def of_data_url(url: str, path: str, limit: int) -> Content:
    """The content of a data URL (RFC 2397), in base64 or percent-encoded; raises `MediaError` for what is none."""
    header, comma, text = url[len("data:") :].partition(",")
    media_type, _, encoding = header.rpartition(";")
    try:
        if not comma:
            raise ValueError("it has no comma")
        if encoding.strip().lower() == "base64":
            data = base64.b64decode(unquote_to_bytes(text), validate=True)
        else:
            media_type, data = header, unquote_to_bytes(text)
    except ValueError as error:
        hint = "As in data:image/png;base64,iVBORw0..."
        raise MediaError(f"{path} is not a data URL: {error}.", source=path, hint=hint) from None
    media_type = media_type.partition(";")[0].strip()
    return Content(checked(data, path, limit), media_type if "/" in media_type else None)


def checked(data: bytes, path: str, limit: int) -> bytes:
    """The same bytes; raises `MediaError` if there are none, or more than `limit`."""
    if not data:
        raise MediaError(f"{path} is empty: there is nothing to send.", source=path)
    if len(data) > limit:
        raise _too_long(len(data), path, limit)
    return data


def _too_long(size: int, path: str, limit: int) -> MediaError:
    return MediaError(
        f"{path} has {size:,} bytes or more; the limit is {limit:,}.",
        source=path,
        hint="Cut it into smaller files, or extract the part you need.",
    )
