"""Converts images of every mode and color profile to sRGB, 8 bits a channel, and transparent ones to opaque ones."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

_PLAIN = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA"})
"""Modes that readers of images display alike."""
_GROUNDS = (255, 0, 128)
"""Gray levels on which transparent images are put, the preferred one first."""
_ALIKE = 60
"""The difference of gray levels up to which something is hard to see on its ground."""
_VISIBLE = 32
"""The alpha from which a pixel is visible."""
_DEEP = frozenset({"F", "I", "I;16", "I;16B", "I;16L", "I;16N"})


def is_plain(image: Image) -> bool:
    """Returns whether the image is shown alike without color management."""
    return image.mode in _PLAIN and not _profile(image)


def to_srgb(image: Image) -> Image:
    """Returns the image in mode L, RGB or RGBA, with the colors that its profile means."""
    if image.mode in _DEEP:
        return _from_deep(image)
    profile = _profile(image)
    has_alpha = image.has_transparency_data
    if profile is not None and not has_alpha and image.mode in ("RGB", "CMYK", "L"):
        converted = _by_profile(image, profile)
        if converted is not None:
            return converted
    if image.mode in ("L", "RGB", "RGBA") and not (image.mode != "RGBA" and has_alpha):
        return image
    if image.mode == "1":
        return image.convert("L")
    return image.convert("RGBA" if has_alpha else "RGB")


def opaque(image: Image) -> Image:
    """Returns an image in mode L, RGB or RGBA without transparency: on white, or on black or gray where most of what is
    visible could not be seen on white.
    """
    if image.mode != "RGBA":
        return image
    from PIL.Image import new

    ground = new("RGB", image.size, (_ground_of(image),) * 3)
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _ground_of(image: Image) -> int:
    visible = image.getchannel("A").point([255 * (alpha >= _VISIBLE) for alpha in range(256)])
    levels = image.convert("L").histogram(visible)

    def unseen(ground: int) -> int:
        return sum(levels[max(0, ground - _ALIKE) : ground + _ALIKE + 1])

    return _GROUNDS[0] if 2 * unseen(_GROUNDS[0]) <= sum(levels) else min(_GROUNDS, key=unseen)


def _profile(image: Image) -> bytes | None:
    """Returns the color profile unless it is sRGB, by its description."""
    profile: Any = image.info.get("icc_profile")
    if not isinstance(profile, bytes) or b"sRGB" in profile or "sRGB".encode("utf-16-be") in profile:
        return None
    return profile


def _by_profile(image: Image, profile: bytes) -> Image | None:
    """Returns the image converted to sRGB; None for a profile that cannot be used, which readers ignore as well."""
    from PIL import ImageCms

    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return ImageCms.profileToProfile(image, given, srgb, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None


def _from_deep(image: Image) -> Image:
    """Returns 8 of the bits of each pixel: 16-bit values keep their scale, others are stretched to their range."""
    low, high = _range(image)
    if image.mode.startswith("I;16") or (image.mode == "I" and low >= 0 and high <= 65535):
        low, high = 0.0, 255.0 if high <= 255 else 4095.0 if high <= 4095 else 65535.0
    scale = 255 / (high - low) if high > low else 0.0
    numbers = image.convert("F")
    return numbers.point(lambda value: value * scale - low * scale).convert("L")


def _range(image: Image) -> tuple[float, float]:
    numbers: Any = image if image.mode in ("F", "I") else image.convert("I")
    low, high = numbers.getextrema()
    return float(low), float(high)
