"""Handlers make no more images than can be sent: evenly spaced pages, chosen frames, pictures in order."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from abstractcore import Blob, DocumentPart, File, ImagePart, MediaLoss, Services, VideoPart, create_llm
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import TextPart
from abstractcore_media.document import PdfHandler
from abstractcore_media.image import ImageHandler
from abstractcore_media.video import VideoHandler
from tests.media.test_request_limits import noise, pdf

FILES = Path(__file__).parent / "files"
IMAGES = frozenset({"text", "image/png", "image/jpeg"})


def context(services: Services, most: int | None, *fallbacks: str, **options) -> MediaContext:
    return MediaContext(
        services.models, options, fallbacks=fallbacks, accepted_outputs=IMAGES - {"text"}, max_images=most
    )


def images(conversion: Conversion) -> list[ImagePart]:
    return [part for part in conversion.parts if isinstance(part, ImagePart)]


@pytest.fixture
def services():
    services = Services(environment={})
    yield services
    services.close()


@pytest.mark.parametrize(
    ("most", "shown"),
    [(None, [1, 2, 3, 4, 5, 6, 7, 8, 9]), (9, [1, 2, 3, 4, 5, 6, 7, 8, 9]), (4, [1, 3, 5, 7]), (1, [1])],
)
def test_pages_of_a_pdf_are_evenly_spaced(services: Services, most: int | None, shown: list[int]):
    part = DocumentPart(Blob.from_bytes(pdf(9), "application/pdf"))
    found = PdfHandler().convert(part, context(services, most, "pages"))
    assert len(images(found)) == len(shown)
    marks = [part.text.strip() for part in found.parts if isinstance(part, TextPart)]
    assert marks == [f"[page {n}]\n[image of page {n}]" for n in shown]
    assert found.lost == ((MediaLoss("pages", 9 - len(shown), 9),) if len(shown) < 9 else ())
    assert found.has_fewer_images is (len(shown) < 9)


def test_pages_over_the_limit_of_the_handler_are_sent_in_part_where_fewer_are_asked_for(services: Services):
    part = DocumentPart(Blob.from_bytes(pdf(120), "application/pdf"))
    assert len(images(PdfHandler().convert(part, context(services, 5, "pages")))) == 5


@pytest.mark.parametrize(("most", "count", "fewer"), [(None, 6, False), (3, 3, True), (50, 6, False)])
def test_frames_of_a_video_are_chosen_for_the_number(services: Services, most: int | None, count: int, fewer: bool):
    part = VideoPart(Blob.from_bytes((FILES / "scenes.mp4").read_bytes(), "video/mp4"))
    found = VideoHandler().convert(part, context(services, most, "frames", video_frames=6))
    assert len(images(found)) == count
    assert found.has_fewer_images is fewer
    (frames,) = [lost for lost in found.lost if lost.what == "frames"]
    assert frames.total is not None
    assert frames.total - frames.count == count, "counted against the file"


def test_contact_sheets_hold_several_frames_each(services: Services):
    part = VideoPart(Blob.from_bytes((FILES / "scenes.mp4").read_bytes(), "video/mp4"))
    options = {"video_frames": 12, "video_contact_sheets": True}
    assert len(images(VideoHandler().convert(part, context(services, 1, "frames", **options)))) == 1


@pytest.mark.parametrize(("most", "fewer"), [(None, False), (1, True)])
def test_frames_of_an_animation_are_fewer(services: Services, most: int | None, fewer: bool):
    part = ImagePart(Blob.from_bytes((FILES / "multipage.tif").read_bytes(), "image/tiff"))
    found = ImageHandler().convert(part, context(services, most, "convert"))
    assert (len(images(found)) == 1, found.has_fewer_images) == (fewer, fewer)


# In calls


def docx(*pictures: bytes) -> bytes:
    """A Word file with pictures, each in a paragraph."""
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    drawn = "".join(
        f'<w:p><w:r><w:t>Picture {n}</w:t><w:drawing><a:blip r:embed="r{n}"/></w:drawing></w:r></w:p>'
        for n in range(len(pictures))
    )
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    names += f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{rel}"'
    links = "".join(
        f'<Relationship Id="r{n}" Type="{rel}/image" Target="media/image{n}.jpg"/>' for n in range(len(pictures))
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    office = f'<Relationship Id="r" Type="{rel}/officeDocument" Target="word/document.xml"/>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
        override = f'<Override PartName="/word/document.xml" ContentType="{kind}"/>'
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types">{override}</Types>')
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships">{office}</Relationships>')
        archive.writestr("word/document.xml", f"<w:document {names}><w:body>{drawn}</w:body></w:document>")
        links = f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
        archive.writestr("word/_rels/document.xml.rels", links)
        for number, picture in enumerate(pictures):
            archive.writestr(f"word/media/image{number}.jpg", picture)
    return file.getvalue()


def test_pictures_of_a_document_are_fitted_without_the_place_where_they_were_taken(call_style, services: Services):
    limits = {"image_pixels": 400, "images": 10}
    facts = {"accepts": ["image"], "media_limits": limits}
    llm = create_llm("scripted", replies=["a"], facts=facts, services=services)
    media = [File(docx(noise(1600, 800), noise(300, 200)), name="trip.docx")]
    (decision,) = call_style.generate(llm, "hi", media=media).media
    sent = [part for part in llm.calls[0].messages[0].parts if isinstance(part, ImagePart)]
    for part, size in zip(sent, [(400, 200), (300, 200)], strict=True):
        with Image.open(io.BytesIO(part.blob.read())) as image:
            assert image.size == size
            assert not image.getexif()
    (lost,) = [each for each in decision.lost if each.what == "pixels of images"]
    assert (lost.count, lost.total) == (1600 * 800 - 400 * 200, 1600 * 800)


def test_pictures_above_the_number_are_described(call_style, services: Services):
    eye = create_llm("scripted", replies=["A sunset."] * 3, accepts=["image"], services=services)
    facts = {"accepts": ["image"], "media_limits": {"images": 2}}
    llm = create_llm("scripted", replies=["a"], facts=facts, services=services, vision_model=eye)
    media = [File(docx(*(noise(320, 200) for _ in range(4))), name="trip.docx")]
    (decision,) = call_style.generate(llm, "hi", media=media).media
    assert sum(isinstance(part, ImagePart) for part in llm.calls[0].messages[0].parts) == 2
    assert llm.calls[0].messages[0].text.count("A sunset.") == 2
    assert decision.fit["images"] == 2


def test_huge_image_in_a_document_is_made_small(call_style, services: Services):
    wide = io.BytesIO()
    Image.new("L", (16_000, 12_000), 200).save(wide, "JPEG")
    facts = {"accepts": ["image"], "media_limits": {"image_pixels": 1000, "image_bytes": 20_000}}
    llm = create_llm("scripted", replies=["a"], facts=facts, services=services)
    call_style.generate(llm, "hi", media=[File(docx(wide.getvalue()), name="plan.docx")])
    (part,) = [part for part in llm.calls[0].messages[0].parts if isinstance(part, ImagePart)]
    with Image.open(io.BytesIO(part.blob.read())) as image:
        assert max(image.size) <= 1000
    assert (part.blob.size or 0) <= 20_000


def test_damaged_picture_that_is_too_large_is_counted(call_style, services: Services):
    facts = {"accepts": ["image"], "media_limits": {"image_bytes": 20_000}}
    llm = create_llm("scripted", replies=["a"], facts=facts, services=services)
    picture = noise(1600, 800)
    (decision,) = call_style.generate(llm, "hi", media=[File(docx(picture[:60_000]), name="a.docx")]).media
    sent = [part for part in llm.calls[0].messages[0].parts if isinstance(part, ImagePart)]
    assert all((part.blob.size or 0) <= 20_000 for part in sent)
    assert (sent, decision.lost) == ([], (MediaLoss("images", 1, 1, ("they are too large",)),))


@pytest.mark.weights
def test_photo_of_an_earlier_turn_becomes_its_text(call_style, services: Services):
    facts = {"accepts": ["image", "audio"]}
    llm = create_llm("scripted", replies=["a"] * 2, facts=facts, services=services, media_history="text")
    receipt = Path(__file__).parents[2] / "examples/media/receipt.jpg"
    first = call_style.generate(llm, "What was the total?", media=[receipt], timeout=300)
    (old,) = call_style.generate(llm, "And?", messages=[*llm.calls[0].messages, first], timeout=300).media
    assert "TOTAL EUR  25.69" in llm.calls[1].messages[0].text
    assert 'content="text read by OCR, in place of the file"' in llm.calls[1].messages[0].text
    assert (old.text_because, old.tokens is None) == ("history", False)
