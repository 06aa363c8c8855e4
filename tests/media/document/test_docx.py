"""What Word shows of a DOCX beside plain text: automatic numbers, as LibreOffice 7.4.7 shows them too, marks, forms."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import docx
import openpyxl
import pptx
import pytest
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from PIL import Image

from abstractcore_media.document.counting import numbered as number_text
from abstractcore_media.document.office.docx_runs import address_of_link
from tests.media.document.documents import converted, losses
from tests.media.document.numbered_documents import WORD, add_item, level, numbered, saved
from tests.media.document.ole_files import ole_file
from tests.media.parts import NO_MODELS

RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SEES = replace(NO_MODELS, accepted_outputs=frozenset({"text", "image/png"}))
READS = replace(NO_MODELS, to_text=lambda part: converted(part.blob.read(), part.blob.name or ""))

OUTLINE = [level(0, "decimal", "%1."), level(1, "lowerLetter", "%1.%2)"), level(2, "lowerRoman", "(%3)")]
ONE = [level(0, "decimal", "%1.")]
OWN_START = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
OWN_LEVEL = f'<w:lvlOverride w:ilvl="0">{level(0, "upperLetter", "%1)")}</w:lvlOverride>'


def lines(document: Document | bytes) -> list[str]:
    data = document if isinstance(document, bytes) else saved(document)
    return [line.strip() for line in converted(data, "file.docx").text.splitlines() if line.strip()]


def paragraph(document: Document, xml: str) -> None:
    """Adds a paragraph with such runs."""
    added = document.add_paragraph()._p
    for each in parse_xml(f'<w:p {WORD} xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml">{xml}</w:p>'):
        added.append(each)


@pytest.mark.parametrize(
    ("levels", "items", "lists", "expected"),
    [
        (OUTLINE, [(0, "a"), (1, "b"), (1, "c"), (2, "d"), (1, "e"), (2, "f"), (0, "g"), (1, "h")], [""],
         ["1. a", "1.a) b", "1.b) c", "(i) d", "1.c) e", "(i) f", "2. g", "2.a) h"]),
        (OUTLINE, [(1, "a"), (2, "b"), (0, "c"), (2, "d"), (1, "e")], [""],
         ["1.a) a", "(i) b", "2. c", "(i) d", "2.b) e"]),
        ([level(0, "decimal", "%1.", 5)], [(0, "a"), (0, ""), (0, "b")], [""], ["5. a", "7. b"]),
        (ONE, [(0, "a", 0), (0, "b", 1), (0, "c", 0), (0, "d", 1)], ["", ""], ["1. a", "2. b", "3. c", "4. d"]),
        (ONE, [(0, "a", 0), (0, "b", 0), (0, "c", 1), (0, "d", 1), (0, "e", 0)], ["", OWN_START],
         ["1. a", "2. b", "1. c", "2. d", "3. e"]),
        (ONE, [(0, "a", 0), (0, "b", 1)], ["", OWN_LEVEL], ["1. a", "B) b"]),
        ([level(0, "none", "%1"), level(1, "bullet", "\uf0b7")], [(0, "a"), (1, "b")], [""], ["a", "- b"]),
    ],
)  # fmt: skip
def test_items_of_lists_have_the_numbers_that_libreoffice_shows(
    levels: Sequence[str], items: Sequence[tuple[int, str]], lists: Sequence[str], expected: list[str]
):
    assert lines(numbered(levels, items, lists)) == expected


def test_levels_restart_and_are_decimal_as_the_standard_says():
    legal = [level(0, "upperRoman", "Article %1."), level(1, "decimalZero", "Section %1.%2", more="<w:isLgl/>")]
    assert lines(numbered(legal, [(0, "a"), (1, "b"), (0, "c"), (1, "d")])) == [
        "Article I. a", "Section 1.01 b", "Article II. c", "Section 2.01 d"
    ]  # fmt: skip
    counting_on = [level(0, "decimal", "%1."), level(1, "decimal", "%2)", more='<w:lvlRestart w:val="0"/>')]
    assert lines(numbered(counting_on, [(0, "a"), (1, "b"), (0, "c"), (1, "d")])) == ["1. a", "1) b", "2. c", "2) d"]


@pytest.mark.parametrize(
    ("style", "texts"),
    [
        ("decimalZero", {1: "01", 10: "10", 100: "100"}),
        ("upperLetter", {26: "Z", 27: "AA", 28: "BB", 53: "AAA"}),
        ("lowerRoman", {4: "iv", 1999: "mcmxcix", 4000: "4000"}),
        ("ordinal", {1: "1st", 11: "11th", 22: "22nd", 103: "103rd"}),
        ("cardinalText", {1: "One", 30: "Thirty", 121: "One hundred twenty-one"}),
        ("ordinalText", {1: "First", 20: "Twentieth", 22: "Twenty-second", 112: "One hundred twelfth"}),
        ("numberInDash", {7: "- 7 -"}),
        ("decimalEnclosedCircle", {3: "③", 21: "21"}),
        ("chineseCounting", {5: "五", 10: "十", 24: "二十四"}),
        ("001", {7: "007"}),
        ("no such format", {7: "7"}),
    ],
)
def test_number_formats_of_lists(style: str, texts: dict[int, str]):
    assert {number: number_text(number, style) for number in texts} == texts


def test_headings_are_numbered_by_their_styles():
    document = docx.Document()
    numbering = document.part.numbering_part.element
    levels = "".join(
        level(number, "decimal", text, more=f'<w:pStyle w:val="Heading{number + 1}"/>')
        for number, text in enumerate(("%1", "%1.%2"))
    )
    numbering.insert(0, parse_xml(f'<w:abstractNum {WORD} w:abstractNumId="70">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {WORD} w:numId="70"><w:abstractNumId w:val="70"/></w:num>'))
    for name in ("Heading 1", "Heading 2"):
        properties = document.styles[name].element.get_or_add_pPr()
        properties.append(parse_xml(f'<w:numPr {WORD}><w:numId w:val="70"/></w:numPr>'))
    for text, depth in (("Soil", 1), ("Clay", 2), ("Sand", 2), ("Rain", 1), ("Snow", 2)):
        document.add_heading(text, depth)
    assert lines(document) == ["# 1 Soil", "## 1.1 Clay", "## 1.2 Sand", "# 2 Rain", "## 2.1 Snow"]


def test_words_keep_their_marks():
    document = docx.Document()
    added = document.add_paragraph("10")
    added.add_run("5").font.superscript = True
    added.add_run(" H")
    added.add_run("2").font.subscript = True
    added.add_run("O, the 5")
    added.add_run("th").font.superscript = True
    for text in (" 99", "9 "):
        added.add_run(text).font.strike = True
    added.add_run("79")
    assert lines(document) == ["10⁵ H₂O, the 5<sup>th</sup> ~~999~~ 79"]


def test_styles_mark_words_and_runs_take_it_back():
    document = docx.Document()
    document.styles["Quote"].font.strike = True
    added = document.add_paragraph("gone ", style="Quote")
    added.add_run("stays").font.strike = False
    assert lines(document) == ["~~gone~~ stays"]


def test_hidden_text_is_counted_and_not_shown():
    document = docx.Document()
    document.add_paragraph("seen").add_run(" unseen").font.hidden = True
    conversion = converted(saved(document), "hidden.docx")
    assert conversion.text == "seen"
    assert losses(conversion) == {"hidden texts": (1, None)}


def test_tracked_deletions_are_struck_through_and_counted():
    document = docx.Document()
    run = "<w:r><w:delText xml:space='preserve'>{}</w:delText></w:r>"
    paragraph(
        document,
        f'<w:r><w:t xml:space="preserve">pay </w:t></w:r><w:del w:id="1">{run.format("9")}{run.format("9")}</w:del>'
        '<w:r><w:t xml:space="preserve"> </w:t></w:r><w:ins w:id="2"><w:r><w:t>79</w:t></w:r></w:ins>'
        f"<w:moveFrom w:id='3'><w:r><w:t>moved</w:t></w:r></w:moveFrom>",
    )
    assert lines(document) == ["pay ~~99~~ 79", "[tracked deletions, shown as ~~struck through~~: 1]"]


def legacy(data: str, shown: str = "") -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        '<w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f'<w:r><w:t>{shown}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (legacy('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), "[x]"),
        (legacy('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), "[ ]"),
        (legacy('<w:checkBox><w:default w:val="1"/></w:checkBox>'), "[x]"),
        (legacy('<w:ddList><w:result w:val="1"/><w:listEntry w:val="A"/><w:listEntry w:val="B"/></w:ddList>'), "B"),
        (legacy("<w:textInput/>", "Ann Lee"), "Ann Lee"),
        ('<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr>'
         "<w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt>", "[x]"),
        ('<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="0"/></w14:checkbox></w:sdtPr>'
         "<w:sdtContent><w:r><w:t>☐</w:t></w:r></w:sdtContent></w:sdt>", "[ ]"),
        ("<w:sdt><w:sdtPr><w:comboBox/></w:sdtPr><w:sdtContent><w:r><w:t>B</w:t></w:r></w:sdtContent></w:sdt>", "B"),
        ("<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:r><w:t>Pick.</w:t></w:r></w:sdtContent></w:sdt>",
         "[not filled in: Pick.]"),
    ],
)  # fmt: skip
def test_form_fields_have_their_state(xml: str, expected: str):
    document = docx.Document()
    paragraph(document, f"<w:r><w:t>Box:</w:t><w:tab/></w:r>{xml}<w:r><w:t>!</w:t></w:r>")
    assert lines(document) == [f"Box:\t{expected}!"]


def test_controls_around_paragraphs_and_in_cells_have_their_state():
    document = docx.Document()
    control = (
        f"<w:sdt {WORD}><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>Your name</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>"
    )
    document.add_paragraph("first")._p.addnext(parse_xml(control))
    document.add_table(1, 1).cell(0, 0)._tc.insert(0, parse_xml(control))
    assert lines(document) == ["first", "[not filled in: Your name]", "| [not filled in: Your name] |", "| --- |"]


def test_links_of_fields_keep_their_addresses():
    document = docx.Document()
    code = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    paragraph(
        document,
        code.format("begin") + '<w:r><w:instrText>HYPERLINK "https://example.org/a"</w:instrText></w:r>'
        + code.format("separate") + "<w:r><w:t>the rules</w:t></w:r>" + code.format("end")
        + '<w:fldSimple w:instr="HYPERLINK &quot;https://example.org/b&quot;"><w:r><w:t>B</w:t></w:r></w:fldSimple>',
    )  # fmt: skip
    assert lines(document) == ["[the rules](https://example.org/a)[B](https://example.org/b)"]


def test_readings_and_symbols_stand_in_the_text():
    document = docx.Document()
    paragraph(
        document,
        "<w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>"
        '<w:r><w:sym w:font="Symbol" w:char="F0B1"/><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>',
    )
    assert lines(document) == ["漢字(かんじ)±☑"]


def test_items_in_tables_are_counted_in_the_order_of_the_file():
    document = docx.Document()
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {WORD} w:abstractNumId="70">{ONE[0]}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {WORD} w:numId="70"><w:abstractNumId w:val="70"/></w:num>'))
    add_item(document, "before", 0, 70)
    cell = document.add_table(1, 1).cell(0, 0)
    cell.paragraphs[0].text = "inside"
    cell.paragraphs[0]._p.insert(
        0, parse_xml(f'<w:pPr {WORD}><w:numPr><w:ilvl w:val="0"/><w:numId w:val="70"/></w:numPr></w:pPr>')
    )
    add_item(document, "after", 0, 70)
    assert lines(document) == ["1. before", "| 2. inside |", "| --- |", "3. after"]


def picture(color: str) -> io.BytesIO:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), color).save(file, "PNG")
    file.seek(0)
    return file


def test_pictures_of_headers_footnotes_and_comments_are_read_as_those_of_the_body():
    document = docx.Document()
    document.add_paragraph("seen")
    for color, around in (("red", document.sections[0].header), ("blue", document.sections[0].footer)):
        around.paragraphs[0].add_run("edge").add_picture(picture(color))
    commented = document.add_paragraph().add_run("words")
    document.add_comment(commented, "why", "Ann").paragraphs[0].add_run().add_picture(picture("green"))
    conversion = converted(saved(document), "file.docx", SEES)
    texts = [each for each in conversion.content if isinstance(each, str)]
    assert "[comment by Ann: why]" in "".join(texts)
    assert [each for text in texts for each in re.findall(r"\[(?:header|footer): \w+\]", text)] == [
        "[header: edge]", "[footer: edge]"
    ]  # fmt: skip
    assert len(conversion.content) - len(texts) == 3
    assert losses(conversion) == {}


def test_a_picture_beside_a_text_box_is_read_too():
    document = docx.Document()
    shown = document.add_paragraph().add_run().add_picture(picture("red"))._inline
    shown.append(parse_xml(f"<w:txbxContent {WORD}><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"))
    conversion = converted(saved(document), "file.docx", SEES)
    assert [type(each).__name__ for each in conversion.content] == ["str", "ImagePart"]
    assert "boxed" in conversion.content[0]


def test_links_of_headers_are_their_own():
    document = docx.Document()
    document.add_paragraph("seen")
    header = document.sections[0].header
    key = header.part.relate_to("http://header.test", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link = f'<w:hyperlink {WORD} xmlns:r="{RELATIONSHIPS}" r:id="{key}"><w:r><w:t>here</w:t></w:r></w:hyperlink>'
    header.paragraphs[0]._p.append(parse_xml(link))
    assert lines(document)[0] == "[header: [here](http://header.test)]"


@pytest.mark.parametrize(
    ("code", "address"),
    [
        ('HYPERLINK "http://a.test/b" \\l "part-2"', "http://a.test/b#part-2"),
        ('HYPERLINK "http://a.test/b" \\o "tip" \\l "part-2"', "http://a.test/b#part-2"),
        ('HYPERLINK "http://a.test/b#c" \\l "part-2"', "http://a.test/b#c"),
        ('HYPERLINK "http://a.test/b"', "http://a.test/b"),
        ('HYPERLINK \\l "part-2"', ""),
    ],
)
def test_addresses_of_links_have_their_place(code: str, address: str):
    assert address_of_link(code) == address


def test_links_have_the_place_that_they_name_besides():
    document = docx.Document()
    key = document.part.relate_to("http://a.test/b", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    attributes = f'{WORD} xmlns:r="{RELATIONSHIPS}" r:id="{key}" w:anchor="c"'
    link = parse_xml(f"<w:hyperlink {attributes}><w:r><w:t>here</w:t></w:r></w:hyperlink>")
    document.add_paragraph()._p.append(link)
    assert lines(document) == ["[here](http://a.test/b#c)"]


def embed(document: Document, data: bytes, name: str, tag: str = "<w:r><w:object><o:OLEObject {}/></w:object></w:r>"):
    part = Part(PackURI(f"/word/embeddings/{name}"), "application/octet-stream", data, document.part.package)
    key = document.part.relate_to(part, RELATIONSHIP_TYPE.PACKAGE)
    return tag.format(f'xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:r="{RELATIONSHIPS}" r:id="{key}"')


def test_embedded_files_are_read_inside_of_the_document():
    book = io.BytesIO()
    workbook = openpyxl.Workbook()
    workbook.active.append(["Rye", 21])
    workbook.save(book)
    document = docx.Document()
    paragraph(document, embed(document, book.getvalue(), "book.xlsx"))
    paragraph(document, embed(document, b"no file", "equation.bin"))
    conversion = converted(saved(document), "file.docx", READS)
    assert "| Rye | 21 |" in conversion.text
    assert losses(conversion) == {"embedded objects": (1, None)}


@pytest.mark.parametrize("stream", ["Package", "CONTENTS", "\x01Ole10Native"])
def test_files_that_ole_objects_are_packed_around_are_read_inside_of_the_document(stream: str):
    book = io.BytesIO()
    workbook = openpyxl.Workbook()
    workbook.active.append(["Rye", 21])
    workbook.save(book)
    data = book.getvalue()
    if stream == "\x01Ole10Native":
        data = b"".join(
            (bytes(6), b"rye.xlsx\0", b"C:\\rye.xlsx\0", bytes(4), len(b"C:\\rye.xlsx\0").to_bytes(4, "little"),
             b"C:\\rye.xlsx\0", len(data).to_bytes(4, "little"), data)
        )  # fmt: skip
    document = docx.Document()
    paragraph(document, embed(document, ole_file(stream, data), "object.bin"))
    conversion = converted(saved(document), "file.docx", READS)
    assert "| Rye | 21 |" in conversion.text
    assert losses(conversion) == {}


def test_files_embedded_in_slides_are_read_on_their_slide():
    book = io.BytesIO()
    workbook = openpyxl.Workbook()
    workbook.active.append(["Rye", 21])
    workbook.save(book)
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_ole_object(io.BytesIO(book.getvalue()), pptx.enum.shapes.PROG_ID.XLSX, 0, 0)
    slide.shapes.add_ole_object(io.BytesIO(ole_file("Package", book.getvalue())), "Excel.Sheet.12", 0, 0)
    slide.shapes.add_ole_object(io.BytesIO(b"no file"), "Equation.3", 0, 0)
    file = io.BytesIO()
    presentation.save(file)
    conversion = converted(file.getvalue(), "slides.pptx", READS)
    assert conversion.text.count("| Rye | 21 |") == 2
    assert losses(conversion)["embedded objects"] == (1, None)


def test_a_table_in_a_cell_stands_in_its_place():
    document = docx.Document()
    left, right = document.add_table(1, 2).rows[0].cells
    right.text = "other"
    left.text = "before"
    inner = left.add_table(2, 2)
    for number, cell in enumerate(inner._cells, 1):
        cell.text = str(number)
    left.paragraphs[-1].text = "after"
    assert lines(document) == ["| before<br>1 \\| 2<br>3 \\| 4<br>after | other |", "| --- | --- |"]


def test_deleted_rows_of_a_table_are_struck_through_and_counted():
    document = docx.Document()
    table = document.add_table(2, 2)
    for number, cell in enumerate(table._cells, 1):
        cell.text = str(number)
    table.rows[1]._tr.get_or_add_trPr().append(parse_xml(f'<w:del {WORD} w:id="1" w:author="Ann"/>'))
    found = lines(document)
    assert found[:3] == ["| 1 | 2 |", "| --- | --- |", "| ~~3~~ | ~~4~~ |"]
    assert found[3:] == ["[tracked deletions, shown as ~~struck through~~: 2]"]


def test_the_only_cell_of_a_table_is_a_frame_around_tables():
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "before"
    inner = cell.add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "a", "b"
    cell.paragraphs[-1].text = "after"
    assert lines(document) == ["before", "| a | b |", "| --- | --- |", "after"]


def test_files_that_word_inserts_are_read_where_they_stand():
    document = docx.Document()
    document.add_paragraph("before")
    chunk = embed(document, b"<html><body><h1>Inserted</h1></body></html>", "chunk.html", f"<w:altChunk {WORD} {{}}/>")
    document.add_paragraph("after")._p.addprevious(parse_xml(chunk))
    text = converted(saved(document), "file.docx", READS).text
    assert text.index("before") < text.index("# Inserted") < text.index("after")
