"""Slides: PPTX by python-pptx, and the same as ODP, PPT and PDF by LibreOffice."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

from pptx import Presentation
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_SHAPE
from pptx.oxml import parse_xml
from pptx.presentation import Presentation as Slides
from pptx.util import Inches

from .corpus import Family
from .facts import Fact, Struck, each, in_order, link, lowered, raised, says, table

SLIDES = Family("python-pptx")
BOX = Inches(1), Inches(2), Inches(7), Inches(3)
DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def saved(build: Callable[[Slides], object]) -> Callable[[Path], None]:
    """A maker of the slides that a function fills."""

    def make(path: Path) -> None:
        slides = Presentation()
        build(slides)
        slides.save(str(path))

    return make


def titled(slides: Slides, title: str):
    """A slide with a title alone."""
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = title
    return slide


TARIFF = ("Zone", "Adult", "Child")
PRICES = (("Inner", "3.40", "1.70"), ("Outer", "", "2.10"), ("Night", "5.00", ""))


def talk(slides: Slides) -> None:
    first = slides.slides.add_slide(slides.slide_layouts[1])
    first.shapes.title.text = "Fares of 2025"
    first.placeholders[1].text = "Three zones\nChildren under six ride free"
    first.notes_slide.notes_text_frame.text = "Say that the night fare is new."
    second = titled(slides, "Price list")
    made = second.shapes.add_table(4, 3, *BOX).table
    for row, words in zip(made.rows, (TARIFF, *PRICES), strict=True):
        for cell, text in zip(row.cells, words, strict=True):
            cell.text = text
    third = titled(slides, "Where to buy")
    group = third.shapes.add_group_shape()
    for words, left in (("At the kiosk", 1), ("On the tram", 4)):
        shape = group.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(left), Inches(2), Inches(2), Inches(1))
        shape.text_frame.text = words


TALK: list[Fact] = [
    *table(TARIFF, *PRICES),
    *each("Three zones", "Children under six ride free", "At the kiosk", "On the tram"),
    in_order("Fares of 2025", "Three zones", "Price list", "Night", "Where to buy", "On the tram"),
]
NOTES = says("Say that the night fare is new.")
SLIDES.file("talk.pptx", TALK, NOTES)(saved(talk))
for suffix in ("odp", "ppt"):
    SLIDES.converted(f"talk_{suffix}.{suffix}", saved(talk), "pptx", TALK, NOTES)
SLIDES.converted("talk_pdf.pdf", saved(talk), "pptx", TALK)


def marks(slides: Slides) -> None:
    frame = titled(slides, "Water").shapes.add_textbox(*BOX).text_frame
    for before, attribute, script, after in (
        ("Some 10", 'baseline="30000"', "5", " litres"),
        ("of H", 'baseline="-25000"', "2", "O"),
        ("for ", 'strike="sngStrike"', "99 euros", " 79 euros"),
    ):
        paragraph = frame.add_paragraph()
        for words, mark in ((before, ""), (script, attribute), (after, "")):
            run = paragraph.add_run()
            run.text = words
            if mark:
                name, value = mark.split("=")
                run._r.get_or_add_rPr().set(name, value.strip('"'))
    link_run = frame.add_paragraph().add_run()
    link_run.text = "More on our page"
    link_run.hyperlink.address = "https://example.com/water"


MARKS = [
    raised("10", "5", " litres"),
    lowered("H", "2", "O"),
    says("79 euros"),
    Struck("99 euros"),
    link("More on our page", "https://example.com/water"),
]
SLIDES.file("marks.pptx", MARKS)(saved(marks))
SLIDES.converted("marks_odp.odp", saved(marks), "pptx", MARKS)


@SLIDES.file(
    "numbered.pptx",
    says("1. Mix", "1 Mix", "1) Mix"),
    says("2. Bake", "2 Bake", "2) Bake"),
    says("3. Cool", "3 Cool", "3) Cool"),
)
@saved
def _numbered(slides: Slides) -> None:
    frame = titled(slides, "Bread").shapes.add_textbox(*BOX).text_frame
    for words in ("Mix", "Bake", "Cool"):
        paragraph = frame.add_paragraph()
        paragraph.text = words
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {DRAWING} type="arabicPeriod"/>'))


@SLIDES.file(
    "hidden_slide.pptx", each("Shown to all", "For the board alone"), says("hidden", "(hidden)", "hidden slide")
)
@saved
def _hidden(slides: Slides) -> None:
    titled(slides, "Shown to all")
    titled(slides, "For the board alone")._element.set("show", "0")


@SLIDES.file(
    "order.pptx",
    in_order("Top left", "Top right", "Bottom left", "Bottom right"),
    each("Top left", "Bottom right"),
)
@saved
def _order(slides: Slides) -> None:
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    for words, left, top in (("Top left", 1, 1), ("Top right", 5, 1), ("Bottom left", 1, 4), ("Bottom right", 5, 4)):
        slide.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1)).text_frame.text = words


def bars(slides: Slides) -> None:
    data = CategoryChartData()
    data.categories = ["Spring", "Summer", "Autumn"]
    data.add_series("Oats", (11, None, 13))
    data.add_series("Rye", (21.5, 22, 23))
    slide = titled(slides, "Harvest")
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Tonnes by season"
    chart.value_axis.has_title = True
    chart.value_axis.axis_title.text_frame.text = "Weight in tonnes"


BARS = [
    *each("Tonnes by season", "Weight in tonnes", "Oats", "Rye"),
    says("Spring | 11 | 21.5", "Spring | 11.0 | 21.5"),
    says("Summer | | 22", "Summer | | 22.0", "Summer | None | 22.0", never=("Summer | 13", "Summer | 22")),
    says("Autumn | 13 | 23", "Autumn | 13.0 | 23.0", "Autumn | 13.0 | 23"),
]
SLIDES.file("bars.pptx", BARS)(saved(bars))
SLIDES.converted("bars_odp.odp", saved(bars), "pptx", BARS)


@SLIDES.file(
    "points.pptx",
    each("Car", "Boat"),
    says("Car | 10 | 5.5", "10 | 5.5", "10.0 | 5.5", "(10, 5.5)"),
    says("Car | 20 | 6.5", "20 | 6.5", "20.0 | 6.5", "(20, 6.5)"),
    says(
        "Boat | 15 | 2.5",
        "15 | 2.5",
        "15.0 | 2.5",
        "15 | | 2.5",
        "(15, 2.5)",
        never=("10 | 5.5 | 2.5", "10.0 | 5.5 | 2.5"),
    ),
)
@saved
def _points(slides: Slides) -> None:
    data = XyChartData()
    for name, points in (("Car", ((10, 5.5), (20, 6.5))), ("Boat", ((15, 2.5),))):
        series = data.add_series(name)
        for x, y in points:
            series.add_data_point(x, y)
    titled(slides, "Speed").shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *BOX, data)


@SLIDES.file(
    "bubbles.pptx",
    says("1 | 2.5 | 300", "1 | 2.5 | 300.0", "1.0 | 2.5 | 300.0", "1.0 | 2.5 | 300"),
    says("4 | 5.5 | 600", "4 | 5.5 | 600.0", "4.0 | 5.5 | 600.0", "4.0 | 5.5 | 600"),
)
@saved
def _bubbles(slides: Slides) -> None:
    data = BubbleChartData()
    series = data.add_series("Towns")
    series.add_data_point(1, 2.5, 300)
    series.add_data_point(4, 5.5, 600)
    titled(slides, "Towns").shapes.add_chart(XL_CHART_TYPE.BUBBLE, *BOX, data)


@SLIDES.file(
    "dates.pptx",
    says(
        "2025-01-31 | 7",
        "2025-01-31 | 7.0",
        "2025-01-31 00:00:00 | 7.0",
        "1/31/2025 | 7",
        never=("45688 | 7", "45688.0 | 7.0"),
    ),
    says(
        "2025-02-28 | 9",
        "2025-02-28 | 9.0",
        "2025-02-28 00:00:00 | 9.0",
        "2/28/2025 | 9",
        never=("45716 | 9", "45716.0 | 9.0"),
    ),
)
@saved
def _dates(slides: Slides) -> None:
    data = CategoryChartData()
    data.categories = [datetime.date(2025, 1, 31), datetime.date(2025, 2, 28)]
    data.add_series("Visitors", (7, 9))
    titled(slides, "Visitors").shapes.add_chart(XL_CHART_TYPE.LINE, *BOX, data)
