"""Pages cut out of PDF files. The files were made by LibreOffice, qpdf and pypdf; what was cut is read by PDFium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link
from pypdf.generic import ArrayObject, DictionaryObject, Fit, NameObject, TextStringObject

from abstractcore import Citation, File, create_llm
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import CorruptFileError, EncryptedFileError, MediaError, WrongPasswordError
from abstractcore.schema import MediaControls, ModelReply, TextPart
from abstractcore_media import PdfHandler
from abstractcore_providers.formats.anthropic_messages.blocks import citation_to_ours
from tests.media.document.test_pdf import made_of
from tests.media.mutations import mutations
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, pdf

ACCEPTED = "application/pdf"


def cut(content: bytes | Path, pages: str, **context: object) -> tuple[bytes, tuple[int, ...]]:
    part = pdf(content)
    excerpt = PdfHandler().excerpt(
        replace(part, controls=MediaControls(pages)),
        replace(NO_MODELS, **context),  # pyright: ignore[reportArgumentType]
    )
    assert (excerpt.part.controls, excerpt.part.blob.name) == (None, part.blob.name)
    return excerpt.part.blob.read(), tuple(excerpt.pages)


def texts(data: bytes) -> list[str]:
    """What PDFium reads on each page."""
    document = pypdfium2.PdfDocument(data)
    try:
        return [page.get_textpage().get_text_bounded().replace("\r", "") for page in document]
    finally:
        document.close()


def numbered(count: int) -> PdfWriter:
    """A PDF whose pages say their number."""
    writer = PdfWriter()
    for number in range(1, count + 1):
        writer.append(io.BytesIO(made_of(b"BT /F 9 Tf (page%d) Tj ET" % number)))
    return writer


def written(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def contents(data: bytes) -> bytes:
    """All streams and dictionaries of a PDF, uncompressed, reachable or not."""
    reader = PdfReader(io.BytesIO(data))
    found = [reader.get_object(number) for table in reader.xref.values() for number in table]
    streams = [each.get_data() for each in found if hasattr(each, "get_data")]
    return b"\n".join([*streams, *(repr(each).encode() for each in found)])


@pytest.mark.parametrize("name", ["two_pages.pdf", "linearized.pdf", "restricted.pdf"])
def test_a_page_is_cut_out_of_files_by_other_programs(name: str):
    data, pages = cut(FILES / name, "2")
    (text,) = texts(data)
    assert text.startswith("Rainfall in May")
    assert b"Rainfall in April" not in contents(data)
    assert pages == (2,)


def test_pages_have_the_size_rotation_and_order_of_the_file():
    writer = numbered(5)
    writer.pages[3].rotate(90)
    data, pages = cut(written(writer), "4,1-2,2")
    assert (texts(data), pages) == (["page1", "page2", "page4"], (1, 2, 4))
    assert [page.rotation for page in PdfReader(io.BytesIO(data)).pages] == [0, 0, 90]


def test_the_same_pages_have_the_same_bytes_so_that_providers_cache_them():
    content = written(numbered(3))
    assert cut(content, "1-2") == cut(content, "1-2")


def with_references() -> bytes:
    """Pages that lead to each other: by links, a form field, article beads; and an outline."""
    writer = numbered(3)
    first, last = writer.pages[0], writer.pages[2]
    writer.add_annotation(0, Link(rect=(0, 0, 9, 9), target_page_index=2, fit=Fit.fit()))
    field = writer._add_object(DictionaryObject())
    widgets = []
    for page in (first, last):
        widget = DictionaryObject()
        widget[NameObject("/Type")] = NameObject("/Annot")
        widget[NameObject("/Subtype")] = NameObject("/Widget")
        widget[NameObject("/P")] = page.indirect_reference
        widget[NameObject("/Parent")] = field
        widgets.append(writer._add_object(widget))
        page[NameObject("/Annots")] = ArrayObject([*page.get("/Annots", ()), widgets[-1]])
    field.get_object()[NameObject("/Kids")] = ArrayObject(widgets)
    bead = DictionaryObject({NameObject("/P"): last.indirect_reference})
    first[NameObject("/B")] = ArrayObject([writer._add_object(bead)])
    first[NameObject("/Note")] = TextStringObject("stays")
    writer.add_outline_item(title="page3 in the outline", page_number=2)
    return written(writer)


def test_nothing_of_other_pages_is_in_the_file():
    content = with_references()
    assert b"page3" in contents(content)
    data, _ = cut(content, "1")
    assert texts(data) == ["page1"]
    assert b"page2" not in contents(data)
    assert b"page3" not in contents(data)
    assert len(PdfReader(io.BytesIO(data)).pages[0].annotations or ()) == 2


def test_hidden_layers_stay_hidden():
    writer = numbered(2)
    layer = writer._add_object(
        DictionaryObject({NameObject("/Type"): NameObject("/OCG"), NameObject("/Name"): TextStringObject("secret")})
    )
    for page in writer.pages:
        resources = page["/Resources"].get_object()
        resources[NameObject("/Properties")] = DictionaryObject({NameObject("/L"): layer})
    off = DictionaryObject({NameObject("/OFF"): ArrayObject([layer])})
    writer.root_object[NameObject("/OCProperties")] = DictionaryObject(
        {NameObject("/OCGs"): ArrayObject([layer]), NameObject("/D"): off}
    )
    data, _ = cut(written(writer), "2")
    reader = PdfReader(io.BytesIO(data))
    hidden = reader.root_object["/OCProperties"]["/D"]["/OFF"][0]
    assert hidden.get_object()["/Name"] == "secret"
    assert hidden == reader.pages[0]["/Resources"]["/Properties"].raw_get("/L")


@pytest.mark.parametrize(
    ("pages", "message"),
    [("50-60", "has no pages 50-60: it has 2 pages"), ("1,7", "has no page 7: it has 2 pages")],
)
def test_pages_that_the_file_does_not_have_are_refused_before_anything_is_sent(call_style, pages: str, message: str):
    llm = create_llm("scripted", replies=["x"], accepts=[ACCEPTED])
    file = File(FILES / "two_pages.pdf", pages=pages)
    for act in (lambda: llm.plan("?", media=[file]), lambda: call_style.generate(llm, "?", media=[file])):
        with pytest.raises(MediaError, match=message) as caught:
            act()
        assert caught.value.hint == "For example: File(..., pages='1-2')."
    assert llm.calls == []


def test_range_may_end_after_the_last_page():
    assert cut(FILES / "two_pages.pdf", "2-99")[1] == (2,)


def test_encrypted_files_need_their_password_and_are_sent_without_it(call_style):
    llm = create_llm("scripted", replies=["x"] * 2, accepts=[ACCEPTED])
    with pytest.raises(EncryptedFileError, match=r"locked\.pdf is encrypted and needs a password"):
        call_style.generate(llm, "?", media=[File(FILES / "locked.pdf", pages="2")])
    with pytest.raises(WrongPasswordError):
        call_style.generate(llm, "?", media=[File(FILES / "locked.pdf", pages="2", password="no")])
    assert llm.calls == []
    (decision,) = call_style.generate(llm, "?", media=[File(FILES / "locked.pdf", pages="2", password="secret")]).media
    assert (decision.route, decision.sent.page_numbers) == ("native", (2,))
    (text,) = texts(llm.calls[0].messages[0].parts[0].blob.read())
    assert text.startswith("Rainfall in May")


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool()
    yield pool
    pool.close()


@pytest.mark.process
def test_cutting_is_the_same_in_a_process_of_its_own(pool: ProcessPool):
    content = written(numbered(3))
    assert cut(content, "3", isolation=pool) == cut(content, "3")
    with pytest.raises(MediaError, match="has no page 4"):
        cut(content, "4", isolation=pool)


def test_page_tree_that_never_ends_is_corrupt():
    content = made_of(b"").replace(b"/Kids[3 0 R]", b"/Kids[2 0 R]")
    with pytest.raises(MediaError):
        cut(content, "1")


def test_damaged_files_are_typed_errors_or_cut(pool: ProcessPool):
    content = (FILES / "two_pages.pdf").read_bytes()
    outcomes = set()
    for damaged in mutations(content, 40):
        try:
            data, _ = cut(damaged, "1", isolation=pool)
            outcomes.add(len(PdfReader(io.BytesIO(data)).pages))
        except MediaError as error:
            outcomes.add(type(error))
    assert outcomes <= {1, MediaError, CorruptFileError, EncryptedFileError}
    assert 1 in outcomes


def test_limits_in_pages_count_what_is_cut():
    facts = {"accepts": [ACCEPTED], "media_limits": {"pdf_pages": 1}}
    llm = create_llm("scripted", replies=["x"], facts=facts)
    (whole,) = llm.plan("?", media=[FILES / "two_pages.pdf"])
    (cut,) = llm.plan("?", media=[File(FILES / "two_pages.pdf", pages="2")])
    assert (whole.route, cut.route) == ("fallback", "native")


def cited(page: int, words: str) -> Citation:
    location = {"type": "page_location", "start_page_number": page, "end_page_number": page + 1}
    return citation_to_ours({"cited_text": words, "document_title": "invoice.pdf", "document_index": 0, **location})


@pytest.mark.parametrize(("words", "match"), [("Words of a scan", "reported"), ("Please pay by 13 April", "exact")])
def test_citations_of_a_cut_file_name_the_pages_of_the_whole_one(words: str, match: str):
    reply = ModelReply(parts=(TextPart("By 13 April.", (cited(1, words),)),))
    llm = create_llm("scripted", replies=[reply, '{"value": "x", "quotes": ""}'], accepts=[ACCEPTED])
    media = [File(EXAMPLES / "invoice.pdf", pages="2")]
    response = llm.generate("When?", media=media)
    (found,) = response.sources(response.citations[0])
    assert (found.match, found.page, found.where) == ("reported", 2, "invoice.pdf, page 2")
    read = llm.generate("When?", media=media, response_model=str, evidence=True).media
    (found,) = replace(response, media=read).sources(response.citations[0])
    assert (found.match, found.page) == (match, 2)


@pytest.mark.process
def test_citation_of_a_page_that_was_not_sent_has_no_page():
    reply = ModelReply(parts=(TextPart("By 13 April.", (cited(2, "?"),)),))
    llm = create_llm("scripted", replies=[reply], accepts=[ACCEPTED])
    response = llm.generate("When?", media=[File(EXAMPLES / "invoice.pdf", pages="2")])
    (found,) = response.sources(response.citations[0])
    assert (found.match, found.page, found.anchors) == ("reported", None, ())
