"""Makes images fit the limits of models: upright, sRGB, within a size and a number of bytes, without metadata."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore.ports import current_interruption
from abstractcore.schema import MediaLoss

from .colors import is_plain, to_srgb
from .encoding import encoded, is_graphic
from .metadata import without_metadata
from .opening import MAX_PIXELS, check_pixels, facts_of, format_of, opened, orientation_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from abstractcore.ports.profiles import MediaLimit

_LOSSY = frozenset({"image/jpeg", "image/heic", "image/avif"})
_JPEG_REDUCTIONS = (8, 4, 2)


@dataclass(frozen=True, slots=True)
class FittedImages:
    """Files with their media types, one for each frame or page that is sent, and what they do not show.

    `is_unchanged` is True for the file itself.
    """

    files: tuple[tuple[bytes, str], ...]
    lost: tuple[MediaLoss, ...] = ()
    is_unchanged: bool = False


def fit(
    data: bytes, limits: Mapping[MediaLimit, int], source: str, *, max_frames: int, accepted: Set[str]
) -> FittedImages:
    """Returns an image within `image_pixels`, `image_area` and `image_bytes`, and its first `images` frames.

    It is never enlarged, and decoded only if it must change or has no `accepted` media type: metadata are else cut out
    of the file. What is encoded is PNG or JPEG, if the model accepts these. Raises `MediaError` for files that cannot
    be read or are too large to be decoded, and `UnsupportedContentError` if no accepted type can be written.
    """
    with opened(data, source) as image:
        facts = facts_of(image)
        size = target_size(facts.width, facts.height, limits)
        max_bytes, media_type = limits.get("image_bytes"), format_of(data[:64]) or ""
        if facts.frames == 1 and media_type in accepted and size == (facts.width, facts.height):
            stripped = _passed(image, data, media_type)
            if stripped is not None and (max_bytes is None or len(stripped) <= max_bytes):
                return FittedImages(((stripped, media_type),), is_unchanged=stripped == data)
        count = min(max_frames, limits.get("images", max_frames))
        files: list[tuple[bytes, str]] = []
        shown = (0, 0)
        for _, frame in chosen_frames(image, facts.frames, max(count, 1), size, source):
            fitted = _resized(frame, size)
            lossless = media_type not in _LOSSY and is_graphic(frame)
            file, type_, kept = encoded(fitted, max_bytes, source, lossless=lossless, accepted=accepted)
            files.append((file, type_))
            shown = kept.size
        return FittedImages(tuple(files), tuple(_losses(facts.width, facts.height, shown, facts.frames, len(files))))


def target_size(width: int, height: int, limits: Mapping[MediaLimit, int]) -> tuple[int, int]:
    """Returns the size of an image within the limits on its longer edge and its area; never a larger one."""
    scale = min(1.0, limits.get("image_pixels", math.inf) / max(width, height))
    if "image_area" in limits:
        scale = min(scale, math.sqrt(limits["image_area"] / (width * height)))
    if scale >= 1:
        return width, height
    # A product such as 1567.9999999999998 is meant as 1568.
    return max(1, math.floor(width * scale + 1e-6)), max(1, math.floor(height * scale + 1e-6))


def chosen_frames(
    image: Image, total: int, count: int, size: tuple[int, int], source: str
) -> Iterator[tuple[int, Image]]:
    """Yields up to `count` frames or pages with their numbers from 1, upright and in sRGB: evenly spaced ones of an
    animation, else the first ones. Decodes no more pixels in all than a few large images have.

    `size` is what they will be reduced to: a JPEG is decoded at a half, quarter or eighth of its size if that suffices.
    """
    orientation = orientation_of(image)
    if image.format == "JPEG":
        _draft(image, size if orientation < 5 else (size[1], size[0]))
    check_pixels(*image.size, source)
    if total == 1:
        yield 1, _upright(to_srgb(image), orientation)
        return
    affordable = max(1, 2 * MAX_PIXELS // (image.size[0] * image.size[1]))
    reachable = min(total, affordable)
    count = min(count, reachable)
    is_document = image.format == "TIFF"
    for number in range(count):
        if (interruption := current_interruption()) is not None:
            interruption.check()
        index = number if is_document else number * reachable // count
        image.seek(index)
        check_pixels(*image.size, source)  # pages of a TIFF have sizes of their own
        yield index + 1, _upright(to_srgb(image), orientation).copy()


def _passed(image: Image, data: bytes, media_type: str) -> bytes | None:
    """Returns the file without metadata; None if its pixels must change."""
    if orientation_of(image) != 1 or not is_plain(image):
        return None
    return without_metadata(data, media_type)


def _draft(image: Image, size: tuple[int, int]) -> None:
    """Sets the size at which a JPEG is decoded: at least `size`, and if need be less, as a huge image is reduced."""
    mode = "L" if image.mode == "L" else "RGB" if image.mode == "RGB" else None
    if mode is None:
        return
    width, height = image.size
    for reduction in _JPEG_REDUCTIONS:
        reduced = width // reduction, height // reduction
        if reduced[0] >= size[0] and reduced[1] >= size[1]:
            image.draft(mode, reduced)
            return
        if reduced[0] * reduced[1] * 4 > MAX_PIXELS:  # the next larger size is too large
            image.draft(mode, reduced)
            return


def _upright(image: Image, orientation: int) -> Image:
    if orientation == 1:
        return image
    from PIL.Image import Transpose

    operations: dict[int, Any] = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(operations[orientation])


def _resized(image: Image, size: tuple[int, int]) -> Image:
    """Returns the image reduced into `size`; pages of other shapes keep their shape."""
    scale = min(1.0, max(size) / max(image.size))
    if scale == 1:
        return image
    target = size if scale == max(size) / max(image.size) and _alike(image.size, size) else None
    width, height = target or (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
    from PIL.Image import Resampling

    return image.resize((width, height), Resampling.LANCZOS)


def _alike(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return abs(one[0] * other[1] - one[1] * other[0]) <= 2 * max(*one, *other)


def _losses(width: int, height: int, shown: tuple[int, int], frames: int, sent: int) -> Iterator[MediaLoss]:
    if shown[0] * shown[1] < width * height:
        places = (f"sent as {shown[0]} x {shown[1]} of {width} x {height}",)
        yield MediaLoss("pixels", width * height - shown[0] * shown[1], width * height, places)
    if sent < frames:
        yield MediaLoss("frames", frames - sent, frames)
