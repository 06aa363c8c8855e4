"""Draws rows of characters: each character of the font once, then pages as arrays of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...common.extras import missing_extra
from .geometry import Cell, PageSize
from .layout import CONTINUED, GAP, MARGIN, TAB, Columns

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from PIL.Image import Image

_FONTS = files("abstractcore_media").joinpath("document", "glyphs", "fonts")
_FONT = "DejaVuSansMono-subset.ttf"
_MARKS = (CONTINUED, TAB)
_LEVELS = 16
"""Shades of gray: files are half as large as with 256, and look the same."""
_PALE = 0.45
"""How much darker than the paper marks and lines are that are not text."""


class Pen:
    """Draws characters of one size. Immutable, and shared by threads."""

    def __init__(self, cell: Cell) -> None:
        numpy, truetype = _libraries()
        self.cell = cell
        font = truetype(io.BytesIO(font_path().read_bytes()), cell.size)
        characters = sorted(drawable())
        shapes = numpy.zeros((len(characters) + 1, cell.height, cell.width), numpy.uint8)
        self._numbers = numpy.zeros(0x10000, numpy.uint16)
        for number, code in enumerate(characters, 1):
            shapes[number] = _shape(chr(code), font, cell)
            self._numbers[code] = number
        self._shapes = shapes

    def page(self, rows: Sequence[str], columns: Columns, size: PageSize) -> bytes:
        """Returns a page as PNG, its rows in columns from left to right. Characters must be `drawable`."""
        numpy, _ = _libraries()
        ink = numpy.zeros((size.height, size.width), numpy.uint8)
        step = (columns.width + GAP) * self.cell.width
        for number in range(columns.count):
            part = rows[number * columns.rows : (number + 1) * columns.rows]
            if not part:
                break
            left = MARGIN + number * step
            if number:
                ink[MARGIN : size.height - MARGIN, left - GAP * self.cell.width // 2] = int(255 * _PALE)
            drawn = self.rows(part, columns.width)
            ink[MARGIN : MARGIN + drawn.shape[0], left : left + drawn.shape[1]] = drawn
        return _png(ink)

    def rows(self, rows: Sequence[str], width: int) -> Any:
        """Returns the ink of rows, from 0 to 255, as an array of (rows x height) x (width x width of a character)."""
        numpy, _ = _libraries()
        text = "".join(row.ljust(width) for row in rows)
        codes = numpy.frombuffer(text.encode("utf-32-le"), numpy.uint32).reshape(len(rows), width)
        shapes = self._shapes[self._numbers[codes]]
        height = len(rows) * self.cell.height
        return shapes.transpose(0, 2, 1, 3).reshape(height, width * self.cell.width)


@lru_cache(maxsize=8)
def pen(cell: Cell) -> Pen:
    """Returns a pen for characters of this size; raises `MissingExtraError` without Pillow and NumPy."""
    return Pen(cell)


@lru_cache(maxsize=1)
def drawable() -> frozenset[int]:
    """Returns the code points of the characters that the font has."""
    found: set[int] = set()
    for line in _FONTS.joinpath("characters.txt").read_text("ascii").split():
        first, _, last = line.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)


def as_image(ink: Any) -> Image:
    """Returns an array of ink as a gray image, black on white."""
    from PIL.Image import fromarray

    return fromarray(255 - ink)


def _shape(character: str, font: Any, cell: Cell) -> Any:
    import numpy
    from PIL.Image import new
    from PIL.ImageDraw import Draw

    ascent, descent = font.getmetrics()
    image = new("L", (cell.width, cell.height))
    baseline = cell.height - round(descent * cell.height / (ascent + descent))
    Draw(image).text((0, baseline), character, fill=255, font=font, anchor="ls")
    ink = numpy.asarray(image)
    return (ink * _PALE).astype(numpy.uint8) if character in _MARKS else ink


def _png(ink: Any) -> bytes:
    from PIL.Image import fromarray

    gray = [255 - level * 255 // (_LEVELS - 1) for level in range(_LEVELS)]
    image = fromarray((ink.astype("uint16") * (_LEVELS - 1) // 255).astype("uint8"), "L").convert("P")
    image.putpalette([value for level in gray for value in (level, level, level)])
    file = io.BytesIO()
    image.save(file, "PNG", bits=4, compress_level=6)
    return file.getvalue()


def font_path() -> Traversable:
    """Returns where the font is."""
    return _FONTS.joinpath(_FONT)


def _libraries() -> tuple[Any, Any]:
    try:
        import numpy
        from PIL.ImageFont import truetype
    except ImportError as error:
        raise missing_extra("Drawing text as images", "pillow and numpy", "images") from error
    return numpy, truetype
