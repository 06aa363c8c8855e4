"""DOC as LibreOffice writes it from a DOCX of python-docx: it reads as that DOCX does; files of Word; damaged ones."""

from __future__ import annotations

import random
import struct
from contextlib import suppress

import olefile
import pytest

from abstractcore.errors import AbstractCoreError, MediaError
from abstractcore_media.document.office_binary.doc_vocabulary import WORD
from tests.media.document.documents import DOCUMENTS, converted, losses
from tests.media.document.everything_in_word import document
from tests.media.document.vocabulary_lists import ElementList, declared_twice, undeclared

pytestmark = pytest.mark.process

EVERYTHING = DOCUMENTS / "everything.doc"


def test_a_doc_reads_as_the_docx_that_it_was_made_of():
    expected = converted(document(), "everything.docx")
    found = converted(EVERYTHING)
    assert found.text.replace("picture 1.png", "word/media/image1.png") == expected.text
    assert losses(found) == losses(expected)


@pytest.mark.parametrize(
    "expected",
    [
        "[header: Harbour office]\n\n# Stock & store",
        "About 10⁵ litres of H₂O, at 3 EUR ~~four~~ ~~five~~ €中\U0001f600 and a line\nbelow",
        "See [the page](http://a.test/x), page 7",
        "The rent is ~~900~~950 euros. [comment by Ben: Check it]",
        "1. Ropes\n  1.b) short\n    - very short\n  1.c) long\n2. Lamps",
        "| North |  | 20 |\n| South \\| west | 30 |  |",
        "| wide |  | c |\n| --- | --- | --- |\n| high | e | in \\| side |\n|  |  | i |",
        "[x] I agree\n\n[ ] Call me\n\nblue is my color\n\nError β",
        "Beside a box.\n\nIn the box.\n\n## Pictures",
        "[footer: Printed on paper]\n\n[tracked deletions, shown as ~~struck through~~: 1]",
    ],
)
def test_words_keep_their_marks_and_places(expected: str):
    assert expected in converted(EVERYTHING).text


def test_notes_and_comments_of_word_stand_where_they_belong():
    assert converted(DOCUMENTS / "poi_notes.doc").text == (
        "[comment by Maxim Valyanskiy: TestComment] Test text[^1][^e1]\n\n[^1]: TestFootnote\n\n[^e1]: TestEndnote"
    )


def test_headings_have_the_numbers_that_word_shows():
    """The words of the headings are the numbers that their author saw."""
    lines = [line.split(" ", 1)[1] for line in converted(DOCUMENTS / "poi_numbers.doc").text.split("\n\n")]
    headers = [line for line in lines if "Header" in line]
    assert [line.split()[0] for line in headers] == [line.split()[-1] for line in headers]
    assert lines[-2:] == ["3 Test", "3.1 Code"]


def test_hidden_words_are_counted_and_not_shown():
    conversion = converted(EVERYTHING)
    assert "unseen" not in conversion.text
    assert losses(conversion)["hidden texts"] == (1, None)


def test_every_text_table_and_property_is_declared():
    kinds = ElementList.read("doc.txt").children
    assert undeclared(WORD, kinds) == []
    assert declared_twice(WORD) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (struct.pack("<HH", 0xA5DC, 101), "a version of Word before 1997"),
        (struct.pack("<HH", 0x1234, 193), "corrupt DOC file"),
    ],
)
def test_files_of_other_kinds_are_refused_with_advice(change: bytes, message: str):
    data = EVERYTHING.read_bytes()
    with olefile.OleFileIO(str(EVERYTHING)) as streams:
        place = data.index(streams.openstream("WordDocument").read(32))
    with pytest.raises(MediaError, match=message) as caught:
        converted(data[:place] + change + data[place + 4 :], "old.doc")
    assert caught.value.hint


def test_pieces_with_more_characters_than_the_file_are_corrupt():
    data = bytearray(EVERYTHING.read_bytes())
    with olefile.OleFileIO(str(EVERYTHING)) as streams:
        document, table = (streams.openstream(name).read() for name in ("WordDocument", "1Table"))
    (begin,) = struct.unpack_from("<I", document, 0x1A2)
    pieces = table[begin : begin + 13]
    assert pieces[0] == 2
    place = data.index(pieces)
    struct.pack_into("<I", data, place + 9, 0x7FFFFFFF)
    with pytest.raises(MediaError, match="its texts have no places"):
        converted(bytes(data), "pieces.doc")


def test_damaged_files_are_read_in_part_or_refused():
    data = EVERYTHING.read_bytes()
    chance = random.Random(7)
    for _ in range(10):
        damaged = bytearray(data)
        for place in chance.sample(range(512, len(data)), len(data) // 200):
            damaged[place] = chance.randrange(256)
        with suppress(AbstractCoreError):
            converted(bytes(damaged), "damaged.doc")
        with suppress(AbstractCoreError):
            converted(data[: chance.randrange(len(data))], "cut.doc")


@pytest.mark.parametrize("mark", ["\x13", "\x14", "\x15", "\x01", "\x02", "\x05", "\x08", "\x07", "\r", "\x0c"])
def test_marks_without_what_they_stand_for_do_no_harm(mark: str):
    data = EVERYTHING.read_bytes()
    place = data.index("Stock & store".encode("utf-16-le"))
    marks = (mark * 100).encode("utf-16-le")
    text = converted(data[:place] + marks + data[place + len(marks) :], "marks.doc").text
    assert "[footer: Printed on paper]" in text
