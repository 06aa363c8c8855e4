"""Cells as LibreOffice 7.4.7 shows them (`number_formats.json`, by `shown_by_libreoffice.py`), and marks of cells."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from abstractcore_media.document.office.cell_formats import moment_of, number_text
from abstractcore_media.document.office.number_formats import NumberFormat, exact
from tests.media.document.documents import DOCUMENTS, converted

SHOWN = json.loads((DOCUMENTS / "number_formats.json").read_text(encoding="utf-8"))
DIFFERENT = {"m/d/yy h:mm", "[$-F800]dddd\\, mmmm dd\\, yyyy", "[$-407]d. mmmm yyyy"}
"""Formats of the system's settings there, and one whose months are in German there."""
SIGNS = {'[>100]"big "0;[<=10]"small "0;0.0', '[=1]"yes";[=0]"no";"?"0'}
"""Formats whose sections there lose the sign of negative numbers."""


def shown(code: str, number: float, *, is_1904: bool) -> str:
    """What a number shows, with dates as their format has them."""
    number_format, value = NumberFormat(code), exact(number)
    section, _ = number_format.section(value)
    if not section.is_date:
        return number_format.shown(number).text
    if "elapsed" in section.fields:
        return section.elapsed(value)
    moment = moment_of(value, section, is_1904=is_1904)
    return section.date(moment) if moment else "no date"


def plain(text: str) -> str:
    """A text without the blanks that align it with other cells."""
    return " ".join(text.split()).replace("- ", "-")


@pytest.mark.parametrize(
    ("system", "code"),
    [(system, code) for system in ("1900", "1904") for code in SHOWN[system] if code not in DIFFERENT],
)
def test_numbers_are_shown_as_libreoffice_shows_them(system: str, code: str):
    differing = {}
    for value, expected in SHOWN[system][code].items():
        if code in SIGNS and value.startswith("-"):
            continue
        is_text = not value.lstrip("-").replace(".", "").isdecimal() or value == "12"
        found = NumberFormat(code).text(value) if is_text else shown(code, float(value), is_1904=system == "1904")
        if plain(found) != plain(expected):
            differing[value] = (found, expected)
    assert differing == {}


@pytest.mark.parametrize(
    ("number", "code", "expected"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (123456789012, "0", "123456789012"),
        (7, "00000", "00007"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1.25, "[h]:mm", "30:00"),
        (1234567.5, "#,##0.00 [$€-407]", "1,234,567.50 €"),
        (72, '0 "kg"', "72 kg"),
        (0.125, "0%", "13% (12.5%)"),
        (0.125, "0.0%", "12.5%"),
        (1.4999, "0.0", "1.5 (1.4999)"),
        (1 / 3, "0%", "33% (33.3333%)"),
        (1 / 3, "0.000", "0.333"),
        (12345, "0.0,", "12.3 (12345)"),
        (1.5, "# ?/?", "1 1/2"),
        (5, "[>100]0;[>10]0.0;0.00", "5.00"),
        (-5, "[Red](0);(0)", "(5)"),
        (150, '[>100]"high";"low"', "high (150)"),
        (1, '[=1]"yes";[=0]"no"', "yes"),
        (42, ";;;", "[not shown: 42]"),
        (46095, '"day "dd', "day 14 (2026-03-14)"),
        (46095.5, "yyyy-mm-dd hh:mm", "2026-03-14 12:00"),
        (46095.50001, "dd/mm/yyyy hh:mm", "2026-03-14 12:00:01"),
        (46095, "m/d/yy", "2026-03-14"),
        (46095, "mmm-yy", "Mar-26 (2026-03-14)"),
        (0.75, "h:mm AM/PM", "6:00 PM"),
        (46095.75, "h:mm", "18:00 (2026-03-14 18:00)"),
        (46095.500005, "yyyy-mm-dd hh:mm:ss.000", "2026-03-14 12:00:00.432"),
        (1.5e-13, "0.00", "0.00 (1.5E-13)"),
        (60, "d/m/yyyy", "1900-02-29"),
        (59, "d/m/yyyy", "1900-02-28"),
        (1, "dddd", "Sunday (1900-01-01)"),
        (-3, "yyyy", "-3"),
        (3e9, "yyyy-mm-dd", "3000000000"),
        (1e300, "d/m/yyyy", "1E+300"),
        (1e300, "0." + "0" * 240, "1" + "0" * 300 + "." + "0" * 240),
        (1, "0" * 100_000, "1"),
        (12, '"my days" 0', "my days 12"),
    ],
)  # fmt: skip
def test_number_is_followed_by_what_its_format_hides(number: float, code: str, expected: str):
    assert number_text(number, code) == expected


def test_computed_number_is_followed_only_if_its_format_is_coarse():
    assert number_text(12345.678, "0.0", is_computed=True) == "12345.7"
    assert number_text(0.004, "0.00", is_computed=True) == "0.00 (0.004)"


@pytest.mark.parametrize(("epoch", "date"), [(None, "2022-03-13"), (CALENDAR_MAC_1904, "2026-03-14")])
def test_workbook_has_one_of_two_systems_of_dates(epoch: object, date: str):
    book = openpyxl.Workbook()
    if epoch:
        book.epoch = epoch
    book.active["A1"] = 44633
    book.active["A1"].number_format = "d. m. yyyy"
    assert rows_of(book) == [f"| {date} |"]


def test_hidden_rows_and_columns_are_marked():
    book = openpyxl.Workbook()
    for row in (("a", 1, 2), ("b", 3, 4)):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    book.active.column_dimensions.group("B", "C", hidden=True)
    text = converted(saved(book), "hidden.xlsx").text
    assert text == "## Sheet\n\n[hidden columns: B-C]\n\n| a | 1 | 2 |\n| --- | --- | --- |\n| [hidden row] b | 3 | 4 |"


def test_links_of_cells_keep_their_addresses():
    book = openpyxl.Workbook()
    book.active["A1"] = "rules"
    book.active["A1"].hyperlink = "https://example.org/rules"
    book.active["A1"].hyperlink.location = "part-2"
    book.active["A1"].comment = Comment("old", "Ann")
    assert rows_of(book) == ["| [rules](https://example.org/rules#part-2) [comment by Ann: old] |"]


def test_rich_text_and_fonts_of_cells_keep_their_marks():
    book = openpyxl.Workbook()
    above, struck = InlineFont(vertAlign="superscript"), InlineFont(strike=True)
    book.active["A1"] = CellRichText("10", TextBlock(above, "5"), " ", TextBlock(struck, "99"), " 79")
    book.active["A2"] = 12
    book.active["A2"].font = Font(strike=True)
    book.active["A3"] = CellRichText("H", TextBlock(InlineFont(vertAlign="subscript"), "2"), "O")
    assert rows_of(book) == ["| 10⁵ ~~99~~ 79 |", "| ~~12~~ |", "| H₂O |"]


def test_text_is_shown_by_the_text_section_of_its_format():
    book = openpyxl.Workbook()
    for number, (value, code) in enumerate((("A7", '0;0;0;"Item "@'), ("secret", ";;;"), ("x", "0.00")), 1):
        book.active.cell(number, 1, value).number_format = code
    assert rows_of(book) == ["| Item A7 |", "| [not shown: secret] |", "| x |"]


def rows_of(book: openpyxl.Workbook) -> list[str]:
    """The rows of the first table."""
    text = converted(saved(book), "book.xlsx").text
    return [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]


def saved(book: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
