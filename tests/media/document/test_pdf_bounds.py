"""PDF files with more fields, comments, headings or files than anybody needs: what is not read is counted."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from abstractcore.files.cached_conversions import NestedFiles
from abstractcore_media import register_media_handlers
from tests.media.document.documents import converted, losses
from tests.media.document.test_pdf import written
from tests.media.parts import NO_MODELS

HELLO = b"BT /F 9 Tf 9 50 Td (hello) Tj ET"


def references(first: int, count: int) -> str:
    return " ".join(f"{first + index} 0 R" for index in range(count))


def form(count: int) -> bytes:
    widget = "/FT/Tx/V(v)/Type/Annot/Subtype/Widget/Rect[9 9 90 20]"
    fields = [f"<</T(f{index}){widget}>>" for index in range(count)]
    all_fields = references(6, count)
    return written(HELLO, *fields, page=f"/Annots[{all_fields}]", catalog=f"/AcroForm<</Fields[{all_fields}]>>")


def compressed_form(count: int) -> bytes:
    """A form whose fields are in one compressed stream, of which a reader knows the names only if it unpacks it."""
    names = zlib.compress(b"".join(b"<</T(f%d)>>" % index for index in range(count)))
    stream = f"<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length {len(names)}>>stream\n{names.decode('latin-1')}"
    widget = "<</T(a)/FT/Tx/V(v)/Type/Annot/Subtype/Widget/Rect[9 9 90 20]>>"
    catalog = "/AcroForm<</Fields[6 0 R]>>"
    return written(HELLO, widget, f"{stream}\nendstream", page="/Annots[6 0 R]", catalog=catalog)


def deep_form(depth: int, last: str) -> bytes:
    """Fields in fields, of which the last one leads to `last`."""
    groups = [f"<</T(a)/Kids[{7 + index} 0 R]/Parent {max(6, 5 + index)} 0 R>>" for index in range(depth)]
    widget = f"<</T(z)/FT/Tx/V(v)/Type/Annot/Subtype/Widget/Rect[9 9 90 30]/Parent {5 + depth} 0 R{last}>>"
    return written(HELLO, *groups, widget, page=f"/Annots[{6 + depth} 0 R]", catalog="/AcroForm<</Fields[6 0 R]>>")


def annotations(count: int, more: str) -> bytes:
    one = f"<</Type/Annot/Rect[9 9 30 30]{more}>>"
    return written(HELLO, page=f"/Annots[{one * count}]")


def outline(count: int, link: Callable[[int], str]) -> bytes:
    """Headings, from object 7 on, of which each leads to others by `link`."""
    headings = [f"<</Title(h{index})/Parent 6 0 R/Dest[3 0 R/Fit]{link(7 + index)}>>" for index in range(count)]
    return written(HELLO, "<</First 7 0 R/Last 7 0 R/Count 1>>", *headings, catalog="/Outlines 6 0 R")


def file_objects(content: bytes, first: int) -> tuple[str, str]:
    """A file, as two objects from number `first` on."""
    packed = zlib.compress(content)
    return (
        f"<</Type/Filespec/F(a.pdf)/UF(a.pdf)/EF<</F {first + 1} 0 R>>>>",
        f"<</Type/EmbeddedFile/Length {len(packed)}/Filter/FlateDecode>>stream\n{packed.decode('latin-1')}\nendstream",
    )


def with_files(content: bytes, count: int) -> bytes:
    """Files that all have the same content."""
    names = " ".join(f"(n{index:06}) 7 0 R" for index in range(count))
    return written(HELLO, f"<</Names[{names}]>>", *file_objects(content, 7), catalog="/Names<</EmbeddedFiles 6 0 R>>")


def with_file_comments(content: bytes, count: int) -> bytes:
    one = "<</Type/Annot/Subtype/FileAttachment/Rect[1 1 9 9]/FS 6 0 R>>"
    return written(HELLO, *file_objects(content, 6), page=f"/Annots[{one * count}]")


@pytest.mark.parametrize(
    ("make", "lost"),
    [
        (lambda: form(20_000), {"form fields": (10_000, None), "annotations": (10_000, None)}),
        (lambda: compressed_form(20_000), {"form fields": (1, None)}),
        (lambda: deep_form(10_000, ""), {"form fields": (1, None)}),
        (lambda: deep_form(3, "/Kids[6 0 R]"), {"form fields": (1, None)}),
        (lambda: annotations(50_000, "/Subtype/Text"), {"annotations": (40_000, None)}),
        (lambda: annotations(50_000, "/Subtype/Link/A<</S/URI/URI(a:b)>>"), {"annotations": (40_000, None)}),
        (
            lambda: outline(20_000, lambda number: f"/Next {number + 1} 0 R"),
            {"headings of the outline": (19_000, 20_000)},
        ),
        (
            lambda: outline(20_000, lambda number: f"/First {number + 1} 0 R"),
            {"headings of the outline": (19_985, 20_000)},
        ),
        (lambda: outline(3, lambda number: f"/Next {10 - number % 3} 0 R/First 7 0 R"), {}),
        (
            lambda: outline(500, lambda number: f"/Next {number + 1} 0 R/First {number + 1} 0 R"),
            {"headings of the outline": (485, 500)},
        ),
        (lambda: with_files(b"a", 10_010), {"files inside": (10_010, None)}),
        (lambda: with_files(bytes(30_000_000), 40), {"files inside": (40, None)}),
        (lambda: with_file_comments(bytes(30_000_000), 40), {"files inside": (40, None)}),
    ],
    ids=[
        *("fields", "compressed-fields", "deep-field", "circle-of-fields", "comments", "links", "wide-outline"),
        *("deep-outline", "circle-of-headings", "bush-of-headings", "files", "large-files", "large-files-of-a-page"),
    ],
)
def test_more_than_anybody_needs_is_counted_in_bounded_time(
    make: Callable[[], bytes], lost: dict[str, tuple[float, float | None]], capfd: pytest.CaptureFixture[str]
):
    data = make()
    begin = time.process_time()
    conversion = converted(data, "large.pdf")
    assert time.process_time() - begin < 10
    assert "hello" in conversion.text
    assert losses(conversion) == lost
    assert capfd.readouterr() == ("", "")


def test_files_within_files_end_at_the_depth_that_is_read():
    data = written(b"BT /F 9 Tf 9 50 Td (innermost) Tj ET")
    for _ in range(12):
        data = with_files(data, 1)
    handlers = register_media_handlers()
    conversion = converted(data, "deep.pdf", replace(NO_MODELS, to_text=NestedFiles(handlers, {}, NO_MODELS)))
    assert conversion.text.count("hello") == 4
    assert "innermost" not in conversion.text
    ((what, count),) = losses(conversion).items()
    assert (what, count) == (" of ".join(["files inside"] * 4), (1, None))
