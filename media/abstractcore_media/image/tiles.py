"""Divides images that are too large to be read at once into tiles, along seams that pass between words and lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from PIL.Image import Image

    Seam = NDArray[numpy.int64]

LONGEST_EDGE = 2000
"""Pixels of a tile, as it is read: the detector of lines reduces larger images to it."""
_SHORT_EDGE = 1000
"""Images are not reduced further than until their shorter edge has so many pixels."""
_OVERLAP = 240
"""Pixels that two tiles share, as they are read. The seam between them lies there."""
_WIDTH_OF_INK, _HEIGHT_OF_INK = 4, 6
"""Pixels around letters through which no seam goes, if there is another way: gaps between letters are narrower."""
_STEP = 0.01
"""The cost of a pixel without ink: seams are short."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of an image, and where it begins. What is beyond its seams is painted over."""

    image: Image
    left: int = 0
    top: int = 0


def reading_scale(width: int, height: int) -> float:
    """Returns the scale at which an image is read first: in one tile, unless it is so long that its text would be too
    small.
    """
    return min(1.0, max(LONGEST_EDGE / max(width, height), _SHORT_EDGE / min(width, height)))


def tiles_of(image: Image, scale: float) -> Iterator[Tile]:
    """Yields parts of an image that are no longer than a tile after they are reduced by `scale`: the image itself, if
    it is small enough. Every pixel but those of seams is in one of them.
    """
    width, height = image.size
    if max(width, height) * scale <= LONGEST_EDGE:
        yield Tile(image)
        return
    for strip in _strips(image, scale):
        for tile in tiles_of(strip.image, scale):
            yield Tile(tile.image, strip.left + tile.left, strip.top + tile.top)


def _strips(image: Image, scale: float) -> Iterator[Tile]:
    """Yields parts of an image, cut across its longer edge."""
    is_tall = image.height > image.width
    length = max(image.size)
    count = math.ceil(length * scale / (LONGEST_EDGE - _OVERLAP))
    half = round(_OVERLAP / scale / 2)
    before = None
    for number in range(1, count + 1):
        middle = length * number // count
        start = max(0, length * (number - 1) // count - half)
        end = min(length, middle + half)
        box = (0, start, image.width, end) if is_tall else (start, 0, end, image.height)
        after = None if number == count else _seam(image, middle - half, end, is_tall=is_tall)
        yield Tile(_cut(image.crop(box), start, before, after, is_tall=is_tall), box[0], box[1])
        before = after


def _cut(part: Image, start: int, before: Seam | None, after: Seam | None, *, is_tall: bool) -> Image:
    """Returns a part with what is before its first seam and after its second one painted like these seams."""
    import numpy
    from PIL.Image import fromarray

    if before is None and after is None:
        return part
    pixels = numpy.array(part)
    rows = pixels.swapaxes(0, 1) if is_tall else pixels
    places = numpy.arange(rows.shape[1], dtype=numpy.int64)[None, :]
    every = numpy.arange(rows.shape[0], dtype=numpy.int64)
    for seam, is_first in ((before, True), (after, False)):
        if seam is not None:
            at = (seam - start).clip(0, rows.shape[1] - 1)
            beyond = places < at[:, None] if is_first else places > at[:, None]
            paint = numpy.broadcast_to(rows[every, at][:, None], rows.shape)
            rows[beyond] = paint[beyond]
    return fromarray(pixels)


def _seam(image: Image, start: int, end: int, *, is_tall: bool) -> Seam:
    """Returns for each line of pixels across the longer edge where it is cut, between `start` and `end`: the way from
    edge to edge that has the least ink on it.
    """
    import numpy
    from PIL.Image import fromarray
    from PIL.ImageFilter import BoxBlur

    gray = image.crop((0, start, image.width, end) if is_tall else (start, 0, end, image.height)).convert("L")
    levels = numpy.asarray(gray, "int16")
    levels = levels.T if is_tall else levels
    edges = numpy.zeros(levels.shape, "uint8")
    edges[:, 1:] = abs(levels[:, 1:] - levels[:, :-1])
    edges[1:] = numpy.maximum(edges[1:], abs(levels[1:] - levels[:-1]))
    ink = numpy.asarray(fromarray(edges).filter(BoxBlur((_WIDTH_OF_INK, _HEIGHT_OF_INK))), "float64") + _STEP
    margin = 2 * _WIDTH_OF_INK  # what is close to it is not all in the ink
    return start + margin + _cheapest_way(ink[:, margin:-margin])


def _cheapest_way(ink: NDArray[numpy.float64]) -> Seam:
    """Returns the column of each row of the way from the first row to the last one that costs least, sideways too."""
    import numpy

    sums: NDArray[numpy.float64] = ink.cumsum(axis=1)
    costs = numpy.empty_like(ink)
    costs[0] = ink[0]
    for row in range(1, len(ink)):
        above, own, total = costs[row - 1], ink[row], sums[row]
        from_left = numpy.minimum.accumulate(above - total + own) + total
        from_right = numpy.minimum.accumulate((above + total)[::-1])[::-1] - total + own
        numpy.minimum(from_left, from_right, out=costs[row])
    way = numpy.empty(len(ink), "int64")
    way[-1] = column = int(costs[-1].argmin())
    for row in range(len(ink) - 1, 0, -1):
        to_here = ink[row].copy()
        to_here[column:] = to_here[column]
        to_here += abs(sums[row] - sums[row, column])
        way[row - 1] = column = int((costs[row - 1] + to_here).argmin())
    return way
