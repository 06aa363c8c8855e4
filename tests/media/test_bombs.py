"""Small files that announce or become something huge: typed errors or short texts, in bounded memory.

Images are in tests/media/image/test_bad_input.py, ZIP files in Word documents and XML in
tests/media/document/test_hostile_documents.py, compressed answers of servers in tests/core/transport.
"""

from __future__ import annotations

import gzip
import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest

from abstractcore.errors import MediaError
from abstractcore_media import AudioHandler
from tests.media.document.documents import converted
from tests.media.document.test_pdf import made_of
from tests.media.parts import NO_MODELS, sound

pytestmark = pytest.mark.exhaustive

MAIL = b"From: a@example.com\r\nSubject: s\r\nMIME-Version: 1.0\r\n"
SHEET_NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
CRC_TABLE = [0] * 256
for index in range(256):
    remainder = index << 24
    for _ in range(8):
        remainder = (remainder << 1) ^ (0x04C11DB7 if remainder & 0x80000000 else 0)
    CRC_TABLE[index] = remainder & 0xFFFFFFFF


def nested_gzip() -> bytes:
    data = bytes(30_000_000)
    for _ in range(5):
        data = gzip.compress(data)
    return data


def mail_of_parts() -> bytes:
    head = MAIL + b"Content-Type: multipart/mixed; boundary=B\r\n\r\n"
    return head + b"--B\r\nContent-Type: text/plain\r\n\r\nhi\r\n" * 100_000 + b"--B--\r\n"


def mail_in_parts() -> bytes:
    deeper = b"Content-Type: multipart/mixed; boundary=B%d\r\n\r\n--B%d\r\n"
    return MAIL + b"".join(deeper % (level, level) for level in range(2000)) + b"\r\nhi"


def notebook(cells: bytes) -> bytes:
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + cells + b"]}"


def cell(count: bytes) -> bytes:
    return b'{"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "execution_count": ' + count + b"}"


def workbook(rows: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{SHEET_NS}" xmlns:r="{OFFICE_NS}"><sheets>'
            '<sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE_NS}"><Relationship Id="rId1" Type="{OFFICE_NS}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        sheet = f'<worksheet xmlns="{SHEET_NS}"><sheetData>{rows}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return file.getvalue()


def pdf_of_nested_streams() -> bytes:
    content = bytes(200_000_000)
    for _ in range(2):
        content = zlib.compress(content, 9)
    once, thrice = b"/Filter/FlateDecode", b"/Filter[/FlateDecode/FlateDecode/FlateDecode]"
    return made_of(content).replace(once, thrice)


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("a.gz", nested_gzip, "no text that can be read"),
        ("a.txt.gz", lambda: gzip.compress(b"a" * 301_000_000), "decompresses to more than 300,000,000 bytes"),
        ("a.eml", mail_of_parts, "more than 1,000 parts"),
        ("b.eml", mail_in_parts, "more than 1,000 parts"),
        ("c.eml", lambda: (MAIL + b"Content-Type: message/rfc822\r\n\r\n") * 1_000, "nested too deeply"),
        ("a.ipynb", lambda: notebook(b"[" * 10_000 + b"]" * 10_000), "not valid JSON"),
        ("b.ipynb", lambda: notebook(cell(b"9" * 1_000_000)), "not valid JSON"),
        ("a.pdf", pdf_of_nested_streams, "has no text"),
    ],
    ids=["gzip", "gzip-size", "parts", "depth", "mails", "json-depth", "json-integer", "pdf-streams"],
)
def test_small_file_that_becomes_huge_is_refused(name: str, make: Callable[[], bytes], message: str):
    data = make()
    tracemalloc.start()
    try:
        with pytest.raises(MediaError, match=message):
            converted(data, name)
        assert tracemalloc.get_traced_memory()[1] < 400_000_000 + 4 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "data"), [("a.json", b"[" * 10_000 + b"]" * 10_000), ("b.json", b"9" * 1_000_000)])
def test_json_is_text_whatever_it_holds(name: str, data: bytes):
    assert converted(data, name).text == data.decode()


def test_number_beyond_all_numbers_is_shown_as_it_is_written():
    digits = "9" * 1_000
    found = converted(workbook(f'<row r="1"><c r="A1"><v>{digits}</v></c></row>'), "a.xlsx")
    assert f"| {digits} |" in found.text
    too_long = converted(workbook(f'<row r="1"><c r="A1"><v>{"9" * 1_000_000}</v></c></row>'), "a.xlsx")
    assert [(loss.what, loss.count) for loss in too_long.lost] == [("rows", 1)]


def ogg_page(kind: int, position: int, number: int, packets: list[bytes]) -> bytes:
    """A page of an Ogg file with whole packets (RFC 3533)."""
    lengths = bytes(map(len, packets))
    head = struct.pack("<4sBBqIII", b"OggS", 0, kind, position, 7, number, 0) + bytes([len(packets)]) + lengths
    page, checksum = head + b"".join(packets), 0
    for byte in page:
        checksum = ((checksum << 8) & 0xFFFFFFFF) ^ CRC_TABLE[(checksum >> 24) ^ byte]
    return page[:22] + struct.pack("<I", checksum) + page[26:]


def hours_of_opus(hours: int) -> bytes:
    """Silence in packets of one byte, of 60 ms each (RFC 6716), in 35 bytes a second."""
    head = b"OpusHead\1\1" + struct.pack("<HIhB", 0, 48_000, 0, 0)
    tags = b"OpusTags" + struct.pack("<I", 1) + b"a" + struct.pack("<I", 0)
    pages = [ogg_page(2, 0, 0, [head]), ogg_page(0, 0, 1, [tags])]
    count = hours * 3600 * 1000 // 60 // 255
    pages += [ogg_page(0, (each + 1) * 255 * 2880, each + 2, [b"\x18"] * 255) for each in range(count)]
    return b"".join(pages)


def test_hours_of_opus_in_a_small_file_are_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch):
    data = hours_of_opus(20)
    assert len(data) < 3_000_000
    part = sound(data, "audio/ogg")
    assert AudioHandler().measure(part).seconds == pytest.approx(20 * 3600, rel=0.01)
    monkeypatch.setattr(AudioHandler, "max_seconds", 300)
    tracemalloc.start()
    try:
        with pytest.raises(MediaError, match="longer than 5 minutes"):
            AudioHandler().convert(part, NO_MODELS)
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()
