"""PDF documents. The texts expected are pdftotext 22.12's; the files were made by LibreOffice, qpdf and Pillow."""

import sys
import zlib
from io import BytesIO

import pytest

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.schema import Blob, DocumentPart, ImagePart
from abstractcore_media import PdfHandler
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, pdf, takes, text_file, type_of

NOTICE = """\
Bicycle Repair Workshop
The workshop takes place on Saturday, 14 March, in the
town library.
Doors open at 10:00, and the workshop ends at 15:00.
A ticket costs 12 euros. Children under 14 come in free.
Please bring your own bicycle. Tools and spare tubes are
provided.
Tickets are sold at the front desk."""
PAGE_1 = "Rainfall in April\nThe café’s gauge caught 41 mm in eleven days."  # noqa: RUF001
PAGE_2 = "Rainfall in May\nThe gauge was broken from 3 to 9 May."


def read(content, handler=None):
    return (handler or PdfHandler()).convert(pdf(content), NO_MODELS)


def made_of(content: bytes, pages: int = 1) -> bytes:
    """A PDF whose pages all draw `content`."""
    return written(content, pages=pages)


def written(content: bytes, *objects: str, page: str = "", catalog: str = "", pages: int = 1) -> bytes:
    """A PDF whose pages all draw `content`, with other objects from number 6 on, and more of a page and the catalog."""
    packed = zlib.compress(content)
    kids = b" ".join([b"3 0 R"] * pages)
    resources = "/Resources<</Font<</F 5 0 R>>>>"
    bodies = [
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>".encode("latin-1"),
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, kids),
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R{resources}{page}>>".encode("latin-1"),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *(each.encode("latin-1") for each in objects),
    ]
    out, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\n"), []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(bodies) + 1
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(out))
    return bytes(out) + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


HELLO = made_of(b"BT /F 9 Tf (hello) Tj ET")


def test_text_of_one_page_matches_pdftotext():
    conversion = read(EXAMPLES / "notice.pdf")
    assert (conversion.text, conversion.label, conversion.warnings) == (NOTICE, "text of 1 page", ())


@pytest.mark.parametrize("file", ["two_pages.pdf", "linearized.pdf", "restricted.pdf"])
def test_pages_are_numbered(file: str):
    conversion = read(FILES / file)
    assert conversion.text == f"[page 1]\n{PAGE_1}\n\n[page 2]\n{PAGE_2}"
    assert conversion.label == "text of 2 pages"
    assert conversion.warnings == ()


def test_page_without_text_is_a_warning():
    conversion = read(FILES / "with_scan.pdf")
    assert conversion.text == f"[page 1]\n{PAGE_1}\n\n[page 2]"
    assert [(warning.code, "page 2 of with_scan.pdf" in warning.message) for warning in conversion.warnings] == [
        ("page_without_text", True)
    ]


def test_scanned_pdf_is_refused_with_a_hint():
    with pytest.raises(MediaError, match=r"scan.pdf has no text.*accepts PDF files.*ocrmypdf") as caught:
        read(FILES / "scan.pdf")
    assert caught.value.source == "scan.pdf"
    PdfHandler().check(pdf(FILES / "scan.pdf"))


def test_encrypted_pdf_is_refused_with_the_command_that_decrypts_it():
    for step in (PdfHandler().check, lambda part: PdfHandler().convert(part, NO_MODELS)):
        with pytest.raises(MediaError, match=r"locked.pdf is encrypted and needs a password.*qpdf --decrypt"):
            step(pdf(FILES / "locked.pdf"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0\1\2" * 99, "is not a PDF"),
        (b"RIFF\0\0\0\0WAVEfmt ", "is not a PDF"),
        (b"%PDF-1.4\n", "is truncated"),
        (b"%PDF-1.4\nstartxref\n7\n%%EOF", "is a corrupt PDF"),
        (HELLO[:-60], "is truncated"),
        (HELLO.replace(b"/Pages 2", b"/Pages 9"), "is a corrupt PDF"),
        (HELLO.replace(b"3 0 R", b"2 0 R", 1), "is a corrupt PDF|has no text"),
        (made_of(b"\xff\xfe(((BT Tj"), "is a corrupt PDF|has no text"),
    ],
    ids=["garbage", "wav", "head-only", "no-objects", "no-end", "no-pages", "pages-in-a-circle", "bad-drawing"],
)
def test_corrupt_pdf_is_refused(content: bytes, message: str):
    with pytest.raises(MediaError, match=message) as caught:
        read(content)
    assert caught.value.source == "the-file"


@pytest.mark.parametrize("file", ["two_pages.pdf", "linearized.pdf"])
def test_truncated_pdf_is_refused_before_sending_and_before_conversion(file: str):
    half = pdf((FILES / file).read_bytes()[:9000])
    with pytest.raises(MediaError, match="is truncated"):
        PdfHandler().check(half)
    with pytest.raises(MediaError, match="is truncated"):
        PdfHandler().convert(half, NO_MODELS)


CHANGED = b"\n4 0 obj<</Length 34>>stream\nBT /F 9 Tf 9 50 Td (changed) Tj ET\nendstream\nendobj\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HELLO + CHANGED + b"xref\n4 1\n0000000", "is truncated: its end is missing"),
        (HELLO.replace(b"startxref\n", b"startxref\n1"), "list of its objects is missing or wrong"),
        (HELLO.replace(b"0 6\n0000", b"0 6\n\xff\xff\xff\xff"), "list of its objects is missing or wrong"),
        (HELLO, ""),
        (HELLO[:-5], "list of its objects is missing or wrong"),
        (HELLO + b"\r\n\0\0 <!-- a proxy was here -->\n", ""),
    ],
    ids=["cut update", "wrong place", "wrong table", "whole", "without %%EOF", "trailing bytes"],
)
def test_damaged_file_is_read_with_a_warning(content: bytes, message: str):
    conversion = read(content)
    assert conversion.text in ("hello", "changed")
    assert [warning.code for warning in conversion.warnings] == (["media_damaged"] if message else [])
    assert all(message in warning.message for warning in conversion.warnings)


def test_too_many_pages_are_refused_not_truncated():
    handler = PdfHandler()
    handler.max_pages = 3
    assert read(made_of(b"BT /F 9 Tf (hello) Tj ET", 3), handler).label == "text of 3 pages"
    with pytest.raises(MediaError, match=r'it has 4 pages; the limit is 3.*pages="1-3"'):
        read(made_of(b"BT /F 9 Tf (hello) Tj ET", 4), handler)


def test_too_much_text_is_refused_not_truncated():
    handler = PdfHandler()
    handler.max_characters = 4
    with pytest.raises(MediaError, match="more than 4 characters"):
        read(HELLO, handler)


def test_slow_page_is_stopped_at_the_time_limit():
    handler = PdfHandler()
    handler.max_seconds = 0.2
    with pytest.raises(MediaError, match=r"takes more than 0.2 seconds"):
        read(made_of(b"BT /F 9 Tf " + b"(hello) Tj 0 -9 Td " * 20_000 + b"ET"), handler)


@pytest.mark.exhaustive
def test_page_that_decompresses_to_hundreds_of_megabytes_of_nothing_has_no_text():
    with pytest.raises(MediaError, match="has no text"):
        read(made_of(b" " * 100_000_000))


def test_repairs_are_not_printed(capfd: pytest.CaptureFixture[str]):
    moved = HELLO.replace(b"%PDF-1.4\n", b"%PDF-1.4\n% all tables are now wrong\n")
    assert read(moved).text == "hello"
    assert capfd.readouterr() == ("", "")


def test_invalid_unicode_in_text_is_cleaned():
    from abstractcore_media.document.blocks import clean

    assert clean("a\0b \ud83d\ude42 \ud800 \nc") == "ab 🙂 � \nc"


def test_only_pdf_is_recognised():
    handler = PdfHandler()
    assert takes(handler, pdf(b"x"))
    assert not takes(handler, text_file(b"x"))
    assert not takes(handler, ImagePart(Blob.from_bytes(b"x", "application/pdf")))
    assert type_of(handler, HELLO, "a.txt") == "application/pdf"
    assert type_of(handler, b"words", "a.pdf") is None


def test_without_pdfium_conversion_names_the_package_and_native_sending_works(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtraError, match="pip install pypdfium2"):
        read(HELLO)
    monkeypatch.setitem(sys.modules, "pypdf", None)
    PdfHandler().check(pdf(FILES / "locked.pdf"))


def test_pdf_encrypted_by_pypdf_is_refused():
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=BytesIO(HELLO))
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    with pytest.raises(MediaError, match="needs a password"):
        PdfHandler().convert(DocumentPart(Blob.from_bytes(out.getvalue(), "application/pdf")), NO_MODELS)
