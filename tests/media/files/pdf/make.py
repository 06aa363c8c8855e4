"""Makes the PDF files of this folder: `python make.py`, with reportlab 5.1, pypdf 7.1 and Pillow."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Text
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, TextStringObject
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

HERE = Path(__file__).parent
STYLES = getSampleStyleSheet()
SALES = [["Region", "Q1", "Q2", "Q3"], ["North", "", "20", "30"], ["South", "41", "", ""], ["West", "7", "8", "9"]]
WRAPPED = [
    ["Part", "What it is for", "Price"],
    ["Hub", Paragraph("Holds the spokes of the wheel, and turns on its axle without any play", STYLES["Normal"]), "12"],
    ["Rim", Paragraph("Carries the tire", STYLES["Normal"]), ""],
]
MERGED = [["2024", "", "2025", ""], ["Q1", "Q2", "Q1", "Q2"], ["1", "2", "3", "4"]]
PROSE = (
    "The mill stands at the end of the lane, where the stream leaves the wood. It was built for rye, and later ground "
    "oats for the horses of the inn. Nobody has turned its wheel for thirty years, but the stones are sound, and the "
    "roof was mended last spring by the carpenter and his son."
)
GRID = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])


def built(name: str, story: list) -> None:
    SimpleDocTemplate(str(HERE / name), pagesize=A4, invariant=True, title=name).build(story)


def ruled() -> None:
    body = STYLES["Normal"]
    spans = TableStyle([*GRID.getCommands(), ("SPAN", (0, 0), (1, 0)), ("SPAN", (2, 0), (3, 0))])
    built(
        "ruled_tables.pdf",
        [
            *(Paragraph("Sales of the year", body), Spacer(1, 12), Table(SALES, style=GRID), Spacer(1, 12)),
            *(Paragraph("Parts of a wheel", body), Spacer(1, 12), Table(WRAPPED, [60, 150, 60], style=GRID)),
            *(Spacer(1, 12), Paragraph("Quarters", body), Spacer(1, 12), Table(MERGED, style=spans)),
            *(Spacer(1, 12), Paragraph("The end.", body)),
        ],
    )


def plain() -> None:
    body = STYLES["Normal"]
    rows = [["Region", "Q1", "Q2", "Q3"], ["North", "", "20", "30"], ["South", "41", "42", ""], ["West", "7", "8", "9"]]
    style = TableStyle([("ALIGN", (1, 0), (-1, -1), "RIGHT")])
    lines = [("LINEABOVE", (0, 0), (-1, 1), 1, colors.black), ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black)]
    built(
        "plain_tables.pdf",
        [
            *(Paragraph(PROSE, body), Spacer(1, 12), Table(rows, 70, style=style), Spacer(1, 12)),
            *(Paragraph(PROSE, body), Spacer(1, 12), Table(SALES, 80, style=TableStyle(lines)), Spacer(1, 12)),
            Paragraph("The end.", body),
        ],
    )


def columns() -> None:
    width, height = A4
    column = (width - 144 - 24) / 2
    top = Frame(72, height - 122, width - 144, 50, showBoundary=0)
    halves = [Frame(72 + index * (column + 24), 72, column, height - 204, showBoundary=0) for index in (0, 1)]
    document = BaseDocTemplate(str(HERE / "columns.pdf"), pagesize=A4, invariant=True)
    document.addPageTemplates([PageTemplate(frames=[top, *halves])])
    body = STYLES["Normal"]
    left = [Paragraph(f"Left {number}. {PROSE}", body) for number in (1, 2, 3)]
    right = [Paragraph(f"Right {number}. {PROSE}", body) for number in (1, 2)]
    document.build(
        [
            *(NextPageTemplate(0), Paragraph("The mill at the end of the lane", STYLES["Title"]), FrameBreak()),
            *(*left, FrameBreak(), *right),
        ]
    )


def words() -> None:
    canvas = Canvas(str(HERE / "words.pdf"), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 12)
    x = 72.0
    for letter in "Letters drawn singly":
        canvas.drawString(x, 760, letter)
        x += canvas.stringWidth(letter, "Helvetica", 12)
    for offset in (0, 0.3):
        canvas.drawString(72 + offset, 740, "Fake bold is said once")
    canvas.drawString(72, 720, "Read the manual of the mill, or https://mill.example/plain.")
    canvas.linkURL("https://mill.example/manual?page=1", (97, 716, 161, 732))
    end = canvas.stringWidth("Read the manual of the mill, or ", "Helvetica", 12) + 72
    canvas.linkURL("https://mill.example/plain", (end, 716, 260 + end, 732))
    canvas.drawString(72, 700, "About 10")
    text = canvas.beginText(72 + canvas.stringWidth("About 10", "Helvetica", 12), 700)
    text.setFont("Helvetica", 7)
    text.setRise(5)
    text.textOut("5")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut(" cells of H")
    text.setFont("Helvetica", 7)
    text.setRise(-3)
    text.textOut("2")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut("O on the 3")
    text.setFont("Helvetica", 7)
    text.setRise(5)
    text.textOut("rd")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut(" day.")
    canvas.drawText(text)
    canvas.saveState()
    canvas.translate(40, 300)
    canvas.rotate(90)
    canvas.drawString(0, 0, "Turned text")
    canvas.restoreState()
    canvas.showPage()
    canvas.save()


def form() -> None:
    canvas = Canvas(str(HERE / "form.pdf"), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 11)
    for y, label in ((760, "Name"), (730, "Size"), (700, "Color"), (670, "Delivery"), (640, "Remark")):
        canvas.drawString(72, y, label)
    fields = canvas.acroForm
    fields.textfield(name="who", tooltip="Full name", value="Ada Miller", x=160, y=754, width=200, height=20)
    fields.choice(name="size", value="M", options=["S", "M", "L"], x=160, y=724, width=80, height=20)
    fields.listbox(name="color", value="blue", options=["red", "blue"], x=160, y=694, width=80, height=20)
    for x, value, label in ((160, "post", "by post"), (260, "shop", "in the shop")):
        fields.radio(name="way", value=value, selected=value == "shop", x=x, y=666, size=14)
        canvas.drawString(x + 20, 670, label)
    fields.textfield(name="remark", value="", x=160, y=634, width=200, height=20)
    fields.checkbox(name="terms", checked=True, x=72, y=606, size=14)
    canvas.drawString(92, 610, "I accept the terms")
    fields.checkbox(name="news", checked=False, x=72, y=586, size=14)
    canvas.drawString(92, 590, "Send me the news")
    fields.textfield(name="code", tooltip="Code", value="X-17", x=300, y=400, width=100, height=20)
    canvas.showPage()
    canvas.save()


def hidden() -> None:
    canvas = Canvas(str(HERE / "hidden.pdf"), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(72, 760, "The visible offer is 100.")
    canvas.setFillColor(colors.white)
    canvas.drawString(72, 740, "white words")
    canvas.setFillColor(colors.navy)
    canvas.rect(70, 700, 300, 24, fill=1, stroke=0)
    canvas.setFillColor(colors.white)
    canvas.drawString(72, 708, "White on blue is seen")
    canvas.setFillColor(colors.black)
    canvas.drawString(72, 900, "off the page")
    text = canvas.beginText(72, 680)
    text.setTextRenderMode(3)
    text.textOut("never painted")
    canvas.drawText(text)
    canvas.showPage()
    canvas.save()


def layers() -> None:
    """A page with a layer that is switched off; reportlab does not make layers, so its stream is changed."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=True, pageCompression=0)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(72, 760, "Always shown.")
    canvas._code.append("/OC /Layer BDC")
    canvas.drawString(72, 740, "Switched off.")
    canvas._code.append("EMC")
    canvas.showPage()
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(file))
    layer = writer._add_object(
        DictionaryObject({NameObject("/Type"): NameObject("/OCG"), NameObject("/Name"): TextStringObject("Draft")})
    )
    page = writer.pages[0]
    page["/Resources"].get_object()[NameObject("/Properties")] = DictionaryObject({NameObject("/Layer"): layer})
    writer.root_object[NameObject("/OCProperties")] = DictionaryObject(
        {
            NameObject("/OCGs"): ArrayObject([layer]),
            NameObject("/D"): DictionaryObject({NameObject("/OFF"): ArrayObject([layer])}),
        }
    )
    writer.write(HERE / "layers.pdf")


def scanned() -> None:
    """The scan of a page with one line of text; a page with a picture between texts; a scan with a text layer."""
    scan = ImageReader(Image.open(HERE.parent / "clean_page.png").convert("L").resize((420, 594)))
    canvas = Canvas(str(HERE / "scanned.pdf"), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 8)
    canvas.drawImage(scan, 0, 0, *A4)
    canvas.drawString(400, 12, "Scanned by the library")
    canvas.showPage()
    canvas.setFont("Helvetica", 12)
    canvas.drawString(72, 760, "Above the picture")
    canvas.drawImage(ImageReader(str(HERE.parent / "small.png")), 72, 500, 200, 200)
    canvas.drawString(72, 460, "Below the picture")
    canvas.showPage()
    canvas.drawImage(scan, 0, 0, *A4)
    text = canvas.beginText(72, 760)
    text.setTextRenderMode(3)
    text.textOut("The layer of words under a scan")
    canvas.drawText(text)
    canvas.showPage()
    canvas.save()


def attached() -> None:
    writer = PdfWriter(clone_from=HERE / "words.pdf")
    writer.add_attachment("prices.csv", b"part,price\nhub,12\nrim,30\n")
    writer.add_annotation(0, Text(rect=(300, 700, 320, 720), text="Is this the final price?", title_bar="Ada"))
    writer.add_annotation(0, FreeText(rect=(300, 600, 420, 620), text="Typed on the page"))
    writer.write(HERE / "attached.pdf")


if __name__ == "__main__":
    for make in (ruled, plain, columns, words, form, hidden, layers, scanned, attached):
        make()
