"""Office files with what readers stumble over: numbers of lists, forms, formats of cells, charts and equations."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import xlsxwriter
from docx.document import Document as DocxDocument
from openpyxl import Workbook
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml as parse_slide_xml
from pptx.presentation import Presentation as Slides

from . import sheets, slides, word
from .corpus import Family
from .facts import Struck, Unseen, checked, each, in_order, link, raised, says, table, unchecked
from .word import append, parse_xml

OFFICE_CASES = Family("python-docx, openpyxl, xlsxwriter, python-pptx")
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MATH = (
    '<m:oMath><m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad>'
    "</m:oMath>",
    '<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n'
    "</m:t></m:r></m:sup><m:e><m:r><m:t>i</m:t></m:r></m:e></m:nary></m:oMath>",
    "<m:oMath><m:m><m:mr><m:e><m:r><m:t>p</m:t></m:r></m:e><m:e><m:r><m:t>q</m:t></m:r></m:e></m:mr><m:mr><m:e><m:r><m:t>r"
    "</m:t></m:r></m:e><m:e><m:r><m:t>s</m:t></m:r></m:e></m:mr></m:m></m:oMath>",
)


def numbered_by_style(document: DocxDocument) -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>'
        f'<w:pStyle w:val="Heading{level + 1}"/><w:lvlText w:val="{shape}"/></w:lvl>'
        for level, (start, kind, shape) in enumerate(((3, "upperRoman", "Article %1"), (1, "decimal", "§ %2")))
    )
    numbering = document.part.numbering_part.element
    space = word.nsdecls("w")
    numbering.insert(0, parse_xml(f'<w:abstractNum {space} w:abstractNumId="88">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {space} w:numId="88"><w:abstractNumId w:val="88"/></w:num>'))
    for level in (0, 1):
        style = document.styles[f"Heading {level + 1}"].element
        style.get_or_add_pPr().append(
            parse_xml(f'<w:numPr {space}><w:ilvl w:val="{level}"/><w:numId w:val="88"/></w:numPr>')
        )
    for level, words in ((1, "Moorings"), (2, "Length"), (2, "Depth"), (1, "Fees"), (2, "Payment")):
        document.add_heading(words, level)


ARTICLES = [
    says("Article III Moorings", "Article III. Moorings"),
    says("§ 2 Depth"),
    says("Article IV Fees", "Article IV. Fees"),
    says("§ 1 Payment", never="§ 3 Payment"),
]
OFFICE_CASES.file("numbered_headings.docx", ARTICLES)(word.saved(numbered_by_style))
for suffix in ("odt", "rtf", "doc", "pdf"):
    OFFICE_CASES.converted(f"numbered_headings_{suffix}.{suffix}", word.saved(numbered_by_style), "docx", ARTICLES)


def tracked(document: DocxDocument) -> None:
    first = document.add_paragraph("The fee is ")
    run = first.add_run("80 euros")
    run.font.double_strike = True
    first.add_run(" 85 euros.")
    second = document.add_paragraph("Boats ")
    append(
        second,
        '<w:moveFrom w:id="5" w:author="Ann"><w:r><w:t>of members </w:t></w:r></w:moveFrom>',
    )
    second.add_run("moor at the quay ")
    append(second, '<w:moveTo w:id="6" w:author="Ann"><w:r><w:t>of members.</w:t></w:r></w:moveTo>')
    made = document.add_table(rows=2, cols=2)
    for row, words in zip(made.rows, (("Old tariff", "12.00"), ("New tariff", "14.00")), strict=True):
        for cell, text in zip(row.cells, words, strict=True):
            cell.text = text
    properties = made.rows[0]._tr.get_or_add_trPr()
    properties.append(parse_xml(f'<w:del {word.nsdecls("w")} w:id="9" w:author="Ann"/>'))
    hidden = document.styles.add_style("Remark", 1)
    hidden.font.hidden = True
    document.add_paragraph("Members of the board pay nothing.", style="Remark")
    third = document.add_paragraph("Write an e")
    append(third, "<w:r><w:noBreakHyphen/><w:t>mail to the co</w:t><w:softHyphen/><w:t>operative.</w:t></w:r>")
    power = document.styles.add_style("Power", 2)
    power.font.superscript = True
    fourth = document.add_paragraph("About 10")
    fourth.add_run("6", style="Power")
    fourth.add_run(" boats.")


TRACKED = [
    Struck("80 euros"),
    says("85 euros"),
    says("moor at the quay of members."),
    says("Boats moor at", "Boats ~~of members~~moor at", "Boats ~~of members~~ moor at", never="Boats of members moor"),
    Unseen("Members of the board pay nothing."),
    raised("10", "6", " boats"),
]
OFFICE_CASES.file(
    "tracked.docx",
    TRACKED,
    Struck("Old tariff"),
    says("e-mail", never="Write an email"),
    says("cooperative"),
    says("New tariff"),
)(word.saved(tracked))
for suffix in ("odt", "rtf", "doc"):
    OFFICE_CASES.converted(f"tracked_{suffix}.{suffix}", word.saved(tracked), "docx", TRACKED)


def fields(document: DocxDocument) -> None:
    def field(paragraph, code: str, result: str, data: str = "") -> None:
        append(paragraph, f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r>')
        append(paragraph, f'<w:r><w:instrText xml:space="preserve"> {code} </w:instrText></w:r>')
        append(paragraph, '<w:r><w:fldChar w:fldCharType="separate"/></w:r>')
        append(paragraph, f"<w:r><w:t>{result}</w:t></w:r>")
        append(paragraph, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')

    first = document.add_paragraph("Rules: ")
    field(first, 'HYPERLINK "https://example.com/tide"', "table of tides")
    second = document.add_paragraph("Dear ")
    field(second, "MERGEFIELD Name", "Mrs Okafor")
    third = document.add_paragraph("Colour: ")
    drop_down = (
        '<w:ffData><w:name w:val="Colour"/><w:enabled/><w:ddList><w:result w:val="1"/><w:listEntry w:val="crimson"/>'
        '<w:listEntry w:val="navy"/></w:ddList></w:ffData>'
    )
    append(third, f'<w:r><w:fldChar w:fldCharType="begin">{drop_down}</w:fldChar></w:r>')
    append(third, '<w:r><w:instrText xml:space="preserve"> FORMDROPDOWN </w:instrText></w:r>')
    append(third, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')
    fourth = document.add_paragraph()
    append(fourth, '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>')
    fourth.add_run(" Paid")
    fifth = document.add_paragraph()
    append(fifth, '<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>')
    fifth.add_run(" Refunded")
    sixth = document.add_paragraph("Error of type ")
    append(sixth, '<w:r><w:sym w:font="Symbol" w:char="F062"/></w:r>')


FIELDS = [link("table of tides", "https://example.com/tide"), says("Dear Mrs Okafor")]
OFFICE_CASES.file(
    "fields.docx",
    FIELDS,
    says("Colour: navy", "Colour: [navy]", "Colour: [navy ▾]"),
    checked("Paid"),
    unchecked("Refunded"),
    says("type β"),
)(word.saved(fields))
for suffix in ("odt", "rtf", "doc", "html"):
    OFFICE_CASES.converted(f"fields_{suffix}.{suffix}", word.saved(fields), "docx", FIELDS)


def equations(document: DocxDocument) -> None:
    for xml in MATH:
        append(document.add_paragraph("Here is "), xml)


EQUATIONS = [
    says(r"\sqrt{x}", "√x", "√(x)"),
    says(
        r"\sum_{i=1}^{n}",
        r"\sum_{i=1}^n",
        r"\sum _{i=1}^{n}",
        r"\sum_{i = 1}^{n}",
        "∑_{i=1}^{n}",
        r"\sum\limits_{i=1}^{n}",
    ),
    says(r"p & q \\ r & s", r"p & q\\ r & s", r"p & q \\r & s", r"p&q\\r&s", r"p & q\\r & s"),
]
OFFICE_CASES.file("equations.docx", EQUATIONS)(word.saved(equations))

NUMBERED = [says(text, text.replace(" ", ". ")) for text in ("2 Terms", "2.1 Delivery", "2.2 Payment")]
for suffix in ("odt", "rtf", "doc"):
    OFFICE_CASES.converted(f"numbered_{suffix}.{suffix}", word._numbered, "docx", NUMBERED)
    OFFICE_CASES.converted(
        f"links_{suffix}.{suffix}", word._links, "docx", link("the rules", "https://example.com/rules#part-2")
    )
    OFFICE_CASES.converted(f"notes_{suffix}.{suffix}", word.notes, "docx", says("Check the figure of 41 tonnes"))
    OFFICE_CASES.converted(
        f"nested_table_{suffix}.{suffix}",
        word._nested,
        "docx",
        each("Inner A", "Inner B", "Outer right"),
        in_order("Outer left", "Inner A", "Inner B", "Outer right", "After it"),
    )
    OFFICE_CASES.converted(
        f"language_{suffix}.{suffix}", word._language, "docx", each("日本語の文書", "Ελληνικά κείμενα", "שלום עולם")
    )

HEADS = ("Kind", "Value")
FORMATTED: tuple[tuple[str, object, str, str], ...] = (
    ("Day", date(2024, 3, 9), "dd.mm.yyyy", "09.03.2024"),
    ("Month", date(2024, 3, 9), "mmm-yy", "Mar-24"),
    ("Weekday", date(2024, 3, 9), "dddd", "Saturday"),
    ("Condition", 25300, '[>=1000]#,##0.0,"k";0', "25.3k"),
    ("Small", 250, '[>=1000]#,##0.0,"k";0', "250"),
    ("Account", -1234.5, '#,##0.00" €";[Red]-#,##0.00" €"', "-1,234.50 €"),
    ("Pieces", "12", '@" pcs"', "12 pcs"),
    ("Reply", 0, '"Yes";"No";"Open"', "Open"),
    ("Rate", 0.0425, "0.00%", "4.25%"),
    ("Eighths", 3.375, "# ?/8", "3 3/8"),
    ("Minutes", timedelta(minutes=95, seconds=30), "[mm]:ss", "95:30"),
    ("Time", time(6, 5, 4), "hh:mm:ss", "06:05:04"),
    ("Phone", 5551234567, "(000) 000-0000", "(555) 123-4567"),
    ("Stamp", datetime(2024, 3, 9, 17, 5), "d/m/yyyy hh:mm", "9/3/2024 17:05"),
    ("Millions", 12345678, '0.0,,"M"', "12.3M"),
)


def formats(_: Workbook, sheet: Worksheet) -> None:
    sheet.append(HEADS)
    for kind, value, code, _shown in FORMATTED:
        sheet.append((kind, value))
        sheet.cell(sheet.max_row, 2).number_format = code
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = 24


IN_FORMAT = table(HEADS, *((kind, text) for kind, _, _, text in FORMATTED if kind not in ("Day", "Stamp")))
DATES = [
    says("09.03.2024", "2024-03-09"),
    says("9/3/2024 17:05", "2024-03-09 17:05", "2024-03-09T17:05", "2024-03-09 17:05:00"),
]
OFFICE_CASES.file("more_formats.xlsx", IN_FORMAT, DATES)(sheets.saved(formats))
for suffix in ("ods", "xls", "html", "csv"):
    OFFICE_CASES.converted(f"more_formats_{suffix}.{suffix}", sheets.saved(formats), "xlsx", IN_FORMAT, DATES)


def rich(book: Workbook, sheet: Worksheet) -> None:
    sheet["A1"] = sheets.CellRichText("Price: ", sheets.TextBlock(sheets.InlineFont(strike=True), "99"), " 79 euros")
    sheet["A2"] = sheets.CellRichText("10", sheets.TextBlock(sheets.InlineFont(vertAlign="superscript"), "5"), " cells")
    sheet["A3"] = "our shop"
    sheet["A3"].hyperlink = "https://example.com/shop"
    for row in (("Item", "Count"), ("Pens", 12), ("Secret", 98), ("Ink", 4)):
        sheet.append(row)
    sheet.row_dimensions[6].hidden = True
    other = book.create_sheet("Wages")
    other.sheet_state = "veryHidden"
    other.append(("Who", "EUR"))
    other.append(("Ann", 5100))


RICH = [
    Struck("99"),
    raised("10", "5", " cells"),
    link("our shop", "https://example.com/shop"),
    Unseen("Secret"),
    says("79 euros"),
]
OFFICE_CASES.file("rich.xlsx", RICH, Unseen("5100"))(sheets.saved(rich))
for suffix in ("ods", "xls"):
    OFFICE_CASES.converted(f"rich_{suffix}.{suffix}", sheets.saved(rich), "xlsx", RICH)


@OFFICE_CASES.file(
    "cells.xlsx",
    says("17.5", "=SUM(B2:B3)", "SUM(B2:B3)"),
    says("=not a formula", "'=not a formula"),
    each("small", "medium", "#N/A", "FALSE"),
)
@sheets.saved
def _cells(_: Workbook, sheet: Worksheet) -> None:
    for row in (("Post", "EUR"), ("Rope", 10), ("Oil", 7.5), ("Total", "=SUM(B2:B3)"), ("Open", False)):
        sheet.append(row)
    sheet["A6"] = "=not a formula"
    sheet["A6"].data_type = "s"
    sheet["B7"] = "#N/A"
    sheet["B7"].data_type = "e"
    choices = DataValidation(type="list", formula1='"small,medium,large"', allow_blank=True)
    sheet.add_data_validation(choices)
    choices.add("C2")


@OFFICE_CASES.file(
    "charts.xlsx",
    says("Oats | 2.5 | 420", "2.5 | 420"),
    says("Rye | 4 | 310", "4 | 310", "4 | | 310"),
    says("2025-01-31 | 7", "31/01/2025 | 7", never="45688 | 7"),
    says("3 | 8 | 45", "3 | 8 | 45.0"),
    each("Yield by rain", "Rain in cm"),
    link("our map", "https://example.com/map"),
    source="xlsxwriter",
)
def charts(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        data, drawn = book.add_worksheet("Data"), book.add_worksheet("Drawn")
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        for row, numbers in enumerate(((2.5, 420, 4, 310, 3, 8, 45), (3.5, 430, 6, 320, 5, 9, 60))):
            data.write_row(row, 0, numbers)
        for row, (when, count) in enumerate(((date(2025, 1, 31), 7), (date(2025, 2, 28), 9))):
            data.write_datetime(row, 8, when, day)
            data.write(row, 9, count)
        scatter = book.add_chart({"type": "scatter"})
        scatter.set_title({"name": "Yield by rain"})
        scatter.set_x_axis({"name": "Rain in cm"})
        for name, x in (("Oats", "A"), ("Rye", "C")):
            y = chr(ord(x) + 1)
            scatter.add_series({"name": name, "categories": f"=Data!${x}$1:${x}$2", "values": f"=Data!${y}$1:${y}$2"})
        lines = book.add_chart({"type": "line"})
        lines.add_series({"name": "Visitors", "categories": "=Data!$I$1:$I$2", "values": "=Data!$J$1:$J$2"})
        lines.set_x_axis({"date_axis": True})
        drawn.insert_chart("A1", scatter)
        drawn.insert_chart("A20", lines)
        drawn.write_formula("H1", '=HYPERLINK("https://example.com/map","our map")', None, "our map")


@OFFICE_CASES.file(
    "numbers.pptx",
    says("3. Stir", "3) Stir"),
    says("4. Rest", "4) Rest"),
    says("b) fold twice", "(b) fold twice"),
    link("Order here", "https://example.com/order"),
    says(r"\frac{a}{b}", "a/b"),
)
@slides.saved
def _numbers(made: Slides) -> None:
    slide = slides.titled(made, "Dough")
    frame = slide.shapes.add_textbox(*slides.BOX).text_frame
    for words, level, kind in (
        ("Stir", 0, 'type="arabicPeriod" startAt="3"'),
        ("spoon it", 1, 'type="alphaLcParenR"'),
        ("fold twice", 1, 'type="alphaLcParenR"'),
        ("Rest", 0, 'type="arabicPeriod" startAt="3"'),
    ):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
        paragraph._p.get_or_add_pPr().append(parse_slide_xml(f"<a:buAutoNum {slides.DRAWING} {kind}/>"))
    button = slide.shapes.add_shape(slides.MSO_SHAPE.RECTANGLE, *slides.BOX)
    button.text_frame.text = "Order here"
    button.click_action.hyperlink.address = "https://example.com/order"
    equation = frame.add_paragraph()
    equation._p.append(
        parse_slide_xml(
            '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
            'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMathPara><m:oMath><m:f><m:num><m:r>'
            "<m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara></a14:m>"
        )
    )


def categories(made: Slides) -> None:
    data = CategoryChartData(number_format="0")
    for season, months in (("Spring", ("April", "May")), ("Autumn", ("October", "November"))):
        category = data.categories.add_category(season)
        for month in months:
            category.add_sub_category(month)
    data.add_series("Rain", (41, 42, 91, 92))
    slides.titled(made, "Weather").shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *slides.BOX, data)
    spans = slides.titled(made, "Rooms").shapes.add_table(3, 3, *slides.BOX).table
    for row, words in zip(spans.rows, (("Day", "Rooms", ""), ("", "East", "West"), ("Mon", "3", "5")), strict=True):
        for cell, text in zip(row.cells, words, strict=True):
            cell.text = text
    spans.cell(0, 1).merge(spans.cell(0, 2))
    spans.cell(0, 0).merge(spans.cell(1, 0))


OFFICE_CASES.file(
    "categories.pptx",
    says(
        "Spring | May | 42", "Spring May | 42", "Spring / May | 42", "Spring, May | 42", "Spring – May | 42", "May | 42"
    ),
    says(
        "Autumn | November | 92",
        "Autumn November | 92",
        "Autumn / November | 92",
        "Autumn, November | 92",
        "November | 92",
    ),
    says("Mon | 3 | 5"),
    in_order("Rooms", "East", "West", "Mon"),
)(slides.saved(categories))


@OFFICE_CASES.file(
    "alternate.docx",
    says("Open all day", never="Open all day Open all day"),
    each("Inserted by another file.", "The end of it."),
)
def alternate(path: Path) -> None:
    document = word.Document()
    shape = (
        '<wps:wsp xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:txbx>'
        "<w:txbxContent><w:p><w:r><w:t>Open all day</w:t></w:r></w:p></w:txbxContent></wps:txbx></wps:wsp>"
    )
    old = (
        '<w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>Open all day'
        "</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>"
    )
    append(
        document.add_paragraph(),
        '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f'<mc:Choice Requires="wps"><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        f'<a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">{shape}</a:graphicData></a:graphic>'
        f"</wp:inline></w:drawing></mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>",
    )
    document.element.body.insert(1, parse_xml(f'<w:altChunk {word.nsdecls("w", "r")} r:id="rIdChunk"/>'))
    document.add_paragraph("The end of it.")
    plain = path.with_suffix(".tmp")
    document.save(str(plain))
    with ZipFile(plain) as old_file, ZipFile(path, "w", ZIP_DEFLATED) as new_file:
        for name in old_file.namelist():
            data = old_file.read(name)
            if name == "word/_rels/document.xml.rels":
                kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk"
                added = f'<Relationship Id="rIdChunk" Type="{kind}" Target="chunk.html"/></Relationships>'
                data = data.replace(b"</Relationships>", added.encode())
            if name == "[Content_Types].xml":
                data = data.replace(b"</Types>", b'<Default Extension="html" ContentType="text/html"/></Types>')
            new_file.writestr(name, data)
        new_file.writestr("word/chunk.html", "<p>Inserted by another file.</p>")
    plain.unlink()
