"""Slides and charts as python-pptx and openpyxl write them: numbers, links and marks; series, axes and categories."""

from __future__ import annotations

import io
from datetime import date

import openpyxl
import pptx
import pytest
from openpyxl.chart import BarChart, Reference, ScatterChart
from openpyxl.chart import Series as SheetSeries
from pptx.chart.data import BubbleChartData, CategoryChartData, ChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches

from tests.media.document.documents import converted, losses

DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
BOX = (Inches(1), Inches(1), Inches(6), Inches(4))


class Slides:
    """A presentation of one slide."""

    def __init__(self, layout: int = 6) -> None:
        self.presentation = pptx.Presentation()
        self.slide = self.presentation.slides.add_slide(self.presentation.slide_layouts[layout])

    def lines(self) -> list[str]:
        return [line for line in self.converted().text.splitlines()[1:] if line and not line.startswith("| ---")]

    def converted(self):
        file = io.BytesIO()
        self.presentation.save(file)
        return converted(file.getvalue(), "slides.pptx")

    def chart(self, kind: XL_CHART_TYPE, data: ChartData):
        return self.slide.shapes.add_chart(kind, *BOX, data).chart


def numbered(paragraph, kind: str, start: int | None = None) -> None:
    begin = f' startAt="{start}"' if start else ""
    paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {DRAWING} type="{kind}"{begin}/>'))


@pytest.mark.parametrize(
    ("kind", "start", "expected"),
    [
        ("arabicPeriod", None, ["1.", "2."]),
        ("arabicParenR", 4, ["4)", "5)"]),
        ("alphaLcParenBoth", 26, ["(z)", "(aa)"]),
        ("romanUcPeriod", 3, ["III.", "IV."]),
        ("arabicPlain", None, ["1", "2"]),
        ("thaiNumPeriod", None, ["1.", "2."]),
    ],
)
def test_paragraphs_of_slides_have_their_numbers(kind: str, start: int | None, expected: list[str]):
    slides = Slides()
    frame = slides.slide.shapes.add_textbox(*BOX).text_frame
    frame.text = "a\nb"
    for paragraph in frame.paragraphs:
        numbered(paragraph, kind, start)
    assert slides.lines() == [f"{expected[0]} a", f"{expected[1]} b"]


def test_numbers_of_slides_go_on_after_deeper_levels_and_restart_after_others():
    slides = Slides(1)
    frame = slides.slide.placeholders[1].text_frame
    frame.text = "a\ndeep\nb\nplain\nc"
    for index, level in ((0, 0), (1, 1), (2, 0), (4, 0)):
        frame.paragraphs[index].level = level
        numbered(frame.paragraphs[index], "arabicPeriod")
    assert slides.lines() == ["1. a", "  1. deep", "2. b", "- plain", "1. c"]


def test_words_and_shapes_of_slides_keep_links_and_marks():
    slides = Slides()
    box = slides.slide.shapes.add_textbox(*BOX)
    paragraph = box.text_frame.paragraphs[0]
    for text, name, value in (("10", "", ""), ("5", "baseline", "30000"), (" H", "", ""), ("2", "baseline", "-25000"),
                              ("O ", "", ""), ("99", "strike", "sngStrike"), (" see ", "", "")):  # fmt: skip
        run = paragraph.add_run()
        run.text = text
        if name:
            run._r.get_or_add_rPr().set(name, value)
    link = paragraph.add_run()
    link.text = "rules"
    link.hyperlink.address = "https://example.org/rules"
    button = slides.slide.shapes.add_textbox(*BOX)
    button.text_frame.text = "Start"
    button.click_action.hyperlink.address = "https://example.org/start"
    assert slides.lines() == [
        "10⁵ H₂O ~~99~~ see [rules](https://example.org/rules)", "[Start](https://example.org/start)"
    ]  # fmt: skip


def test_hidden_shapes_are_counted_and_not_shown():
    slides = Slides()
    slides.slide.shapes.add_textbox(*BOX).text_frame.text = "seen"
    hidden = slides.slide.shapes.add_textbox(*BOX)
    hidden.text_frame.text = "unseen"
    hidden._element.nvSpPr.cNvPr.set("hidden", "1")
    assert slides.lines() == ["seen"]
    assert losses(slides.converted()) == {"hidden shapes": (1, None)}


def test_series_are_joined_by_category():
    data = CategoryChartData(number_format="0.0")
    data.categories = ["Q1", "Q2", "Q3"]
    data.add_series("North", (1, None, 3))
    data.add_series("South", (4, 5, 6))
    slides = Slides()
    chart = slides.chart(XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    second = chart._chartSpace.xpath("//c:ser")[1]
    for index, category in enumerate(("Q2", "Q3", "Q4")):
        second.xpath("c:cat//c:pt/c:v")[index].text = category
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales"
    chart.category_axis.axis_title.text_frame.text = "Quarter"
    chart.value_axis.axis_title.text_frame.text = "EUR"
    assert slides.lines() == [
        "[bar chart: Sales; x: Quarter; y: EUR]",
        "| Quarter | North | South |",
        "| Q1 | 1.0 |  |",
        "| Q2 |  | 4.0 |",
        "| Q3 | 3.0 | 5.0 |",
        "| Q4 |  | 6.0 |",
    ]


def test_series_of_points_have_their_own_x():
    data = XyChartData()
    for name, points in (("A", ((1, 10), (2, 20))), ("B", ((5, 50),))):
        series = data.add_series(name)
        for across, value in points:
            series.add_data_point(across, value)
    slides = Slides()
    slides.chart(XL_CHART_TYPE.XY_SCATTER, data)
    assert slides.lines() == [
        "[scatter chart]", "| Series | x | y |", "| A | 1 | 10 |", "| A | 2 | 20 |", "| B | 5 | 50 |"
    ]  # fmt: skip


def test_series_of_the_same_x_share_a_table():
    data = XyChartData()
    for name, values in (("A", (10, 20)), ("B", (30, 40))):
        series = data.add_series(name)
        for across, value in zip((1, 2), values, strict=True):
            series.add_data_point(across, value)
    slides = Slides()
    slides.chart(XL_CHART_TYPE.XY_SCATTER, data)
    assert slides.lines() == ["[scatter chart]", "| x | A | B |", "| 1 | 10 | 30 |", "| 2 | 20 | 40 |"]


def test_bubbles_have_their_sizes():
    data = BubbleChartData()
    data.add_series("A").add_data_point(1.5, 10, 7)
    slides = Slides()
    slides.chart(XL_CHART_TYPE.BUBBLE, data)
    assert slides.lines() == ["[bubble chart]", "| Series | x | y | size |", "| A | 1.5 | 10 | 7 |"]


def test_categories_that_are_dates_or_in_groups():
    data = CategoryChartData()
    data.categories = [date(2026, 3, 14), date(2026, 3, 15)]
    data.add_series("Rain", (0.25, 0.5), "0%")
    slides = Slides()
    slides.chart(XL_CHART_TYPE.LINE, data)
    assert slides.lines() == ["[line chart]", "| Chart | Rain |", "| 2026-03-14 | 25% |", "| 2026-03-15 | 50% |"]
    grouped = CategoryChartData()
    for year in ("2025", "2026"):
        category = grouped.add_category(year)
        for half in ("H1", "H2"):
            category.add_sub_category(half)
    grouped.add_series("S", (1, 2, 3, 4))
    slides = Slides()
    slides.chart(XL_CHART_TYPE.BAR_CLUSTERED, grouped)
    assert slides.lines()[2:] == ["| 2025 / H1 | 1 |", "| 2025 / H2 | 2 |", "| 2026 / H1 | 3 |", "| 2026 / H2 | 4 |"]


def test_series_without_stored_values_are_lost():
    book = openpyxl.Workbook()
    for row in (("a", 1), ("b", 2)):
        book.active.append(row)
    chart = BarChart()
    chart.title = "Letters"
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=2))
    book.active.add_chart(chart, "D1")
    points = ScatterChart()
    points.series.append(SheetSeries(Reference(book.active, range_string="Sheet!$B$1:$B$2"), title="points"))
    book.active.add_chart(points, "D20")
    file = io.BytesIO()
    book.save(file)
    conversion = converted(file.getvalue(), "charts.xlsx")
    assert "[bar chart: Letters]" in conversion.text
    assert losses(conversion)["chart series without stored values"] == (2, None)


@pytest.mark.parametrize(
    ("where", "marker", "expected"),
    [
        ("layout", '<a:buAutoNum type="romanUcPeriod"/>', ["I. a", "II. b"]),
        ("master", '<a:buAutoNum type="arabicParenR"/>', ["1) a", "2) b"]),
        ("texts", '<a:buAutoNum type="alphaLcPeriod"/>', ["a. a", "b. b"]),
        ("layout", "<a:buNone/>", ["a", "b"]),
    ],
)
def test_placeholders_inherit_their_numbers_from_layouts_and_masters(where: str, marker: str, expected: list[str]):
    slides = Slides(1)
    layout = slides.slide.slide_layout
    if where == "texts":
        style = layout.slide_master._element.find(".//{*}bodyStyle")
    else:
        holder = layout if where == "layout" else layout.slide_master
        style = holder.placeholders[1]._element.find(".//{*}lstStyle")
    for each in style.findall("{*}lvl1pPr"):
        style.remove(each)
    style.insert(0, parse_xml(f"<a:lvl1pPr {DRAWING}>{marker}</a:lvl1pPr>"))
    slides.slide.placeholders[1].text_frame.text = "a\nb"
    assert slides.lines() == expected
