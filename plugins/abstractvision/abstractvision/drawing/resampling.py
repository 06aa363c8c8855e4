"""Larger pictures without a model: resampled by Lanczos, which sharpens edges and invents nothing."""

from __future__ import annotations

import io
import warnings
from typing import cast

from PIL import Image, ImageOps

from abstractcore import Blob, CorruptFileError, ImagePart

from ..problems import unreadable
from .rendering import MOST_PIXELS, PictureFormat, media_type_of

_QUALITY = 95


def enlarged_size(content: bytes, scale: float) -> tuple[int, int]:
    """Returns the size of a picture enlarged `scale` times, as it is seen; raises `CorruptFileError`."""
    with _opened(content) as image:
        turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        width, height = image.size[::-1] if turned else image.size
    return round(width * scale), round(height * scale)


def check_readable(content: bytes) -> None:
    """Raises `CorruptFileError` for content that is not an image."""
    with _opened(content):
        pass


def enlarged(content: bytes, size: tuple[int, int], format: str) -> ImagePart:
    """Returns a picture resampled to a size; raises `CorruptFileError`."""
    written = io.BytesIO()
    with _opened(content) as opened:
        try:
            image = ImageOps.exif_transpose(opened)
            mode = (
                "RGB"
                if format == "jpeg" or ("A" not in image.getbands() and "transparency" not in image.info)
                else "RGBA"
            )
            image = image.convert(mode).resize(size, Image.Resampling.LANCZOS)
        except Exception as error:  # decoders of damaged files may raise any exception
            raise unreadable("image", error) from None
    image.save(written, format, quality=_QUALITY)
    return ImagePart(Blob.from_bytes(written.getvalue(), media_type_of(cast(PictureFormat, format))))


def _opened(content: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content))
    except Exception as error:  # decoders of damaged files may raise any exception
        raise unreadable("image", error) from None
    if image.width * image.height > MOST_PIXELS:
        raise CorruptFileError(f"the image has {image.width} x {image.height} pixels: at most {MOST_PIXELS:,} are read")
    return image
