"""PDF files with tables by reportlab: with ruling lines and without, wide ones, over pages, and beside each other."""

from __future__ import annotations

from pathlib import Path

from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Spacer, Table, TableStyle

from .corpus import Family
from .facts import Cell, each, in_order, says, table
from .pdf import GRID, built, text

PDF_TABLES = Family("reportlab")
RIGHT = TableStyle([("ALIGN", (1, 0), (-1, -1), "RIGHT")])


REGIONS = ("Region", "Q1", "Q2", "Q3")


SALES = (("North", "", "20", "30"), ("South", "41", "", "43"), ("East", "51", "52", ""), ("West", "7", "8", "9"))


BALANCE = ("Position", "2024", "2025")


YEARS = (
    ("Revenue", "1,204,310", "1,377,900"),
    ("Cost of goods", "(811,200)", "(902,114)"),
    ("Research", "", "(44,020)"),
    ("Net income", "212,077", "-13,505"),
)


PARTS = ("Part no.", "Description", "Qty", "Unit price", "Amount")


ITEMS = (
    ("A-1009", "Bearing, sealed", "12", "4.75", "57.00"),
    ("A-2210", "Axle 40 mm", "2", "118.20", "236.40"),
    ("B-0007", "Grease", "1", "9.99", "9.99"),
)


def grid(heads: tuple[str, ...], rows: tuple[tuple[str, ...], ...], style: TableStyle | None) -> Table:
    return Table([heads, *rows], style=style)


@PDF_TABLES.file("ruled_table.pdf", table(REGIONS, *SALES), each("Sales by region", "Figures in thousands."))
def ruled_table(path: Path) -> None:
    built(path, text("Sales by region", "Heading1"), grid(REGIONS, SALES, GRID), text("Figures in thousands."))


@PDF_TABLES.file("plain_table.pdf", table(REGIONS, *SALES), each("Sales by region"))
def plain_table(path: Path) -> None:
    built(path, text("Sales by region", "Heading1"), grid(REGIONS, SALES, None), text("Figures in thousands."))


@PDF_TABLES.file(
    "balance.pdf",
    table(BALANCE, *YEARS),
    each("Consolidated statement", "in euros"),
    in_order("Consolidated statement", "Revenue", "Net income", "The auditors had no objection."),
)
def balance(path: Path) -> None:
    built(
        path,
        text("Consolidated statement, in euros", "Heading2"),
        grid(BALANCE, YEARS, RIGHT),
        text("The auditors had no objection."),
    )


@PDF_TABLES.file(
    "invoice.pdf",
    table(PARTS, *ITEMS),
    each("Invoice 2025-0417", "Harbour Street 12", "IBAN DE21 3705 0198 0000 0012 34"),
    says("Total 303.39", "Total | 303.39", "Total: 303.39"),
    in_order("Invoice 2025-0417", "A-1009", "B-0007", "303.39"),
)
def invoice(path: Path) -> None:
    canvas = Canvas(str(path), A4, invariant=True)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(60, 780, "Invoice 2025-0417")
    canvas.setFont("Helvetica", 10)
    canvas.drawString(60, 755, "Miller & Sons")
    canvas.drawString(60, 742, "Harbour Street 12")
    for number, row in enumerate((PARTS, *ITEMS)):
        y = 690 - 18 * number
        canvas.drawString(60, y, row[0])
        canvas.drawString(130, y, row[1])
        for x, value in zip((300, 390, 480), row[2:], strict=True):
            canvas.drawRightString(x, y, value)
        canvas.line(60, y - 4, 480, y - 4)
    canvas.drawString(390, 600, "Total")
    canvas.drawRightString(480, 600, "303.39")
    canvas.drawString(60, 100, "IBAN DE21 3705 0198 0000 0012 34")
    canvas.save()


@PDF_TABLES.file(
    "landscape.pdf",
    table(
        ("Month", *(f"S{n}" for n in range(1, 13))),
        *(
            (month, *(str(100 * row + column) for column in range(1, 13)))
            for row, month in enumerate(("January", "February", "March"), 1)
        ),
    ),
)
def wide(path: Path) -> None:
    heads = ("Month", *(f"S{n}" for n in range(1, 13)))
    rows = tuple(
        (month, *(str(100 * row + column) for column in range(1, 13)))
        for row, month in enumerate(("January", "February", "March"), 1)
    )
    built(path, grid(heads, rows, GRID), page=landscape(A4))


HEADS = ("No.", "Item", "Count")


LONG = tuple((str(number), f"Item {number}", str(number * 7)) for number in range(1, 91))


@PDF_TABLES.file(
    "table_over_pages.pdf",
    [Cell(HEADS, LONG[number], column) for number in (0, 30, 60, 89) for column in (1, 2)],
    in_order("Item 1", "Item 45", "Item 90", "End of the list"),
)
def table_over_pages(path: Path) -> None:
    built(path, Table([HEADS, *LONG], style=GRID, repeatRows=1), text("End of the list"))


@PDF_TABLES.file(
    "wrapped_cells.pdf",
    table(
        ("Part", "Purpose", "Price"),
        ("Hub", "Holds the spokes of the wheel, and turns on its axle without any play", "12.50"),
        ("Rim", "Carries the tire", ""),
        ("Valve", "Lets air in, but not out, at up to 6 bar", "0.80"),
    ),
)
def wrapped_cells(path: Path) -> None:
    rows = [
        ["Part", "Purpose", "Price"],
        ["Hub", text("Holds the spokes of the wheel, and turns on its axle without any play"), "12.50"],
        ["Rim", text("Carries the tire"), ""],
        ["Valve", text("Lets air in, but not out, at up to 6 bar"), "0.80"],
    ]
    built(path, Table(rows, [60, 140, 60], style=GRID))


@PDF_TABLES.file(
    "two_tables_beside.pdf",
    table(("Tool", "Stock"), ("Hammer", "14"), ("Saw", "3")),
    table(("Screw", "Box"), ("M4", "200"), ("M6", "150")),
    source="reportlab",
)
def two_tables_beside(path: Path) -> None:
    left = grid(("Tool", "Stock"), (("Hammer", "14"), ("Saw", "3")), GRID)
    right = grid(("Screw", "Box"), (("M4", "200"), ("M6", "150")), GRID)
    built(path, Table([[left, right]]))


@PDF_TABLES.file(
    "spanned_heads.pdf",
    each("Europe", "Asia", "1,111", "4,444"),
    in_order("Europe", "Asia", "1,111", "2,222", "3,333", "4,444"),
)
def spanned_heads(path: Path) -> None:
    rows = [["Europe", "", "Asia", ""], ["Men", "Women", "Men", "Women"], ["1,111", "2,222", "3,333", "4,444"]]
    spans = TableStyle([*GRID.getCommands(), ("SPAN", (0, 0), (1, 0)), ("SPAN", (2, 0), (3, 0))])
    built(path, Table(rows, style=spans), Spacer(1, 10))
