"""Encodes images within a number of bytes, as PNG or JPEG if these are accepted."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError, UnsupportedContentError

from .colors import opaque

if TYPE_CHECKING:
    from PIL.Image import Image

_LOSSLESS = {"image/png": "PNG", "image/tiff": "TIFF", "image/bmp": "BMP", "image/gif": "GIF"}
"""The types that are written, the preferred ones first, with Pillow's names of them."""
_LOSSY = {"image/jpeg": "JPEG", "image/webp": "WEBP", "image/avif": "AVIF"}
_FORMATS = {**_LOSSLESS, **_LOSSY}
_OPAQUE = frozenset({"image/jpeg", "image/bmp"})
_QUALITIES = (90, 80, 70, 60)
_SHRINKING = 0.75
_SMALLEST = 32
"""Pixels of the shorter edge: smaller images show nothing."""
_SAMPLE = 256
_FEW_COLORS = 2048


def is_graphic(image: Image) -> bool:
    """Returns whether an image is a drawing, screenshot or page rather than a photo, by the colors of a sample."""
    width, height = image.size
    sample = opaque(image.resize((min(width, _SAMPLE), min(height, _SAMPLE)), 0))
    return sample.convert("RGB").getcolors(_FEW_COLORS) is not None


def encoded(
    image: Image, max_bytes: int | None, source: str, *, lossless: bool, accepted: Set[str]
) -> tuple[bytes, str, Image]:
    """Returns the file, its media type, one of the `accepted`, and the image that it shows.

    `lossless` asks for PNG, if it is accepted; beyond `max_bytes` it becomes a JPEG, of falling quality, then of
    falling size. Other types are written where these are not accepted. Raises `MediaError` if no size fits, and
    `UnsupportedContentError` if no accepted type can be written.
    """
    exact, lossy = _first(_LOSSLESS, accepted), _first(_LOSSY, accepted)
    if exact is None and lossy is None:
        raise UnsupportedContentError(
            f"{source} must be encoded again, and {', '.join(sorted(accepted))} cannot be written here.",
            hint="create_llm(..., accepts=['image/png']) declares that the model accepts PNG.",
        )
    picture, is_first = image, True
    while is_first or min(picture.size) >= min(_SMALLEST, *image.size):
        for media_type, options in _attempts(picture, exact, lossy, lossless=lossless and is_first):
            data = _saved(picture, media_type, **options)
            if max_bytes is None or len(data) <= max_bytes:
                return data, media_type, picture
        width, height = picture.size
        smaller = (max(1, round(width * _SHRINKING)), max(1, round(height * _SHRINKING)))
        if smaller == picture.size:
            break
        picture, is_first = picture.resize(smaller, 1), False
    raise MediaError(
        f"{source} cannot be made an image of at most {max_bytes} bytes.",
        source=source,
        hint="Send a part of it: crop it first.",
    )


def _first(types: Mapping[str, str], accepted: Set[str]) -> str | None:
    return next((media_type for media_type in types if media_type in accepted), None)


def _attempts(
    image: Image, exact: str | None, lossy: str | None, *, lossless: bool
) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yields media types with options of their encoders, in the order in which they are tried for one size."""
    if exact is not None and (lossless or lossy is None or image.has_transparency_data):
        yield exact, {}
    if lossy is not None:
        yield from ((lossy, {"quality": quality}) for quality in _QUALITIES)


def _saved(image: Image, media_type: str, **options: int) -> bytes:
    file = io.BytesIO()
    if media_type in _OPAQUE:
        image = opaque(image)
    image.save(file, _FORMATS[media_type], **options)
    return file.getvalue()
