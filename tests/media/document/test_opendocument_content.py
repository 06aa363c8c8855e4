"""Charts as LibreOffice writes them, sections, running texts and nested tables of OpenDocument files."""

from __future__ import annotations

import pytest

from tests.media.document.documents import converted, losses
from tests.media.document.test_opendocument_vocabulary import document


def cell(text: str, source: str = "") -> str:
    shape = f"<draw:g><svg:desc>{source}</svg:desc></draw:g>" if source else ""
    return f"<table:table-cell><text:p>{text}</text:p>{shape}</table:table-cell>"


def table_of(*rows: str) -> str:
    head, *others = (f"<table:table-row>{row}</table:table-row>" for row in rows)
    body = f"<table:table-rows>{''.join(others)}</table:table-rows>"
    return f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{body}</table:table>"


def chart(kind: str, series: str, table: str, title: str = "") -> list[str]:
    """The lines of a text with a chart."""
    plot = f"<chart:plot-area>{title}{series}</chart:plot-area>"
    inside = f"<office:chart><chart:chart chart:class='chart:{kind}'>{plot}{table}</chart:chart></office:chart>"
    body = f"<text:p><draw:frame><draw:object>{inside}</draw:object></draw:frame></text:p>"
    conversion = converted(document("text", body), "file.odt")
    assert losses(conversion) == {}
    return [line for line in conversion.text.splitlines()[1:] if line and not line.startswith("| ---")]


def test_a_chart_has_its_kind_its_titles_and_a_row_for_each_category():
    table = table_of(cell("") + cell("Oats") + cell("Rye"), cell("Spring") + cell("11") + cell("NaN"))
    title = "<chart:title><text:p>{}</text:p></chart:title>"
    axes = f"<chart:axis chart:dimension='x'>{title.format('Season')}</chart:axis>"
    axes += f"<chart:axis chart:dimension='y'>{title.format('Tonnes')}</chart:axis>"
    assert chart("circle", "", table, axes) == [
        "[pie chart; x: Season; y: Tonnes]", "| Season | Oats | Rye |", "| Spring | 11 |  |",
    ]  # fmt: skip


SCATTER = """<chart:series chart:values-cell-range-address="Sheet.B2:Sheet.B3"><chart:domain
    table:cell-range-address="Sheet.A2:Sheet.A3"/></chart:series><chart:series
    chart:values-cell-range-address="Sheet.D2:Sheet.D3"><chart:domain table:cell-range-address="Sheet.C2:Sheet.C3"/>
    </chart:series>"""


def test_points_of_a_sheet_have_the_x_values_of_their_series():
    sources = ("", *(f"Sheet.{column}2:Sheet.{column}3" for column in "ABCD"))
    rows = (
        "".join(map(cell, ("", "Column A", "one", "Column C", "two"))),
        "".join(map(cell, ("1", "1", "10", "5", "50"), sources)),
        "".join(map(cell, ("2", "2", "20", "6", "60"))),
    )
    assert chart("scatter", SCATTER, table_of(*rows)) == [
        "[scatter chart]", "| Series | x | y |",
        "| one | 1 | 10 |", "| one | 2 | 20 |", "| two | 5 | 50 |", "| two | 6 | 60 |",
    ]  # fmt: skip


def test_bubbles_of_a_presentation_have_their_sizes():
    series = """<chart:series chart:values-cell-range-address="local-table.$D$2:.$D$2"><chart:domain
        table:cell-range-address="local-table.$B$2:.$B$2"/><chart:domain
        table:cell-range-address="local-table.$C$2:.$C$2"/></chart:series>"""
    rows = ("".join(map(cell, each)) for each in (("", "Series1", "Series2", "Towns"), ("", "2.5", "1", "300")))
    assert chart("bubble", series, table_of(*rows)) == [
        "[bubble chart]", "| Series | x | y | size |", "| Towns | 1 | 2.5 | 300 |",
    ]  # fmt: skip


def test_series_without_columns_leave_the_table_as_it_is():
    table = table_of(cell("") + cell("one"), cell("1") + cell("10"))
    assert chart("scatter", SCATTER, table) == ["[scatter chart]", "| Chart | one |", "| 1 | 10 |"]


@pytest.mark.parametrize(
    ("attributes", "is_hidden"),
    [
        ('text:display="none"', True),
        ('text:display="condition" text:condition="ooow:1 == 1" text:is-hidden="true"', True),
        ('text:display="condition" text:condition="ooow:1 == 2"', False),
        ("", False),
    ],
)
def test_sections_that_are_hidden_are_counted_and_not_shown(attributes: str, is_hidden: bool):
    inside = "<text:p>secret</text:p><table:table><table:table-row><table:table-cell><text:p>more</text:p>"
    inside += "</table:table-cell></table:table-row></table:table>"
    body = f'<text:section text:name="A" {attributes}>{inside}</text:section><text:p>after</text:p>'
    conversion = converted(document("text", body), "file.odt")
    assert ("secret" in conversion.text, "more" in conversion.text) == (not is_hidden, not is_hidden)
    assert conversion.text.endswith("after")
    assert losses(conversion) == ({"hidden texts": (1, None)} if is_hidden else {})


def test_footers_and_dates_of_slides_are_said_once():
    date = '<presentation:date-time-decl presentation:name="d" presentation:source="fixed">21 October'
    body = f"""<presentation:footer-decl presentation:name="f">Orchard talk</presentation:footer-decl>
        {date}</presentation:date-time-decl>
        <presentation:date-time-decl presentation:name="e" presentation:source="current-date"/>
        <draw:page presentation:use-footer-name="f"/><draw:page presentation:use-footer-name="f"/>"""
    text = converted(document("presentation", body), "file.odp").text
    assert text.endswith("[footer: Orchard talk]\n[footer: 21 October]")
    assert text.count("Orchard talk") == 1


def test_a_table_in_a_cell_stands_in_its_place():
    inner = table_of(cell("a") + cell("b"), cell("1") + cell("2"))
    outer = f"<table:table-cell><text:p>before</text:p>{inner}<text:p>after</text:p></table:table-cell>{cell('other')}"
    text = converted(document("text", table_of(outer)), "file.odt").text
    assert "| before<br>a \\| b<br>1 \\| 2<br>after | other |" in text
