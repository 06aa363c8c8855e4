"""Slides of python-pptx, converted to PPT by LibreOffice. `python -m` writes them again; it needs `soffice`."""

from __future__ import annotations

import gzip
import subprocess
import tempfile
from pathlib import Path

import pptx
from PIL import Image
from pptx.oxml import parse_xml
from pptx.util import Inches

from tests.media.document.documents import DOCUMENTS

STORED = DOCUMENTS / "slides.ppt.gz"
DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
USED_LAYOUTS = (1, 5)
"""Those of a title with a text, and of a title."""
FARES = [("Zone", "Adult", "Child"), ("Inner", "3.40", "1.70"), ("Outer", "", "2.10"), ("Night", "5.00", "")]


def stored() -> bytes:
    """The PPT file."""
    return gzip.decompress(STORED.read_bytes())


def presentation(folder: Path) -> pptx.presentation.Presentation:
    """Three slides: texts, numbers and a link; a table with empty cells; a hidden one with a picture."""
    found = pptx.Presentation()
    layouts = found.slide_layouts
    for index in reversed(range(len(layouts))):
        if index not in USED_LAYOUTS:
            layouts.remove(layouts[index])
    _texts(found.slides.add_slide(layouts[0]))
    table = found.slides.add_slide(layouts[1])
    table.shapes.title.text = "Price list"
    cells = table.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for row, texts in enumerate(FARES):
        for column, text in enumerate(texts):
            cells.cell(row, column).text = text
    hidden = found.slides.add_slide(layouts[1])
    hidden.shapes.title.text = "For the board alone"
    hidden._element.set("show", "0")
    Image.new("RGB", (8, 8), "red").save(folder / "red.png")
    picture = hidden.shapes.add_picture(str(folder / "red.png"), Inches(1), Inches(2), Inches(1), Inches(1))
    picture._element.nvPicPr.cNvPr.set("descr", "A red square")
    return found


def _texts(slide: pptx.slide.Slide) -> None:
    slide.shapes.title.text = "Fares of 2025"
    body = slide.placeholders[1].text_frame
    body.text = "Two zones"
    inner = body.add_paragraph()
    inner.text, inner.level = "Inner zone", 1
    for text in ("Buy", "Stamp"):
        step = body.add_paragraph()
        step.text = text
        step._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {DRAWING} type="arabicPeriod" startAt="3"/>'))
    box = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(6), Inches(1)).text_frame.paragraphs[0]
    box.add_run().text = "10"
    raised = box.add_run()
    raised.text = "5"
    raised.font._rPr.set("baseline", "30000")
    box.add_run().text = " riders: "
    link = box.add_run()
    link.text = "more"
    link.hyperlink.address = "https://fares.example/more"
    slide.notes_slide.notes_text_frame.text = "The night fare is new."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        presentation(folder).save(str(folder / "slides.pptx"))
        subprocess.run(["soffice", "--headless", "--convert-to", "ppt", "slides.pptx"], cwd=folder, check=True)
        STORED.write_bytes(gzip.compress((folder / "slides.ppt").read_bytes(), mtime=0))
