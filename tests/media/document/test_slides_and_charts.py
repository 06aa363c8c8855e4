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
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches

from tests.media.document.documents import converted, losses

DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
MICROSOFT = "http://schemas.microsoft.com/office"
OFFICIAL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
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

    def part(self, name: str, kind: str, xml: str, owner=None) -> str:
        """Adds a part that the slide refers to, or another owner; returns the id of the reference."""
        owner = owner or self.slide.part
        part = Part(PackURI(f"/ppt/{name}"), "application/xml", owner.package, xml.encode())
        return owner.relate_to(part, kind)

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


def test_categories_of_an_axis_of_dates_are_dates_without_a_format_too():
    slides = Slides()
    data = CategoryChartData()
    data.categories = [date(2025, 1, 31), date(2025, 2, 28)]
    data.add_series("Crates", (4, 6))
    chart = slides.chart(XL_CHART_TYPE.LINE, data)
    (code,) = chart._chartSpace.xpath("//c:cat//c:formatCode")
    code.text = "General"
    assert slides.lines()[2:] == ["| 2025-01-31 | 4 |", "| 2025-02-28 | 6 |"]


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


NEWER_FRAME = """
<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
    xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" {drawing}>
  <mc:Choice xmlns:cx1="{microsoft}/drawing/2015/9/8/chartex" Requires="cx1"><p:graphicFrame>
    <p:nvGraphicFramePr><p:cNvPr id="9" name="chart"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>
    <p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm>
    <a:graphic><a:graphicData uri="{microsoft}/drawing/2014/chartex">
      <cx:chart xmlns:cx="{microsoft}/drawing/2014/chartex" xmlns:r="{official}" r:id="{key}"/>
    </a:graphicData></a:graphic></p:graphicFrame></mc:Choice>
  <mc:Fallback><p:sp><p:nvSpPr><p:cNvPr id="9" name=""/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>
    <p:txBody><a:bodyPr/><a:p><a:r><a:t>This chart is not available.</a:t></a:r></a:p></p:txBody></p:sp></mc:Fallback>
</mc:AlternateContent>"""


def points(*values: str) -> str:
    return "".join(f'<cx:pt idx="{index}">{value}</cx:pt>' for index, value in enumerate(values) if value)


def newer_chart(data: str, series: str, axes: str = "") -> list[str]:
    """The lines of a slide with a chart of newer programs (MS-ODRAWXML, 2.24.3)."""
    slides = Slides()
    title = "<cx:title><cx:tx><cx:txData><cx:v>Apples</cx:v></cx:txData></cx:tx></cx:title>"
    plot = f"<cx:plotArea><cx:plotAreaRegion>{series}</cx:plotAreaRegion>{axes}</cx:plotArea>"
    xml = f'<cx:chartSpace xmlns:cx="{MICROSOFT}/drawing/2014/chartex" {DRAWING}><cx:chartData>{data}</cx:chartData>'
    kind = f"{MICROSOFT}/2014/relationships/chartEx"
    key = slides.part("charts/chartEx1.xml", kind, f"{xml}<cx:chart>{title}{plot}</cx:chart></cx:chartSpace>")
    names = {"drawing": DRAWING, "microsoft": MICROSOFT, "official": OFFICIAL}
    slides.slide.shapes._spTree.append(parse_xml(NEWER_FRAME.format(key=key, **names)))
    assert losses(slides.converted()) == {}
    return slides.lines()


def test_waterfall_marks_its_totals_and_has_titles_of_axes():
    data = f"""<cx:data id="0"><cx:strDim type="cat"><cx:f>A2:A5</cx:f><cx:lvl ptCount="4">
        {points("Start", "Picked", "Rotten", "End")}</cx:lvl></cx:strDim>
        <cx:numDim type="val"><cx:lvl ptCount="4" formatCode="#,##0">{points("1000", "250.4", "-90", "1160")}</cx:lvl>
        </cx:numDim></cx:data>"""
    series = """<cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:f>B1</cx:f><cx:v>Crates</cx:v></cx:txData></cx:tx>
        <cx:dataId val="0"/><cx:layoutPr><cx:subtotals><cx:idx val="0"/><cx:idx val="3"/></cx:subtotals></cx:layoutPr>
        </cx:series>"""
    title = "<cx:title><cx:tx><cx:rich><a:p><a:r><a:t>{}</a:t></a:r></a:p></cx:rich></cx:tx></cx:title>"
    axes = f'<cx:axis id="0"><cx:catScaling/>{title.format("Step")}</cx:axis>'
    axes += f'<cx:axis id="1"><cx:valScaling/>{title.format("Number")}</cx:axis>'
    assert newer_chart(data, series, axes) == [
        "[waterfall chart: Apples; x: Step; y: Number]",
        "| Step | Crates |", "| Start (total) | 1,000 |", "| Picked | 250 |", "| Rotten | -90 |",
        "| End (total) | 1,160 |",
    ]  # fmt: skip


@pytest.mark.parametrize(("layout", "dimension"), [("treemap", "size"), ("sunburst", "size"), ("funnel", "val")])
def test_categories_of_several_levels_are_joined(layout: str, dimension: str):
    data = f"""<cx:data id="0"><cx:strDim type="cat">
        <cx:lvl ptCount="3">{points("Cox", "Elstar", "Conference")}</cx:lvl>
        <cx:lvl ptCount="3">{points("Apples", "", "Pears")}</cx:lvl></cx:strDim>
        <cx:numDim type="{dimension}"><cx:lvl ptCount="3">{points("5", "7", "2")}</cx:lvl></cx:numDim></cx:data>"""
    series = f'<cx:series layoutId="{layout}"><cx:dataId val="0"/></cx:series>'
    assert newer_chart(data, series) == [
        f"[{layout} chart: Apples]",
        "| Chart | Series 1 |", "| Apples / Cox | 5 |", "| Apples / Elstar | 7 |", "| Pears / Conference | 2 |",
    ]  # fmt: skip


def test_histogram_and_box_plot_have_their_values_and_a_computed_line_has_none():
    numbers = '<cx:data id="{0}"><cx:numDim type="val"><cx:lvl ptCount="2">{1}</cx:lvl></cx:numDim></cx:data>'
    data = numbers.format(0, points("12", "15")) + numbers.format(1, points("9", "30"))
    histogram = """<cx:series layoutId="clusteredColumn"><cx:dataId val="0"/><cx:layoutPr><cx:binning/></cx:layoutPr>
        </cx:series><cx:series layoutId="paretoLine" ownerIdx="0"/>"""
    assert newer_chart(data, histogram) == [
        "[histogram and Pareto chart: Apples]", "| Chart | Series 1 |", "| 1 | 12 |", "| 2 | 15 |",
    ]  # fmt: skip
    boxes = "".join(f'<cx:series layoutId="boxWhisker"><cx:dataId val="{number}"/></cx:series>' for number in (0, 1))
    assert newer_chart(data, boxes) == [
        "[box and whisker chart: Apples]", "| Chart | Series 1 | Series 2 |", "| 1 | 12 | 9 |", "| 2 | 15 | 30 |",
    ]  # fmt: skip


def test_an_empty_value_and_one_that_is_no_number_are_empty_cells():
    slides = Slides()
    data = CategoryChartData()
    data.categories = ["Spring", "Summer", "Autumn"]
    data.add_series("Oats", (11, None, 0))
    chart = slides.chart(XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    assert slides.lines()[1:] == ["| Chart | Oats |", "| Spring | 11 |", "| Autumn | 0 |"]
    values = chart._chartSpace.xpath("//c:val//c:pt/c:v")
    values[0].text = "NaN"
    assert slides.lines()[1:] == ["| Chart | Oats |", "| Autumn | 0 |"]


def test_comments_have_their_authors_and_answers():
    slides = Slides()
    main = slides.presentation.part
    names = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    authors = f'<p:cmAuthorLst {names}><p:cmAuthor id="3" name="Ann"/></p:cmAuthorLst>'
    slides.part("commentAuthors.xml", f"{OFFICIAL}/commentAuthors", authors, main)
    comment = f'<p:cmLst {names}><p:cm authorId="3" idx="1"><p:text>Old one?</p:text></p:cm></p:cmLst>'
    slides.part("comments/comment1.xml", f"{OFFICIAL}/comments", comment)
    names = f'xmlns:p188="{MICROSOFT}/powerpoint/2018/8/main" {DRAWING}'
    author = '<p188:author id="{}" name="{}"/>'
    authors = f"<p188:authorLst {names}>{author.format('A', 'Ben')}{author.format('B', 'Cleo')}</p188:authorLst>"
    slides.part("authors.xml", f"{MICROSOFT}/2018/10/relationships/authors", authors, main)
    body = "<p188:txBody><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></p188:txBody>"
    answer = f'<p188:replyLst><p188:reply id="2" authorId="B">{body.format("It is.")}</p188:reply></p188:replyLst>'
    comment = f'<p188:cm id="1" authorId="A">{answer}{body.format("Is 41 right?")}</p188:cm>'
    kind = f"{MICROSOFT}/2018/10/relationships/comments"
    slides.part("comments/modernComment1.xml", kind, f"<p188:cmLst {names}>{comment}</p188:cmLst>")
    expected = ["[comment by Ann: Old one?]", "[comment by Ben: Is 41 right?]", "[comment by Cleo: It is.]"]
    assert slides.lines() == expected
    assert losses(slides.converted()) == {}


def test_footers_of_slides_and_texts_of_their_layouts_are_said_once():
    slides = Slides(1)
    layout = slides.presentation.slide_layouts[1]
    group = layout.shapes._spTree
    box = slides.slide.shapes.add_textbox(*BOX)
    box.text_frame.text = "Confidential"
    group.append(box._element)
    for slide in (slides.slide, slides.presentation.slides.add_slide(layout)):
        for shape in layout.placeholders:
            if shape.placeholder_format.type in (13, 15, 16):  # number, footer, date
                slide.shapes.clone_placeholder(shape)
        texts = {15: "Orchard talk", 16: "21 October"}
        for shape in slide.placeholders:
            if text := texts.get(shape.placeholder_format.type):
                shape.text_frame.text = text
        number = next(each for each in slide.placeholders if each.placeholder_format.type == 13)
        field = f'<a:fld {DRAWING} id="{{A}}" type="slidenum"><a:t>7</a:t></a:fld>'
        number.text_frame.paragraphs[0]._p.append(parse_xml(field))
    lines = [line for line in slides.converted().text.splitlines() if line]
    assert lines[:2] == ["[slide 1]", "[slide 2]"]
    assert sorted(lines[2:]) == ["[background: Confidential]", "[footer: 21 October]", "[footer: Orchard talk]"]


def test_cells_that_another_one_covers_are_empty_and_what_they_hide_is_counted():
    slides = Slides()
    table = slides.slide.shapes.add_table(3, 3, *BOX).table
    for number, cell in enumerate(table.iter_cells()):
        cell.text = str(number)
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 2).merge(table.cell(2, 2))
    table.cell(0, 1).text = "covered"
    assert slides.lines() == ["| 0<br>1 |  | 2 |", "| 3 | 4 | 5<br>8 |", "| 6 | 7 |  |"]
    assert losses(slides.converted()) == {"hidden texts": (1, None)}


def test_shapes_in_groups_stand_in_their_order():
    slides = Slides()
    slides.slide.shapes.add_textbox(*BOX).text_frame.text = "first"
    group = slides.slide.shapes.add_group_shape()
    slides.slide.shapes.add_textbox(*BOX).text_frame.text = "last"
    group.shapes.add_textbox(*BOX).text_frame.text = "second"
    inner = group.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "fourth"
    inner.shapes.add_textbox(*BOX).text_frame.text = "third"
    assert slides.lines() == ["first", "second", "third", "fourth", "last"]
