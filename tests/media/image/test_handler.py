"""Pictures: known and checked by their first bytes."""

import pytest

from abstractcore.errors import MediaError
from abstractcore.schema import AudioPart, ImagePart
from abstractcore_media import ImageHandler
from tests.media.parts import FILES, blob, takes, type_of

PICTURES = {
    "small.png": "image/png",
    "small.jpg": "image/jpeg",
    "small.webp": "image/webp",
    "animated.gif": "image/gif",
    "multipage.tif": "image/tiff",
}


@pytest.mark.parametrize(("file", "media_type"), PICTURES.items())
def test_image_is_recognised_and_passes_check(file: str, media_type: str):
    handler = ImageHandler()
    assert type_of(handler, (FILES / file).read_bytes()[:8192], file) == media_type
    part = ImagePart(blob(FILES / file, media_type))
    assert takes(handler, part)
    handler.check(part)


def test_image_with_the_wrong_type_is_refused_with_the_right_one():
    with pytest.raises(MediaError, match=r"small.jpg is declared as image/png, but its content is image/jpeg"):
        ImageHandler().check(ImagePart(blob(FILES / "small.jpg", "image/png")))


@pytest.mark.parametrize("content", [b"\x89PNG", b"\0" * 99, b"<html>Not found</html>", b"%PDF-1.4 ..."])
def test_content_that_is_not_an_image_is_refused(content: bytes):
    with pytest.raises(MediaError, match="the-file is corrupt or not image/png"):
        ImageHandler().check(ImagePart(blob(content, "image/png")))


def test_svg_and_other_types_are_not_recognised_as_images():
    handler = ImageHandler()
    assert type_of(handler, b"<svg/>", "a.svg") is None
    assert type_of(handler, b"words", "a.png") is None
    assert not takes(handler, AudioPart(blob(b"x", "audio/wav")))
    assert not takes(handler, ImagePart(blob(b"x", "audio/wav")))
