"""Images that other programs wrote: ImageMagick's modes and formats, and exiftool's places and comments."""

from __future__ import annotations

import pytest

from abstractcore.schema import ImagePart, MediaFacts
from abstractcore_media import ImageHandler
from tests.media.parts import FILES, blob

HANDLER = ImageHandler()
MARKS = (b"Exif", b"GPS", b"ns.adobe.com/xap", b"x:xmpmeta", b"Photoshop 3.0", b"Camera One", b"my garden", b"Paris")
"""What the metadata hold that exiftool lists of these files: EXIF, XMP, IPTC, comments."""


def part(name: str, media_type: str) -> ImagePart:
    return ImagePart(blob(FILES / name, media_type))


@pytest.mark.process
@pytest.mark.parametrize("limits", [{}, {"image_pixels": 40}], ids=["as it is", "smaller"])
@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("placed.jpg", "image/jpeg"),
        ("placed.png", "image/png"),
        ("placed.webp", "image/webp"),
        ("placed.heic", "image/heic"),
    ],
)
def test_what_exiftool_wrote_is_removed(name: str, media_type: str, limits):
    given = part(name, media_type)
    [sent] = HANDLER.fit(given, limits).parts
    before, after = given.blob.read(), sent.blob.read()
    assert sum(mark in before for mark in MARKS) >= 3
    assert [mark for mark in MARKS if mark in after] == []


@pytest.mark.parametrize(
    ("name", "media_type", "facts", "sent"),
    [
        ("magick_cmyk.jpg", "image/jpeg", MediaFacts(60, 40, 1), [("image/jpeg", "RGB")]),
        ("magick_16bit.png", "image/png", MediaFacts(40, 27, 1), [("image/png", "RGB")]),
        ("magick_fax.tif", "image/tiff", MediaFacts(300, 245, 2), [("image/png", "L")] * 2),
        ("magick_moving.webp", "image/webp", MediaFacts(30, 20, 3), [("image/png", "RGB")] * 3),
    ],
)
def test_what_imagemagick_wrote_is_read(name: str, media_type: str, facts: MediaFacts, sent: list[tuple[str, str]]):
    """Sizes and numbers of frames are those of its `identify`."""
    given = part(name, media_type)
    assert HANDLER.measure(given) == facts
    fitted = HANDLER.fit(given, {"image_pixels": 200}).parts
    assert [(each.blob.media_type, each.to_pil().mode) for each in fitted if isinstance(each, ImagePart)] == sent


def test_colors_of_a_cmyk_image_stay():
    [sent] = HANDLER.fit(part("magick_cmyk.jpg", "image/jpeg"), {"image_pixels": 50}).parts
    assert isinstance(sent, ImagePart)
    expected = part("small.png", "image/png").to_pil().convert("RGB").resize((1, 1))
    found = sent.to_pil().resize((1, 1))
    assert all(abs(a - b) < 16 for a, b in zip(found.getpixel((0, 0)), expected.getpixel((0, 0)), strict=True))
