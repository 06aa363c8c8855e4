"""Every element of OpenDocument is declared, and what it holds is in the text, or is counted."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from abstractcore_media.document.opendocument.vocabulary import OPEN_DOCUMENT
from tests.media.document.documents import converted
from tests.media.document.vocabulary_lists import CANARY, TEXT, ElementList, declared_twice, is_accounted, undeclared

ELEMENTS = ElementList.read("opendocument.txt")
_BESIDES = {
    "text": "<text:p>besides</text:p>",
    "spreadsheet": '<table:table table:name="A"><table:table-row><table:table-cell><text:p>besides</text:p>'
    "</table:table-cell></table:table-row></table:table>",
    "presentation": "<draw:page><draw:frame><draw:text-box><text:p>besides</text:p></draw:text-box></draw:frame>"
    "</draw:page>",
}
_NAMES = " ".join(f'xmlns:{prefix}="{address}"' for address, prefix in OPEN_DOCUMENT.namespaces.items())


def document(kind: str, body: str, styles: str = "") -> bytes:
    """An OpenDocument file whose body has these elements, after a paragraph."""
    inside = f"<office:{kind}>{_BESIDES[kind]}{body}</office:{kind}>"
    content = f"<office:document-content {_NAMES}><office:body>{inside}</office:body></office:document-content>"
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", content)
        if styles:
            archive.writestr("styles.xml", f"<office:document-styles {_NAMES}>{styles}</office:document-styles>")
    return file.getvalue()


def test_every_element_of_the_format_is_declared_once():
    assert undeclared(OPEN_DOCUMENT, ELEMENTS.children) == []
    assert declared_twice(OPEN_DOCUMENT) == []


@pytest.mark.parametrize("root", ["text", "spreadsheet", "presentation", "chart", "master-styles"])
def test_text_in_any_element_is_in_the_output_or_counted(root: str):
    assert [way for kind in ELEMENTS.children if (way := unaccounted(kind, root))] == []


def unaccounted(kind: str, root: str) -> str:
    """The way to an element in which a text gets lost, "" if it does not."""
    inside = ELEMENTS.children[kind]
    text = CANARY if TEXT in inside else f"<text:p>{CANARY}</text:p>" if "text:p" in inside else ""
    way = ELEMENTS.path_to(kind, f"office:{root}", OPEN_DOCUMENT)
    if not text or len(way) < 2:
        return ""
    body = "".join(f"<{each}>" for each in way) + text + "".join(f"</{each}>" for each in reversed(way))
    if root == "master-styles":
        conversion = converted(document("text", "", body), "file.odt")
    elif root == "chart":
        conversion = converted(
            document("text", f"<draw:frame><draw:object>{body}</draw:object></draw:frame>"), "file.odt"
        )
    else:
        inside = body.removeprefix(f"<office:{root}>").removesuffix(f"</office:{root}>")
        conversion = converted(document(root, inside), f"file.od{root[0]}")
    assert "besides" in conversion.text
    return "" if is_accounted(conversion, kind, OPEN_DOCUMENT) else " ".join(way)


def test_losses_of_a_text_are_counted_with_their_paragraphs():
    deleted = "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
    deleted += "</text:changed-region></text:tracked-changes>"
    body = f"{deleted}<text:p>kept<text:hidden-text>secret</text:hidden-text></text:p><office:forms><form:form>"
    body += "<form:text/><form:checkbox/></form:form></office:forms>"
    conversion = converted(document("text", body), "file.odt")
    assert conversion.text == "besides\n\nkept"
    assert [(loss.count, loss.what, loss.places) for loss in conversion.lost] == [
        (1, "tracked deletions", ()),
        (2, "form fields", ()),
        (1, "hidden texts", ("paragraph 3",)),
    ]


def test_losses_of_sheets_and_slides_have_their_names():
    form = "<office:forms><form:form><form:text/></form:form></office:forms>"
    sheet = converted(document("spreadsheet", f'<table:table table:name="Sales">{form}</table:table>'), "file.ods")
    slides = converted(document("presentation", f"<draw:page>{form}</draw:page>"), "file.odp")
    assert [loss.what for loss in (*sheet.lost, *slides.lost)] == ["form fields", "form fields"]


def test_shapes_groups_and_text_boxes_are_read_once_wherever_they_stand():
    shape = "<draw:rect><text:p>inner</text:p></draw:rect>"
    box = f"<draw:frame><draw:text-box><text:p>box</text:p>{shape}</draw:text-box></draw:frame>"
    group = f"<draw:g>{box}<draw:circle><text:p>round</text:p></draw:circle></draw:g>"
    for kind, around in {
        "text": "<text:p>{}</text:p>",
        "spreadsheet": "<table:table><table:table-row><table:table-cell>{}</table:table-cell></table:table-row>"
        "</table:table>",
        "presentation": "<draw:page>{}</draw:page>",
    }.items():
        text = converted(document(kind, around.format(group)), f"file.od{kind[0]}").text
        assert [text.count(each) for each in ("box", "inner", "round")] == [1, 1, 1], text


def test_readings_and_written_numbers_stand_beside_their_texts():
    ruby = "<text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>"
    items = "<text:list-item><text:number>2.a</text:number><text:p>item</text:p></text:list-item>"
    body = f"<text:h text:outline-level='2'><text:number>1.2</text:number>Title</text:h><text:list>{items}</text:list>"
    text = converted(document("text", f"{body}<text:p>{ruby}</text:p>"), "file.odt").text
    assert text == "besides\n\n## 1.2 Title\n\n2.a item\n\n東京(とうきょう)"


def test_charts_have_their_titles():
    chart = "<office:chart><chart:chart chart:class='chart:bar'><chart:title><text:p>Sales 2025</text:p></chart:title>"
    chart += "<chart:plot-area><chart:axis chart:dimension='y'><chart:title><text:p>tonnes</text:p></chart:title>"
    chart += "</chart:axis></chart:plot-area></chart:chart></office:chart>"
    body = f"<text:p><draw:frame><draw:object>{chart}</draw:object></draw:frame></text:p>"
    assert converted(document("text", body), "file.odt").text == "besides\n\n[bar chart: Sales 2025; y: tonnes]"


def test_equations_are_latex():
    formula = "<math:math><math:semantics><math:msup><math:mi>x</math:mi><math:mn>2</math:mn></math:msup>"
    formula += "<math:annotation math:encoding='StarMath 5.0'>x^2</math:annotation></math:semantics></math:math>"
    body = f"<text:p><draw:frame><draw:object>{formula}</draw:object></draw:frame></text:p>"
    assert converted(document("text", body), "file.odt").text == "besides\n\n$$x^{2}$$"
