"""Documents of word processors: DOCX by python-docx, and the same in other formats by LibreOffice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docx import Document
from docx.document import Document as DocxDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph

from .corpus import Family
from .facts import (
    Fact,
    Struck,
    Unseen,
    checked,
    each,
    in_order,
    link,
    lowered,
    raised,
    says,
    table,
    unchecked,
)

WORD = Family("python-docx")

STOCK = ("Article", "Store", "Shop", "Ordered")
ARTICLES = (("Rope 12 mm", "40", "", "100"), ("Anchor", "", "2", ""), ("Lamp & oil", "7", "1", "9"))


def saved(build: Callable[[DocxDocument], object]) -> Callable[[Path], None]:
    """A maker of the document that a function fills."""

    def make(path: Path) -> None:
        document = Document()
        build(document)
        document.save(str(path))

    return make


def append(paragraph: Paragraph, xml: str) -> None:
    paragraph._p.append(parse_xml(xml.replace(">", f" {nsdecls('w', 'm', 'r')}>", 1)))


def fill(document: DocxDocument, heads: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    made = document.add_table(rows=0, cols=len(heads), style="Table Grid")
    for row in (heads, *rows):
        for cell, words in zip(made.add_row().cells, row, strict=True):
            cell.text = words


def report(document: DocxDocument) -> None:
    document.sections[0].header.paragraphs[0].text = "Harbour office, confidential"
    document.add_heading("Stock of the year", 1)
    document.add_paragraph("The store was counted on 31 December 2024 by Ann Möller.")
    document.add_heading("Articles", 2)
    fill(document, STOCK, ARTICLES)
    document.add_paragraph("What is missing was ordered.")
    for words in ("Check the lamps", "Grease the winches"):
        document.add_paragraph(words, style="List Bullet")
    document.add_heading("Outlook", 2)
    document.add_paragraph("Prices rise by 3.5 % – perhaps more.")


REPORT: list[Fact] = [
    *table(STOCK, *ARTICLES),
    *each("31 December 2024 by Ann Möller", "Prices rise by 3.5 % – perhaps more."),
    in_order("Stock of the year", "Articles", "Rope 12 mm", "Lamp & oil", "What is missing was ordered."),
    in_order("Check the lamps", "Grease the winches", "Outlook"),
]
HEADER = each("Harbour office, confidential")
WORD.file("report.docx", REPORT, HEADER)(saved(report))
for suffix in ("odt", "rtf", "doc", "pdf", "html"):
    WORD.converted(f"report_{suffix}.{suffix}", saved(report), "docx", REPORT, HEADER)


def formulas(document: DocxDocument) -> None:
    for before, script, after, is_raised in (
        ("About 10", "5", " cells in a litre of water,", True),
        ("which is H", "2", "O with a trace of", False),
        ("CO", "2", ", on 40", False),
        ("m", "2", " of ground.", True),
    ):
        paragraph = document.add_paragraph(before)
        run = paragraph.add_run(script)
        setattr(run.font, "superscript" if is_raised else "subscript", True)
        paragraph.add_run(after)


FORMULAS = [raised("10", "5"), lowered("H", "2", "O"), lowered("CO", "2"), raised("m", "2")]
WORD.file("formulas.docx", FORMULAS)(saved(formulas))
for suffix in ("odt", "rtf", "doc", "html", "pdf"):
    WORD.converted(f"formulas_{suffix}.{suffix}", saved(formulas), "docx", FORMULAS)


def contract(document: DocxDocument) -> None:
    paragraph = document.add_paragraph("The rent is ")
    append(paragraph, '<w:del w:id="1" w:author="Ann"><w:r><w:delText>900 euros</w:delText></w:r></w:del>')
    append(paragraph, '<w:ins w:id="2" w:author="Ann"><w:r><w:t>950 euros</w:t></w:r></w:ins>')
    paragraph.add_run(" a month.")
    second = document.add_paragraph("Notice is given ")
    second.add_run("four weeks").font.strike = True
    second.add_run(" three months before the end.")
    third = document.add_paragraph("The tenant pays for water.")
    hidden = third.add_run("The landlord may end this at any time.")
    hidden.font.hidden = True


CONTRACT = [
    *each("950 euros", "three months before the end.", "The tenant pays for water."),
    Struck("900 euros"),
    Struck("four weeks"),
    Unseen("The landlord may end this at any time."),
]
WORD.file("contract.docx", CONTRACT)(saved(contract))
for suffix in ("odt", "rtf", "doc"):
    WORD.converted(f"contract_{suffix}.{suffix}", saved(contract), "docx", CONTRACT)


@WORD.file(
    "form.docx",
    checked("I agree"),
    unchecked("I want to be called"),
    says("Colour: green", "Colour: [green]"),
    says("Date: 2025-06-01", "Date: 1 June 2025"),
    checked("Delivered"),
    says("Name: Grace Hopper"),
)
@saved
def _form(document: DocxDocument) -> None:
    for label, state in (("I agree", "1"), ("I want to be called", "0")):
        paragraph = document.add_paragraph()
        box = (
            f'<w:sdt xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w:sdtPr><w14:checkbox>'
            f'<w14:checked w14:val="{state}"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>'
            f"{'☒' if state == '1' else '☐'}</w:t></w:r></w:sdtContent></w:sdt>"
        )
        append(paragraph, box)
        paragraph.add_run(f" {label}")
    append(
        document.add_paragraph("Colour: "),
        '<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="red" w:value="1"/><w:listItem '
        'w:displayText="green" w:value="2"/></w:dropDownList></w:sdtPr><w:sdtContent><w:r><w:t>green</w:t></w:r>'
        "</w:sdtContent></w:sdt>",
    )
    append(
        document.add_paragraph("Date: "),
        '<w:sdt><w:sdtPr><w:date w:fullDate="2025-06-01T00:00:00Z"/></w:sdtPr><w:sdtContent><w:r><w:t>1 June 2025'
        "</w:t></w:r></w:sdtContent></w:sdt>",
    )
    legacy = document.add_paragraph()
    append(
        legacy,
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Check1"/><w:checkBox><w:default w:val="1"/>'
        "</w:checkBox></w:ffData></w:fldChar></w:r>",
    )
    append(legacy, '<w:r><w:instrText xml:space="preserve"> FORMCHECKBOX </w:instrText></w:r>')
    append(legacy, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')
    legacy.add_run(" Delivered")
    named = document.add_paragraph("Name: ")
    append(
        named,
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Text1"/><w:textInput/></w:ffData></w:fldChar>'
        "</w:r>",
    )
    append(named, '<w:r><w:instrText xml:space="preserve"> FORMTEXT </w:instrText></w:r>')
    append(named, '<w:r><w:fldChar w:fldCharType="separate"/></w:r>')
    append(named, "<w:r><w:t>Grace Hopper</w:t></w:r>")
    append(named, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')


def merged(document: DocxDocument) -> None:
    made = document.add_table(rows=4, cols=3, style="Table Grid")
    rows = (("Year", "Income", ""), ("", "Home", "Abroad"), ("2023", "311", "122"), ("2024", "", "133"))
    for row, words in zip(made.rows, rows, strict=True):
        for cell, text in zip(row.cells, words, strict=True):
            cell.text = text
    made.cell(0, 1).merge(made.cell(0, 2))
    made.cell(0, 0).merge(made.cell(1, 0))


MERGED = [
    *each("Income", "Home", "Abroad"),
    in_order("2023", "311", "122", "2024", "133"),
]
WORD.file("merged_cells.docx", MERGED)(saved(merged))
WORD.converted("merged_cells_odt.odt", saved(merged), "docx", MERGED)


@WORD.file(
    "links.docx",
    link("the rules", "https://example.com/rules#part-2"),
    each("as stated in", "of the club."),
)
@saved
def _links(document: DocxDocument) -> None:
    paragraph = document.add_paragraph("We act as stated in ")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
    relation = document.part.relate_to("https://example.com/rules#part-2", kind, is_external=True)
    append(paragraph, f'<w:hyperlink r:id="{relation}"><w:r><w:t>the rules</w:t></w:r></w:hyperlink>')
    paragraph.add_run(" of the club.")


@WORD.file(
    "numbered.docx",
    says("1 Scope", "1. Scope", "1) Scope"),
    says("2 Terms", "2. Terms", "2) Terms"),
    says("2.1 Delivery", "2.1. Delivery"),
    says("2.2 Payment", "2.2. Payment"),
    says("(a) in cash", "a) in cash", "(a) in cash,"),
    says("(b) by card", "b) by card"),
    in_order("Scope", "Terms", "Delivery", "Payment", "in cash", "by card"),
)
@saved
def _numbered(document: DocxDocument) -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{shape}"/></w:lvl>'
        for level, (kind, shape) in enumerate((("decimal", "%1"), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")))
    )
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for level, words in ((0, "Scope"), (0, "Terms"), (1, "Delivery"), (1, "Payment"), (2, "in cash"), (2, "by card")):
        paragraph = document.add_paragraph(words)
        properties = paragraph._p.get_or_add_pPr()
        properties.append(
            parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>')
        )


@WORD.file(
    "equation.docx",
    says(r"\frac{a}{b}", r"\frac{a}{b+1}", "a/b", "(a)/(b)", "a⁄b"),
    says("E = m c^2", "E=mc^2", "E=mc^{2}", "E = mc^{2}", "E=m c^{2}", "E=mc²", "E = mc²", never="E=mc2"),
    each("The ratio is", "as Einstein wrote."),
)
@saved
def _equation(document: DocxDocument) -> None:
    def run(words: str) -> str:
        return f"<m:r><m:t>{words}</m:t></m:r>"

    first = document.add_paragraph("The ratio is ")
    append(first, f"<m:oMath><m:f><m:num>{run('a')}</m:num><m:den>{run('b')}</m:den></m:f></m:oMath>")
    second = document.add_paragraph("It is ")
    append(second, f"<m:oMath>{run('E=m')}<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup></m:oMath>")
    second.add_run(", as Einstein wrote.")


@WORD.file(
    "notes.docx",
    says("Check the figure of 41 tonnes"),
    each("The orchard gave 41 tonnes.", "Weighed at the gate."),
    in_order("The orchard gave 41 tonnes", "Check the figure"),
    source="python-docx, and a footnote by hand",
)
def notes(path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph()
    run = paragraph.add_run("The orchard gave 41 tonnes.")
    document.add_comment(run, "Check the figure of 41 tonnes", author="Bob", initials="B")
    document.add_paragraph("Weighed at the gate.")
    document.save(str(path))


@WORD.file(
    "text_box.docx",
    each("Opening hours: 9 to 17", "Closed on Sunday", "Visit the museum."),
    in_order("Visit the museum.", "The end."),
)
@saved
def _text_box(document: DocxDocument) -> None:
    document.add_paragraph("Visit the museum.")
    paragraph = document.add_paragraph()
    box = (
        '<w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><w:txbxContent>'
        "<w:p><w:r><w:t>Opening hours: 9 to 17</w:t></w:r></w:p><w:p><w:r><w:t>Closed on Sunday</w:t></w:r></w:p>"
        "</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    append(paragraph, box)
    document.add_paragraph("The end.")


@WORD.file(
    "ruby.docx",
    says("漢字(かんじ)", "漢字（かんじ）", "漢字 (かんじ)", "漢字<rt>かんじ</rt>"),
    each("Small caps and 12 pt"),
)
@saved
def _ruby(document: DocxDocument) -> None:
    paragraph = document.add_paragraph()
    append(
        paragraph,
        "<w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r>",
    )
    run = document.add_paragraph().add_run("Small caps and 12 pt")
    run.font.small_caps, run.font.size, run.font.color.rgb = True, Pt(12), RGBColor(0, 0, 90)


@WORD.file(
    "nested_table.docx",
    each("Inner A", "Inner B", "Outer right"),
    in_order("Outer left", "Inner A", "Inner B", "After it"),
)
@saved
def _nested(document: DocxDocument) -> None:
    outer = document.add_table(rows=1, cols=2)
    outer.cell(0, 0).text = "Outer left"
    inner = outer.cell(0, 0).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "Inner A", "Inner B"
    outer.cell(0, 1).text = "Outer right"
    document.add_paragraph("After it")


@WORD.file(
    "language.docx",
    each("日本語の文書", "Ελληνικά κείμενα", "שלום עולם", "مرحبا بالعالم", "Ünïcödé – “quoted”"),
    each("naïve café"),
)
@saved
def _language(document: DocxDocument) -> None:
    for words in ("日本語の文書", "Ελληνικά κείμενα", "שלום עולם", "مرحبا بالعالم", "Ünïcödé – “quoted”", "naïve café"):
        document.add_paragraph(words)
