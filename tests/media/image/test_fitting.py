"""Images made to fit the limits of models: size, bytes, orientation, colors, frames, metadata."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image, ImageChops, ImageCms

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.ports import FitsMedia, MeasuresMedia
from abstractcore.schema import ImagePart, MediaFacts
from abstractcore_media import ImageHandler
from abstractcore_media.image.fitting import target_size
from tests.media.parts import FILES, blob

HANDLER = ImageHandler()


def part(content: bytes | Path, media_type: str = "image/png", name: str = "picture.png") -> ImagePart:
    return ImagePart(blob(content, media_type, name))


def saved(image: Image.Image, format: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def fitted(content: ImagePart, **limits: Any) -> list[Image.Image]:
    found = HANDLER.fit(content, cast("Mapping[Any, int]", limits))
    return [Image.open(io.BytesIO(each.blob.read())) for each in found.parts]


def photo(size: tuple[int, int] = (320, 240), mode: str = "RGB") -> Image.Image:
    """A picture with many colors, and a red corner at the top left."""
    image = Image.merge("RGB", [Image.effect_noise(size, sigma) for sigma in (60, 50, 40)])
    image.paste((255, 0, 0), (0, 0, size[0] // 4, size[1] // 4))
    return image.convert(mode)


def place() -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = "A camera"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)})
    return exif


def is_red(image: Image.Image, x: float, y: float) -> bool:
    red, green, blue = image.convert("RGB").getpixel((int(x * image.width), int(y * image.height)))
    return red > 180 and green < 90 and blue < 90


def test_handler_has_the_ports_for_fitting():
    assert isinstance(HANDLER, FitsMedia)
    assert isinstance(HANDLER, MeasuresMedia)


@pytest.mark.process
@pytest.mark.parametrize(
    ("file", "media_type", "facts"),
    [
        ("small.png", "image/png", MediaFacts(60, 40, 1)),
        ("small.jpg", "image/jpeg", MediaFacts(160, 106, 1)),
        ("small.webp", "image/webp", MediaFacts(60, 40, 1)),
        ("small.avif", "image/avif", MediaFacts(120, 80, 1)),
        ("turned.heic", "image/heic", MediaFacts(80, 120, 1)),
        ("animated.gif", "image/gif", MediaFacts(14, 25, 24)),
        ("multipage.tif", "image/tiff", MediaFacts(10, 15, 2)),
    ],
)
def test_facts_of_files_by_other_programs(file: str, media_type: str, facts: MediaFacts):
    assert HANDLER.measure(part(FILES / file, media_type)) == facts


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_each_orientation_is_measured_and_applied(format: str, orientation: int):
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = photo((160, 120))
    turned = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    stored = upright if turned is None else upright.transpose(turned)
    content = part(saved(stored, format, exif=exif), f"image/{format.lower()}")
    facts = HANDLER.measure(content)
    assert (facts.width, facts.height) == (160, 120)
    [image] = fitted(content)
    assert image.size == (160, 120)
    assert is_red(image, 0.1, 0.1)
    assert image.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize(
    ("limits", "size"),
    [
        ({"image_pixels": 200}, (200, 150)),
        ({"image_area": 30_000}, (200, 150)),
        ({"image_pixels": 100, "image_area": 30_000}, (100, 75)),
        ({"image_pixels": 5000, "image_area": 10_000_000}, (400, 300)),
    ],
)
@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_image_is_reduced_to_the_limits_and_never_enlarged(format: str, limits: dict[str, int], size: tuple[int, int]):
    [image] = fitted(part(saved(photo((400, 300)), format), f"image/{format.lower()}"), **limits)
    assert image.size == size


def test_longer_edge_is_the_limit_exactly():
    for width, height in ((12_000, 9_000), (9_000, 12_000), (4_032, 3_024), (1_569, 1_000)):
        for edge in (768, 1_568, 2_000):
            assert max(target_size(width, height, {"image_pixels": edge})) == min(edge, max(width, height))


def test_extreme_shapes_keep_a_pixel():
    [image] = fitted(part(saved(photo((3000, 2)), "PNG")), image_pixels=300)
    assert image.size == (300, 1)


def test_reduction_is_counted_as_lost():
    found = HANDLER.fit(part(saved(photo((400, 300)), "PNG")), {"image_pixels": 200})
    [loss] = found.lost
    assert (loss.what, loss.count, loss.total) == ("pixels", 90_000, 120_000)
    assert loss.places == ("sent as 200 x 150 of 400 x 300",)


def test_image_that_needs_nothing_is_the_same_part():
    for file, media_type in (("small.png", "image/png"), ("small.webp", "image/webp")):
        given = part(FILES / file, media_type)
        assert HANDLER.fit(given, {"image_pixels": 8000}).parts == (given,)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
def test_place_is_removed_and_pixels_stay(format: str):
    content = saved(photo(), format, exif=place(), xmp=b"<x:xmpmeta>48.86 N</x:xmpmeta>", comment=b"my garden")
    content += b"a video of the same moment, with its place"
    given = part(content, f"image/{format.lower()}")
    [sent] = HANDLER.fit(given, {}).parts
    data = sent.blob.read()
    before, after = Image.open(io.BytesIO(content)), Image.open(io.BytesIO(data))
    assert not ImageChops.difference(before.convert("RGB"), after.convert("RGB")).getbbox()
    assert dict(before.getexif())
    assert not dict(after.getexif())
    for word in (b"Exif", b"A camera", b"xmpmeta", b"my garden", b"a video"):
        assert word not in data


def test_comments_of_a_gif_are_removed():
    content = saved(photo(mode="P"), "GIF", comment=b"my garden")
    [sent] = HANDLER.fit(part(content, "image/gif"), {}).parts
    assert b"my garden" in content
    assert b"my garden" not in sent.blob.read()
    assert Image.open(io.BytesIO(sent.blob.read())).size == (320, 240)


def test_progressive_jpeg_keeps_its_scans():
    content = saved(photo(), "JPEG", progressive=True, exif=place())
    [image] = fitted(part(content, "image/jpeg"))
    assert not ImageChops.difference(image, Image.open(io.BytesIO(content))).getbbox()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16", "I", "F", "LAB"])
def test_every_mode_becomes_one_that_models_read(mode: str):
    image = Image.linear_gradient("L").convert("F") if mode in ("I;16", "I", "F") else photo((256, 256))
    if mode in ("I;16", "I"):
        image = image.point(lambda value: value * 257).convert("I").convert(mode)
    else:
        image = image if image.mode == mode else image.convert(mode) if mode != "LAB" else _lab(image)
    [shown] = fitted(part(saved(image, "TIFF"), "image/tiff"))
    assert shown.mode in ("1", "L", "RGB", "RGBA", "LA", "P")
    assert shown.size == (256, 256)
    if mode in ("I;16", "I", "F"):
        gray = shown.convert("L")
        assert gray.getpixel((0, 0)) <= 2
        assert 120 <= gray.getpixel((0, 128)) <= 136
        assert gray.getpixel((0, 255)) >= 253


def _lab(image: Image.Image) -> Image.Image:
    to_lab = ImageCms.buildTransform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB")
    return ImageCms.applyTransform(image, to_lab)


def test_color_profile_is_applied():
    """A profile whose red is green to the eye: ignored, the image would have another color."""
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    unnamed = srgb.replace("sRGB".encode("utf-16-be"), "test".encode("utf-16-be"))
    swapped = unnamed.replace(b"rXYZ", b"tmp0").replace(b"gXYZ", b"rXYZ").replace(b"tmp0", b"gXYZ")
    image = Image.new("RGB", (64, 64), (255, 0, 0))
    [shown] = fitted(part(saved(image, "PNG", icc_profile=swapped)))
    red, green, _ = shown.convert("RGB").getpixel((9, 9))
    assert green > 200 > red


def test_broken_color_profile_is_ignored():
    [shown] = fitted(part(saved(photo(), "PNG", icc_profile=b"not a profile" * 20)))
    assert is_red(shown, 0.1, 0.1)


@pytest.mark.parametrize("limit", [100_000, 20_000, 4_000])
@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_bytes_are_within_the_limit(format: str, limit: int):
    given = part(saved(photo((600, 400)), format), f"image/{format.lower()}", f"a.{format.lower()}")
    [sent] = HANDLER.fit(given, {"image_bytes": limit}).parts
    assert sent.blob.size is not None
    assert sent.blob.size <= limit
    assert sent.blob.media_type == "image/jpeg"
    assert sent.blob.name in ("a.jpg", "a.jpeg")


def test_drawing_stays_a_png():
    drawing = Image.new("RGB", (1200, 800), "white")
    drawing.paste("navy", (100, 100, 600, 300))
    [image] = fitted(part(saved(drawing, "BMP"), "image/bmp"), image_pixels=600)
    assert image.format == "PNG"
    assert image.size == (600, 400)


def test_transparency_is_kept():
    image = photo().convert("RGBA")
    image.putalpha(Image.linear_gradient("L").resize(image.size))
    [shown] = fitted(part(saved(image, "PNG")), image_pixels=160)
    assert shown.mode == "RGBA"
    assert shown.getchannel("A").getextrema()[0] < 10


def test_animation_becomes_frames_and_the_others_are_counted():
    found = HANDLER.fit(part(FILES / "animated.gif", "image/gif"), {"images": 4})
    assert [each.blob.media_type for each in found.parts] == ["image/png"] * 4
    assert len({each.blob.sha256 for each in found.parts}) == 4
    assert [(loss.what, loss.count, loss.total) for loss in found.lost] == [("frames", 20, 24)]


def test_pages_of_a_tiff_become_images():
    found = HANDLER.fit(part(FILES / "multipage.tif", "image/tiff"), {})
    assert len(found.parts) == 2
    assert not found.lost


def test_pages_of_different_sizes_keep_their_shapes():
    wide, tall = photo((200, 100)), photo((100, 200))
    content = saved(wide, "TIFF", save_all=True, append_images=[tall])
    assert [image.size for image in fitted(part(content, "image/tiff"), image_pixels=50)] == [(50, 25), (25, 50)]


@pytest.mark.process
@pytest.mark.parametrize(("file", "media_type"), [("turned.heic", "image/heic"), ("small.avif", "image/avif")])
def test_heic_and_avif_become_jpeg(file: str, media_type: str):
    given = part(FILES / file, media_type)
    [image] = fitted(given)
    assert image.format == "JPEG"
    assert not dict(image.getexif())
    facts = HANDLER.measure(given)
    assert image.size == (facts.width, facts.height)


def test_heic_without_its_decoder_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    with pytest.raises(MissingExtraError, match="pi-heif") as caught:
        HANDLER.measure(part(FILES / "turned.heic", "image/heic"))
    assert "'heic'" in (caught.value.hint or "")


def test_limit_that_no_size_meets_is_an_error():
    with pytest.raises(MediaError, match="at most 200 bytes"):
        HANDLER.fit(part(saved(photo(), "PNG")), {"image_bytes": 200})
