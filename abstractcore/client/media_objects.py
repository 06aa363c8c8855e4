"""Content in memory: open files, Pillow images, data URLs. Pillow is never imported here."""

from __future__ import annotations

import base64
import inspect
import io
import os
import re
import sys
from dataclasses import dataclass
from typing import IO, Any, Protocol, cast, runtime_checkable
from urllib.parse import unquote_to_bytes

from ..errors import AbstractCoreError, InvalidInputError, MediaError

_CHUNK_BYTES = 1 << 20
_PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
"""The modes that Pillow writes as PNG: https://pillow.readthedocs.io/en/stable/handbook/image-file-formats.html#png-saving."""
_WITH_ALPHA = {"La": "LA", "PA": "RGBA", "RGBa": "RGBA"}
_NUMERIC_MODES = frozenset({"F", "I", "I;16B", "I;16L", "I;16N"})
_JPEG_MODES = frozenset({"L", "RGB"})
"""Without CMYK: image decoders of models may invert its colors, or reject it."""


_CHARSET = re.compile(r"(?:^|;)\s*charset=\"?([^\s;\"]+)", re.IGNORECASE)


@runtime_checkable
class OpenFile(Protocol):
    """A file opened for reading, `io.BytesIO`, or anything else with `read(size)`."""

    def read(self, size: int = ..., /) -> bytes | str:
        """Returns up to `size` bytes; empty at the end."""
        ...


class Picture(Protocol):
    """A `PIL.Image.Image`."""

    @property
    def mode(self) -> str:
        """The pixel format."""
        ...

    def save(self, fp: IO[bytes], format: str | None = None, **params: Any) -> None:
        """Writes the image to a file."""
        ...


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes, with their media type and name, if known."""

    data: bytes
    media_type: str | None = None
    name: str | None = None


def is_picture(item: object) -> bool:
    """Returns whether `item` is a Pillow image; if so, Pillow is already imported."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(item, pillow.Image)


def from_pillow(item: object, path: str, limit: int) -> Content:
    """Returns an image with its EXIF data: as JPEG of the same quality if it was read from one, else as PNG.

    Raises `MediaError` for one that cannot be encoded, or is longer than `limit` bytes.
    """
    picture = cast(Any, item)
    stem = os.path.splitext(_file_name(str(getattr(picture, "filename", ""))))[0] or "image"
    file = io.BytesIO()
    exif = {"exif": picture.info["exif"]} if picture.info.get("exif") else {}
    try:
        if picture.format == "JPEG" and picture.mode in _JPEG_MODES:
            picture.save(file, "JPEG", quality="keep", **exif)
            media_type, ending = "image/jpeg", ".jpg"
        else:
            _savable(picture, path).save(file, "PNG", **exif)
            media_type, ending = "image/png", ".png"
    except AbstractCoreError:
        raise
    except Exception as error:  # decoders of damaged and closed files may raise any exception
        raise MediaError(
            f"{path}: the image cannot be read: {str(error).rstrip('.') or type(error).__name__}.", source=path
        ) from None
    return Content(checked(file.getvalue(), path, limit), media_type, stem + ending)


def _savable(picture: Any, path: str) -> Any:
    """Returns the image in a mode of PNG, with its transparency, and with its brightness if known."""
    if picture.mode in _PNG_MODES:
        return picture
    if picture.mode not in _NUMERIC_MODES:
        return picture.convert(_WITH_ALPHA.get(picture.mode, "RGB"))
    numbers = picture if picture.mode == "F" else picture.convert("I")
    low, high = numbers.getextrema()
    if low >= 0 and high <= 255 and (numbers.mode == "I" or high > 1):
        return numbers.convert("L")
    if low >= 0 and high <= 65535 and numbers.mode == "I":
        return numbers.convert("I;16")
    raise MediaError(
        f"{path}: the image has pixel values from {low:g} to {high:g}: their scale is unknown.",
        source=path,
        hint="Scale them to 0..255: PIL.Image.fromarray((array * 255).astype('uint8')).",
    )


def _file_name(path: str) -> str:
    """Returns the last part of a path as text: file names may contain bytes that are not valid text."""
    return os.path.basename(path).encode("utf-8", "replace").decode("utf-8")


def of_open_file(file: OpenFile, path: str, limit: int) -> Content:
    """Returns the rest of a file, whose position is restored if possible. Text is encoded as UTF-8.

    Raises `MediaError` for a file that cannot be read, has nothing left, or more than `limit` bytes.
    """
    name = getattr(file, "name", None)
    name = _file_name(name) if isinstance(name, str) else None
    try:
        position = _position(file)
        data = _read(file, path, limit)
        if position is not None:
            cast(Any, file).seek(position)
    except UnicodeDecodeError:
        hint = "Open it in binary mode: open(path, 'rb')."
        raise MediaError(f"{path} is not text, but was opened in text mode.", source=name or path, hint=hint) from None
    except AbstractCoreError:
        raise
    except Exception as error:  # files of other libraries may raise any exception
        hint = "Make the call while the file is open." if getattr(file, "closed", False) else None
        reason = str(error).rstrip(".") or type(error).__name__
        raise MediaError(f"{path} cannot be read: {reason}.", source=name or path, hint=hint) from None
    if not data:
        hint = "It has been read already: rewind it with file.seek(0)." if position else None
        raise MediaError(f"{path} is empty: there is nothing to send.", source=name or path, hint=hint)
    return Content(data, None, name)


def _position(file: object) -> int | None:
    """Returns the position of a file; None if it is not seekable."""
    given = cast(Any, file)
    try:
        return given.tell() if given.seekable() else None
    except Exception:  # a file that is not seekable is still read
        return None


def _read(file: OpenFile, path: str, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        piece: object = file.read(_CHUNK_BYTES)
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "replace")
        if not isinstance(piece, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _not_bytes_error(piece, path)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise _too_long(size, path, limit)


def _not_bytes_error(piece: object, path: str) -> InvalidInputError:
    if inspect.iscoroutine(piece):
        piece.close()
        return InvalidInputError("async files are not supported", path=path, hint="Pass its bytes: await file.read().")
    return InvalidInputError(f"read() of the file returned {type(piece).__name__}, expected bytes", path=path)


def of_data_url(url: str, path: str, limit: int) -> Content:
    """Returns the content of a data URL (RFC 2397), in base64 or percent-encoded; raises `MediaError` if invalid."""
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
        hint = "For example: data:image/png;base64,iVBORw0..."
        raise MediaError(f"{path} is not a valid data URL: {error}.", source=path, hint=hint) from None
    media_type, _, parameters = media_type.partition(";")
    media_type = media_type.strip()
    if media_type.lower().startswith("text/"):
        data = _as_utf8(data, parameters, path)
    return Content(checked(data, path, limit), media_type if "/" in media_type else None)


def _as_utf8(data: bytes, parameters: str, path: str) -> bytes:
    """Returns text in the charset of `parameters` as UTF-8; raises `MediaError` if it cannot be decoded."""
    charset = _CHARSET.search(parameters)
    if charset is None:
        return data
    try:
        return data.decode(charset[1]).encode()
    except (LookupError, UnicodeError):
        hint = "Give its actual charset, or encode it as UTF-8: data:text/plain;charset=utf-8,..."
        raise MediaError(f"{path} is not text in the charset {charset[1]!r}.", source=path, hint=hint) from None


def checked(data: bytes, path: str, limit: int) -> bytes:
    """Returns the bytes; raises `MediaError` if there are none, or more than `limit`."""
    if not data:
        raise MediaError(f"{path} is empty: there is nothing to send.", source=path)
    if len(data) > limit:
        raise _too_long(len(data), path, limit)
    return data


def _too_long(size: int, path: str, limit: int) -> MediaError:
    return MediaError(
        f"{path} has {size:,} bytes or more; the limit is {limit:,}.",
        source=path,
        hint="Split it into smaller files, or extract the part you need.",
    )
