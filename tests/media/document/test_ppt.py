"""PPT files, as LibreOffice writes them and as they are changed here record by record."""

from __future__ import annotations

import io
import random
import struct

import olefile
import pytest

from abstractcore.errors import AbstractCoreError, EncryptedFileError
from abstractcore_media.document.format_handler import DocumentFile
from abstractcore_media.document.office_binary import ppt, ppt_records
from abstractcore_media.document.office_binary.ppt_shapes import DESCRIPTION, WORD_ART, PptShape
from abstractcore_media.document.office_binary.ppt_vocabulary import KINDS
from abstractcore_media.document.vocabularies import LossCounter, Treatment
from abstractcore_media.document.work_limits import Work, WorkLimits
from tests.media.document.documents import DOCUMENTS, converted, losses, places
from tests.media.document.slides_by_libreoffice import stored
from tests.media.document.vocabulary_lists import LISTS, declared_twice

STREAMS = ("Current User", "PowerPoint Document", "Pictures")
NUMBERS = {kind: number for number, kind in KINDS.items()}
TEXT = """\
[slide 1]

## Fares of 2025

- Two zones
  - Inner zone
3. Buy
4. Stamp

10⁵ riders: [more](https://fares.example/more)

[notes]
The night fare is new.

[slide 2]

## Price list

| Zone | Adult | Child |
| --- | --- | --- |
| Inner | 3.40 | 1.70 |
| Outer |  | 2.10 |
| Night | 5.00 |  |

[slide 3, hidden]

## For the board alone

[picture: picture 1, not shown here]"""


class Streams:
    """The streams of a file, which a test changes."""

    def __init__(self) -> None:
        with olefile.OleFileIO(io.BytesIO(stored())) as ole:
            self.content = {name: ole.openstream(name).read() for name in STREAMS}

    def exists(self, name: str) -> bool:
        return name in self.content

    def openstream(self, name: str) -> io.BytesIO:
        return io.BytesIO(self.content[name])

    def blocks(self) -> list[object]:
        """The blocks, then what is lost."""
        work = Work("a.ppt", WorkLimits(), None)
        file = DocumentFile(b"", "a.ppt", work, "application/vnd.ms-powerpoint", LossCounter(ppt.VOCABULARY))
        found = list(ppt.presentation_blocks(ppt_records.PresentationRecords(self, file)))
        return [*found, *file.losses.blocks()]

    def text(self) -> str:
        return "\n".join(getattr(each, "text", "") for each in self.blocks())

    def replace(self, old: bytes, new: bytes) -> None:
        """Replaces what is in the document once, by as many bytes."""
        assert len(old) == len(new)
        assert old in self.content["PowerPoint Document"]
        self.content["PowerPoint Document"] = self.content["PowerPoint Document"].replace(old, new, 1)


def record(kind: str, content: bytes, version: int = 0) -> bytes:
    return struct.pack("<HHI", version, NUMBERS[kind], len(content)) + content


def test_slides_are_read_as_those_of_pptx_files_are():
    found = converted(stored(), "slides.ppt")
    assert found.text == TEXT
    assert losses(found) == {"pictures": (1, 1)}


def test_texts_of_slides_have_their_place():
    found = places(converted(stored(), "slides.ppt"), "page", "box")
    assert ("## Price list", 2, (0.05, 0.04, 0.95, 0.2067)) in found


def test_pictures_are_those_of_the_file():
    (picture,) = (each for each in Streams().blocks() if hasattr(each, "alt"))
    assert picture.data.startswith(b"\x89PNG")


def test_descriptions_and_word_art_are_texts_of_shapes():
    """As PowerPoint writes them, after all properties; LibreOffice drops descriptions."""
    texts = [text.encode("utf-16-le") for text in ("A red square\0", "Sale!\0")]
    numbers = (0x80, 0xC381, 0x80C0)
    sizes = (7, len(texts[0]), len(texts[1]))
    properties = b"".join(struct.pack("<HI", *each) for each in zip(numbers, sizes, strict=True)) + b"".join(texts)
    content = record("FOPT", properties, 3 << 4 | 3)
    work = Work("a.ppt", WorkLimits(), None)
    file = DocumentFile(b"", "a.ppt", work, "application/vnd.ms-powerpoint", LossCounter(ppt.VOCABULARY))
    shape = PptShape(ppt_records.Record("SpContainer", 0, content, (0, len(content)), file))
    assert (shape.words(DESCRIPTION), shape.words(WORD_ART), shape.number(0x80)) == ("A red square", "Sale!", 7)


def changed_placeholder(streams: Streams, kind: int) -> None:
    """Makes the title of the second slide a placeholder of another kind."""
    document = streams.content["PowerPoint Document"]
    text = document.index("Price list".encode("utf-16-le"))
    place = document.rindex(struct.pack("<HI", NUMBERS["PlaceholderAtom"], 8), 0, text) + 10
    streams.content["PowerPoint Document"] = document[:place] + bytes([kind]) + document[place + 1 :]


@pytest.mark.parametrize(
    ("kind", "expected"), [(9, "[footer: Price list]"), (10, "[header: Price list]"), (7, "[footer: Price list]")]
)
def test_texts_that_slides_repeat_follow_the_slides(kind: int, expected: str):
    streams = Streams()
    changed_placeholder(streams, kind)
    text = streams.text()
    assert text.endswith(f"\n{expected}")
    assert "## Price list" not in text


def test_numbers_of_slides_are_left_out():
    streams = Streams()
    changed_placeholder(streams, 8)
    assert "Price list" not in streams.text()


@pytest.mark.parametrize("kind", ["SlideNumberMetaCharAtom", "RtfDateTimeMetaCharAtom", "FooterMetaCharAtom"])
def test_a_text_that_is_only_a_number_or_a_date_is_left_out(kind: str):
    """Its place holder is a star, which says nothing."""
    streams = Streams()
    text, star = "For the board alone".encode("utf-16-le"), "*".encode("utf-16-le")
    changed = record("TextCharsAtom", star) + record(kind, struct.pack("<I", 0))
    filling = record("TextRulerAtom", bytes(len(text) - len(changed)))
    streams.replace(record("TextCharsAtom", text), changed + filling)
    assert "*" not in streams.text()


def test_hidden_shapes_are_counted():
    streams = Streams()
    document = streams.content["PowerPoint Document"]
    text = document.index("Price list".encode("utf-16-le"))
    place = document.rindex(struct.pack("<H", 0x80), 0, text)  # the first property of its shape
    hidden = struct.pack("<HI", 0x3BF, 0x20002)
    streams.content["PowerPoint Document"] = document[:place] + hidden + document[place + 6 :]
    assert "Price list" not in streams.text()
    assert [each.where for each in streams.blocks() if getattr(each, "what", "") == "hidden shapes"] == ["slide 2"]


def test_recordings_are_counted_where_they_stand():
    """A link becomes a recording, and a title the shape of it."""
    streams = Streams()
    document = bytearray(streams.content["PowerPoint Document"])
    for kind, other, version in (
        ("ExternalHyperlink", "ExternalMidiAudio", 0xF),
        ("ExternalHyperlinkAtom", "ExternalMediaAtom", 0),
    ):
        place = document.index(struct.pack("<HH", version, NUMBERS[kind]))
        document[place + 2 : place + 4] = struct.pack("<H", NUMBERS[other])
    number = document[place + 8 : place + 12]
    text = document.index("Price list".encode("utf-16-le"))
    place = document.rindex(struct.pack("<HI", NUMBERS["PlaceholderAtom"], 8), 0, text)
    document[place : place + 10] = struct.pack("<HI", NUMBERS["ExternalObjectRefAtom"], 8) + number
    streams.content["PowerPoint Document"] = bytes(document)
    assert [(each.what, each.where) for each in streams.blocks() if hasattr(each, "total")] == [
        ("recordings", "slide 2")
    ]


def test_a_damaged_slide_is_counted_and_the_others_are_read():
    streams = Streams()
    slide = streams.content["PowerPoint Document"].index(struct.pack("<HH", 0xF, NUMBERS["Slide"]))
    document = bytearray(streams.content["PowerPoint Document"])
    document[slide + 2 : slide + 4] = struct.pack("<H", NUMBERS["Notes"])
    streams.content["PowerPoint Document"] = bytes(document)
    found = streams.blocks()
    assert [(each.what, each.where) for each in found if hasattr(each, "total")] == [
        ("slides that are damaged", "slide 1")
    ]
    assert "Price list" in streams.text()


def test_a_file_without_its_directory_is_read_by_another_library_and_says_so():
    data = stored()
    place = data.index(struct.pack("<HH", 0, NUMBERS["PersistDirectoryAtom"]))
    found = converted(data[: place + 2] + b"\0\0" + data[place + 4 :], "slides.ppt")
    assert "Fares of 2025" in found.text
    assert "tables, notes, comments and links of a damaged or old file" in losses(found)


def test_an_encrypted_file_needs_its_password():
    streams = Streams()
    user = streams.content["Current User"]
    streams.content["Current User"] = user[:12] + struct.pack("<I", 0xF3D1C4DF) + user[16:]
    with pytest.raises(EncryptedFileError, match="needs a password"):
        streams.blocks()


@pytest.mark.process
def test_a_file_is_read_with_its_password():
    """A file of Apache POI's tests."""
    locked = DOCUMENTS / "locked.ppt"
    with pytest.raises(EncryptedFileError, match=r"locked.ppt is encrypted"):
        converted(locked)
    found = converted(locked, password="hello")
    assert found.text.startswith("[slide 1]\n\n## This is a protected document")
    assert "[notes]" in found.text
    assert found.lost == ()


def test_each_record_that_others_number_is_declared():
    lines = (LISTS / "powerpoint.txt").read_text(encoding="utf-8").splitlines()
    numbers = [int(each) for line in lines if not line.startswith("# ") for each in line.split()]
    assert [each for each in numbers if each not in KINDS] == []


def test_each_kind_of_record_is_declared_once():
    unknown = [kind for kind in KINDS.values() if ppt.VOCABULARY.treatment(kind)[0] is Treatment.UNKNOWN]
    assert unknown == []
    assert declared_twice(ppt.VOCABULARY) == []


@pytest.mark.parametrize("share", [0.0002, 0.002, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_changed_records_are_read_or_refused(share: float, seed: int):
    streams, chance = Streams(), random.Random(seed)
    document = bytearray(streams.content["PowerPoint Document"])
    for _ in range(int(share * len(document))):
        document[chance.randrange(len(document))] = chance.randrange(256)
    streams.content["PowerPoint Document"] = bytes(document)
    try:
        streams.blocks()
    except (AbstractCoreError, *ppt_records.DAMAGES):
        return


def test_deeply_nested_groups_are_one_damaged_slide():
    streams = Streams()
    document = streams.content["PowerPoint Document"]
    group = struct.pack("<HH", 0xF, NUMBERS["SpgrContainer"])
    place = document.index(group) + 8
    end = place + struct.unpack_from("<I", document, place - 4)[0]
    nested = b""
    for _ in range((end - place) // 8):
        nested = struct.pack("<HHI", 0xF, NUMBERS["SpgrContainer"], len(nested)) + nested
    streams.content["PowerPoint Document"] = document[:place] + nested.ljust(end - place, b"\0") + document[end:]
    streams.blocks()
