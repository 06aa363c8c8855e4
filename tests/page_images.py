"""Media handlers that make images of the pages of TIFF and GIF files, with Pillow: several parts of one file."""

from __future__ import annotations

import io

from PIL import Image, ImageSequence

from abstractcore import Blob, CallWarning, ContentPart, ImagePart, MediaPart, Usage
from abstractcore.ports import Conversion, Fallback, MediaContext, Recognised
from abstractcore.registry import Registry
from abstractcore_providers.plugin import register_catalogues, register_providers

MEDIA_TYPES = {b"II*\0": "image/tiff", b"MM\0*": "image/tiff", b"GIF8": "image/gif"}
NO_IMAGES = CallWarning("images_left_out", "", "the images of the pages are left out")


class PageImages:
    """Gives each page as a PNG file under its number; with `describes` also the sizes of the pages as text, for models
    that take no images.
    """

    name = "pages"

    def __init__(self, *, describes: bool = False) -> None:
        outputs = {"image/png", "text"} if describes else {"image/png"}
        self.fallbacks = (Fallback("pages", frozenset(outputs)),)

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        media_type = MEDIA_TYPES.get(head[:4]) if declared is None else declared
        return Recognised("image", media_type) if media_type in MEDIA_TYPES.values() else None

    def check(self, part: MediaPart) -> None:
        """Any file passes."""

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        pages = page_images(part.blob.read())
        if "image/png" not in context.accepted_outputs:
            return Conversion(f"{len(pages)} pages", "number of pages", warnings=(NO_IMAGES,))
        content: list[str | ContentPart] = []
        for number, page in enumerate(pages, 1):
            content += [f"[page {number}]", ImagePart(Blob.from_bytes(page, "image/png"))]
        return Conversion(content, f"{len(pages)} page images", Usage(7, 0))


def page_images(data: bytes) -> list[bytes]:
    """Each frame of an image file as PNG."""
    pages: list[bytes] = []
    with Image.open(io.BytesIO(data)) as image:
        for frame in ImageSequence.Iterator(image):
            page = io.BytesIO()
            frame.save(page, "PNG")
            pages.append(page.getvalue())
    return pages


def registry(*, describes: bool = False) -> Registry:
    """The built-in providers with their models, and a handler of pages."""
    made = Registry()
    for provider in register_providers():
        made.add_provider(provider)
    for file in register_catalogues():
        made.add_catalogue(file)
    made.add_media_handler(PageImages(describes=describes))
    return made
