"""Forms, comments, attachments, hidden words and scans in PDF files, made by tests/media/files/pdf/make.py."""

from __future__ import annotations

import re
import time
import zlib
from dataclasses import replace

import pypdfium2.raw
import pytest

from abstractcore.ports import Conversion
from abstractcore.schema import ImagePart, MediaPart, TextPart
from abstractcore_media.document.pdf import reading
from abstractcore_media.document.pdf.vocabulary import PDF
from tests.media.document.documents import converted, losses
from tests.media.document.test_pdf import made_of, written
from tests.media.document.vocabulary_lists import declared_twice
from tests.media.parts import FILES, NO_MODELS

FOLDER = FILES / "pdf"
SEES = replace(NO_MODELS, accepted_outputs=frozenset({"text", "image/png"}))


def reads(part: MediaPart) -> Conversion:
    """Reads images as "words of the scan", and other files as they are."""
    text = "words of the scan" if isinstance(part, ImagePart) else part.blob.read().decode()
    return Conversion(text, "text")


READS = replace(NO_MODELS, to_text=reads)


def test_fields_of_a_form_stand_beside_their_labels_with_their_values():
    assert converted(FOLDER / "form.pdf").text == (
        "| Name | Ada Miller |  |\n"
        "| --- | --- | --- |\n"
        "| Size | M |  |\n"
        "| Color | blue |  |\n"
        "| Delivery | ( ) by post | (x) in the shop |\n"
        "| Remark | ____ |  |\n\n"
        "[x] I accept the terms\n"
        "[ ] Send me the news\n"
        "Code: X-17"
    )


def test_words_that_nobody_sees_are_left_out_and_counted():
    conversion = converted(FOLDER / "hidden.pdf")
    assert conversion.text == "The visible offer is 100.\nWhite on blue is seen"
    assert losses(conversion) == {"hidden words": (7, None)}


SECRET = "BT /F 9 Tf 9 50 Td (secret words) Tj ET "


@pytest.mark.parametrize(
    ("drawn", "text", "hidden"),
    [
        (SECRET + "0 g 5 45 80 20 re f", "seen", 2),
        (SECRET + "0 g 5 48 80 12 re f", "seen", 2),  # the descenders show
        (SECRET + "0 g 5 45 34 20 re f", "words\nseen", 1),
        (SECRET + "1 g 5 45 80 20 re f 0 g BT /F 9 Tf 9 50 Td (other) Tj ET", "other\nseen", 2),
        (SECRET + "0 g 5 45 80 20 re f 1 g BT /F 9 Tf 9 50 Td (other) Tj ET 0 g", "other\nseen", 2),
        (SECRET + "q 80 0 0 9 5 49 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \0 EI Q", "seen", 2),
        ("q 0 0 1 1 re W n " + SECRET + "Q", "seen", 2),
        (SECRET + "5 45 80 20 re S", "secret words\nseen", 0),
        (".9 g 5 45 80 20 re f 0 g " + SECRET, "secret words\nseen", 0),
        (SECRET + "q 99 0 0 40 0 40 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \0 EI Q", "secret words\nseen", 0),  # a scan
    ],
)
def test_words_under_what_is_drawn_later_or_outside_of_a_clipping_path_are_hidden(drawn: str, text: str, hidden: int):
    conversion = converted(made_of((drawn + " BT /F 9 Tf 9 10 Td (seen) Tj ET").encode("latin-1")), "page.pdf")
    assert conversion.text == text
    assert sum(count for what, (count, _) in losses(conversion).items() if what == "hidden words") == hidden


@pytest.mark.parametrize(("opacity", "text"), [(1, "seen"), (0.3, "secret words\nseen")])
def test_words_under_an_annotation_are_hidden_if_that_is_opaque(opacity: float, text: str):
    square = f"/Annots[<</Type/Annot/Subtype/Square/Rect[5 45 85 65]/C[0 0 0]/IC[0 0 0]/CA {opacity}>>]"
    file = written((SECRET + "BT /F 9 Tf 9 10 Td (seen) Tj ET").encode(), page=square)
    assert converted(file, "page.pdf").text == text


def test_many_boxes_over_many_words_take_bounded_time():
    words = "".join(f"BT /F 9 Tf 9 {n % 90} Td (secret) Tj ET " for n in range(3_000))
    before = time.process_time()
    converted(made_of((words + "0 0 99 99 re f " * 17_000).encode()), "page.pdf")
    assert time.process_time() - before < 20


def test_layer_that_is_switched_off_is_left_out_and_counted():
    conversion = converted(FOLDER / "layers.pdf")
    assert conversion.text == "Always shown."
    assert losses(conversion) == {"hidden words": (2, None)}


@pytest.mark.parametrize("layers", ["/OFF[]", "/OFF [ ] /ON[6 0 R]"])
def test_file_whose_layers_are_all_on_is_opened_once(layers: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "open_pdf", lambda *_: pytest.fail("pypdf opens the file, which takes long"))
    objects = zlib.compress(b"6 0 <</Type/OCG/Name(Layer)>>").decode("latin-1")
    stream = f"<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length {len(objects)}>>stream\n{objects}\nendstream"
    file = written(
        b"BT /F 9 Tf 9 80 Td (hello) Tj ET",
        "<</Type/OCG/Name(Layer)>>",
        stream,
        catalog=f"/OCProperties<</OCGs[6 0 R]/D<<{layers}>>>>",
    )
    assert converted(file, "layers.pdf").text == "hello"


def test_scan_with_a_line_of_text_is_read_and_a_text_layer_is_text():
    assert converted(FOLDER / "scanned.pdf", context=READS).text == (
        "[page 1]\nScanned by the library\nwords of the scan\n\n"
        "[page 2]\nAbove the picture\n\n"
        "[picture: page 2, picture 1]\nwords of the scan\n[end of picture]\n\n"
        "Below the picture\n\n"
        "[page 3]\nThe layer of words under a scan"
    )


def test_scan_with_a_line_of_text_is_shown_to_a_model_that_sees():
    parts = converted(FOLDER / "scanned.pdf", context=SEES).parts
    assert [part.text if isinstance(part, TextPart) else "image" for part in parts] == [
        "[page 1]\nScanned by the library\n[image of page 1]",
        "image",
        "\n\n[page 2]\nAbove the picture\n\n[picture: page 2, picture 1]",
        "image",
        "\n\nBelow the picture\n\n[page 3]\nThe layer of words under a scan",
    ]


def test_scan_with_a_line_of_text_is_counted_where_nothing_reads_it():
    conversion = converted(FOLDER / "scanned.pdf")
    assert losses(conversion) == {"pages": (1, 3), "pictures": (1, 1)}
    assert [warning.code for warning in conversion.warnings] == ["page_without_text"]


def test_comments_and_attached_files_follow_the_text():
    text = converted(FOLDER / "attached.pdf", context=READS).text
    assert text.endswith(
        "[comment by Ada: Is this the final price?]\n"
        "[text: Typed on the page]\n\n"
        "[file: prices.csv]\npart,price\nhub,12\nrim,30\n[end of file]"
    )
    assert losses(converted(FOLDER / "attached.pdf")) == {"files inside": (1, None)}


NOTE = "[comment by Ada: note]"


@pytest.mark.parametrize(
    ("kind", "text", "lost"),
    [
        *((kind, NOTE, "") for kind in ("Text", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight")),
        *((kind, NOTE, "") for kind in ("Underline", "Squiggly", "StrikeOut", "Caret", "Stamp", "Ink")),
        ("FreeText", "[text: note]", ""),
        ("Link", "", ""),
        ("Popup", "", ""),
        ("FileAttachment", "[file: file, not shown here]", "files inside"),
        ("Sound", "", "sounds"),
        *((kind, "", "videos") for kind in ("Movie", "Screen", "RichMedia")),
        ("Widget", "", "form fields"),
        ("PrinterMark", "", ""),
        ("TrapNet", "", ""),
        ("Watermark", "", "watermarks"),
        ("3D", "", "3D models"),
        ("Redact", "", "marks for redaction"),
        ("Projection", "", "annotations of other kinds"),
    ],
)
def test_kind_of_annotation(kind: str, text: str, lost: str):
    """Those of table 171 of ISO 32000-2."""
    note = f"/Annots[<</Type/Annot/Subtype/{kind}/Rect[9 9 30 30]/Contents(note)/T(Ada)>>]"
    conversion = converted(written(b"BT /F 9 Tf 9 80 Td (hello) Tj ET", page=note), "page.pdf")
    assert conversion.text.removeprefix("hello").strip() == text
    assert losses(conversion) == ({lost: (1, None)} if lost else {})


@pytest.mark.parametrize(
    ("note", "text", "lost"),
    [
        ("/Subtype/Stamp/Name/NotApproved", "[stamp: NotApproved]", {}),
        ("/Subtype/Stamp/Name/#23a1", "", {"drawings": (1, None)}),
        ("/Subtype/Ink/InkList[[9 9 30 30]]", "", {"drawings": (1, None)}),
        ("/Subtype/Highlight", "", {}),
        ("/Subtype/Text/Contents(note)/F 2", "", {"hidden annotations": (1, None)}),
    ],
)
def test_annotation_without_a_comment(note: str, text: str, lost: dict[str, tuple[float, float | None]]):
    file = written(b"BT /F 9 Tf 9 80 Td (hello) Tj ET", page=f"/Annots[<</Type/Annot/Rect[9 9 30 30]{note}>>]")
    conversion = converted(file, "page.pdf")
    assert conversion.text.removeprefix("hello").strip() == text
    assert losses(conversion) == lost


@pytest.mark.parametrize(
    ("layers", "hidden"),
    [
        ("/D<</OFF[6 0 R]>>", 2),
        ("/D<</BaseState/OFF>>", 2),
        ("/D<</BaseState/OFF/ON[6 0 R]>>", 0),
        ("/D<</ON[6 0 R]>>", 0),
    ],
)
def test_words_of_layers_that_are_switched_on_are_read(layers: str, hidden: int):
    content = b"BT /F 9 Tf 9 80 Td (hello) Tj ET /OC /L BDC BT /F 9 Tf 9 40 Td (second layer) Tj ET EMC"
    file = written(content, "<</Type/OCG/Name(Layer)>>", catalog=f"/OCProperties<</OCGs[6 0 R]{layers}>>")
    conversion = converted(file.replace(b"<</Font", b"<</Properties<</L 6 0 R>>/Font"), "layers.pdf")
    assert conversion.text == ("hello" if hidden else "hello\nsecond layer")
    assert losses(conversion) == ({"hidden words": (hidden, None)} if hidden else {})


def test_every_kind_of_object_annotation_and_field_of_pdfium_is_declared_once():
    prefixes = {"FPDF_PAGEOBJ_": "object", "FPDF_ANNOT_": "annotation", "FPDF_FORMFIELD_": "field"}
    others = re.compile("FLAG|AACTION|APPEARANCEMODE|COUNT|TYPES|PAGEOBJ_UNKNOWN|FORMFIELD_XFA")
    listed = {
        f"{kind}:{name.removeprefix(prefix).replace('THREED', '3D')}".lower()
        for name in dir(pypdfium2.raw)
        for prefix, kind in prefixes.items()
        if name.startswith(prefix) and not others.search(name)
    }
    groups = (PDF.read, PDF.converted, PDF.lost, PDF.left_out)
    kinds = {kind.lower() for group in groups for names in group.values() for kind in names.split()}
    assert listed - kinds == set()
    assert len(listed) == 42
    assert declared_twice(PDF) == []
