"""DOCX, PPTX and XLSX as LibreOffice, python-docx, python-pptx and openpyxl write them."""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from abstractcore.errors import EncryptedFileError, WrongPasswordError
from abstractcore.ports import Conversion
from abstractcore.schema import ImagePart, MediaLoss
from tests.media.document.documents import DOCUMENTS, converted, handler_of, losses, part_of, places
from tests.media.parts import FILES, NO_MODELS

SEES = replace(NO_MODELS, accepted_outputs=frozenset({"text", "image/png"}))
READS = replace(NO_MODELS, to_text=lambda part: Conversion(f"words of {part.blob.media_type}", "text"))
HARVEST = """\
[header: Confidential header]

# Harvest report

# Fruit

The orchard gave 41 tonnes of apples. [comment by Ann: Check this figure]

- first item
- second item
1. step one

| Kind | Tonnes | Price |
| --- | --- | --- |
| Apple | 41 | 3\\|50 |
| Pear | 17 | 4.10 |

## Picture

Before the picture.

{picture}

After the picture.

| Merged head |  |
| --- | --- |
| a | b<br>nested cell |

[footer: Footer of farm]"""


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_docx_keeps_headings_lists_tables_comments_and_edges():
    conversion = converted(DOCUMENTS / "harvest.docx")
    assert conversion.text == HARVEST.format(picture="[picture: word/media/image1.png, not shown here]")
    assert conversion.lost == (MediaLoss("pictures", 1, 1, ("word/media/image1.png",)),)
    assert conversion.label == "Word document"


def test_picture_is_sent_in_place_to_a_model_that_accepts_it():
    conversion = converted(DOCUMENTS / "harvest.docx", context=SEES)
    before, picture, after = conversion.parts
    assert isinstance(picture, ImagePart)
    assert picture.blob.media_type == "image/png"
    assert before.text.endswith("Before the picture.\n\n[picture: word/media/image1.png]")
    assert after.text.startswith("\n\nAfter the picture.")
    assert conversion.lost == ()
    assert ("After the picture.", 19) in places(conversion, "paragraph")


def test_picture_is_read_in_place_for_a_model_that_accepts_text_only():
    conversion = converted(DOCUMENTS / "harvest.docx", context=READS)
    shown = "[picture: word/media/image1.png]\nwords of image/png\n[end of picture]"
    assert conversion.text == HARVEST.format(picture=shown)
    assert conversion.lost == ()
    assert (shown, 18, "word/media/image1.png") in places(conversion, "paragraph", "member")


def test_paragraphs_of_a_docx_are_numbered_as_python_docx_counts_them():
    document = docx.Document(str(DOCUMENTS / "harvest.docx"))
    conversion = converted(DOCUMENTS / "harvest.docx")
    everything = [each for each in document.element.body.iter() if each.tag.endswith("}p")]
    for text, paragraph in places(conversion, "paragraph"):
        if paragraph is not None and not text.startswith("|"):
            own = "".join(each.text or "" for each in everything[paragraph - 1].iter() if each.tag.endswith("}t"))
            assert own in text or own == ""


def test_numbered_items_of_a_docx_count():
    document = docx.Document()
    for text in ("one", "two", "three"):
        document.add_paragraph(text, style="List Number")
    assert converted(saved(document), "list.docx").text == "1. one\n2. two\n3. three"


def test_slides_are_pages_with_boxes_notes_tables_and_charts():
    conversion = converted(DOCUMENTS / "slides.pptx")
    assert "[slide 1]\n\n## Quarterly results\n\n- Sales rose\n- Costs fell" in conversion.text
    assert "[notes]\nSpeak slowly here." in conversion.text
    assert "| Region | Sales |\n| --- | --- |\n| North | 12 |" in conversion.text
    assert "| Q2 | 21.4 |" in conversion.text
    assert "[slide 3, hidden]\n\nHidden slide text" in conversion.text
    assert losses(conversion) == {"pictures": (1, 1)}
    whole = [(text, page) for text, page, box in places(conversion, "page", "box") if box is None]
    assert [page for _, page in whole] == [1, 2, 3]
    assert whole[2][0] == "Hidden slide text"
    row = next(box for text, box in places(conversion, "box") if text == "| North | 12 |")
    shape = next(each for each in pptx.Presentation(str(DOCUMENTS / "slides.pptx")).slides[1].shapes if each.has_table)
    assert row[0] == pytest.approx(shape.left / 9144000, abs=0.001)
    assert row[3] == pytest.approx((shape.top + shape.height) / 6858000, abs=0.001)


SALES = """\
## Sales

[hidden columns: C]

| Month | Units | Price | Total |  | Date |
| --- | --- | --- | --- | --- | --- |
| January | 20 [comment: checked] | 2.5 | {0} |  | 2026-03-14 |
| February | 30 | 2.5 | {1} |  | 25% |
| March | 40 | 2.5 | {2} |  | TRUE |

| a\\|b<br>line |
| --- |

| Merged title |
| --- |

## Secret (hidden)

| hidden value |
| --- |

## Pics

| see picture |
| --- |

[picture: xl/media/image1.png (Picture), not shown here]"""


def test_xlsx_shows_cached_values_hidden_sheets_comments_and_pictures():
    conversion = converted(DOCUMENTS / "sales.xlsx")
    assert conversion.text == SALES.format(50, 75, 100)
    assert ("| March | 40 | 2.5 | 100 |  | TRUE |", "Sales", "A4:F4") in places(conversion, "sheet", "cell")
    assert ("| hidden value |", "Secret", "B3") in places(conversion, "sheet", "cell")
    assert losses(conversion) == {"pictures": (1, 1)}


def test_values_of_an_xlsx_are_those_that_openpyxl_reads():
    book = openpyxl.load_workbook(DOCUMENTS / "sales.xlsx", data_only=True)
    text = converted(DOCUMENTS / "sales.xlsx").text
    for sheet in book:
        for row in sheet.iter_rows(values_only=True):
            for value in row:
                if isinstance(value, str | int) and not isinstance(value, bool):
                    assert str(value).replace("|", "\\|").replace("\n", "<br>") in text


def test_formula_that_was_never_computed_shows_the_formula():
    book = openpyxl.Workbook()
    book.active.append([2, 3, "=A1*B1"])
    assert (
        converted(saved(book), "new.xlsx").text
        == "## Sheet\n\n| 2 | 3 | =A1*B1 [not calculated] |\n| --- | --- | --- |"
    )


@pytest.mark.exhaustive
def test_rows_over_the_limit_are_counted():
    book = openpyxl.Workbook()
    for number in range(30_000):
        book.active.append([f"name of number {number}", number])
    conversion = converted(saved(book), "long.xlsx")
    shown = conversion.text.count("\n| name of")
    assert losses(conversion) == {"rows": (30_000 - shown, 30_000)}
    assert conversion.lost[0].places == (f"Sheet: from row {shown + 1}",)
    assert 300_000 < len(conversion.text) < 600_000


@pytest.mark.parametrize("name", ["locked.docx", "locked.xlsx", "locked.odt", "locked.doc", "locked.xls"])
def test_encrypted_file_needs_its_password(name: str):
    with pytest.raises(EncryptedFileError, match=f"{name} is encrypted and needs a password") as caught:
        converted(DOCUMENTS / name)
    assert not isinstance(caught.value, WrongPasswordError)
    with pytest.raises(WrongPasswordError, match=f"{name}.*password that was given does not open it"):
        converted(DOCUMENTS / name, password="Secret")
    handlers = logging.getLogger().handlers.copy()
    assert "4711" in converted(DOCUMENTS / name, password="secret").text
    assert logging.getLogger().handlers == handlers


def test_the_same_picture_is_shown_once():
    document = docx.Document()
    for _ in range(3):
        document.add_picture(str(FILES / "small.png"))
    conversion = converted(saved(document), "pictures.docx", SEES)
    assert [type(part).__name__ for part in conversion.parts] == ["TextPart", "ImagePart", "TextPart"]
    assert conversion.text.count("the same as word/media/image1.png") == 2


def test_encrypted_file_is_refused_before_it_is_sent_unchanged():
    part = part_of((DOCUMENTS / "locked.docx").read_bytes(), "locked.docx")
    with pytest.raises(EncryptedFileError, match=r"locked.docx is encrypted"):
        handler_of(part).check(part)
    part = part_of((DOCUMENTS / "harvest.docx").read_bytes(), "harvest.docx")
    handler_of(part).check(part)
