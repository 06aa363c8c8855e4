"""Pictures of tests, as Pillow images."""

from __future__ import annotations

import io
from collections.abc import Mapping

from PIL import Image

from abstractcore import ImagePart
from abstractvision import Scene, render_scene


def pixels(part: ImagePart) -> Image.Image:
    """The picture, with its alpha channel."""
    return Image.open(io.BytesIO(part.blob.read())).convert("RGBA")


def drawn(*items: Mapping[str, object], size: int = 100, **scene: object) -> Image.Image:
    """The picture of some items on a canvas of 100 x 100 units."""
    given = {"width": 100, "height": 100, "background": "white", "items": items, **scene}
    return pixels(render_scene(Scene.model_validate(given), size, size))


def pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """Red, green, blue and alpha of a pixel."""
    found = image.getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def dark_lines(image: Image.Image, *, columns: bool = False) -> list[bool]:
    """Whether each row, or column, has a dark pixel."""
    gray = image.convert("L")
    if columns:
        gray = gray.transpose(Image.Transpose.TRANSPOSE)
    rows = (gray.crop((0, y, gray.width, y + 1)).tobytes() for y in range(gray.height))
    return [min(row) < 128 for row in rows]


def share_of(image: Image.Image, color: tuple[int, int, int]) -> float:
    """The share of pixels that have exactly this colour."""
    colors = image.convert("RGB").getcolors(image.width * image.height)
    assert colors is not None
    return next((count for count, each in colors if each == color), 0) / (image.width * image.height)
