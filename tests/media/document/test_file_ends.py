"""Files that are cut: whatever has an end is refused or has it among the losses, and no whole file has."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from abstractcore.errors import MediaError
from abstractcore_media.document.file_ends import is_cut
from abstractcore_media.document.vocabularies import CUT_OFF
from tests.media.document.documents import DOCUMENTS, converted, losses
from tests.media.document.test_formats import READS

WORDS = "It rained on Tuesday, 41 mm, and 17 mm on Wednesday. The harvest of the quay orchard is late. "
PAGE = f"""<!DOCTYPE html>
<html lang="en"><head><title>Rain</title></head><body>
<h1>Rain</h1><p>{WORDS}<p>{WORDS}<table><tr><td>a<td>b</table></body></html>
<!-- saved -->
"""
DRAWING = f'<svg xmlns="http://www.w3.org/2000/svg"><g><text>{WORDS}</text></g><text>{WORDS}</text></svg>\n'


def mail() -> bytes:
    message = MIMEMultipart("mixed")
    message["Subject"], message["From"] = "Rain", "a@example.com"
    inner = MIMEMultipart("alternative")
    inner.attach(MIMEText(WORDS))
    inner.attach(MIMEText(f"<p>{WORDS}", "html"))
    message.attach(inner)
    message.attach(MIMEText(WORDS, "csv"))
    return message.as_bytes()


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("rain.txt", "frost.txt"):
            info = tarfile.TarInfo(name)
            info.size = len(WORDS) * 10
            archive.addfile(info, io.BytesIO(WORDS.encode() * 10))
    return out.getvalue()[: 2 * (512 + 1024) + 1024]  # without what fills its last record


CELL: dict[str, object] = {"cell_type": "markdown", "metadata": {}, "source": WORDS}
WITH_END = {
    "rain.eml": mail(),
    "rain.tar": tar(),
    "rain.tar.gz": gzip.compress(tar()),
    "rain.html": PAGE.encode(),
    "wide.html": b"\xff\xfe" + PAGE.encode("utf-16-le"),
    "rain.xhtml": PAGE.encode(),
    "rain.svg": DRAWING.encode(),
    "rain.xml": f'<?xml version="1.0"?><!DOCTYPE a><a><a>{WORDS}</a><b/></a>'.encode(),
    "rain.json": json.dumps([{"}": WORDS, '"': [1, {}]}, {"a": "\\"}], indent=1).encode(),
    "rain.ipynb": json.dumps({"nbformat": 4, "cells": [CELL, CELL]}).encode(),
    "rain.rtf": rb"{\rtf1\ansi {\b It} rained \{41 mm\}{\pict\bin4 {{{{} on Tuesday.\par}",
    **{name: (DOCUMENTS / name).read_bytes() for name in ("mail.msg", "note.rtf", "sales.xls", "harvest.doc")},
}


def read(content: bytes, name: str) -> tuple[str, bool]:
    """The text of a file, and whether the loss is named; an error names it too."""
    try:
        conversion = converted(content, name, READS)
    except MediaError:
        return "", True
    return conversion.text, CUT_OFF in losses(conversion)


@pytest.mark.parametrize("name", WITH_END)
def test_cut_file_is_refused_or_its_end_is_among_the_losses(name: str):
    whole = WITH_END[name]
    text, is_named = read(whole, name)
    assert text
    assert not is_named
    for size in range(40, len(whole), max(1, len(whole) // 60)):
        found, is_named = read(whole[:size], name)
        assert is_named or found.strip() == text.strip(), whole[:size][-30:]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'month,mm\njanuary,"41\nfebruary,17\n', "a.csv"),
        (b"month,mm,days\njanuary,41,3\nfebru", "a.csv"),
        (b"month\tmm\njanuary\t41\nfebru", "a.tsv"),
        (b"<p>It rained.<table><tr><td>41", "a.html"),
        (b"<p>It rained.<p title='and on", "a.html"),
        (b"From: a@example.com\nSubject: It rai", "a.eml"),
        (b"From: a@example.com\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n", "a.eml"),
    ],
)
def test_text_that_ends_within_something_is_cut(content: bytes, name: str):
    assert read(content, name)[1]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'month,mm\njanuary,"41"\nfebruary,17', "a.csv"),
        (b"month,mm\njanuary\nfebruary,17\nmarch", "a.csv"),
        (b"month,mm\njanuary,41\nSum\n", "a.csv"),
        (b"<!doctype html><title>Rain</title><p>It rained.<ul><li>41</ul>", "a.html"),
        (b"<p>1 < 2, as <b>all</b> know</body>", "a.html"),
        (b"From: a@example.com\nSubject: Rain\n\nIt rained", "a.eml"),
        (b'{"a": "}"}\n{"a": "["}\n', "a.json"),
        (b'"rain"', "a.json"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a><!-- saved -->', "a.xml"),
        (b"It rained on", "a.txt"),
    ],
)
def test_text_that_may_end_so_is_whole(content: bytes, name: str):
    assert CUT_OFF not in losses(converted(content, name))


def test_members_before_the_cut_of_an_archive_are_read():
    conversion = converted(tar()[:2500], "rain.tar", READS)
    assert conversion.text.count("It rained on Tuesday") >= 10
    assert "| frost.txt |" in conversion.text
    assert losses(conversion) == {CUT_OFF: (1, None)}


def test_error_of_a_file_without_text_names_what_is_lost():
    with pytest.raises(MediaError, match=r"has no text that can be read \(not read: formulas: 20000\)"):
        converted(b"<p>" + b"<math></math>" * 20_000, "a.html")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"<" * 1_000_000, "text/html"),
        (b"<a " * 300_000, "text/html"),
        (b"<a>" * 300_000, "application/xml"),
        (b'<!DOCTYPE a [<!ENTITY b "' + b"c" * 1000 + b'">]><a>' + b"&b;" * 300_000, "application/xml"),
        (b'"' * 999_999, "application/json"),
        (b'"' + b"\\" * 1_000_000, "application/json"),
        (b"{\\bin" * 200_000, "text/rtf"),
        (b"{\\bin999999999 " * 2, "text/rtf"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(22) + b"\x09" + b"\0" * 100_000, "application/msword"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(22) + b"\x09\0" + b"\x01" * 100_000, "application/msword"),
    ],
)
def test_hostile_ends_are_looked_at_once(content: bytes, media_type: str):
    is_cut(content, media_type)
