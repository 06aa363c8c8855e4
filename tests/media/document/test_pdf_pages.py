"""Pages of PDF files that are read or sent as images, selected pages, passwords, and places on pages."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

from abstractcore.errors import EncryptedFileError, MediaError, MissingExtraError, WrongPasswordError
from abstractcore.ports import Conversion
from abstractcore.schema import Blob, DocumentPart, ImagePart, MediaAnchor, MediaControls, MediaLoss, MediaPart
from abstractcore_media import PdfHandler
from abstractcore_media.document.pdf.page import is_readable
from tests.media.document.documents import converted, losses, places
from tests.media.document.test_pdf import PAGE_1, PAGE_2, made_of
from tests.media.parts import EXAMPLES, FILES, NO_MODELS

SEES = replace(NO_MODELS, accepted_outputs=frozenset({"text", "image/png"}))


def size_of(part: MediaPart) -> tuple[int, int]:
    return Image.open(io.BytesIO(part.blob.read())).size


def ocr(part: MediaPart) -> Conversion:
    """Reads the size of an image."""
    text = "{} x {}".format(*size_of(part))
    return Conversion(text, "text", anchors=(MediaAnchor(0, len(text), box=(0.1, 0.1, 0.5, 0.2)),))


READS = replace(NO_MODELS, to_text=ocr)


def test_page_without_text_is_read_as_an_image_and_the_others_are_not():
    conversion = converted(FILES / "with_scan.pdf", context=READS)
    first, _, second = conversion.text.partition("\n\n")
    assert first == f"[page 1]\n{PAGE_1}"
    assert second == "[page 2]\n167 x 112"  # 60 by 40 points at 200 dots an inch
    assert conversion.lost == ()
    assert conversion.warnings == ()
    whole = [(text, page) for text, page, box in places(conversion, "page", "box") if box is None]
    assert whole == [(PAGE_1, 1), (second.removeprefix("[page 2]\n"), 2)]
    assert (second.removeprefix("[page 2]\n"), 2, (0.1, 0.1, 0.5, 0.2)) in places(conversion, "page", "box")


def test_page_without_text_is_sent_as_an_image_to_a_model_that_accepts_it():
    conversion = converted(FILES / "with_scan.pdf", context=SEES)
    text, image = conversion.parts
    assert isinstance(image, ImagePart)
    assert size_of(image) == (167, 112)
    assert text.text == f"[page 1]\n{PAGE_1}\n\n[page 2]\n[image of page 2]"
    assert conversion.lost == ()


def test_page_that_nothing_reads_is_lost():
    conversion = converted(FILES / "with_scan.pdf")
    assert conversion.lost == (MediaLoss("pages", 1, 2, ("page 2",)),)
    assert [warning.code for warning in conversion.warnings] == ["page_without_text"]


def test_scanned_pdf_is_read_or_falls_back_to_images_of_its_pages():
    assert converted(FILES / "scan.pdf", context=READS).fallback == "text"
    with pytest.raises(MediaError, match=r"scan.pdf has no text"):
        converted(FILES / "scan.pdf")
    only_pages = replace(NO_MODELS, fallbacks=("pages",), accepted_outputs=frozenset({"image/png"}))
    conversion = converted(FILES / "two_pages.pdf", context=only_pages)
    assert [type(part).__name__ for part in conversion.parts] == ["TextPart", "ImagePart", "TextPart", "ImagePart"]
    assert (conversion.fallback, conversion.label, conversion.lost) == ("pages", "images of 2 pages", ())


@pytest.mark.parametrize(
    ("points", "pixels"),
    [
        ((700, 12_000), "1000 x 17143"),  # a long page keeps letters that can be read
        ((12_000, 700), "17143 x 1000"),
        ((595, 842), "1555 x 2200"),
        ((7_000, 14_000), "1100 x 2200"),
        ((14_000, 28), "38889 x 78"),
    ],
)
def test_size_of_the_image_of_a_page(points: tuple[int, int], pixels: str):
    content = made_of(b"0 g 5 5 20 20 re f").replace(b"[0 0 99 99]", b"[0 0 %d %d]" % points)
    assert converted(content, "long.pdf", READS).text == pixels


def test_reader_that_is_not_installed_is_a_warning_beside_text():
    def missing(part: MediaPart) -> Conversion:
        raise MissingExtraError("Reading images needs the package x", hint="pip install x")

    conversion = converted(FILES / "with_scan.pdf", context=replace(NO_MODELS, to_text=missing))
    assert losses(conversion) == {"pages": (1, 2)}
    assert {warning.code for warning in conversion.warnings} == {"page_not_read", "page_without_text"}


def test_blank_page_is_no_loss():
    writer = PdfWriter(clone_from=FILES / "two_pages.pdf")
    writer.add_blank_page()
    file = io.BytesIO()
    writer.write(file)
    conversion = converted(file.getvalue(), "blank.pdf", READS)
    assert conversion.text.endswith("\n\n[page 3]")
    assert conversion.lost == ()


def test_text_layer_of_characters_without_a_meaning_is_read_as_an_image():
    assert not is_readable("\ufffd\ue001\ue002ab")
    assert is_readable("Areadablelinewithone\ufffd.")
    assert not is_readable("")


def test_picture_beside_text_stands_on_its_page():
    conversion = converted((FILES / "documents" / "harvest.pdf").read_bytes(), "harvest.pdf", READS)
    assert "[picture: page 1, picture 1]" in conversion.text
    ((_, _, box),) = [each for each in places(conversion, "member", "box") if each[1] and each[0].startswith("[pict")]
    assert box is not None
    assert 0 < box[0] < box[2] < 1
    assert losses(converted(FILES / "documents" / "harvest.pdf")) == {"pictures": (1, 1)}


def test_lines_have_places():
    conversion = converted(EXAMPLES / "notice.pdf")
    found = [(text, page, box) for text, page, box in places(conversion, "page", "box") if box]
    assert "\n".join(text for text, _, _ in found) == conversion.text
    text, page, box = found[0]
    assert text.startswith("Bicycle Repair Workshop\nThe workshop")
    height = float(PdfReader(EXAMPLES / "notice.pdf").pages[0].mediabox.height)
    assert page == 1
    assert box[1] < 1 - 521.703 / height < box[3]


def test_outline_lists_the_headings_with_their_pages():
    writer = PdfWriter(clone_from=FILES / "two_pages.pdf")
    chapter = writer.add_outline_item(title="Rain", page_number=0)
    writer.add_outline_item(title="Rainfall in May", page_number=1, parent=chapter)
    file = io.BytesIO()
    writer.write(file)
    text = converted(file.getvalue(), "outline.pdf").text
    assert (
        text == f"[outline]\n- Rain (page 1)\n  - Rainfall in May (page 2)\n\n[page 1]\n{PAGE_1}\n\n[page 2]\n{PAGE_2}"
    )


def test_selected_pages_are_converted():
    data = made_of(b"BT /F 9 Tf (hello) Tj ET", 9)
    controls = MediaControls(pages="2-3,8-99")
    part = DocumentPart(Blob.from_bytes(data, "application/pdf", name="x.pdf"), controls=controls)
    conversion = PdfHandler().convert(part, NO_MODELS)
    assert [page for _, page, box in places(conversion, "page", "box") if box is None] == [2, 3, 8, 9]
    assert conversion.lost == ()
    with pytest.raises(MediaError, match="has no page 10: it has 9"):
        PdfHandler().convert(replace(part, controls=MediaControls(pages="10")), NO_MODELS)


def test_locked_pdf_is_read_with_its_password():
    with pytest.raises(EncryptedFileError, match="needs a password"):
        converted(FILES / "locked.pdf")
    with pytest.raises(WrongPasswordError, match="does not open it"):
        converted(FILES / "locked.pdf", password="wrong")
    text = converted(FILES / "locked.pdf", password="secret").text
    assert text == f"[page 1]\n{PAGE_1}\n\n[page 2]\n{PAGE_2}"


def test_pages_of_a_pdf_over_the_limit_are_read_if_they_are_named():
    data = made_of(b"BT /F 9 Tf (hello) Tj ET", 1_200)
    with pytest.raises(MediaError, match=r'it has 1200 pages; the limit is 1000.*File\("long.pdf", pages="1-1000"\)'):
        converted(data, "long.pdf")
    part = DocumentPart(Blob.from_bytes(data, "application/pdf", name="long.pdf"), controls=MediaControls(pages="1-3"))
    assert PdfHandler().convert(part, NO_MODELS).text == "[page 1]\nhello\n\n[page 2]\nhello\n\n[page 3]\nhello"


@pytest.mark.exhaustive
def test_pdf_of_100_000_pages_is_refused():
    with pytest.raises(MediaError, match=r"it has 100000 pages; the limit is 1000"):
        converted(made_of(b"BT /F 9 Tf (hello) Tj ET", 100_000), "long.pdf")


def test_more_pages_than_the_limit_are_not_sent_as_images():
    handler = PdfHandler()
    handler.max_page_images = 2
    part = DocumentPart(Blob.from_bytes(made_of(b"BT /F 9 Tf (hello) Tj ET", 3), "application/pdf", name="x.pdf"))
    context = replace(NO_MODELS, fallbacks=("pages",), accepted_outputs=frozenset({"image/png"}))
    with pytest.raises(MediaError, match="3 of its pages are to be sent as images; the limit is 2"):
        handler.convert(part, context)
