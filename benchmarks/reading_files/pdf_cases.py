"""PDF files with what readers stumble over: symbols, attachments, layers, comments, forms and scans."""

from __future__ import annotations

import io
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject, TextStringObject
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table, TableStyle

from .corpus import Family
from .facts import Unseen, counted_as, each, in_order, says, table
from .pdf import GRID, built, text
from .recorded import NOTICE, SEEN, drawn

PDF_CASES = Family("reportlab, pypdf")


def canvas_of(path: Path) -> Canvas:
    return Canvas(str(path), A4, invariant=True)


@PDF_CASES.file(
    "symbols.pdf",
    says("✔ Paid", "✓ Paid", "✔Paid", "✓Paid", never="4 Paid"),
    says("α = 0.05", "α= 0.05", never="a = 0.05"),
    says("☛ See the rear", "☞ See the rear", "☛See the rear", "☞See the rear", never="* See the rear"),
)
def symbols(path: Path) -> None:
    canvas = canvas_of(path)
    for y, font, symbol, words in (
        (760, "ZapfDingbats", "✔", " Paid"),
        (730, "Symbol", "α", " = 0.05"),
        (700, "ZapfDingbats", "☛", " See the rear"),
    ):
        canvas.setFont(font, 12)
        canvas.drawString(72, y, symbol)
        width = canvas.stringWidth(symbol, font, 12)
        canvas.setFont("Helvetica", 12)
        canvas.drawString(72 + width, y, words)
    canvas.save()


@PDF_CASES.file(
    "scanned_with_line.pdf",
    SEEN,
    says("Scanned by CopyStar 3"),
    source="reportlab, Pillow",
)
def scanned_with_line(path: Path) -> None:
    canvas = canvas_of(path)
    canvas.drawImage(ImageReader(drawn(NOTICE)), 0, 400, 595, 258)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(40, 20, "Scanned by CopyStar 3")
    canvas.save()


@PDF_CASES.file(
    "mixed.pdf",
    SEEN,
    each("Before the notice stands this.", "After the notice stands that."),
    counted_as("pictures", in_order("Before the notice", "Mooring", "After the notice")),
    source="reportlab, Pillow",
)
def mixed(path: Path) -> None:
    canvas = canvas_of(path)
    canvas.drawString(72, 780, "Before the notice stands this.")
    canvas.drawImage(ImageReader(drawn(NOTICE)), 72, 500, 450, 195)
    canvas.drawString(72, 460, "After the notice stands that.")
    canvas.save()


def rewritten(path: Path, words: str) -> PdfWriter:
    """A file with one line, to be changed by pypdf."""
    canvas = canvas_of(path)
    canvas.drawString(72, 760, words)
    canvas.save()
    return PdfWriter(clone_from=PdfReader(io.BytesIO(path.read_bytes())))


def save(path: Path, writer: PdfWriter) -> None:
    with path.open("wb") as file:
        writer.write(file)


@PDF_CASES.file(
    "attached.pdf",
    each("The list is attached.", "prices.csv"),
    table(("Post", "EUR"), ("Rope", "12.50"), ("Oil", "7")),
)
def attached(path: Path) -> None:
    writer = rewritten(path, "The list is attached.")
    writer.add_attachment("prices.csv", b"Post,EUR\nRope,12.50\nOil,7\n")
    save(path, writer)


@PDF_CASES.file("portfolio.pdf", each("letter.txt", "The roof leaks.", "second.txt", "The roof is mended."))
def portfolio(path: Path) -> None:
    writer = rewritten(path, "This file is a portfolio.")
    writer.add_attachment("letter.txt", b"The roof leaks.")
    writer.add_attachment("second.txt", b"The roof is mended.")
    writer.root_object[NameObject("/Collection")] = DictionaryObject({NameObject("/View"): NameObject("/D")})
    save(path, writer)


@PDF_CASES.file(
    "comments.pdf",
    each("The tide is at six.", "Ask Bob about this", "Typed on the page", "Check the tide"),
)
def comments(path: Path) -> None:
    writer = rewritten(path, "The tide is at six.")
    writer.add_annotation(0, Text(rect=(300, 700, 320, 720), text="Ask Bob about this"))
    writer.add_annotation(0, FreeText(rect=(72, 600, 300, 640), text="Typed on the page"))
    corners = [FloatObject(number) for number in (72, 772, 170, 772, 72, 756, 170, 756)]
    marked = Highlight(rect=(72, 756, 170, 772), quad_points=ArrayObject(corners))
    marked[NameObject("/Contents")] = TextStringObject("Check the tide")
    writer.add_annotation(0, marked)
    save(path, writer)


@PDF_CASES.file("layers.pdf", each("The fare is 3.40.", "Shown layer"), Unseen("The old fare was 2.90"))
def layers(path: Path) -> None:
    writer = rewritten(path, "The fare is 3.40.")
    groups = [
        writer._add_object(
            DictionaryObject({NameObject("/Type"): NameObject("/OCG"), NameObject("/Name"): TextStringObject(name)})
        )
        for name in ("off", "on")
    ]
    writer.root_object[NameObject("/OCProperties")] = DictionaryObject(
        {
            NameObject("/OCGs"): ArrayObject(groups),
            NameObject("/D"): DictionaryObject(
                {NameObject("/OFF"): ArrayObject(groups[:1]), NameObject("/Order"): ArrayObject(groups)}
            ),
        }
    )
    page = writer.pages[0]
    resources = page["/Resources"]
    resources[NameObject("/Properties")] = DictionaryObject(
        {NameObject("/Off"): groups[0], NameObject("/On"): groups[1]}
    )
    stream = DecodedStreamObject()
    stream.set_data(
        b"/OC /Off BDC BT /F1 12 Tf 72 700 Td (The old fare was 2.90) Tj ET EMC\n"
        b"/OC /On BDC BT /F1 12 Tf 72 680 Td (Shown layer) Tj ET EMC\n"
    )
    page[NameObject("/Contents")] = ArrayObject([page.raw_get("/Contents"), writer._add_object(stream)])
    save(path, writer)


@PDF_CASES.file(
    "clipped.pdf",
    each("Seen through the window", "Marked in yellow", "signed by Friday"),
    says("signed by Friday", never="~~signed by Friday~~"),
    Unseen("Cut off by the clip"),
    Unseen("Under the black bar"),
)
def clipped(path: Path) -> None:
    canvas = canvas_of(path)
    canvas.saveState()
    window = canvas.beginPath()
    window.rect(60, 740, 300, 40)
    canvas.clipPath(window, stroke=0)
    canvas.drawString(72, 755, "Seen through the window")
    canvas.drawString(72, 600, "Cut off by the clip")
    canvas.restoreState()
    canvas.setFillColor(colors.yellow)
    canvas.rect(70, 696, 110, 14, stroke=0, fill=1)
    canvas.setFillColor(colors.black)
    canvas.drawString(72, 700, "Marked in yellow")
    canvas.drawString(72, 660, "Under the black bar")
    canvas.rect(70, 655, 130, 18, stroke=0, fill=1)
    canvas.drawString(72, 620, "Received and signed by Friday")
    start = 72 + canvas.stringWidth("Received and ", "Helvetica", 12)
    canvas.line(start, 618, start + canvas.stringWidth("signed by Friday", "Helvetica", 12), 618)
    canvas.save()


@PDF_CASES.file(
    "form_cases.pdf",
    says("first line second line", "first line<br>second line"),
    says("Insured [x]", "Insured | [x]", "Insured ☒"),
    says("Rented [ ]", "Rented | [ ]", "Rented ☐"),
    each("blue", "green"),
)
def form_cases(path: Path) -> None:
    canvas = canvas_of(path)
    canvas.setFont("Helvetica", 12)
    fields = canvas.acroForm
    canvas.drawString(72, 780, "Remarks")
    fields.textfield(
        name="remarks", value="first line\nsecond line", x=140, y=730, width=200, height=60, fieldFlags="multiline"
    )
    canvas.drawString(72, 694, "Insured")
    fields.checkbox(name="insured", checked=True, x=140, y=690, size=16)
    canvas.drawString(72, 664, "Rented")
    fields.checkbox(name="rented", checked=False, x=140, y=660, size=16)
    canvas.drawString(72, 602, "Colours")
    fields.listbox(
        name="colours", value=["blue", "green"], options=["red", "blue", "green"], x=140, y=560, width=90, height=60,
        fieldFlags="multiSelect",
    )  # fmt: skip
    canvas.save()


WRAPPED = ("Article", "Store", "Remark")
LONG_REMARK = "to be counted again in spring by two people"


@PDF_CASES.file(
    "wrapped_remarks.pdf",
    table(WRAPPED, ("Rope", "40", LONG_REMARK), ("Anchor", "", "sold"), ("Oil", "(1,204)", "")),
)
def wrapped_remarks(path: Path) -> None:
    rows = [WRAPPED, ("Rope", "40", text(LONG_REMARK)), ("Anchor", "", "sold"), ("Oil", "(1,204)", "")]
    built(path, Table(rows, colWidths=(90, 60, 110), style=GRID))


@PDF_CASES.file(
    "boats_over_pages.pdf",
    table(("Boat", "Length", "Berth"), ("Boat 3", "8.3 m", "B3"), ("Boat 60", "8.60 m", "B60"), ("Boat 77", "", "B77")),
)
def boats_over_pages(path: Path) -> None:
    rows = [("Boat", "Length", "Berth")]
    rows += [(f"Boat {n}", "" if n % 7 == 0 else f"8.{n} m", f"B{n}") for n in range(1, 90)]
    built(path, Table(rows, colWidths=(90, 80, 80), style=GRID, repeatRows=1))


@PDF_CASES.file(
    "spanning_head.pdf",
    each("Income"),
    says("2023 | 311 | 122"),
    says("2024 | | 133"),
    in_order("Year", "Income", "Home", "Abroad", "2023"),
)
def spanning_head(path: Path) -> None:
    rows = [("Year", "Income", ""), ("", "Home", "Abroad"), ("2023", "311", "122"), ("2024", "", "133")]
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1))]
    built(path, Table(rows, colWidths=(80, 80, 80), style=TableStyle([*GRID.getCommands(), *spans])))


@PDF_CASES.file(
    "margin.pdf",
    each("Draft of 3 May", "The committee met in the old town hall.", "It chose a new chair."),
    in_order("The committee met", "It chose a new chair."),
)
def margin(path: Path) -> None:
    canvas = canvas_of(path)
    for number, line in enumerate(("The committee met in the old town hall.", "It chose a new chair.")):
        canvas.drawString(72, 760 - 14 * number, line)
    canvas.saveState()
    canvas.translate(40, 700)
    canvas.rotate(90)
    canvas.drawString(0, 0, "Draft of 3 May")
    canvas.restoreState()
    canvas.save()
