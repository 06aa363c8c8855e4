"""Words, tables and columns of PDF files, made by reportlab: tests/media/files/pdf/make.py has the tables they show."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, SimpleDocTemplate, Table, TableStyle

from abstractcore_media.document.pdf import reading
from tests.media.document.documents import converted, places
from tests.media.document.test_pdf import made_of
from tests.media.parts import FILES

SALES = """\
| Region | Q1 | Q2 | Q3 |
| --- | --- | --- | --- |
| North |  | 20 | 30 |
| South | 41 |  |  |
| West | 7 | 8 | 9 |"""


def text_of(name: str) -> str:
    return converted(FILES / "pdf" / name).text


def page_of(content: str) -> str:
    return converted(made_of(content.encode("latin-1")), "page.pdf").text


def test_tables_within_lines_keep_empty_cells_wrapped_text_and_merged_cells():
    assert (
        text_of("ruled_tables.pdf")
        == f"""\
Sales of the year

{SALES}

Parts of a wheel

| Part | What it is for | Price |
| --- | --- | --- |
| Hub | Holds the spokes of the wheel, and turns on its axle without any play | 12 |
| Rim | Carries the tire |  |

Quarters

| 2024 |  | 2025 |  |
| --- | --- | --- | --- |
| Q1 | Q2 | Q1 | Q2 |
| 1 | 2 | 3 | 4 |

The end."""
    )


def test_tables_of_aligned_words_keep_empty_cells_between_paragraphs():
    paragraph, first, _, second, end = text_of("plain_tables.pdf").split("\n\n")
    assert paragraph.startswith("The mill stands")
    assert paragraph.count("\n") == 2
    assert first == SALES.replace("| 41 |  |  |", "| 41 | 42 |  |")
    assert second == SALES
    assert end == "The end."


def test_rows_of_tables_have_places():
    found = {text: box for text, box in places(converted(FILES / "pdf" / "ruled_tables.pdf"), "box") if box}
    north, south = found["| North |  | 20 | 30 |"], found["| South | 41 |  |  |"]
    assert north[3] == pytest.approx(south[1], abs=1e-3)
    assert 0.3 < north[0] < north[2] < 0.7


def test_columns_are_read_one_after_the_other_under_their_heading():
    lines = text_of("columns.pdf").split("\n")
    assert lines[0] == "The mill at the end of the lane"
    starts = [line.split(".")[0] for line in lines if line.startswith(("Left", "Right"))]
    assert starts == ["Left 1", "Left 2", "Left 3", "Right 1", "Right 2"]
    assert len(lines) == 1 + 5 * 7


def test_letters_make_words_bold_is_said_once_and_marks_and_links_are_kept():
    assert text_of("words.pdf") == (
        "Letters drawn singly\n"
        "Fake bold is said once\n"
        "Read [the manual](https://mill.example/manual?page=1) of the mill, or https://mill.example/plain.\n"
        "About 10⁵ cells of H₂O on the 3<sup>rd</sup> day.\n"
        "Turned text"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("BT /F 9 Tf 9 50 Td (one) Tj ( two) Tj ET", "one two"),
        (r"BT /F 9 Tf 9 50 Td (ef\256cient) Tj ET", "efficient"),
        ("BT /F 9 Tf 9 50 Td [(on) -20 (e) -300 (two)] TJ ET", "one two"),
        ("BT /F 9 Tf 9 30 Td (below) Tj 0 20 Td (above) Tj ET", "above\nbelow"),
        ("BT /F 9 Tf 60 50 Td (right) Tj -50 0 Td (left) Tj ET", "left right"),
        ("BT /F 9 Tf 9 50 Td (x) Tj 4 Ts (2) Tj 0 Ts (+y) Tj ET", "x²+y"),
        ("BT /F 5 Tf 9 54 Td (235) Tj /F 9 Tf 8.4 -4 Td (U) Tj ET", "²³⁵U"),
        ("BT /F 9 Tf 9 50 Td (CO) Tj /F 7 Tf -4.5 Ts (2) Tj ET", "CO₂"),
        (
            "BT /F 9 Tf 9 50 Td (word) Tj /F 5 Tf 3 Ts (1) Tj /F 6 Tf 0 Ts 0 -40 Td (1 The note.) Tj ET",
            "word¹\n1 The note.",
        ),
        ("BT /F 9 Tf 9 50 Td (bold words) Tj .3 0 Td (bold words) Tj ET", "bold words"),
        ("BT /F 9 Tf 9 50 Td (99) Tj 15 0 Td (79) Tj ET 9 53 m 19 53 l S", "~~99~~ 79"),
        ("BT /F 9 Tf 9 50 Td (99) Tj 15 0 Td (79) Tj ET 9 49 m 19 49 l S", "99 79"),
        ("BT /F 9 Tf 9 50 Td (99) Tj 15 0 Td (79) Tj ET 0 53 m 90 53 l S", "99 79"),
        ("BT /F 9 Tf 0 1 -1 0 50 9 Tm (upward) Tj ET", "upward"),
        ("BT /F 9 Tf -1 0 0 -1 90 50 Tm (over) Tj ET", "over"),
        ("BT /F 9 Tf .7 .7 -.7 .7 9 9 Tm (slanting) Tj ET", "slanting"),
        ("BT /F 9 Tf 9 80 Td (word) Tj ET BT /F .1 Tf 9 50 Td (tiny) Tj ET", "word"),
    ],
)
def test_words_by_how_they_are_drawn(content: str, text: str):
    assert page_of(content) == text


def test_objects_that_are_only_spaces_are_no_words_that_are_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "open_pdf", lambda *_: pytest.fail("pypdf opens the file, which takes long"))
    spaces = "".join(
        f"BT /F 9 Tf 9 {90 - 9 * n} Td (word) Tj ET BT /F 9 Tf 60 {90 - 9 * n} Td ( ) Tj ET " for n in range(9)
    )
    assert page_of(spaces) == "\n".join(["word"] * 9)


@pytest.mark.parametrize("mark", ["{}.", "{}", "\\267"])
def test_items_of_a_list_and_numbered_lines_are_no_table(mark: str):
    items = "".join(
        f"BT /F 6 Tf 9 {90 - 9 * n} Td ({mark.format(n)}) Tj 20 0 Td (item of the list) Tj ET " for n in range(1, 6)
    )
    shown = mark.replace("\\267", "•")
    assert page_of(items) == "\n".join(f"{shown.format(n)} item of the list" for n in range(1, 6))


def test_boxes_beside_each_other_are_no_table():
    boxes = "9 60 20 20 re S 9 40 60 20 re S BT /F 6 Tf 10 65 Td (one) Tj 0 -20 Td (two) Tj ET"
    assert page_of(boxes) == "one\ntwo"


def test_columns_without_lines_between_rows_are_rows():
    lines = "9 90 m 90 90 l S 9 10 m 90 10 l S 9 10 m 9 90 l S 50 10 m 50 90 l S 90 10 m 90 90 l S 9 75 m 90 75 l S "
    cells = "".join(
        f"BT /F 6 Tf 12 {80 - 14 * n} Td ({a}) Tj 45 0 Td ({b}) Tj ET "
        for n, (a, b) in enumerate([("Part", "Price"), ("hub", "1"), ("rim", "2"), ("bell", "3")])
    )
    assert page_of(lines + cells) == "| Part | Price |\n| --- | --- |\n| hub | 1 |\n| rim | 2 |\n| bell | 3 |"


def drawn(*places: tuple[float, float, str]) -> str:
    """The text of a page with words at these places from its top left corner."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(400, 400))
    canvas.setFont("Helvetica", 8)
    for left, down, words in places:
        canvas.drawString(left, 400 - down, words)
    canvas.save()
    return converted(file.getvalue(), "drawn.pdf").text


def test_columns_with_paragraphs_of_different_lengths_under_a_heading_over_their_gutter():
    left = [(20.0, 40 + 10 * n, f"Left {n} carries mail and some cars.") for n in range(12)]
    right = [(200.0, 40 + 10 * n, f"Right {n} lies in the north."[: 14 if n % 3 else 40]) for n in range(15)]
    lines = drawn((150, 20, "Islands of the north"), *left, *right, (360, 390, "page 1")).splitlines()
    assert [line.split(" is")[0].split(" lies")[0].split(" carries")[0] for line in lines] == [
        "Islands of the north",
        *(f"Left {n}" for n in range(12)),
        *(f"Right {n}" for n in range(15)),
        "page 1",
    ]


def test_head_on_the_left_and_numbers_on_the_right_are_one_column():
    cells = [(20, 20, "Kind"), (100, 20, "Value"), (20, 34, "Hours"), (180, 34, "31:15"), (20, 48, "Part")]
    assert drawn(*cells, (100, 48, "007"), (20, 62, "Loss"), (180, 62, "(42)")) == (
        "| Kind | Value |\n| --- | --- |\n| Hours | 31:15 |\n| Part | 007 |\n| Loss | (42) |"
    )


def test_two_columns_of_amounts_stay_two():
    cells = [(20, 20, "Day"), (100, 20, "Debit"), (160, 20, "Credit"), (20, 34, "Mon"), (100, 34, "5"), (20, 48, "Tue")]
    assert "| Mon | 5 |  |\n| Tue |  | 7 |" in drawn(*cells, (160, 48, "7"))


def rows_over_pages(repeats: int, style: list[tuple[object, ...]]) -> str:
    """A table of 60 rows, with or without the head on each page."""
    rows = [["Part", "Place", "Price"], *([f"Part no. {n}", "Bonn", str(7 * n)] for n in range(1, 61))]
    file = io.BytesIO()
    table = Table(rows, [120, 100, 80], style=TableStyle(style), repeatRows=repeats)
    SimpleDocTemplate(file, pagesize=(400, 500)).build([table])
    return converted(file.getvalue(), "pages.pdf").text


@pytest.mark.parametrize("style", [[("GRID", (0, 0), (-1, -1), 0.5, "black")], []])
def test_table_that_goes_on_over_pages_has_its_head_on_each(style: list[tuple[object, ...]]):
    text = rows_over_pages(0, style)
    assert text.count("| Part | Place | Price |\n| --- | --- | --- |\n| Part no.") == text.count("[page ")
    assert [f"| Part no. {n} | Bonn | {7 * n} |" in text.splitlines() for n in range(1, 61)] == [True] * 60


def test_table_with_a_head_of_its_own_at_the_top_of_a_page_does_not_go_on():
    first = [["Part", "Price"], *([f"Part no. {n}", str(7 * n)] for n in range(1, 17))]
    second = [["Town", "Year"], *([f"Town {n}", str(1900 + n)] for n in range(1, 9))]
    file = io.BytesIO()
    SimpleDocTemplate(file, pagesize=(400, 500)).build(
        [Table(first, [120, 80]), PageBreak(), Table(second, [120, 80])],
    )
    text = converted(file.getvalue(), "two.pdf").text
    assert text.count("| Part | Price |") == text.count("| Town | Year |\n| --- | --- |\n| Town 1 | 1901 |") == 1
