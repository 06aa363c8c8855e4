"""Pillow images as files, and content in memory within a limit. Pillow is never imported here."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from typing import IO, Any, Protocol, cast

from .errors import AbstractCoreError, MediaError

_PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
"""The modes that Pillow writes as PNG:
https://pillow.readthedocs.io/en/stable/handbook/image-file-formats.html#png-saving.
"""
_WITH_ALPHA = {"La": "LA", "PA": "RGBA", "RGBa": "RGBA"}
_NUMERIC_MODES = frozenset({"F", "I", "I;16B", "I;16L", "I;16N"})
_JPEG_MODES = frozenset({"L", "RGB"})
"""Without CMYK: image decoders of models may invert its colors, or reject it."""


class PillowImage(Protocol):
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
    stem = os.path.splitext(file_name(str(getattr(picture, "filename", ""))))[0] or "image"
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


def file_name(path: str) -> str:
    """Returns the last part of a path as text: file names may contain bytes that are not valid text."""
    return os.path.basename(path).encode("utf-8", "replace").decode("utf-8")


def checked(data: bytes, path: str, limit: int) -> bytes:
    """Returns the bytes; raises `MediaError` if there are none, or more than `limit`."""
    if not data:
        raise MediaError(f"{path} is empty: there is nothing to send.", source=path)
    if len(data) > limit:
        raise too_long(len(data), path, limit)
    return data


def too_long(size: int, path: str, limit: int) -> MediaError:
    return MediaError(
        f"{path} has {size:,} bytes or more; the limit is {limit:,}.",
        source=path,
        hint="Split it into smaller files, or extract the part you need.",
    )
