"""HTML: every element is declared, texts are in the output or counted, fields and tables stand as they are shown."""

from __future__ import annotations

import codecs
from html import escape

import pytest

from abstractcore.schema import CallWarning
from abstractcore_media.document.text_decoding import codec_of
from abstractcore_media.document.vocabularies import Treatment
from abstractcore_media.document.web.vocabulary import HTML
from tests.media.document.documents import converted, losses
from tests.media.document.vocabulary_lists import CANARY, LISTS, undeclared

_LATER = "<p>besides</p>"


def names(file: str) -> list[str]:
    lines = (LISTS / file).read_text(encoding="utf-8").splitlines()
    return [name for line in lines if not line.startswith("#") for name in line.split()]


def text_of(page: str) -> str:
    return converted(page.encode(), "page.html").text


def test_every_element_of_html_svg_and_mathml_is_declared():
    assert undeclared(HTML, names("html.txt")) == []
    assert undeclared(HTML, [f"svg:{name.lower()}" for name in names("svg.txt")]) == []
    assert undeclared(HTML, [f"math:{name}" for name in names("mathml.txt")]) == []


@pytest.mark.parametrize(("file", "around"), [("html.txt", "{}"), ("svg.txt", "<svg aria-hidden=true>{}</svg>")])
def test_text_in_any_element_is_in_the_output_or_counted(file: str, around: str):
    assert [name for name in names(file) if not is_accounted(name.lower(), around)] == []


_VOID = """area base basefont bgsound br col command embed frame hr image img input isindex keygen link meta nextid
param source track wbr"""


def is_accounted(tag: str, around: str) -> bool:
    kind = f"svg:{tag}" if "svg" in around else tag
    treatment, what = HTML.treatment(kind)
    void = tag in _VOID.split() and "svg" not in around
    inner = f"<option>{CANARY}" if tag == "select" else CANARY
    element = f"<{tag} alt={CANARY} value={CANARY}>" if void else f"<{tag}>{inner}</{tag}>"
    conversion = converted(f"<!doctype html>{_LATER}{around.format(element)}{_LATER}".encode(), "page.html")
    if treatment is Treatment.LOST:
        return CANARY not in conversion.text and (void or any(loss.what == what for loss in conversion.lost))
    if treatment is Treatment.LEFT_OUT:
        return CANARY not in conversion.text and not conversion.lost
    has_text = not void or tag in ("area", "img", "image", "input")
    return CANARY in conversion.text or bool(conversion.lost) or not has_text


@pytest.mark.parametrize("tag", _VOID.split())
def test_text_after_an_element_without_an_end_is_read(tag: str):
    text = text_of(f"<!doctype html><p>before <{tag} src=x> after<p>besides<div>more</div>")
    assert {"before", "after", "besides", "more"} <= set(text.split())


def test_unknown_elements_are_read():
    assert text_of("<my-card>one <x-b>two</x-b></my-card>") == "one two"


def test_cells_over_rows_and_columns_leave_their_places_empty():
    page = """<table><caption>Sales</caption><thead><tr><th rowspan=2>Region<th colspan=2>Half<tr><th>Q1<th>Q2
    <tbody><tr><td>North<td rowspan=0>20<td>30<tr><td>South<td>40</table>"""
    assert text_of(page) == (
        "Sales\n\n| Region | Half |  |\n| --- | --- | --- |\n|  | Q1 | Q2 |\n| North | 20 | 30 |\n| South |  | 40 |"
    )


def test_fields_have_their_values():
    page = """<form>Name: <input value="Ann"> <input type=hidden value=token><input type=password value=secret>
    <p><input type=checkbox checked> News <input type=checkbox> Offers <input type=radio checked> Card
    <p>Size: <select><option>S<option selected>M<option>L</select> Color: <select><option>red<option>blue</select>
    Days: <select multiple><option selected>Mon<option>Tue<option selected>Wed</select>
    <p><textarea>two
lines</textarea> <button>Send</button></form>"""
    assert text_of(page) == (
        "Name: Ann\n\n[x] News [ ] Offers (x) Card\n\nSize: M Color: red Days: Mon, Wed\n\ntwo lines Send"
    )


def test_hidden_texts_are_counted_where_they_stand():
    page = """<p>a<div hidden>x</div><p>b<span style="color:red; display : none">y<b>z</b></span><div hidden> </div>
    <noscript>Enable scripts</noscript><noscript><img src=p.gif></noscript><template><p>t</template>
    <dialog>closed</dialog><dialog open>open</dialog>"""
    conversion = converted(page.encode(), "page.html")
    assert conversion.text == "a\n\nb\n\nopen"
    assert losses(conversion) == {
        "hidden elements": (3, None),
        "texts for programs without scripts or frames": (1, None),
        "templates": (1, None),
    }
    assert conversion.lost[0].places == ("paragraph 2", "paragraph 3")


def test_titles_are_shown_unless_the_text_begins_with_them():
    assert text_of("<title>Annual report</title><h1>Annual Report</h1>x") == "# Annual Report\n\nx"
    assert text_of("<title>Report - Farm</title><h1>Report</h1>") == "[title: Report - Farm]\n\n# Report"


def test_texts_of_drawings_and_pages_in_frames_are_read():
    page = """<svg><title>Chart</title><rect/><text x=1>North <tspan>41</tspan></text><text>South</text></svg>
    <iframe srcdoc="<p>inner &lt;b&gt;page&lt;/b&gt;</p><iframe srcdoc='<p>deep'></iframe>">no frames</iframe>
    <iframe src="https://example.org/ad"></iframe><p>after"""
    conversion = converted(page.encode(), "page.html")
    assert conversion.text == "Chart\n\nNorth 41\n\nSouth\n\ninner page\n\ndeep\n\nafter"
    assert losses(conversion) == {"drawings": (1, None), "frames": (1, None)}
    assert conversion.lost[1].places == ("https://example.org/ad",)


def test_words_carry_their_marks():
    page = """<p>10<sup>5</sup> H<sub>2</sub>O the 4<sup>th</sup> <s>99</s> 79 <del>old</del><ins>new</ins>
    <p><a href="https://example.org/x">E=mc<sup>2</sup></a> <q>so</q>
    <ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>
    <p><math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"""
    assert text_of(page) == (
        "10⁵ H₂O the 4<sup>th</sup> ~~99~~ 79 ~~old~~new\n\n[E=mc²](https://example.org/x) “so” 東京(とうきょう)\n\n"
        r"$\frac{a}{b}$"
    )


def test_marks_of_notes_are_not_part_of_the_figure_before_them():
    assert text_of('growth 1<a href="#n" role=doc-noteref>1</a> of 2<a href="#m" epub:type=noteref>*</a>') == (
        "growth 1¹ of 2<sup>*</sup>"
    )
    assert text_of('x<a href="#n" role=doc-noteref><sup>12</sup></a>') == "x¹²"


def test_links_have_their_address_resolved_by_the_base_of_the_page():
    links = '<p><a href="a.html">rel</a> <a href="/b">abs</a> <a href="#c">part</a> <a href="javascript:x()">do</a>'
    assert text_of(f'<base href="https://example.org/d/">{links}') == (
        "[rel](https://example.org/d/a.html) [abs](https://example.org/b) part do"
    )
    assert text_of(links) == "[rel](a.html) [abs](/b) part do"


def test_items_of_lists_have_the_numbers_and_letters_that_are_shown():
    page = """<ol start=3 type=a><li>x<li value=28>y<li>z</ol><ol reversed start=1><li>p<li>q</ol>
    <ol type=I start=4><li>r</ol><ol type=I start=4000><li>s</ol><ol start=-1><li>t</ol><ul><li>u</ul>"""
    assert text_of(page) == "c. x\nab. y\nac. z\n1. p\n0. q\nIV. r\n4000. s\n-1. t\n- u"


def test_reversed_list_without_a_start_has_no_false_numbers():
    assert text_of("<ol reversed><li>p<li>q</ol>") == "- p\n- q"


@pytest.mark.parametrize("style", ["opacity: 0", "font-size:0px;color:red", "color:red;opacity:0.0"])
def test_words_that_a_style_makes_invisible_are_not_read(style: str):
    assert text_of(f"<p style='{style}'>unseen</p><p style='opacity:0.5;font-size:0.8em'>seen</p>") == "seen"


def test_readings_stand_after_their_base_even_without_end_tags():
    assert text_of("<ruby>漢<rt>kan<rt>kara</ruby>字") == "漢(kan)(kara)字"


def test_words_that_are_not_read_out_are_counted_and_a_switch_of_the_page_is_not_shown():
    conversion = converted(b"<input type=checkbox><p>x<span aria-hidden=true>icon</span>", "page.html")
    assert conversion.text == "x"
    assert losses(conversion) == {"hidden elements": (1, None)}
    assert text_of("<main aria-hidden=true><p>behind an open box</main>") == "behind an open box"


def test_soft_hyphens_are_not_in_words():
    assert text_of("<p>Donau&shy;dampf") == "Donaudampf"


def test_figures_of_a_drawing_with_places_of_their_own_are_apart():
    assert text_of("<svg><text><tspan x=0>41</tspan><tspan x=50>30</tspan></text></svg>") == "41 30"


def test_pages_in_frames_twelve_deep_are_read():
    page = "<p>deep text"
    for _ in range(12):
        page = f'<iframe srcdoc="{escape(page)}"></iframe>'
    assert text_of(page) == "deep text"


def test_text_of_a_formula_that_is_too_large_is_kept_and_the_formula_is_counted():
    conversion = converted(b"<math>" * 20_000 + b"<mi>E</mi><mo>=</mo>" + b"</math>" * 20_000, "page.html")
    assert conversion.text == "E="
    assert losses(conversion) == {"formulas": (1, None)}


def test_links_around_paragraphs_keep_their_address():
    page = '<a href="https://example.org/a"><div><h3>Card</h3><p>Text</div></a><p>plain'
    assert text_of(page) == "### [Card](https://example.org/a)\n\n[Text](https://example.org/a)\n\nplain"


def test_labels_of_encodings_are_those_of_the_web():
    """Those of which Python has no codec are in no file of the last decades."""
    lines = (LISTS / "encodings.txt").read_text(encoding="utf-8").splitlines()
    encodings = {name: labels for name, *labels in map(str.split, lines) if name != "#"}
    wider = {"windows-874": "cp874", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc-kr": "cp949"}
    wider |= {"macintosh": "mac-roman", "x-mac-cyrillic": "mac-cyrillic", "iso-8859-8-i": "iso8859-8"}
    for name, labels in encodings.items():
        if name in ("replacement", "x-user-defined"):
            continue
        expected = codecs.lookup(wider.get(name, name)).name
        assert {label: codec_of(label) for label in labels} == dict.fromkeys(labels, expected)


@pytest.mark.parametrize("label", ["no-such", "rot13", "unicode_escape", "undefined", "", None, "idna", "\ud800"])
def test_other_labels_are_unknown(label: str | None):
    assert codec_of(label) is None


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<meta charset="iso-8859-1"><p>\x93café\x94 \x80'.encode("latin-1"), "“café” €"),
        ('<meta http-equiv=Content-Type content="text/html; charset=gb2312"><p>镕'.encode("gb18030"), "镕"),
        ("<meta charset=shift_jis><p>①㈱".encode("cp932"), "①㈱"),
        ('<meta charset="utf-16"><p>café'.encode(), "café"),
        ("<meta charset=x-mac-cyrillic><p>Привет".encode("mac-cyrillic"), "Привет"),
    ],
)
def test_pages_are_decoded_as_browsers_do(page: bytes, text: str):
    assert converted(page, "page.html").text == text


def test_a_guessed_encoding_is_a_warning():
    conversion = converted("<p>Съешь же ещё этих мягких французских булок".encode("cp1251"), "page.html")
    assert conversion.text == "Съешь же ещё этих мягких французских булок"
    (warning,) = conversion.warnings
    assert isinstance(warning, CallWarning)
    assert (warning.code, warning.sent) == ("text_encoding", "cp1251")


def test_bytes_that_are_not_valid_are_counted():
    conversion = converted(b"<meta charset=utf-8><p>caf\xe9 \xff \xef\xbf\xbd", "page.html")
    assert conversion.text == "caf\ufffd \ufffd \ufffd"
    assert losses(conversion) == {"characters": (2, None)}


@pytest.mark.parametrize(
    "page",
    [
        "<table>" + "<tr><td rowspan=60000 colspan=99>x" * 3_000 + "</table>",
        "<table><tr>" + "<td rowspan=60000 colspan=100>x" * 500 + "<tr><td>y" * 20,
        "<p>x<math>" + "<mrow>" * 5_000 + "<mi>x</mi>",
        "<p>x<select>" + "<option selected>y" * 10_000,
        "<p>x" + "<sup>" * 5_000 + "y" * 5_000,
        "<p>x" + "<svg>" * 5_000 + "<text>y",
    ],
)
def test_hostile_pages_are_read_in_bounded_work(page: str):
    assert "x" in text_of(page)


@pytest.mark.parametrize("tag", ["sup", "del"])
def test_marks_inside_too_many_others_are_counted_and_their_text_is_kept(tag: str):
    conversion = converted((f"<{tag}>" * 20_000 + "deep<p>later").encode(), "page.html")
    assert "deep" in conversion.text
    assert "later" in conversion.text
    assert len(conversion.text) < 10_000
    assert losses(conversion)["links and marks inside too many others"][0] == 19_900


def test_a_mark_ends_where_it_began_around_too_many_others():
    inner = "<sup>" * 200 + "2" + "</sup>" * 200
    assert text_of(f"<del>{inner}</del> kept").endswith("~~ kept")
