"""Mutated and hostile documents: typed errors, in bounded time and memory."""

from __future__ import annotations

import io
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from abstractcore.errors import AbstractCoreError, MediaError
from abstractcore_media.document.work_limits import WorkLimits
from tests.media.document.documents import DOCUMENTS, converted
from tests.media.parts import FILES

SOURCES = sorted(path for path in DOCUMENTS.iterdir() if not path.name.startswith("locked"))
LIMITS = WorkLimits(seconds=20)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, a piece cut out, doubled or moved; in a ZIP file also inside of one member."""
    if data.startswith(b"PK") and chance.random() < 0.7:
        return mutated_member(data, chance)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        start = chance.randrange(len(changed))
        size = chance.choice([1, 1, 2, 8, 100])
        kind = chance.randrange(4)
        if kind == 0:
            changed[start : start + size] = chance.randbytes(size)
        elif kind == 1 and len(changed) > 2 * size:
            del changed[start : start + size]
        elif kind == 2:
            changed[start:start] = changed[start : start + size] * chance.choice([1, 50])
        else:
            changed[start : start + 4] = chance.choice([b"\xff" * 4, bytes(4), b"9999", b"<a>\0"])
    return bytes(changed)


def mutated_member(data: bytes, chance: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        names = source.namelist()
        chosen = chance.choice([name for name in names if name.endswith((".xml", ".rels", ".xhtml"))] or names)
        for name in names:
            content = source.read(name)
            target.writestr(name, mutated(content, chance) if name == chosen and content else content)
    return out.getvalue()


def attempt(data: bytes, name: str) -> None:
    try:
        converted(data, name, limits=LIMITS)
    except AbstractCoreError:
        pass
    except StopIteration:
        pytest.fail("no handler")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_mutated_file_is_read_or_a_typed_error(path: Path):
    chance = random.Random(path.name)
    for _ in range(12):
        attempt(mutated(path.read_bytes(), chance), path.name)


_WORD = b'<document xmlns="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'


def docx(document: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", document)
    return out.getvalue()


@pytest.mark.exhaustive
def test_zip_bomb_in_a_docx_is_refused_in_bounded_memory():
    bomb = docx(_WORD + b"<body><p><r><t>" + b"a" * 400_000_000)
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(MediaError, match="decompresses to more than 30,000,000 bytes"):
            converted(bomb, "bomb.docx", limits=WorkLimits(unpacked_bytes=30_000_000))
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (_WORD + b"<p>" * 1000, "nested more than 250 deep"),
        (_WORD + b"<p>" + b"<r/>" * 600_000 + b"</p></document>", "more than 500,000 others"),
        (
            b"<!DOCTYPE x [<!ENTITY a 'aaaa'>]><document><p><r><t>&a;</t></r></p></document>",
            "document type declaration",
        ),
        (b"<document><p></document>", "not well-formed"),
        (b"", "no text that can be read"),
    ],
    ids=["deep", "wide", "entity", "mismatched", "empty"],
)
def test_hostile_xml_is_refused(document: bytes, message: str):
    with pytest.raises(MediaError, match=message):
        converted(docx(document), "x.docx")


def test_archive_that_announces_a_wrong_size_is_refused_or_listed():
    data = bytearray((DOCUMENTS / "harvest.docx").read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = b"\xff\xff\xff\x7f"
    attempt(bytes(data), "x.docx")


def test_too_many_members_are_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(101):
            archive.writestr(f"{number}", b"")
    with pytest.raises(MediaError, match="more than 100 members"):
        converted(out.getvalue(), "x.zip", limits=WorkLimits(members=100))


def test_text_over_the_limit_is_refused():
    with pytest.raises(MediaError, match="more than 50 characters of text"):
        converted(DOCUMENTS / "harvest.odt", limits=WorkLimits(characters=50))


def test_time_is_limited():
    with pytest.raises(MediaError, match="takes more than 0 seconds"):
        converted(DOCUMENTS / "sales.xlsx", limits=WorkLimits(seconds=0))


def test_mutated_pdf_is_read_or_a_typed_error():
    for name in ("with_scan.pdf", "two_pages.pdf", "pdf/form.pdf", "pdf/attached.pdf", "pdf/ruled_tables.pdf"):
        chance = random.Random(name)
        for _ in range(30):
            attempt(mutated((FILES / name).read_bytes(), chance), name)
