"""Contact sheets: several frames in one image, each with its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..common.times import clock

if TYPE_CHECKING:
    from PIL.Image import Image

    from .reader import Frame

COLUMNS = 3
PER_SHEET = COLUMNS * COLUMNS
_MARGIN = 4
_LABEL = 14


def contact_sheet(frames: Sequence[Frame], max_side: int) -> Image:
    """Returns up to nine frames in rows of three, from left to right, with their times above them."""
    from PIL import Image, ImageDraw

    cell = max_side // COLUMNS
    images = [frame.image.copy() for frame in frames]
    for image in images:
        image.thumbnail((cell - 2 * _MARGIN, cell - 2 * _MARGIN - _LABEL))
    height = max(image.height for image in images) + _LABEL + 2 * _MARGIN
    sheet = Image.new("RGB", (cell * min(len(images), COLUMNS), height * -(-len(images) // COLUMNS)))
    drawing = ImageDraw.Draw(sheet)
    for index, (frame, image) in enumerate(zip(frames, images, strict=True)):
        left, top = cell * (index % COLUMNS) + _MARGIN, height * (index // COLUMNS) + _MARGIN
        drawing.text((left, top), clock(frame.time), fill="white")
        sheet.paste(image, (left, top + _LABEL))
    return sheet
