"""What OpenDocument files refer to stands in its place: marks of styles, tracked deletions and fields of forms."""

from __future__ import annotations

import pytest

from abstractcore_media.document.zip_members import ZipMembers
from tests.media.document.documents import converted, losses
from tests.media.document.test_opendocument_vocabulary import document

STYLES = "<office:styles>{}</office:styles>"


def style(name: str, properties: str, *, parent: str = "", family: str = "text") -> str:
    based = f' style:parent-style-name="{parent}"' if parent else ""
    return (
        f'<style:style style:name="{name}" style:family="{family}"{based}>'
        f"<style:text-properties {properties}/></style:style>"
    )


def span(name: str, text: str) -> str:
    return f'<text:span text:style-name="{name}">{text}</text:span>'


def text_of(body: str, styles: str = "", kind: str = "text") -> str:
    return converted(document(kind, body, STYLES.format(styles)), f"file.od{kind[0]}").text.partition("besides")[2]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ('style:text-position="super 58%"', "105 is 10⁵"),
        ('style:text-position="33% 58%"', "105 is 10⁵"),
        ('style:text-position="sub 58%"', "105 is 10₅"),
        ('style:text-position="-33% 58%"', "105 is 10₅"),
        ('style:text-position="0% 100%"', "105 is 105"),
        ('style:text-line-through-style="solid"', "105 is 10~~5~~"),
        ('style:text-line-through-type="double"', "105 is 10~~5~~"),
        ('style:text-line-through-style="none"', "105 is 105"),
    ],
)
def test_styles_mark_words(properties: str, expected: str):
    body = f"<text:p>105 is 10{span('A', '5')}</text:p>"
    assert text_of(body, style("A", properties)).strip() == expected
    assert text_of(body, style("Base", properties) + style("A", "", parent="Base")).strip() == expected


def test_marks_reach_into_spans_and_end_where_a_style_takes_them_back():
    styles = style("P", 'style:text-line-through-style="solid"', family="paragraph")
    styles += style("Off", 'style:text-line-through-style="none"') + style("Up", 'style:text-position="super 58%"')
    inner = span("Off", f"stays {span('Up', '2')}")
    body = f'<text:p text:style-name="P">gone {inner}{span("Up", "3")}</text:p>'
    assert text_of(body, styles).strip() == "~~gone~~ stays ²~~³~~"


def test_styles_in_a_circle_end():
    styles = style("A", "", parent="B") + style("B", 'style:text-position="sub"', parent="A")
    assert text_of(f"<text:p>H{span('A', '2')}O</text:p>", styles).strip() == "H₂O"


def test_hidden_words_are_counted_and_not_shown():
    body = f"<text:p>seen{span('Off', 'unseen')}</text:p>"
    conversion = converted(document("text", body, STYLES.format(style("Off", 'text:display="none"'))), "file.odt")
    assert conversion.text == "besides\n\nseen"
    assert losses(conversion) == {"hidden texts": (1, None)}


def test_words_of_cells_and_slides_are_marked_too():
    raised = f"10{span('A', '5')}"
    cell = f"<table:table-cell><text:p>{raised}</text:p></table:table-cell>"
    frame = f"<draw:frame><draw:text-box><text:p>{raised}</text:p></draw:text-box></draw:frame>"
    bodies = {
        "text": f"<table:table><table:table-row>{cell}</table:table-row></table:table>",
        "spreadsheet": f"<table:table><table:table-row>{cell}</table:table-row></table:table>",
        "presentation": f"<draw:page>{frame}</draw:page>",
    }
    for kind, body in bodies.items():
        assert "10⁵" in text_of(body, style("A", 'style:text-position="super 58%"'), kind)


def test_tracked_deletions_are_struck_through_where_they_stood():
    who = "<office:change-info><dc:creator>Ann</dc:creator></office:change-info>"
    changes = f"""<text:tracked-changes>
        <text:changed-region text:id="c1"><text:deletion>{who}<text:p>99</text:p></text:deletion></text:changed-region>
        <text:changed-region text:id="c2"><text:insertion>{who}</text:insertion></text:changed-region>
        </text:tracked-changes>"""
    body = f"""{changes}<text:p>pay <text:change text:change-id="c1"/> <text:change-start
        text:change-id="c2"/>79<text:change-end text:change-id="c2"/></text:p>"""
    assert text_of(body).strip() == "pay ~~99~~ 79\n\n[tracked deletions, shown as ~~struck through~~: 1]"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ('<form:text form:id="f" form:current-value="Ann"/>', "Name: Ann."),
        ('<form:text form:id="f" form:value="Bob"/>', "Name: Bob."),
        ('<form:text form:id="f" form:name="who"/>', "Name: [not filled in: who]."),
        ('<form:textarea form:id="f"><text:p>a</text:p><text:p>b</text:p></form:textarea>', "Name: a\nb."),
        ('<form:password form:id="f" form:current-value="secret"/>', "Name: [not filled in]."),
        ('<form:checkbox form:id="f" form:label="Member" form:current-state="checked"/>', "Name: [x] Member."),
        ('<form:checkbox form:id="f" form:label="Member"/>', "Name: [ ] Member."),
        ('<form:radio form:id="f" form:label="yes" form:current-selected="true"/>', "Name: (x) yes."),
        ('<form:radio form:id="f" form:label="no"/>', "Name: ( ) no."),
        ('<form:listbox form:id="f"><form:option form:label="red"/><form:option form:label="blue" '
         'form:current-selected="true"/></form:listbox>', "Name: blue."),
        ('<form:combobox form:id="f" form:current-value="own"><form:item form:label="red"/></form:combobox>',
         "Name: own."),
        ('<form:button form:id="f" form:label="Send"/>', "Name: Send."),
    ],
)  # fmt: skip
def test_fields_of_forms_show_what_is_filled_in(field: str, expected: str):
    forms = f"<office:forms><form:form>{field}</form:form></office:forms>"
    body = f'{forms}<text:p>Name: <draw:control draw:control="f"/>.</text:p>'
    conversion = converted(document("text", body), "file.odt")
    assert conversion.text == f"besides\n\n{expected}"
    assert losses(conversion) == {}


def test_fields_on_slides_and_sheets_are_shapes():
    forms = '<office:forms><form:form><form:text form:id="f" form:value="Ann"/></form:form></office:forms>'
    control = '<draw:control draw:control="f"/>'
    assert "Ann" in text_of(f"<draw:page>{forms}{control}</draw:page>", kind="presentation")
    sheet = f"<table:table>{forms}<table:shapes>{control}</table:shapes></table:table>"
    assert "Ann" in text_of(sheet, kind="spreadsheet")


def numbers(format: str, *, level: int = 1, more: str = "") -> str:
    return f'<text:list-level-style-number text:level="{level}" style:num-format="{format}" {more}/>'


def item(text: str, inner: str = "", more: str = "") -> str:
    return f"<text:list-item {more}>{f'<text:p>{text}</text:p>' if text else ''}{inner}</text:list-item>"


def items(*inside: str, more: str = 'text:style-name="L"') -> str:
    return f"<text:list {more}>{''.join(inside)}</text:list>"


@pytest.mark.parametrize(
    ("format", "expected"),
    [("1", "28"), ("a", "ab"), ("A", "AB"), ("i", "xxviii"), ("I", "XXVIII"), ("", ""), ("unknown", "28")],
)
def test_items_have_the_number_format_of_their_list(format: str, expected: str):
    level = numbers(format, more='style:num-prefix="(" style:num-suffix=")" text:start-value="28"')
    styles = f'<text:list-style style:name="L">{level}</text:list-style>'
    for kind, around in {"text": "{}", "presentation": "<draw:page><draw:frame><draw:text-box>{}</draw:text-box>"
                         "</draw:frame></draw:page>"}.items():  # fmt: skip
        assert f"({expected}) word" in text_of(around.format(items(item("word"))), styles, kind)


def test_lists_count_on_and_start_again_as_libreoffice_shows_them():
    levels = numbers("1", more='style:num-suffix="."') + numbers(
        "1", level=2, more='style:num-suffix="." text:display-levels="2"'
    )
    styles = f'<text:list-style style:name="L">{levels}</text:list-style>'
    body = items(item("a", items(item("b"), item("c"), more="")), item("d<text:line-break/>e"))
    body += items(item("", items(item("f"), more="")), more='text:style-name="L" text:continue-numbering="true"')
    body += items(
        item("g"),
        item("h", more='text:start-value="7"'),
        "<text:list-header><text:p>head</text:p></text:list-header>",
        item("i"),
    )
    lines = [line.strip() for line in text_of(body, styles).splitlines() if line.strip()]
    assert lines == ["1. a", "1.1. b", "1.2. c", "2. d", "e", "2.1. f", "1. g", "7. h", "head", "8. i"]


def test_headings_are_numbered_by_the_outline():
    outline = (
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="A"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2" style:num-suffix=")"/>'
        '</text:outline-style><style:style style:name="Off" style:family="paragraph" style:list-style-name=""/>'
    )
    heading = '<text:h text:outline-level="{}" {}>{}</text:h>'
    rows = [(1, "", "Soil"), (2, "", "Clay"), (2, 'text:style-name="Off"', "Aside"), (2, "", "Sand"), (1, "", "Rain"),
            (2, 'text:restart-numbering="true" text:start-value="4"', "Snow"), (3, "", "Ice")]  # fmt: skip
    lines = text_of("".join(heading.format(*row) for row in rows), outline).split("\n\n")
    assert [line for line in lines if line] == [
        "# A Soil", "## A.1) Clay", "## Aside", "## A.2) Sand", "# B Rain", "## B.4) Snow", "### Ice"
    ]  # fmt: skip


def test_headers_footers_and_backgrounds_of_all_pages_are_read_in_one_pass(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    chunks = ZipMembers.chunks
    monkeypatch.setattr(ZipMembers, "chunks", lambda self, path: read.append(path) or chunks(self, path))
    pages = "".join(
        f'<style:master-page style:name="{name}"><style:header><text:p>Head {name}</text:p></style:header>'
        f"<style:footer><text:p>Foot</text:p></style:footer></style:master-page>"
        for name in "AB"
    )
    data = document("text", "", f"<office:styles/><office:master-styles>{pages}</office:master-styles>")
    assert converted(data, "file.odt").text.split("\n\n") == [
        "[header: Head A]\n[header: Head B]",
        "besides",
        "[footer: Foot]",
    ]
    assert read.count("styles.xml") == 2  # once for the styles, before all texts
