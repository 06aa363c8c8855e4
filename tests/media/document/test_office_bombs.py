"""Office files that stand for far more than they have: short texts with counted losses, in bounded time and memory."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from abstractcore.errors import MediaError
from abstractcore_media.document.office.cell_formats import number_text
from abstractcore_media.document.work_limits import WorkLimits
from tests.media.document.documents import converted, losses
from tests.media.document.numbered_documents import WORD
from tests.media.document.test_opendocument_vocabulary import document
from tests.media.test_bombs import OFFICE_NS, SHEET_NS, workbook

pytestmark = pytest.mark.exhaustive

BILLION = 1_000_000_000
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@contextmanager
def bounded(seconds: float = 30, size: int = 200_000_000) -> Iterator[None]:
    """Bounds processor time, with all that counting the memory adds to it, and the memory itself."""
    tracemalloc.start()
    begin = time.process_time()
    try:
        yield
        assert time.process_time() - begin < seconds
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


def book(rows: str = "", *, before: str = "", after: str = "", strings: str = "") -> bytes:
    """A workbook of one sheet, with elements around its rows and with shared strings."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(rows))) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            text = source.read(name).decode()
            text = text.replace("<sheetData>", f"{before}<sheetData>").replace("</sheetData>", f"</sheetData>{after}")
            if strings and name == "xl/_rels/workbook.xml.rels":
                relation = f'<Relationship Id="s" Type="{OFFICE_NS}/sharedStrings" Target="sharedStrings.xml"/>'
                text = text.replace("</Relationships>", f"{relation}</Relationships>")
            target.writestr(name, text)
        if strings:
            target.writestr("xl/sharedStrings.xml", f'<sst xmlns="{SHEET_NS}">{strings}</sst>')
    return out.getvalue()


def cell(attributes: str, text: str = "x") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def sheet(*rows: str) -> bytes:
    return document("spreadsheet", f'<table:table table:name="A">{"".join(rows)}</table:table>')


@pytest.mark.parametrize("number", [BILLION, BILLION - 1, 10**30])
def test_repeated_rows_and_columns_of_an_ods_are_bounded_and_counted(number: int):
    row = f'<table:table-row table:number-rows-repeated="{number}">{cell("")}</table:table-row>'
    columns = f'table:number-columns-repeated="{number}"'
    with bounded():
        conversion = converted(sheet(row, f"<table:table-row>{cell(columns)}</table:table-row>"), "a.ods")
    assert 16_384 < conversion.text.count("x") < 20_000
    assert sum(each.count for each in conversion.lost if each.what == "rows") >= (1 << 21) - 1_000


def test_cells_repeated_in_a_table_of_a_text_stand_once():
    columns = f'table:number-columns-repeated="{BILLION}"'
    row = f'<table:table-row table:number-rows-repeated="{BILLION}">{cell(columns, "once")}</table:table-row>'
    with bounded():
        assert converted(document("text", f"<table:table>{row}</table:table>"), "a.odt").text.count("once") == 1


def test_cells_that_span_a_billion_others_stand_once():
    spans = f'table:number-columns-spanned="{BILLION}" table:number-rows-spanned="{BILLION}"'
    body = f"<table:table><table:table-row>{cell(spans, 'once')}</table:table-row></table:table>"
    properties = f'<w:tcPr><w:gridSpan w:val="{BILLION}"/></w:tcPr>'
    table = f"<w:tbl><w:tr><w:tc>{properties}{paragraph('once')}</w:tc></w:tr></w:tbl>"
    with bounded():
        assert converted(document("text", body), "a.odt").text.count("once") == 1
        text = converted(word(table), "a.docx").text
    assert text.count("once") == 1
    assert len(text) < 1_000


def test_a_sheet_that_announces_all_cells_has_those_that_are_there():
    corners = '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'
    corners += '<row r="1048576"><c r="A1048576"><v>3</v></c><c r="XFD1048576"><v>4</v></c></row>'
    with bounded():
        conversion = converted(book(corners, before='<dimension ref="A1:XFD1048576"/>'), "a.xlsx")
    assert [line for line in conversion.text.splitlines() if line[:3] != "| -"] == [
        "## A", "", "| 1 | 2 |", "", "| 3 | 4 |"
    ]  # fmt: skip
    assert losses(conversion) == {}


def test_cells_outside_of_the_sheet_are_counted():
    conversion = converted(book('<row r="1"><c r="A1"><v>1</v></c><c r="ZZZZZZ1"><v>2</v></c></row>'), "a.xlsx")
    assert losses(conversion) == {"cells outside of the sheet": (1, None)}


def test_a_million_merged_ranges_cost_no_cells():
    merged = '<mergeCells count="1000000">' + '<mergeCell ref="A1:XFD1048576"/>' * 1_000_000 + "</mergeCells>"
    with bounded():
        assert "| 1 |" in converted(book('<row r="1"><c r="A1"><v>1</v></c></row>', after=merged), "a.xlsx").text


def test_a_million_shared_strings_are_read():
    strings = "".join(f"<si><t>{number}</t></si>" for number in range(1_000_000))
    with bounded(240, 400_000_000):
        data = book('<row r="1"><c r="A1" t="s"><v>999999</v></c></row>', strings=strings)
        conversion = converted(data, "a.xlsx", limits=WorkLimits(seconds=600))
    assert "| 999999 |" in conversion.text


@pytest.mark.parametrize("code", ["0" * 100_000, "#,##0;" * 20_000, "[h]" * 50_000, '"a"' * 30_000, "?/" * 50_000])
def test_number_formats_of_many_characters_are_read_as_general(code: str):
    with bounded(5):
        assert number_text(12.5, code) == "12.5"


def word(body: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f"<w:document {WORD}><w:body>{body}</w:body></w:document>")
    return out.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_equations_are_nested_as_deep_as_xml_may_be():
    def nested(depth: int) -> bytes:
        inside = f"{'<m:rad><m:e>' * depth}<m:r><m:t>x</m:t></m:r>{'</m:e></m:rad>' * depth}"
        return word(f'<w:p><m:oMath xmlns:m="{MATH}">{inside}</m:oMath></w:p>')

    with bounded():
        assert converted(nested(100), "a.docx").text.count(r"\sqrt{") == 100
        with pytest.raises(MediaError, match="nested more than 250 deep"):
            converted(nested(10_000), "a.docx")


def test_tables_in_tables_have_each_word_once():
    inside = paragraph("once")
    for _ in range(50):
        inside = f"<w:tbl><w:tr><w:tc>{inside}{paragraph('')}</w:tc><w:tc>{paragraph('|')}</w:tc></w:tr></w:tbl>"
    with bounded():
        text = converted(word(inside), "a.docx").text
    assert text.count("once") == 1
    assert len(text) < 10_000
