"""What RTF files show: marks, hidden and deleted words, comments, headers and footers, numbers of lists."""

from __future__ import annotations

from contextlib import suppress

import pytest

from abstractcore.errors import MediaError
from tests.media.document.documents import converted, losses

HEAD = r"{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}"


def text_of(body: str) -> str:
    return converted(f"{HEAD}{body}}}".encode("latin-1"), "file.rtf").text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"10{\super 5} H{\sub 2}O", "10⁵ H₂O"),
        (r"10\super 5\nosupersub  is 10\up6 5\up0  H\dn4 2\dn0 O", "10⁵ is 10⁵ H₂O"),
        (r"10\super 5\plain 5", "10⁵5"),
        (r"{\strike 99} {\striked1 98}{\striked1 97\striked0 96}", "~~99~~ ~~9897~~96"),
        (r"{\strike\super 9\nosupersub 8}", "~~⁹~~~~8~~"),
        (r"x{\super\uc1\u8722?2} {\sub \'32\'33}", "x⁻² ₂₃"),
        (r"{\super\uc0\u8722 2}{\sub\uc2\u8722\'3f?2}", "⁻²₋₂"),
        (r"the 5{\super th} \{{\strike \{a\}}\}", "the 5<sup>th</sup> {~~{a}~~}"),
        (r"{\revised new}{\super}{\super  } plain", "new  plain"),
        (r"{\field{\*\fldinst HYPERLINK ""\"http://a.test/\"" r"}{\fldrslt m{\super 2}}}", "[m²](http://a.test/)"),
    ],
)  # fmt: skip
def test_words_keep_their_marks(body: str, expected: str):
    assert text_of(rf"\pard {body}\par") == expected


@pytest.mark.parametrize(
    ("style", "words", "expected"),
    [
        (r"\s1\outlinelevel0 Chapter", r"\s1\b", "# Stock"),
        (r"\s1\b Heading 1", r"\s1", "# Stock"),
        (r"\s2\b heading 3", r"\s2\outlinelevel2", "### Stock"),
        (r"\s1\b Chapter", r"\s1\outlinelevel1", "## Stock"),
        (r"\s1\b Chapter", r"\s1", "Stock"),
    ],
)
def test_headings_have_their_level(style: str, words: str, expected: str):
    body = rf"{{\stylesheet{{\s0 Normal;}}{{{style};}}}}\pard{words} Stock\par\pard plain\par"
    assert text_of(body) == f"{expected}\n\nplain"


def test_tracked_deletions_are_struck_through_and_counted():
    assert text_of(r"\pard pay {\deleted 9}{\deleted\b 9} {\revised 79}, {\deleted all}\par") == (
        "pay ~~99~~ 79, ~~all~~\n\n[tracked deletions, shown as ~~struck through~~: 2]"
    )


def test_hidden_words_are_counted_and_not_shown():
    conversion = converted(rf"{HEAD}\pard seen{{\v un{{\b seen}}}} or {{\v x\v0 y}}\par}}".encode(), "file.rtf")
    assert conversion.text == "seen or y"
    assert losses(conversion) == {"hidden texts": (2, None)}


def test_headers_footers_and_comments_are_read():
    body = (
        r"{\header \pard Harvest\par}{\headerf \pard Harvest\par}{\footer{\footnote x}\pard Page one\par}"
        r"\pard kept{\*\atnid A}{\*\atnauthor Ann}\chatn{\*\annotation{\*\atnref 1}\pard\plain why\par so}\par"
    )
    text = text_of(body)
    assert text.startswith("kept [comment by Ann: why so]\n\n[header: Harvest]\n\n[footer: ")
    assert text.count("Harvest") == 1


def test_bytes_of_macintosh_files_are_characters_of_macintosh():
    source = rb"{\rtf1\mac\deff0{\fonttbl{\f0 Geneva;}}\pard lanc\'8e {\super\'8e}\par}"
    assert converted(source, "file.rtf").text == "lancé <sup>é</sup>"


def test_notes_and_cells_keep_their_marks():
    body = (
        r"\pard a{\footnote\pard\plain m{\super 2}}\par"
        r"\trowd\cellx1000\cellx2000\pard\intbl x{\sub 1}\cell{\strike y}\cell\row\pard end\par"
    )
    text = text_of(body)
    assert "m²" in text
    assert "| x₁ | ~~y~~ |" in text


@pytest.mark.parametrize(
    "data", [b"{" * 100_000, b"{\\super " * 100_000 + b"x", b"\\bin9999999999 ", b"}" * 1000, b"\\"]
)
def test_damaged_sources_end(data: bytes):
    source = HEAD.encode() + rb"\pard seen " + data
    with suppress(MediaError):
        assert "seen" in converted(source, "file.rtf").text


@pytest.mark.parametrize("entry", [r"{\xe Index}", r"{\tc Contents}", r"{\nonesttables Older}", r"{\*\ftnsep -}"])
def test_entries_of_indexes_and_texts_for_older_programs_are_not_shown(entry: str):
    assert text_of(rf"\pard Stock{entry}\par") == "Stock"


def test_headings_of_a_list_have_their_numbers_in_them():
    head = (
        r"{\*\listtable{\list{\listlevel\levelnfc0\levelstartat4{\leveltext\'02\'00.;}{\levelnumbers\'01;}}\listid1}}"
    )
    head += r"{\*\listoverridetable{\listoverride\listid1\ls1}}"
    text = text_of(head + r"\pard\ls1\ilvl0\outlinelevel0 Stock\par\pard plain\par")
    assert text == "# 4. Stock\n\nplain"


@pytest.mark.parametrize(("kind", "expected"), [(0, {}), (1, {"states of form fields": (1, None)})])
def test_states_of_form_fields_are_counted_and_texts_of_them_read(kind: int, expected: dict[str, object]):
    field = rf"{{\field{{\*\fldinst FORM{{\*\formfield{{\fftype{kind}}}}}}}{{\fldrslt typed}}}}"
    found = converted(f"{HEAD}{field}\\par}}".encode(), "file.rtf")
    assert (found.text, losses(found)) == ("typed", expected)
