"""Encodes images as PNG or JPEG within a number of bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError

if TYPE_CHECKING:
    from PIL.Image import Image

_QUALITIES = (90, 80, 70, 60)
_SHRINKING = 0.75
_SMALLEST = 32
"""Pixels of the shorter edge: smaller images show nothing."""
_SAMPLE = 256
_FEW_COLORS = 2048


def is_graphic(image: Image) -> bool:
    """Returns whether an image is a drawing, screenshot or page rather than a photo, by the colors of a sample."""
    width, height = image.size
    sample = image.resize((min(width, _SAMPLE), min(height, _SAMPLE)), 0)
    return sample.convert("RGB").getcolors(_FEW_COLORS) is not None


def encoded(image: Image, max_bytes: int | None, source: str, *, lossless: bool) -> tuple[bytes, str, Image]:
    """Returns the file, its media type, and the image that it shows.

    `lossless` asks for PNG; beyond `max_bytes` it becomes a JPEG, of falling quality, then of falling size. Raises
    `MediaError` if no size fits.
    """
    if lossless or image.has_transparency_data:
        data = _saved(image, "PNG")
        if max_bytes is None or len(data) <= max_bytes:
            return data, "image/png", image
    picture = _without_alpha(image)
    while min(picture.size) >= min(_SMALLEST, *image.size):
        for quality in _QUALITIES:
            data = _saved(picture, "JPEG", quality=quality)
            if max_bytes is None or len(data) <= max_bytes:
                return data, "image/jpeg", picture
        width, height = picture.size
        smaller = (max(1, round(width * _SHRINKING)), max(1, round(height * _SHRINKING)))
        if smaller == picture.size:
            break
        picture = picture.resize(smaller, 1)
    raise MediaError(
        f"{source} cannot be made an image of at most {max_bytes} bytes.",
        source=source,
        hint="Send a part of it: crop it first.",
    )


def _saved(image: Image, format: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def _without_alpha(image: Image) -> Image:
    """Returns the image on white."""
    if image.mode != "RGBA":
        return image
    from PIL.Image import new

    ground = new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground
