"""Opens images with Pillow: only the formats that are listed here, never more pixels than a limit, and with errors of
this library.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from abstractcore.errors import AbstractCoreError, CorruptFileError, MediaError

from ..common.extras import missing_extra, missing_module

if TYPE_CHECKING:
    from PIL.Image import Image

_QUIET = logging.NullHandler()
MAX_PIXELS = 80_000_000
"""Of one image that is decoded: 320 MB with four channels."""
_ORIENTATION = 0x0112  # the EXIF tag
_DECODERS = {
    "image/png": ("PIL.PngImagePlugin", "PngImageFile"),
    "image/jpeg": ("PIL.JpegImagePlugin", "JpegImageFile"),
    "image/gif": ("PIL.GifImagePlugin", "GifImageFile"),
    "image/webp": ("PIL.WebPImagePlugin", "WebPImageFile"),
    "image/tiff": ("PIL.TiffImagePlugin", "TiffImageFile"),
    "image/bmp": ("PIL.BmpImagePlugin", "BmpImageFile"),
    "image/avif": ("PIL.AvifImagePlugin", "AvifImageFile"),
}
"""The classes are used directly: `Image.open` would try every format that Pillow knows, some by running programs."""


def format_of(head: bytes) -> str | None:
    """Returns the media type of an image by its signature; None for a format that is not read here."""
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        brands = {head[8:12], *(head[at : at + 4] for at in range(16, min(int.from_bytes(head[:4], "big"), 64), 4))}
        return "image/avif" if brands & {b"avif", b"avis"} else "image/heic" if brands & _HEIF_BRANDS else None
    return None


_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"BM", "image/bmp"),
)
_HEIF_BRANDS = {b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"}


@contextmanager
def opened(data: bytes, source: str) -> Generator[Image]:
    """Yields the image, its header read and its pixels not decoded, except for HEIC, which becomes a TIFF.

    What Pillow raises becomes a `MediaError`.

    Raises `MissingExtraError` if Pillow, or the decoder of HEIC files, is not installed.
    """
    found = format_of(data[:64])
    if found is None:
        raise MediaError(
            f"{source} has no image format that is read here.",
            source=source,
            hint="Save it as PNG or JPEG.",
        )
    if found == "image/heic":
        from .heic import decoded

        data, found = decoded(data, source, MAX_PIXELS), "image/tiff"
    module, name = _DECODERS[found]
    try:
        decoder = getattr(import_module(module), name)
    except ImportError as error:
        raise missing_extra("Reading images", "pillow", "images") from error
    # Pillow logs what it finds in corrupt files, which Python prints to stderr if logging is not configured.
    logging.getLogger("PIL").addHandler(_QUIET)
    with explained(source), decoder(io.BytesIO(data)) as image:
        yield image


@contextmanager
def explained(source: str) -> Generator[None]:
    """Converts exceptions of image decoders to `CorruptFileError`: for corrupt files, they may raise any."""
    try:
        yield
    except AbstractCoreError:
        raise
    except ImportError as error:
        raise missing_module(error, "Reading images", "images") from error
    except MemoryError as error:
        raise MediaError(f"{source} needs too much memory.", source=source, hint="Make it smaller.") from error
    except Exception as error:
        truncated = isinstance(error, EOFError) or "truncated" in str(error)
        raise CorruptFileError(
            f"{source} is a truncated image." if truncated else f"{source} is a corrupt image.",
            source=source,
            hint="Download or export it again.",
        ) from error


def check_pixels(width: int, height: int, source: str) -> None:
    """Raises `MediaError` for a size that is not decoded: its pixels may be a few bytes in the file, and gigabytes in
    memory.
    """
    if width * height > MAX_PIXELS:
        raise MediaError(
            f"{source} has {width} x {height} pixels; at most {MAX_PIXELS:,} are decoded.",
            source=source,
            hint="Make it smaller first: convert large.png -resize 4000x4000 small.png",
        )


def orientation_of(image: Image) -> int:
    """Returns how the pixels are turned and mirrored for display, as EXIF counts it: 1 is not at all."""
    if image.format not in ("JPEG", "PNG", "WEBP", "AVIF"):
        return 1  # Pillow applies that of TIFF itself, as libheif does
    content: Any = image.info.get("exif")
    if not content:
        return 1
    from PIL.Image import Exif

    exif = Exif()
    try:
        exif.load(content)
        value = exif.get(_ORIENTATION, 1)
    except Exception:  # metadata may be anything: an image without readable metadata is displayed as it is
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """The size of an image in pixels as it is displayed, and its number of frames or pages."""

    width: int
    height: int
    frames: int


def measured(data: bytes, source: str) -> ImageFacts:
    """Returns the facts of an image; its pixels are not decoded. Raises as `opened` does."""
    if format_of(data[:64]) == "image/heic":
        from .heic import measured

        width, height = measured(data, source)
        return ImageFacts(width, height, 1)
    with opened(data, source) as image:
        return facts_of(image)


def facts_of(image: Image) -> ImageFacts:
    """Returns the facts of an opened image."""
    width, height = image.size
    if orientation_of(image) >= 5:
        width, height = height, width
    frames = getattr(image, "n_frames", 1)
    return ImageFacts(width, height, int(frames))
