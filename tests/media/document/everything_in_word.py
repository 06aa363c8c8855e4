"""Writes `everything.doc` again, which LibreOffice makes of a DOCX of python-docx. Needs `soffice`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import docx
from docx.document import Document
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.text.paragraph import Paragraph

from tests.media.document.documents import DOCUMENTS
from tests.media.document.numbered_documents import WORD, add_item, level, saved
from tests.media.parts import FILES

STORED = DOCUMENTS / "everything.doc"


def document() -> bytes:
    """A DOCX with each thing that the readers of Word documents tell."""
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "Harbour office"
    made.sections[0].footer.paragraphs[0].text = "Printed on paper"
    made.add_heading("Stock & store", 1)
    _marks(made)
    _changes(made)
    _lists(made)
    _tables(made)
    _form(made)
    made.add_heading("Pictures", 2)
    made.add_picture(str(FILES / "small.png"))
    return saved(made)


def _marks(made: Document) -> None:
    paragraph = made.add_paragraph("About 10")
    paragraph.add_run("5").font.superscript = True
    paragraph.add_run(" litres of H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O, at 3 EUR ")
    paragraph.add_run("four").font.strike = True
    paragraph.add_run(" ")
    paragraph.add_run("five").font.double_strike = True
    paragraph.add_run(" \u20ac\u4e2d\U0001f600 and a line")
    paragraph.runs[-1].add_break(WD_BREAK.LINE)
    paragraph.add_run("below")
    paragraph.add_run("unseen").font.hidden = True
    link = made.add_paragraph("See ")
    _append(link, '<w:r><w:fldChar w:fldCharType="begin"/></w:r>')
    _append(link, '<w:r><w:instrText xml:space="preserve"> HYPERLINK "http://a.test/x" </w:instrText></w:r>')
    _append(link, '<w:r><w:fldChar w:fldCharType="separate"/></w:r>')
    _append(link, "<w:r><w:t>the page</w:t></w:r>")
    _append(link, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')
    link.add_run(", page 7")


def _changes(made: Document) -> None:
    paragraph = made.add_paragraph("The rent is ")
    _append(paragraph, '<w:del w:id="1" w:author="Ann"><w:r><w:delText>900</w:delText></w:r></w:del>')
    _append(paragraph, '<w:ins w:id="2" w:author="Ann"><w:r><w:t>950</w:t></w:r></w:ins>')
    paragraph.add_run(" euros.")
    made.add_comment(paragraph.runs[-1], text="Check it", author="Ben")


def _lists(made: Document) -> None:
    numbering = made.part.numbering_part.element
    levels = level(0, "decimal", "%1.") + level(1, "lowerLetter", "%1.%2)", 2) + level(2, "bullet", "\u2022")
    definition = f'<w:abstractNum {WORD} w:abstractNumId="77">{levels}</w:abstractNum>'
    numbering.insert(0, parse_xml(definition))
    numbering.append(parse_xml(f'<w:num {WORD} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for depth, text in enumerate(("Ropes", "short", "very short")):
        add_item(made, text, depth, 77)
    add_item(made, "long", 1, 77)
    add_item(made, "Lamps", 0, 77)


def _tables(made: Document) -> None:
    table = made.add_table(rows=3, cols=3, style="Table Grid")
    words = ("Region", "Q1", "Q2", "North", "", "20", "South | west", "30", "")
    for cell, text in zip((cell for row in table.rows for cell in row.cells), words, strict=True):
        cell.text = text
    made.add_paragraph("Between.")
    merged = made.add_table(rows=3, cols=3, style="Table Grid")
    merged.cell(0, 0).merge(merged.cell(0, 1)).text = "wide"
    merged.cell(0, 2).text = "c"
    merged.cell(1, 0).merge(merged.cell(2, 0)).text = "high"
    merged.cell(1, 1).text = "e"
    merged.cell(2, 2).text = "i"
    inner = merged.cell(1, 2).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"


def _form(made: Document) -> None:
    for words, kind in (
        ("I agree", '<w:checkBox><w:sizeAuto/><w:default w:val="1"/></w:checkBox>'),
        ("Call me", '<w:checkBox><w:sizeAuto/><w:default w:val="0"/></w:checkBox>'),
        (
            "is my color",
            '<w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList>',
        ),
    ):
        code = "FORMDROPDOWN" if "ddList" in kind else "FORMCHECKBOX"
        paragraph = made.add_paragraph()
        data = f'<w:ffData><w:name w:val="f"/><w:enabled/>{kind}</w:ffData>'
        _append(paragraph, f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r>')
        _append(paragraph, f"<w:r><w:instrText> {code} </w:instrText></w:r>")
        _append(paragraph, '<w:r><w:fldChar w:fldCharType="separate"/></w:r>')
        _append(paragraph, '<w:r><w:fldChar w:fldCharType="end"/></w:r>')
        paragraph.add_run(f" {words}")
    fonts = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol" w:cs="Symbol"/>'
    _append(made.add_paragraph("Error "), f'<w:r><w:rPr>{fonts}</w:rPr><w:sym w:font="Symbol" w:char="F062"/></w:r>')
    _append(
        made.add_paragraph("Beside a box."),
        '<w:r xmlns:v="urn:schemas-microsoft-com:vml"><w:pict><v:shape style="width:100pt;height:50pt"><v:textbox>'
        "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape>"
        "</w:pict></w:r>",
    )


def _append(paragraph: Paragraph, xml: str) -> None:
    paragraph._p.append(parse_xml(xml.replace(">", f" {WORD}>", 1)))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "everything.docx").write_bytes(document())
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", "doc", "everything.docx"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        STORED.write_bytes(Path(folder, "everything.doc").read_bytes())


if __name__ == "__main__":
    main()
