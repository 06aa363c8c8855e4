"""What cells of spreadsheets show beside their numbers, and what sheets have beside cells, in XLSX, XLS and ODS."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest
import xlsxwriter
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableColumn, TableRow
from odf.text import P
from openpyxl.comments import Comment
from openpyxl.worksheet.datavalidation import DataValidation

from abstractcore_media.document.shown_values import text_of_date, text_of_duration, text_of_number
from abstractcore_media.document.work_limits import WorkLimits
from tests.media.document.documents import DOCUMENTS, converted, losses
from tests.media.document.test_opendocument_vocabulary import document

_SHEET = "xl/worksheets/_rels/sheet1.xml.rels"
_THREADS = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_RELATION = "http://schemas.microsoft.com/office/2017/10/relationships"


def saved(book: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def written(rows: list[list[object]], **options: object) -> bytes:
    """A workbook as XlsxWriter writes it, whose formulas have the value 0 until Excel computes them."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, **options}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    return file.getvalue()


def with_members(data: bytes, members: dict[str, str], *changed: tuple[str, str, str]) -> bytes:
    """A package with further members, and with texts of others replaced."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(file, "w") as after:
        for name in before.namelist():
            text = before.read(name)
            for path, old, new in changed:
                text = text.replace(old.encode(), new.encode()) if path == name else text
            after.writestr(name, text)
        for name, content in members.items():
            after.writestr(name, content)
    return file.getvalue()


def test_formula_whose_value_a_library_left_to_excel_is_not_zero():
    text = converted(written([[2, 3, "=A1+B1"], [0, "=A1*3", ""]]), "new.xlsx").text
    assert "| 2 | 3 | =A1+B1 [not calculated] |" in text
    assert "| 0 | =A1*3 [not calculated] |" in text


def test_formulas_whose_result_is_an_empty_text_show_nothing():
    cells = '<c r="A1" t="str"><f>IF(1,"","x")</f><v></v></c><c r="B1"><f t="shared" si="0"/><v/></c>'
    assert converted(with_cells(cells), "a.xlsx").text == "## Sheet\n\n| [formula, not calculated] |\n| --- |"


def test_a_computed_zero_is_a_value_unless_the_workbook_asks_for_all_to_be_computed():
    cells = '<c r="A1"><f>B2-C2</f><v>0</v></c><c r="B1"><f>B2</f></c><c r="C1"><f>1-1</f><v/></c>'
    stale = with_cells(cells)  # openpyxl asks for it
    computed = with_members(stale, {}, ("xl/workbook.xml", ' fullCalcOnLoad="1"', ""))
    rest = "| =B2 [not calculated] | =1-1 [not calculated] |"
    assert f"| 0 {rest}" in converted(computed, "a.xlsx").text
    assert f"| =B2-C2 [not calculated] {rest}" in converted(stale, "a.xlsx").text


def test_a_computed_zero_of_an_ods_is_a_value():
    formula = 'table:formula="of:=1-1"'
    zero = f'<table:table-cell {formula} office:value-type="float" office:value="0"><text:p>0</text:p>'
    row = f"<table:table-row>{zero}</table:table-cell><table:table-cell {formula}/></table:table-row>"
    text = converted(document("spreadsheet", f'<table:table table:name="A">{row}</table:table>'), "a.ods").text
    assert "| 0 | =1-1 [not calculated] |" in text


def with_cells(cells: str) -> bytes:
    """A workbook whose first row has these elements."""
    row = f'<row r="1">{cells}</row></sheetData>'
    return with_members(saved(openpyxl.Workbook()), {}, ("xl/worksheets/sheet1.xml", "</sheetData>", row))


def test_dates_errors_and_booleans_are_shown_as_values():
    cells = '<c t="d"><v>2026-03-14T00:00:00</v></c><c t="d"><v>2026-03-14T12:30:00</v></c>'
    cells += '<c t="e"><v>#DIV/0!</v></c><c t="b"><v>0</v></c>'
    assert "| 2026-03-14 | 2026-03-14 12:30:00 | #DIV/0! | FALSE |" in converted(with_cells(cells), "a.xlsx").text


def test_codes_of_characters_in_texts_are_resolved():
    cells = '<c t="inlineStr"><is><t>Rich_x000D_\nText</t></is></c><c t="str"><f>A1</f><v>a_x005F_b</v></c>'
    assert "| Rich<br>Text | a_b |" in converted(with_cells(cells), "a.xlsx").text


def test_comments_name_their_authors_and_threads_have_their_replies():
    book = openpyxl.Workbook()
    book.active["A1"] = 5
    book.active["A1"].comment = Comment("Ann:\nold  words", "Ann")
    book.active["B1"].comment = Comment("[Threaded comment] a copy", "tc={1}")
    threads = (
        f'<ThreadedComments xmlns="{_THREADS}"><threadedComment ref="B1" personId="p1"><text>Why?</text>'
        '</threadedComment><threadedComment ref="B1" personId="p2" parentId="1"><text>Frost.</text>'
        "</threadedComment></ThreadedComments>"
    )
    people = (
        f'<personList xmlns="{_THREADS}"><person id="p1" displayName="Ann"/><person id="p2" displayName="Bob"/>'
        "</personList>"
    )
    related = f'<Relationship Id="t" Type="{_RELATION}/{{}}" Target="{{}}"/></Relationships>'
    data = with_members(
        saved(book),
        {"xl/threadedComments/t1.xml": threads, "xl/persons/person.xml": people},
        (_SHEET, "</Relationships>", related.format("threadedComment", "/xl/threadedComments/t1.xml")),
        ("xl/_rels/workbook.xml.rels", "</Relationships>", related.format("person", "persons/person.xml")),
    )
    conversion = converted(data, "a.xlsx")
    assert "| 5 [comment by Ann: old words] | [comment by Ann: Why?] [comment by Bob: Frost.] |" in conversion.text
    assert conversion.lost == ()


def sheet_with_choices(rows: int) -> bytes:
    book = openpyxl.Workbook()
    for _ in range(rows):
        book.active.append(["word" * 5, 1])
    for cells, source, message in (("B1:B9", '"Yes,No, {maybe}"', ""), ("C1", "$Z$1:$Z$3", "Pick one")):
        choices = DataValidation("list", formula1=source, showInputMessage=True, prompt=message or None)
        choices.add(cells)
        book.active.add_data_validation(choices)
    check = DataValidation("whole", formula1="1")
    check.add("D1")
    book.active.add_data_validation(check)
    book.active.oddHeader.center.text = "Confidential"
    book.active.oddFooter.right.text = "Page &P of &N"
    return saved(book)


@pytest.mark.parametrize(("rows", "most"), [(2, 10_000), (3_000, 500)])
def test_choices_messages_and_headers_are_read_however_many_rows_are_shown(rows: int, most: int):
    conversion = converted(sheet_with_choices(rows), "form.xlsx", limits=WorkLimits(table_characters=most))
    assert conversion.text.endswith(
        "[B1:B9: choices: Yes, No, {maybe}]\n[C1: choices: the cells $Z$1:$Z$3; input message: Pick one]\n\n"
        "[header for printing: Confidential]\n[footer for printing: Page [page] of [pages]]"
    )
    assert bool(losses(conversion)) == (rows > 100)


def test_lists_of_choices_over_the_limit_are_counted():
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    for number in range(1, 121):
        choices = DataValidation("list", formula1='"a,b"')
        choices.add(f"B{number}")
        book.active.add_data_validation(choices)
    conversion = converted(saved(book), "form.xlsx")
    assert conversion.text.count("choices: a, b") == 100
    assert losses(conversion) == {"lists of choices": (20, 120)}


def open_document(*sheets: Table) -> bytes:
    document = OpenDocumentSpreadsheet()
    for sheet in sheets:
        document.spreadsheet.addElement(sheet)
    file = io.BytesIO()
    document.write(file)
    return file.getvalue()


def row(*cells: tuple[str, dict[str, object]], **attributes: object) -> TableRow:
    found = TableRow(**attributes)
    for text, values in cells:
        cell = TableCell(**values)
        if text:
            cell.addElement(P(text=text))
        found.addElement(cell)
    return found


def test_hidden_rows_and_columns_of_ods_are_marked():
    sheet = Table(name="Costs")
    sheet.addElement(TableColumn())
    sheet.addElement(TableColumn(numbercolumnsrepeated=2, visibility="collapse"))
    sheet.addElement(TableColumn(visibility="filter"))
    for text, shown in (("a", {}), ("b", {"visibility": "collapse"}), ("c", {"visibility": "filter"})):
        sheet.addElement(row((text, {}), ("1", {}), **shown))
    assert converted(open_document(sheet), "a.ods").text == (
        "## Costs\n\n[hidden columns: B-D]\n\n| a | 1 |\n| --- | --- |\n| [hidden row] b | 1 |\n| [hidden row] c | 1 |"
    )


def test_values_of_ods_follow_texts_that_hide_them():
    sheet = Table(name="Costs")
    sheet.addElement(
        row(
            ("13%", {"valuetype": "percentage", "value": 0.125}),
            ("1.234,50 €", {"valuetype": "currency", "value": 1234.5}),
            ("03/04/26", {"valuetype": "date", "datevalue": "2026-04-03"}),
            ("00:00:00", {"valuetype": "time", "timevalue": "PT288H00M00S"}),
            ("", {"formula": "of:=SUM([.A1:.A3])"}),
            ("", {"valuetype": "float", "value": 0.5}),
            ("WAHR", {"valuetype": "boolean", "booleanvalue": "true"}),
        )
    )
    assert converted(open_document(sheet), "a.ods").text.splitlines()[2] == (
        "| 13% (12.5%) | 1.234,50 € | 2026-04-03 | 00:00:00 (288:00:00) "
        "| =SUM([.A1:.A3]) [not calculated] | 0.5 | WAHR |"
    )


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("1,234", "1.234", "1,234"),
        ("1,234", "1234", "1,234"),
        ("-£10.000", "-10000", "-£10.000"),
        ("(5)", "-5", "(5)"),
        ("1,00E+005", "100000", "1,00E+005"),
        ("1 1/4", "1.25", "1 1/4"),
        ("12K", "12345", "12K (12345)"),
        ("high", "150", "high (150)"),
        ("yes", "1", "yes"),
        ("1 234 567,8", "1234567.8", "1 234 567,8"),
        ("3.14", "-3.14159", "3.14 (-3.14159)"),
        ("9" * 300, "1e300", "9" * 300 + " (1E+300)"),
        ("Err:502", "nan", "Err:502"),
        ("1/0", "5", "1/0 (5)"),
    ],
)
def test_number_follows_its_text_only_if_no_reading_of_the_text_gives_it(text: str, value: str, expected: str):
    assert text_of_number(text, value, is_computed=False) == expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("14. März 2026", "2026-03-14", "2026-03-14"),
        ("14.03.23 13:43", "2023-03-14T13:43:00", "2023-03-14 13:43"),
        ("Mar-26", "2026-03-14", "Mar-26 (2026-03-14)"),
        ("13:43", "2023-03-14T13:43:00", "13:43 (2023-03-14 13:43)"),
        ("", "2023-03-14", "2023-03-14"),
        ("soon", "no date", "soon"),
    ],
)
def test_date_that_is_shown_whole_is_in_iso_8601(text: str, value: str, expected: str):
    assert text_of_date(text, value) == expected


def test_durations_keep_all_of_their_hours():
    assert text_of_duration("30:15", "PT30H15M00S") == "30:15"
    assert text_of_duration("06:15", "P1DT6H15M") == "06:15 (30:15:00)"
    assert text_of_duration("", "-PT1H") == "-01:00:00"


def test_xls_has_comments_marks_of_fonts_and_rich_text():
    text = converted(DOCUMENTS / "marks.xls").text
    assert text == (
        "## Marks\n\n| ~~12~~ [comment: late harvest] | 10⁵ ~~99~~ 79 | H₂O |\n| --- | --- | --- |\n\n"
        "| [comment: on an empty cell] |\n| --- |"
    )
