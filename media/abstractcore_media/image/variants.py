"""Variants of an image, of contrast and scale, in which a reader of text may read what it does not in others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .tiles import LONGEST_EDGE

if TYPE_CHECKING:
    from PIL.Image import Image

SMALL_EDGE = 1000
"""Images whose longer edge is shorter are also read enlarged."""
_NARROW = 368
"""Pixels of the shorter edge that are read without a margin."""


def variants(image: Image, scale: float) -> Iterator[tuple[Callable[[Image], Image], float]]:
    """Yields changes of contrast, each with a scale, in the order in which they are tried; `scale` is the first one."""
    longest = max(image.size)
    yield _unchanged, scale
    larger = min(1.5, LONGEST_EDGE / longest) if longest < SMALL_EDGE else scale * 0.75
    yield _evenly_lit, larger
    yield _evenly_lit, scale
    yield _unchanged, larger


def _unchanged(image: Image) -> Image:
    return image


def _evenly_lit(image: Image) -> Image:
    """Returns a gray image without shadows: each pixel relative to its blurred surroundings."""
    import numpy
    from PIL.Image import fromarray
    from PIL.ImageFilter import GaussianBlur

    gray = image.convert("L")
    ground = gray.filter(GaussianBlur(max(5.0, min(gray.size) / 24)))
    relative = numpy.asarray(gray, "float32") / numpy.maximum(numpy.asarray(ground, "float32"), 1) * 200
    return fromarray(relative.clip(0, 255).astype("uint8"))


def scaled(image: Image, scale: float) -> Image:
    """Returns an image of another size."""
    if scale == 1:
        return image
    from PIL.Image import Resampling

    width, height = image.size
    return image.resize((max(1, round(width * scale)), max(1, round(height * scale))), Resampling.LANCZOS)


def padded(image: Image) -> Image:
    """Returns the image with a margin at the right or below where it is narrow: the detector enlarges images until
    their shorter edge has 736 pixels.
    """
    width, height = image.size
    shortest = max(_NARROW, max(width, height) // 4)
    if min(width, height) >= shortest:
        return image
    from PIL.Image import new

    margin = new("RGB", (max(width, shortest), max(height, shortest)), image.getpixel((width - 1, height - 1)))
    margin.paste(image)
    return margin
