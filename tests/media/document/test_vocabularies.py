"""Elements that a reader does not carry over are counted by kind and place, in bounded memory."""

from __future__ import annotations

import pytest

from abstractcore_media.document.blocks import LostContent
from abstractcore_media.document.vocabularies import FormatVocabulary, LossCounter, Treatment
from abstractcore_media.document.xml_elements import XmlError, elements
from tests.media.document.vocabulary_lists import declared_twice
from tests.media.format_lists import PAGE, page, vocabularies

VOCABULARY = FormatVocabulary(
    source="a book of this test",
    read={"paragraphs": "b:book b:page b:p b:b"},
    converted={"notes, in brackets": "b:note"},
    lost={"deletions": "b:del b:cut"},
    left_out={"second forms": "b:fallback"},
    properties="b:style s:*",
    namespaces={"urn:b": "b", "urn:s": "s"},
    places={"b:page": "page number"},
    lost_members={"macros": "*.bin"},
    left_out_members={"previews": "Thumbnails/*"},
)


def read(body: str, *wanted: str) -> tuple[list[str], dict[tuple[str, str], float]]:
    """The texts of the elements that are wanted, and the losses by kind and place."""
    losses = LossCounter(VOCABULARY)
    xml = f'<b:book xmlns:b="urn:b" xmlns:s="urn:s" xmlns:x="urn:x">{body}</b:book>'.encode()
    found = elements([xml[:50], xml[50:]], frozenset(wanted or ("p",)), losses=losses, part="book.xml")
    return ["".join(each.itertext()) for each in found], counted(losses)


def counted(losses: LossCounter) -> dict[tuple[str, str], float]:
    return {(each.what, each.where): each.count for each in losses.blocks()}


def test_read_elements_are_not_counted():
    assert read("<b:p>one <b:b>two</b:b> three</b:p>") == (["one two three"], {})


def test_lost_elements_are_counted_where_they_stand_and_not_seen_by_the_reader():
    body = (
        "<b:page><b:p>a<b:del>x<b:del>y</b:del></b:del>b</b:p></b:page><b:page number='9'><b:del/><b:p>c</b:p></b:page>"
    )
    texts, losses = read(body)
    assert texts == ["ab", "c"]
    assert losses == {("deletions", "page 1"): 1, ("deletions", "page 9"): 1}


def test_unknown_elements_are_read_for_what_is_known_in_them_and_counted_for_their_own_text():
    texts, losses = read("<x:new><b:p>a<x:new>hidden<b:b>b</b:b></x:new>c<x:empty/></b:p> <b:p>d</b:p></x:new>")
    assert texts == ["abc", "d"]
    assert losses == {("new elements", ""): 1}


def test_unknown_elements_that_refer_to_another_part_are_counted():
    link = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' r:embed='rId1'"
    assert read(f"<x:blip {link}>text</x:blip>")[1] == {("blip elements", ""): 1}


def test_properties_stay_and_nothing_in_them_is_counted():
    texts, losses = read("<b:p><b:style><b:del/>quiet<x:new>y</x:new></b:style>loud<s:any>z</s:any></b:p>")
    assert texts == ["quietyloudz"]
    assert losses == {}


def test_second_forms_of_content_are_not_seen_and_not_counted():
    assert read("<b:p>a<b:fallback>b<b:del/></b:fallback></b:p>") == (["a"], {})


def test_a_part_that_is_read_twice_is_counted_once_by_the_reading_that_got_further():
    losses = LossCounter(VOCABULARY)
    xml = b'<b:book xmlns:b="urn:b"><b:p/>' + b"<b:del/>" * 9_000 + b"</b:book>"
    first = elements([xml[:100], xml[100:]], frozenset({"p"}), losses=losses, part="book.xml")
    next(first)
    first.close()
    assert 0 < sum(counted(losses).values()) < 9_000
    for _ in range(2):
        assert len(list(elements([xml], frozenset({"p", "b"}), losses=losses, part="book.xml"))) == 1
    assert counted(losses) == {("deletions", ""): 9_000}


def test_a_hostile_file_of_many_names_is_counted_in_few_kinds_and_places():
    losses = LossCounter(VOCABULARY)
    chunks = (b"".join(b"<e%d>t</e%d>" % (n, n) for n in range(at, at + 100)) for at in range(0, 20_000, 100))
    whole = [b"<book>", *chunks, b"<x>t</x>" * 10_000, b"</book>"]
    assert list(elements(whole, frozenset({"p"}), losses=losses, part="book.xml")) == []
    found = counted(losses)
    assert sum(found.values()) == 30_000
    assert len(found) <= 51


def test_a_name_is_looked_up_once_in_all_parts_of_a_file(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    treatment = FormatVocabulary.treatment
    monkeypatch.setattr(FormatVocabulary, "treatment", lambda self, kind: asked.append(kind) or treatment(self, kind))
    losses = LossCounter(VOCABULARY)
    for number in range(5):
        page = [b'<b:book xmlns:b="urn:b"><b:p>one <b:del/><b:style/></b:p></b:book>']
        assert len(list(elements(page, frozenset({"p"}), losses=losses, part=f"{number}.xml"))) == 1
    assert sorted(asked) == ["b:book", "b:del", "b:p", "b:style"]


def test_places_of_a_kind_are_bounded():
    losses = LossCounter(VOCABULARY)
    for number in range(1, 1_001):
        losses.place = f"page {number}"
        assert losses.meet("b:cut") is Treatment.LOST
    blocks = list(losses.blocks())
    assert len(blocks) == 21
    assert blocks[0] == LostContent("deletions", 1, None, "page 1")
    assert blocks[-1] == LostContent("deletions", 980)


def test_members_that_are_not_opened_are_counted_unless_declared():
    losses = LossCounter(VOCABULARY)
    losses.has_members(["book.xml", "macro.bin", "Thumbnails/small.png", "folder/", "more.xml"])
    losses.opens("book.xml")
    assert counted(losses) == {("macros", "macro.bin"): 1, ("parts of the file that are not read", "more.xml"): 1}


@pytest.mark.parametrize("tag", ["b:del", "x:new", "b:p"])
def test_depth_is_bounded_in_elements_that_are_not_read_too(tag: str):
    with pytest.raises(XmlError, match="nested more than 250"):
        read(f"<{tag}>" * 300 + f"</{tag}>" * 300)


def test_lists_of_formats_in_docs_are_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


@pytest.mark.parametrize("name", vocabularies())
def test_each_kind_of_a_format_is_declared_once(name: str):
    assert declared_twice(vocabularies()[name]) == []
