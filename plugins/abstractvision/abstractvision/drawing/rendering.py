"""Scenes as image files. The renderer is resvg: shapes, gradients and text with anti-aliasing, without a network."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import Any, Literal, TypeAlias

from abstractcore import Blob, ImagePart, InvalidInputError

from ..problems import failed_drawing
from .boxes import lines_of
from .font_metrics import FAMILY, font_files, unknown_characters
from .png_text import with_text
from .repairs import repaired
from .scene import Group, Item, Scene, Text
from .svg import SCENE_KEY, scene_to_json, scene_to_svg

PictureFormat: TypeAlias = Literal["png", "jpeg", "webp", "svg"]
FORMATS: tuple[PictureFormat, ...] = ("png", "jpeg", "webp", "svg")
_TYPES: dict[PictureFormat, str] = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "svg": "image/svg+xml",
}
MOST_PIXELS = 33_177_600
"""8K video has as many: 7680 x 4320."""
LONGEST_SIDE = 16_383
"""The longest that WebP takes."""
_QUALITY = 92


def render_scene(scene: Scene, width: int = 1024, height: int = 1024, format: PictureFormat = "png") -> ImagePart:
    """Draws a scene as a picture of `width` x `height` pixels.

    PNG and SVG files keep the scene itself, which `scene_of` reads back. Raises `InvalidInputError` for a size beyond
    33 megapixels or an unknown format, `MediaError` if the renderer fails.
    """
    check_size(width, height)
    if format not in FORMATS:
        raise InvalidInputError(f"expected one of {', '.join(FORMATS)}, got {format!r}", path="format")
    (content,) = rendered(repaired(scene).scene.model_dump_json(), width, height, format)
    return ImagePart(Blob.from_bytes(content, _TYPES[format]))


def media_type_of(format: PictureFormat) -> str:
    """Returns the media type of a format."""
    return _TYPES[format]


def check_size(width: int, height: int) -> None:
    """Raises `InvalidInputError` for a size that no picture has, or that is too large to draw."""
    if min(width, height) < 1 or max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        hint = f"A side has 1 to {LONGEST_SIDE:,} pixels, a picture at most {MOST_PIXELS:,}."
        raise InvalidInputError(f"{width} x {height} pixels cannot be drawn", path="size", hint=hint)


def rendered(scene_json: str, width: int, height: int, format: PictureFormat) -> Generator[bytes, Any, None]:
    """Yields the file of a repaired scene, given as JSON: a function for `Isolation.run`."""
    scene = Scene.model_validate_json(scene_json)
    svg = scene_to_svg(scene, width, height)
    if format == "svg":
        yield svg.encode()
        return
    png = _drawn(svg, with_system_fonts=_needs_other_fonts(scene.items))
    yield with_text(png, SCENE_KEY, scene_to_json(scene)) if format == "png" else _converted(png, format)


def _drawn(svg: str, *, with_system_fonts: bool) -> bytes:
    import resvg_py

    try:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                skip_system_fonts=not with_system_fonts,
                font_files=font_files(),
                font_family=FAMILY,
                sans_serif_family=FAMILY,
            )
        )
    except Exception as error:
        raise failed_drawing(error) from None
    except BaseException as error:  # a panic of the renderer is not an Exception
        if type(error).__name__ != "PanicException":
            raise
        raise failed_drawing(error) from None


def _converted(png: bytes, format: PictureFormat) -> bytes:
    from PIL import Image

    written = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB" if format == "jpeg" else image.mode).save(written, format, quality=_QUALITY)
    return written.getvalue()


def _needs_other_fonts(items: list[Item]) -> bool:
    return any(
        _needs_other_fonts(item.items)
        if isinstance(item, Group)
        else isinstance(item, Text) and any(unknown_characters(line, item.bold) for line in lines_of(item))
        for item in items
    )
