"""Workbooks: XLSX by openpyxl and xlsxwriter, and the same as ODS, XLS, CSV and HTML by LibreOffice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path

import xlsxwriter
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference, ScatterChart, Series
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet

from .corpus import Family
from .facts import Fact, Struck, cells, each, in_order, link, raised, says, table

SHEETS = Family("openpyxl")


def saved(build: Callable[[Workbook, Worksheet], object]) -> Callable[[Path], None]:
    """A maker of the workbook that a function fills."""

    def make(path: Path) -> None:
        book = Workbook()
        sheet = book.active
        assert isinstance(sheet, Worksheet)
        build(book, sheet)
        book.save(path)

    return make


HEADS = ("Kind", "Value")
FORMATTED: tuple[tuple[str, object, str, str], ...] = (
    ("Post code", 1067, "00000", "01067"),
    ("Security number", 78051120, "000-00-0000", "078-05-1120"),
    ("Hours", timedelta(hours=31, minutes=15), "[h]:mm", "31:15"),
    ("Price", 1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
    ("Share", 0.125, "0.0%", "12.5%"),
    ("Loss", -42, "#,##0;(#,##0)", "(42)"),
    ("Thousands", 1234567, '#,##0," k"', "1,235 k"),
    ("Fraction", 2.75, "# ?/?", "2 3/4"),
    ("Big", 6.02e23, "0.00E+00", "6.02E+23"),
    ("Part", "007", "@", "007"),
    ("Weight", 12.4, '0.0" kg"', "12.4 kg"),
    ("Clock", time(18, 30), "h:mm AM/PM", "6:30 PM"),
)


def formats(_: Workbook, sheet: Worksheet) -> None:
    sheet.append(HEADS)
    for kind, value, code, _shown in FORMATTED:
        sheet.append((kind, value))
        sheet.cell(sheet.max_row, 2).number_format = code
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = 20


FORMATS = table(HEADS, *((kind, shown) for kind, _, _, shown in FORMATTED))
SHEETS.file("formats.xlsx", FORMATS)(saved(formats))
for suffix in ("ods", "xls", "html", "csv", "pdf"):
    SHEETS.converted(f"formats_{suffix}.{suffix}", saved(formats), "xlsx", FORMATS)


SALES = ("Month", "North", "South", "Total")


def formulas(book: Workbook, sheet: Worksheet) -> None:
    sheet.title = "Sales"
    for row in (SALES, ("May", 10, None, "=SUM(B2:C2)"), ("June", None, 7.5, "=SUM(B3:C3)"), ("July", 3, 4, "=B4+C4")):
        sheet.append(row)
    other = book.create_sheet("Notes")
    other.append(("Who", "Said"))
    other.append(("Ann", "Prices with tax | and freight"))
    hidden = book.create_sheet("Costs")
    hidden.sheet_state = "hidden"
    hidden.append(("Post", "EUR"))
    hidden.append(("Rent", 812))
    sheet["A3"].comment = Comment("late harvest", "Bob")


RESULTS: list[Fact] = [
    *table(SALES, ("May", "10", "", "10"), ("June", "", "7.5", "7.5"), ("July", "3", "4", "7")),
    *each("Sales", "Notes", "Costs"),
    says("Prices with tax | and freight", "Prices with tax / and freight"),
    *table(("Post", "EUR"), ("Rent", "812")),
    in_order("Sales", "June", "Notes", "Ann"),
]
COMMENT = says("late harvest")
for name in ("workbook_xlsx.xlsx", "workbook_ods.ods", "workbook_xls.xls"):
    SHEETS.converted(name, saved(formulas), "xlsx", RESULTS, COMMENT)


DATES = ("Event", "When")


@SHEETS.file(
    "dates.xlsx",
    cells(DATES, "Founded", When="2024-03-14"),
    cells(DATES, "Opened", When="2025-12-01"),
    says("2025-12-01 09:30", "2025-12-01T09:30", "2025-12-01 09:30:00", "2025-12-01T09:30:00"),
)
@saved
def _dates(_: Workbook, sheet: Worksheet) -> None:
    sheet.append(DATES)
    sheet.append(("Founded", date(2024, 3, 14)))
    sheet.append(("Opened", datetime(2025, 12, 1, 9, 30)))
    sheet["B2"].number_format, sheet["B3"].number_format = "dd/mm/yyyy", "m/d/yy h:mm"


@SHEETS.file("dates_1904.xlsx", cells(DATES, "Founded", When="2024-03-14"))
@saved
def _dates_1904(book: Workbook, sheet: Worksheet) -> None:
    book.epoch = datetime(1904, 1, 1)
    sheet.append(DATES)
    sheet.append(("Founded", date(2024, 3, 14)))


@SHEETS.file(
    "rich_text.xlsx",
    Struck("99"),
    each("79 euros"),
    raised("10", "5", " cells"),
    link("our shop", "https://example.com/shop"),
)
@saved
def _rich(_: Workbook, sheet: Worksheet) -> None:
    sheet["A1"] = CellRichText("Price: ", TextBlock(InlineFont(strike=True), "99"), " 79 euros")
    sheet["A2"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "5"), " cells")
    sheet["A3"] = "our shop"
    sheet["A3"].hyperlink = "https://example.com/shop"


@SHEETS.file(
    "hidden_rows.xlsx",
    table(("Item", "Count"), ("Pens", "12"), ("Ink", "4")),
    says("Secret", "[hidden row] Secret"),
    each("Item", "Cost price"),
)
@saved
def _hidden(_: Workbook, sheet: Worksheet) -> None:
    for row in (("Item", "Count", "Cost price"), ("Pens", 12, 0.3), ("Secret", 99, 5), ("Ink", 4, 2.5)):
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True


@SHEETS.file(
    "merged.xlsx",
    each("Plan for 2025", "Men", "Women"),
    in_order("Plan for 2025", "Men", "Women", "Ulm", "12", "15"),
)
@saved
def _merged(_: Workbook, sheet: Worksheet) -> None:
    for row in (("City", "Plan for 2025", None), (None, "Men", "Women"), ("Ulm", 12, 15)):
        sheet.append(row)
    sheet.merge_cells("B1:C1")
    sheet.merge_cells("A1:A2")


@SHEETS.file("two_blocks.xlsx", table(("Tool", "Stock"), ("Saw", "3")), table(("Town", "People"), ("Bonn", "336000")))
@saved
def _two_blocks(_: Workbook, sheet: Worksheet) -> None:
    for row in (("Tool", "Stock"), ("Saw", 3), (), (), ("Town", "People"), ("Bonn", 336000)):
        sheet.append(row)
    sheet["A4"] = None


@SHEETS.file(
    "kinds.xlsx",
    table(
        ("Kind", "Value"),
        ("Yes", "TRUE"),
        ("Lines", "one two"),
        ("Pipe", "a|b"),
        ("Long", "123456789012345"),
        ("Small", "0.1"),
        ("Text", "00123"),
        ("Fault", "#DIV/0!"),
    ),
)
@saved
def _kinds(_: Workbook, sheet: Worksheet) -> None:
    rows = (
        ("Kind", "Value"),
        ("Yes", True),
        ("Lines", "one\ntwo"),
        ("Pipe", "a|b"),
        ("Long", 123456789012345),
        ("Small", 0.1),
        ("Text", "00123"),
    )
    for row in rows:
        sheet.append(row)
    sheet.append(("Fault", "#DIV/0!"))
    sheet["B8"].data_type = "e"


def charts(_: Workbook, sheet: Worksheet) -> None:
    for row in (("Year", "Oats", "Rye"), (2023, 11, 21), (2024, 12, 22)):
        sheet.append(row)
    bars = BarChart()
    bars.title, bars.x_axis.title, bars.y_axis.title = "Harvest by year", "Year of harvest", "Tonnes"
    bars.add_data(Reference(sheet, min_col=2, max_col=3, min_row=1, max_row=3), titles_from_data=True)
    bars.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(bars, "E1")


CHART = [*each("Harvest by year", "Year of harvest", "Tonnes"), *table(("Year", "Oats", "Rye"), ("2023", "11", "21"))]
SHEETS.converted("chart.xlsx", saved(charts), "xlsx", CHART)
SHEETS.converted("chart_ods.ods", saved(charts), "xlsx", CHART)


@SHEETS.file(
    "scatter.xlsx",
    each("Speed and range"),
    table(("Speed", "Range"), ("10", "420"), ("30", "310")),
)
@saved
def _scatter(_: Workbook, sheet: Worksheet) -> None:
    for row in (("Speed", "Range"), (10, 420), (30, 310)):
        sheet.append(row)
    chart = ScatterChart()
    chart.title = "Speed and range"
    x, y = (Reference(sheet, min_col=column, min_row=2, max_row=3) for column in (1, 2))
    chart.series.append(Series(y, x, title="Boat"))
    sheet.add_chart(chart, "D1")


@SHEETS.file(
    "writer.xlsx",
    table(("Part", "Pieces", "Each"), ("Bolt", "1,200", "$0.15"), ("Nut", "", "$0.05")),
    raised("x", "2", " + 1"),
    each("Check the count of nuts", "Only whole pieces"),
    source="xlsxwriter",
)
def writer(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Parts")
        money, count = book.add_format({"num_format": "$0.00"}), book.add_format({"num_format": "#,##0"})
        sheet.write_row(0, 0, ("Part", "Pieces", "Each"))
        sheet.write_row(1, 0, ("Bolt",))
        sheet.write(1, 1, 1200, count)
        sheet.write(1, 2, 0.15, money)
        sheet.write(2, 0, "Nut")
        sheet.write(2, 2, 0.05, money)
        sheet.write_rich_string(4, 0, "x", book.add_format({"font_script": 1}), "2", " + 1")
        sheet.write_comment(2, 0, "Check the count of nuts")
        sheet.insert_textbox(6, 0, "Only whole pieces")


@SHEETS.file(
    "wide.xlsx",
    table(("Name", *(f"D{n}" for n in range(1, 41))), ("a", *(str(n) for n in range(1, 41))))[::5],
    table(("Name", *(f"D{n}" for n in range(1, 41))), ("b", *("" if n % 2 else str(2 * n) for n in range(1, 41))))[::3],
)
@saved
def _wide(_: Workbook, sheet: Worksheet) -> None:
    sheet.append(("Name", *(f"D{n}" for n in range(1, 41))))
    sheet.append(("a", *range(1, 41)))
    sheet.append(("b", *(None if n % 2 else 2 * n for n in range(1, 41))))
