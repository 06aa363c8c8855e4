"""The text of a PDF, with pages, places and losses, relative to pypdf and pdfplumber."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from rounds import Row, Setup, best, cpu_seconds

_GOAL = 1.5
_PAGES = 40
_LINES = 50
_DENSE_PAGES, _PLUMBED_PAGES = 300, 10
"""Pages with tables, and how many of them pdfplumber reads: it takes a third of a second for each."""


def pdf_text(setup: Setup) -> list[Row]:
    """A PDF of 40 pages with 50 lines each."""
    from pypdf import PdfReader

    from abstractcore.ports import MediaContext
    from abstractcore.schema import Blob, DocumentPart
    from abstractcore.stores.models import FileModelStore
    from abstractcore_media import PdfHandler

    data = _pdf()
    part = DocumentPart(Blob.from_bytes(data, "application/pdf", name="long.pdf"))
    context, handler = MediaContext(FileModelStore(Path("unused"))), PdfHandler()
    batches: dict[str, Callable[[], float]] = {
        "ours": cpu_seconds(lambda: handler.convert(part, context), _PAGES),
        "pypdf": cpu_seconds(lambda: [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages], _PAGES),
    }
    times = best(batches, max(4, setup.rounds // 2))
    return [Row("text of a page of a PDF / pypdf", times["ours"], times["pypdf"], goal=_GOAL)]


def dense_pages(setup: Setup) -> list[Row]:
    """A PDF of 300 pages with two columns of text and a table each, made by reportlab, relative to its readers."""
    import pdfplumber
    from pypdf import PdfReader

    from abstractcore.ports import MediaContext
    from abstractcore.schema import Blob, DocumentPart
    from abstractcore.stores.models import FileModelStore
    from abstractcore_media import PdfHandler

    data = _dense_pdf()
    part = DocumentPart(Blob.from_bytes(data, "application/pdf", name="dense.pdf"))
    context, handler = MediaContext(FileModelStore(Path("unused"))), PdfHandler()

    def plumb() -> None:
        with pdfplumber.open(io.BytesIO(data)) as document:
            for page in document.pages[:_PLUMBED_PAGES]:
                page.extract_text()
                page.extract_tables()
                page.close()

    batches: dict[str, Callable[[], float]] = {
        "ours": cpu_seconds(lambda: handler.convert(part, context), _DENSE_PAGES),
        "pypdf": cpu_seconds(lambda: [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages], _DENSE_PAGES),
        "pdfplumber": cpu_seconds(plumb, _PLUMBED_PAGES),
    }
    times = best(batches, 1 if setup.quick else 2)
    return [
        Row(f"dense page of a PDF / {peer}", times["ours"], times[peer], goal=goal)
        for peer, goal in (("pypdf", _GOAL), ("pdfplumber", 0.1))
    ]


def _dense_pdf() -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(595, 842), invariant=True)
    for page in range(_DENSE_PAGES):
        canvas.setFont("Helvetica", 7)
        for line in range(40):
            for left in (40, 310):
                canvas.drawString(left, 800 - 12 * line, f"Line {line} of page {page}: foxes jump over dogs that run")
        for row in range(25):
            top = 300 - 10 * row
            canvas.line(40, top, 540, top)
            for column in range(5):
                canvas.drawString(44 + 100 * column, top - 8, f"{row * column + page:,}.{column}0")
        canvas.line(40, 50, 540, 50)
        for column in range(6):
            canvas.line(40 + 100 * column, 300, 40 + 100 * column, 50)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _pdf() -> bytes:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(_PAGES))
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (_PAGES, kids),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(_PAGES):
        lines = (
            b"(Line %d of page %d: the quick brown fox jumps over the lazy dog and runs away.) Tj 0 -14 Td"
            % (line, page)
            for line in range(_LINES)
        )
        content = b"BT /F 10 Tf 72 760 Td " + b"\n".join(lines) + b" ET"
        bodies.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>"
            % (5 + 2 * page)
        )
        bodies.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
    return _file(bodies)


def _file(bodies: list[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1."""
    out, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(bodies) + 1
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end
