"""A photo of 12 megapixels made fit for a request, relative to what Pillow needs for the pixels alone."""

from __future__ import annotations

import io
from collections.abc import Callable

from rounds import Row, Setup, best, cpu_seconds

_GOAL = 1.2
_SIZE = (4000, 3000)
_TARGET = (1568, 1176)


def fitted(setup: Setup) -> list[Row]:
    """Header, metadata, orientation, reduction and encoding, against draft decoding, reduction and encoding."""
    from abstractcore.schema import Blob, ImagePart
    from abstractcore_media import ImageHandler

    data, handler = photo(), ImageHandler()
    part = ImagePart(Blob.from_bytes(data, "image/jpeg", name="photo.jpg"))
    batches: dict[str, Callable[[], float]] = {
        "ours": cpu_seconds(lambda: handler.fit(part, {"image_pixels": _TARGET[0]}), 1),
        "pillow": cpu_seconds(lambda: _by_pillow(data), 1),
    }
    times = best(batches, max(2, setup.rounds // 2))
    return [Row("a photo of 12 megapixels to request bytes / Pillow", times["ours"], times["pillow"], goal=_GOAL)]


def photo(orientation: int = 1) -> bytes:
    """A JPEG of 12 megapixels with a place in it, with as much detail as a photo has."""
    from PIL import Image

    noise = [Image.effect_noise((500, 375), sigma).resize(_SIZE, Image.Resampling.BICUBIC) for sigma in (60, 50, 40)]
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.0)})
    file = io.BytesIO()
    Image.merge("RGB", noise).save(file, "JPEG", quality=92, exif=exif)
    return file.getvalue()


def _by_pillow(data: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        image.draft("RGB", _TARGET)
        file = io.BytesIO()
        image.resize(_TARGET, Image.Resampling.LANCZOS).save(file, "JPEG", quality=90)
    return file.getvalue()
