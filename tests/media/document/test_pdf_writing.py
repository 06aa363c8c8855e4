"""Text of PDF files that does not run from left to right: down the page, mirrored, turned, and from right to left."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pytest
import reportlab
from pypdf import PdfReader, PdfWriter
from pypdf.generic import RectangleObject

from abstractcore.ports import Conversion
from tests.media.document.documents import converted, losses, places
from tests.media.document.test_pdf import made_of, written
from tests.media.document.test_pdf_content import READS

VERA = (Path(reportlab.__file__).parent / "fonts" / "Vera.ttf").read_bytes()
FIRST_GLYPH = 40


def text_of(content: bytes) -> str:
    return converted(content, "writing.pdf").text


def box_of(conversion: Conversion) -> object:
    """The place of the only lines that have one."""
    (box,) = [box for _, box in places(conversion, "box") if box]
    return box


def stream(data: bytes, more: str = "") -> str:
    return f"<</Length {len(data)}{more}>>stream\n{data.decode('latin-1')}\nendstream"


def with_font(letters: str, content: str, encoding: str = "Identity-H") -> bytes:
    """A page with a font whose glyphs stand for `letters`; `{}` around some of these in `content` are their codes."""
    codes = {letter: f"{FIRST_GLYPH + index:04X}" for index, letter in enumerate(sorted(set(letters)))}
    pairs = " ".join(f"<{code}> <{ord(letter):04X}>" for letter, code in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /x def 1 begincodespacerange "
        f"<0000> <FFFF> endcodespacerange {len(codes)} beginbfchar {pairs} endbfchar endcmap end end"
    )
    before, *parts = content.split("{")
    shown = [f"<{''.join(map(codes.__getitem__, part.partition('}')[0]))}>{part.partition('}')[2]}" for part in parts]
    return written(
        f"BT /V 9 Tf {before}{''.join(shown)} ET".encode(),
        f"<</Type/Font/Subtype/Type0/BaseFont/Vera/Encoding/{encoding}/DescendantFonts[7 0 R]/ToUnicode 9 0 R>>",
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Vera/FontDescriptor 8 0 R/DW 700/CIDToGIDMap/Identity"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>",
        "<</Type/FontDescriptor/FontName/Vera/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 880"
        "/Descent -120/CapHeight 700/StemV 80/FontFile2 10 0 R>>",
        stream(cmap.encode()),
        stream(zlib.compress(VERA), "/Filter/FlateDecode"),
    ).replace(b"/F 5 0 R", b"/F 5 0 R/V 6 0 R")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)], ids=["drawn from the right", "drawn from the left"])
def test_text_that_runs_down_the_page_is_read_column_by_column_from_the_right(order: tuple[int, ...]):
    columns = ("吾輩は猫", "名前2は", "どこで生")
    drawn = [f"1 0 0 1 {80 - 14 * index} 90 Tm {{{columns[index]}}} Tj" for index in order]
    content = with_font("".join(columns), " ".join(drawn), "Identity-V")
    assert text_of(content) == "\n".join(columns)


def test_east_asian_text_from_left_to_right_is_read_by_lines():
    lines = ("吾輩は猫", "名前は無")
    drawn = [f"1 0 0 1 9 {80 - 14 * index} Tm {{{line}}} Tj" for index, line in enumerate(lines)]
    assert text_of(with_font("".join(lines), " ".join(drawn))) == "\n".join(lines)


DIRECTIONS = {
    "as it is": ("1 0 0 1", (0, 0)),
    "quarter turn": ("0 1 -1 0", (99, 0)),
    "half turn": ("-1 0 0 -1", (99, 99)),
    "three quarters": ("0 -1 1 0", (0, 99)),
    "mirror": ("-1 0 0 1", (99, 0)),
    "mirror upside down": ("1 0 0 -1", (0, 99)),
    "mirror, quarter turn": ("0 1 1 0", (0, 0)),
    "mirror, three quarters": ("0 -1 -1 0", (99, 99)),
}
UNDERLINED = b"BT /F 9 Tf 9 80 Td (first) Tj 0 -12 Td (second under) Tj 0 -12 Td (third) Tj ET 9 66.5 54 0.5 re f"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_underlined_text_in_each_direction_is_read_in_its_order(direction: str):
    matrix, (x, y) = DIRECTIONS[direction]
    assert text_of(made_of(f"{matrix} {x} {y} cm ".encode() + UNDERLINED)) == "first\nsecond under\nthird"


@pytest.mark.parametrize("turn", [90, 180, 270])
@pytest.mark.parametrize("direction", ["as it is", "quarter turn", "three quarters"])
def test_page_that_is_shown_turned_has_its_text_in_order(turn: int, direction: str):
    matrix, (x, y) = DIRECTIONS[direction]
    content = written(f"{matrix} {x} {y} cm ".encode() + UNDERLINED, page=f"/Rotate {turn}")
    assert text_of(content) == "first\nsecond under\nthird"


def test_place_on_a_turned_page_is_where_it_is_shown():
    content = written(b"BT /F 9 Tf 9 80 Td (first) Tj ET", page="/Rotate 90")
    assert box_of(converted(content, "turned.pdf")) == pytest.approx((0.79, 0.09, 0.88, 0.24), abs=0.02)


def test_words_beside_the_crop_box_are_not_read():
    writer = PdfWriter()
    drawn = b"BT /F 9 Tf 9 80 Td (beside the box) Tj 0 -40 Td (within) Tj ET"
    page = writer.add_page(PdfReader(io.BytesIO(made_of(drawn))).pages[0])
    page.cropbox = RectangleObject((0, 0, 99, 60))
    file = io.BytesIO()
    writer.write(file)
    conversion = converted(file.getvalue(), "cropped.pdf")
    assert (conversion.text, losses(conversion)) == ("within", {"hidden words": (3, None)})
    assert box_of(conversion) == pytest.approx((0.09, 0.22, 0.32, 0.36), abs=0.02)  # of what is shown


HEBREW = "שלום עולם"


def test_text_from_right_to_left_is_read_in_its_order():
    """Programs draw it from left to right, with the last letter first; PDFium gives it as it is read."""
    first, second = HEBREW, "ספר 25"
    drawn = f"1 0 0 1 9 80 Tm {{{first[::-1]}}} Tj 1 0 0 1 9 60 Tm {{25 רפס}} Tj"
    content = with_font(first + second, drawn)
    assert text_of(content) == f"{first}\n{second}"


def test_layer_of_signs_that_a_program_took_for_text_is_not_read():
    signs = ["., i", "* ..", "k .,", "% ,", "Y. .", "I *", ". !", "; ;", "s *", "= ="]
    drawn = " ".join(f"1 0 0 1 9 {90 - 8 * index} Tm ({each}) Tj" for index, each in enumerate(signs))
    picture = "q 99 0 0 99 0 0 cm BI /W 2 /H 1 /BPC 8 /CS /G ID \x10\xf0 EI Q "
    scanned = made_of(f"{picture} 0 0 0 rg BT /F 6 Tf {drawn} ET".encode("latin-1"))
    assert converted(scanned, "scan.pdf", READS).text == "words of the scan"
    assert text_of(made_of(f"BT /F 6 Tf {drawn} ET".encode())) == "\n".join(signs)
