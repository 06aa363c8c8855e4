"""What is planned for an image is done, for models that accept a single type of images, and what is sent is of it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pytest
from PIL import Image, ImageDraw

from abstractcore import Services, create_llm
from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import ImagePart
from abstractcore_media import ImageHandler
from abstractcore_media.image import ocr
from abstractcore_media.image.colors import opaque
from abstractcore_media.image.lines import TextLine
from abstractcore_media.image.ocr import TextReader
from abstractcore_media.image.opening import format_of
from tests.media.parts import FILES, blob

GRAY = Image.linear_gradient("L").resize((64, 48))
COLORS = Image.merge("RGB", (GRAY, GRAY.transpose(Image.Transpose.ROTATE_180), GRAY))


def saved(image: Image.Image, format: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def moving() -> bytes:
    return saved(COLORS, "GIF", save_all=True, append_images=[COLORS.transpose(Image.Transpose.ROTATE_180)])


IMAGES = {
    "png": saved(COLORS, "PNG"),
    "png of 16 bits": saved(GRAY.convert("I;16"), "PNG"),
    "png with a palette": saved(COLORS.quantize(16), "PNG"),
    "png in black and white": saved(GRAY.convert("1"), "PNG"),
    "png with transparency": saved(Image.merge("LA", (GRAY, GRAY)), "PNG"),
    "jpeg": saved(COLORS, "JPEG"),
    "jpeg in CMYK": saved(COLORS.convert("CMYK"), "JPEG"),
    "gif": saved(COLORS, "GIF"),
    "gif that moves": moving(),
    "webp": saved(COLORS, "WEBP"),
    "webp with transparency": saved(COLORS.convert("RGBA"), "WEBP", lossless=True),
    "tiff": saved(COLORS, "TIFF"),
    "tiff of floats": saved(GRAY.convert("F"), "TIFF"),
    "tiff in CMYK": saved(COLORS.convert("CMYK"), "TIFF"),
    "bmp": saved(COLORS, "BMP"),
    "avif": saved(COLORS, "AVIF"),
    "heic": (FILES / "turned.heic").read_bytes(),
}
TYPES = [f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "tiff", "bmp", "avif", "heic")]
CONVERTED_TO = ("image/png", "image/jpeg")


class BlindReader(TextReader):
    """Reads nothing: what is read does not matter here."""

    def _reading(self, image: Image.Image, *_, **__) -> list[TextLine]:
        return []

    def _loaded(self, threads: int) -> None:
        pass


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setattr(ocr, "shared_reader", BlindReader)
    services = Services(environment={})
    yield services
    services.close()


@pytest.mark.process
@pytest.mark.parametrize("accepted", TYPES)
def test_each_image_is_sent_as_it_was_planned(call_style, services: Services, accepted: str):
    for name, content in IMAGES.items():
        llm = create_llm("scripted", replies=["ok"], accepts=[accepted], services=services)
        [planned] = llm.plan("?", media=[content]).media
        response = call_style.generate(llm, "?", media=[content])
        [decision] = response.media
        possible = {planned.fallback, *planned.alternatives}
        assert (decision.route, decision.outputs) == (planned.route, planned.outputs), name
        assert decision.fallback in possible, name
        sent = sent_types(llm)
        given = format_of(content[:64])
        if given == accepted:
            assert (decision.route, set(sent)) == ("native", {accepted}), name
        elif accepted in CONVERTED_TO:
            assert (planned.fallback, decision.fallback, set(sent)) == ("convert", "convert", {accepted}), name
        else:
            assert (decision.fallback, sent) == ("observe", []), name
        only_heic = [warning.code for warning in response.warnings if accepted == "image/heic" == given]
        assert only_heic in ([], ["image_unchecked"]), name


def sent_types(llm) -> list[str]:
    """The types of the images that were sent, by their first bytes; declared types are the same."""
    parts = [part for part in llm.calls[0].messages[-1].parts if isinstance(part, ImagePart)]
    found = [format_of(part.blob.read()[:64]) or "" for part in parts]
    assert found == [part.blob.media_type for part in parts]
    return found


@pytest.mark.parametrize("accepted", CONVERTED_TO)
def test_limits_leave_an_image_of_the_accepted_type(accepted: str):
    noise = Image.merge("RGB", [Image.effect_noise((400, 300), sigma) for sigma in (60, 50, 40)])
    for mode in ("RGB", "RGBA"):
        content = saved(noise.convert(mode), "PNG")
        part = ImagePart(blob(content, "image/png", "noise.png"))
        for limit in (30_000, 8_000):
            [sent] = ImageHandler().fit(part, {"image_bytes": limit}, frozenset({accepted})).parts
            assert sent.blob.media_type == accepted
            assert len(sent.blob.read()) <= limit


def test_type_that_cannot_be_written_is_an_error_that_says_so():
    part = ImagePart(blob(saved(COLORS, "PNG"), "image/png", "a.png"))
    with pytest.raises(UnsupportedContentError, match=r"a.png must be encoded again, and image/heic cannot be written"):
        ImageHandler().fit(part, {}, frozenset({"image/heic"}))


def test_policy_without_native_files_plans_what_it_does(call_style, services: Services):
    """PNG is not converted to PNG for a model that reads it: its text is what the policy asks for."""
    llm = create_llm("scripted", replies=["ok"], accepts=["image"], services=services)
    given = {"media": [IMAGES["png"]], "media_policy": {"image": "fallback_only"}}
    [planned] = llm.plan("?", **given).media
    [decision] = call_style.generate(llm, "?", **given).media
    assert (planned.fallback, planned.alternatives) == ("ocr", ("observe",))
    assert decision.fallback == "observe"


def logo(color: tuple[int, int, int], hidden: tuple[int, int, int]) -> Image.Image:
    """A rectangle on a transparent ground, whose hidden pixels have another color."""
    image = Image.new("RGBA", (200, 100), (*hidden, 0))
    ImageDraw.Draw(image).rectangle((0, 0, 99, 49), (*color, 255))
    return image


@pytest.mark.parametrize("hidden", [(0, 0, 0), (255, 255, 255), (0, 160, 70)])
def test_colors_of_transparent_pixels_are_no_facts(services: Services, hidden: tuple[int, int, int]):
    assert observed_colors(services, logo((200, 40, 40), hidden)) == "transparent 75%, red 25%"


def test_pixels_weigh_as_much_as_they_are_opaque(services: Services):
    image = Image.new("RGBA", (96, 96), (50, 100, 200, 51))
    assert observed_colors(services, image) == "transparent 80%, blue 20%"


def observed_colors(services: Services, image: Image.Image) -> str:
    llm = create_llm("scripted", replies=["ok"], services=services)
    llm.generate("?", media=[image], media_policy={"image": "observe"})
    return llm.calls[0].messages[-1].text.partition("share of the area: ")[2].partition(".\n")[0]


@pytest.mark.parametrize(
    ("colors", "ground"),
    [
        ([(0, 0, 0)], 255),
        ([(200, 40, 40), (255, 255, 255)], 255),
        ([(255, 255, 255)], 0),
        ([(250, 250, 250), (250, 250, 250), (20, 20, 20)], 128),
    ],
)
def test_transparent_image_is_put_on_a_ground_on_which_it_shows(colors: Sequence[tuple[int, int, int]], ground: int):
    image = Image.new("RGBA", (100, 100), (9, 9, 9, 0))
    for number, color in enumerate(colors):
        ImageDraw.Draw(image).rectangle((0, 20 * number, 49, 20 * number + 19), (*color, 255))
    shown = opaque(image)
    assert shown.getpixel((99, 99)) == (ground,) * 3
    assert shown.getpixel((5, 5)) == colors[0]
