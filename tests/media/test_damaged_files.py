"""Cut and changed files of every format, and of the bench of reading: typed errors, or what is lost is named.

Huge documents are read or refused in bounded memory.
"""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path

import pytest

from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import MediaError
from abstractcore.files.cached_conversions import NestedFiles
from abstractcore.schema import DocumentPart
from abstractcore_media import register_media_handlers
from abstractcore_media.document.formats import FORMATS
from abstractcore_media.document.work_limits import WorkLimits
from benchmarks import reading_files
from benchmarks.reading_files.damage import CUTS, DamagedFiles, DamageReport, damaged
from tests.media.document.documents import DOCUMENTS, converted, handler_of, part_of
from tests.media.document.slides_by_libreoffice import stored
from tests.media.document.test_formats import zipped
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, blob

LIMITS = WorkLimits(seconds=20)
PAGE = b"<!doctype html><title>Rain</title><h1>Rain</h1><table><tr><td rowspan=2>a<td>b<tr><td>c</table><p>It rained."
MADE = {
    "rain.html": PAGE,
    "rain.csv": b"month,mm\njanuary,41\nfebruary,17\n",
    "rain.ipynb": (
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, '
        b'"cells": [{"cell_type": "markdown", "source": "Rain", "metadata": {}}]}'
    ),
    "rain.eml": b"From: a@example.com\nSubject: Rain\nContent-Type: text/html\n\n" + PAGE,
    "slides.ppt": stored(),
    "rain.zip": zipped({"rain.html": PAGE, "rain.txt": b"It rained."}),
}
SOURCES = {
    **{path.name: path for path in (*DOCUMENTS.iterdir(), *FILES.glob("*.pdf"), *FILES.glob("pdf/*.pdf"))},
    **{path.name: path for path in (*FILES.glob("*.odt"), *FILES.glob("*.docx"), *EXAMPLES.glob("*.pdf"))},
    **MADE,
}
WITH_END = (".docx", ".pptx", ".xlsx", ".odt", ".ods", ".odp", ".epub", ".zip")


def content_of(source: bytes | Path) -> bytes:
    return source if isinstance(source, bytes) else source.read_bytes()


def test_every_document_format_has_a_file_that_is_damaged():
    types = {part_of(content_of(each), name).blob.media_type for name, each in SOURCES.items()}
    assert [format.name for format in FORMATS if not types & format.media_types] == []


@pytest.fixture(scope="module")
def files() -> Iterator[DamagedFiles]:
    pool = ProcessPool()
    yield DamagedFiles(replace(NO_MODELS, isolation=pool))
    pool.close()


@pytest.mark.exhaustive
@pytest.mark.process
def test_damaged_files_are_refused_with_a_hint_or_read_with_their_losses_named(files: DamagedFiles):
    total = DamageReport()
    for name, source in SOURCES.items():
        total += files.report(content_of(source), name)
    assert total.faults == []
    assert min(total.read, total.refused) > len(SOURCES)


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.parametrize("family", [name for name in reading_files.FAMILIES if name != "packages"])  # downloaded
def test_damaged_files_of_the_bench_are_refused_with_a_hint_or_read_with_their_losses_named(
    family: str, files: DamagedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Without those that LibreOffice, pandoc or ffmpeg make: `python benchmarks/damaged_files.py` has them too."""
    monkeypatch.setenv("PATH", "")
    total, made = DamageReport(), 0
    for file in reading_files.family(family):
        with suppress(FileNotFoundError):
            path = tmp_path / file.name
            file.make(path)
            total += files.report(path.read_bytes(), file.name)
            made += 1
    assert total.faults == []
    assert total.read + total.refused >= 8 * made


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(WITH_END) and "locked" not in name])
def test_cut_package_is_refused(name: str):
    content = content_of(SOURCES[name])
    media_type = part_of(content, name).blob.media_type
    for _, copy in islice(damaged(content, name), CUTS):
        part = DocumentPart(blob(copy, media_type, name))
        with pytest.raises(MediaError):
            handler_of(part).convert(part, NO_MODELS)


def page_of_spans(tag: str, count: int) -> bytes:
    return f"<p>x{f'<{tag}>' * count}y".encode()


def nested_frames(depth: int) -> bytes:
    page = "<p>x"
    for _ in range(depth):
        page = f'<iframe srcdoc="{escape(page)}"></iframe>'
    return f"<p>x{page}".encode()


def book(items: int, refs: int) -> bytes:
    manifest = "".join(f'<item id="{each}" href="{each}.xhtml"/>' for each in range(items))
    spine = "".join(f'<itemref idref="{each % items}"/>' for each in range(refs))
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "p.opf": f"<package><manifest>{manifest}</manifest><spine>{spine}</spine></package>",
            "0.xhtml": "<p>x",
        }
    )


def book_of_one_chapter(chapter: bytes, items: int) -> bytes:
    """A book whose items are all of the same file."""
    manifest = "".join(f'<item id="{each}" href="0.xhtml#{each}"/>' for each in range(items))
    spine = "".join(f'<itemref idref="{each}"/>' for each in range(items))
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    package = f"<package><manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    return zipped({"META-INF/container.xml": container, "p.opf": package, "0.xhtml": chapter})


def archives_in_archives(depth: int, width: int = 1) -> bytes:
    content = zipped({"x.txt": "x"})
    for _ in range(depth):
        content = zipped({"x.txt": "x", **{f"{each}.zip": content for each in range(width)}})
    return content


def overlapping_members(count: int, size: int) -> bytes:
    """Members that all name the same packed bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b"x" * size) + packer.flush()
    sizes = struct.pack("<III", zlib.crc32(b"x" * size), len(packed), size)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", 1, 0) + b"x" + packed
    entry = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes + struct.pack("<H", 1) + bytes(16) + b"x"
    end = struct.pack("<HHHHIIH", 0, 0, count, count, count * len(entry), len(local), 0)
    return local + entry * count + b"PK\5\6" + end


def nested_mails(depth: int, *, in_parts: bool) -> bytes:
    begin, end = b"From: a@example.com\r\nMIME-Version: 1.0\r\n", b""
    if not in_parts:
        return (begin + b"Content-Type: message/rfc822\r\n\r\n") * depth + b"Subject: s\r\n\r\nx\r\n"
    mails = [
        begin
        + b"Content-Type: multipart/mixed; boundary=B%d\r\n\r\n--B%d\r\nContent-Type: message/rfc822\r\n\r\n"
        % (level, level)
        for level in range(depth)
    ]
    end = b"".join(b"\r\n--B%d--\r\n" % level for level in reversed(range(depth)))
    return b"".join(mails) + b"Subject: s\r\n\r\nx\r\n" + end


def notebook(*cells: bytes) -> bytes:
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + b",".join(cells) + b"]}"


def output(content: bytes) -> bytes:
    return b'{"cell_type": "code", "source": "x", "outputs": [{"output_type": "display_data", ' + content + b"}]}"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.html", lambda: b"<table>" + b"<tr>" + b"<td>x" * 1_000_000),
        ("b.html", lambda: b"<table><tr><td colspan=1000000 rowspan=1000000>x" * 100),
        ("c.html", lambda: page_of_spans("span", 100_000)),
        ("d.html", lambda: page_of_spans("sup", 100_000)),
        ("e.html", lambda: page_of_spans("a href=https://example.org", 100_000)),
        ("f.html", lambda: page_of_spans("ol", 100_000)),
        ("g.html", lambda: b"<p>x" + b"<math><mi>x</mi></math>" * 100_000),
        ("h.html", lambda: b"<p>x" + b"<math>" * 20_000),
        ("i.html", lambda: b"<p>x" + b"<svg><use href=#a>" * 50_000),
        ("j.html", lambda: nested_frames(30)),
        ("k.html", lambda: b"<p>x" + b"<ruby>a<rt>b" * 100_000),
        ("a.epub", lambda: book(100_000, 100_000)),
        ("b.epub", lambda: book(1, 200_000)),
        ("a.zip", lambda: archives_in_archives(50)),
        ("a.csv", lambda: b"x," * 100_000 + b"\n" + b"1," * 100_000),
        ("b.csv", lambda: b"x" * 100_000_000),
        ("l.html", lambda: b"<table>" + b"<tr><td rowspan=1000000 colspan=1000000>x" * 10_000),
        ("m.html", lambda: b"<p>x<math>" + b"<mfrac><mi>a</mi>" * 10_000 + b"<mi>b</mi>" + b"</mfrac>" * 10_000),
        ("n.html", lambda: b'<p>x<svg><g id=a><use href="#b"/></g><g id=b><use href="#a"/></g></svg>'),
        ("a.svg", lambda: b'<svg><g id="a">x<use href="#b"/></g><g id="b"><use href="#a"/><use href="#a"/></g></svg>'),
        ("c.epub", lambda: book_of_one_chapter(b"<p>x" + b"<p></p>" * 100_000, 50_000)),
        ("d.epub", lambda: book_of_one_chapter(b"<p>x" + b"<i>" * 110_000_000, 1)),
        ("a.eml", lambda: nested_mails(1_000, in_parts=False)),
        ("b.eml", lambda: nested_mails(1_000, in_parts=True)),
        ("c.eml", lambda: nested_mails(100, in_parts=True)),
        ("b.zip", lambda: archives_in_archives(10, 3)),
        ("c.zip", lambda: overlapping_members(50, 40_000)),
        ("d.zip", lambda: overlapping_members(40_000, 10_000_000)),
        ("c.csv", lambda: b"x\n" + b"y," * 1_000_000 + b"\n" + b"1," * 1_000_000),
        ("a.ipynb", lambda: notebook(b'{"cell_type": "markdown", "source": "x"}', *[b"{}"] * 1_000_000)),
        ("b.ipynb", lambda: notebook(output(b'"text": "' + b"o" * 100_000_000 + b'"'))),
        ("c.ipynb", lambda: notebook(output(b'"data": {"image/png": "' + b"A" * 100_000_000 + b'"}'))),
        ("a.rtf", lambda: rb"{\rtf1 x" + b"{" * 100_000 + b"}" * 100_001),
    ],
)
def test_huge_content_is_read_or_refused_in_bounded_memory(name: str, make: Callable[[], bytes]):
    data = make()
    context = replace(NO_MODELS, to_text=NestedFiles(register_media_handlers(), {"image": "refuse"}, NO_MODELS))
    tracemalloc.start()
    try:
        with suppress(MediaError):
            assert "x" in converted(data, name, context, limits=LIMITS).text
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 400_000_000 + 4 * len(data)


def test_the_directory_of_an_archive_inside_is_not_that_of_a_cut_one():
    inner = zipped({"rain.txt": b"It rained."}, zipfile.ZIP_STORED)
    whole = zipped({"inner.zip": inner, "last.txt": b"It stopped."}, zipfile.ZIP_STORED)
    assert "| last.txt | 11 |" in converted(whole, "rain.zip").text
    for end in range(4, whole.rfind(b"PK\x05\x06")):
        with pytest.raises(MediaError):
            converted(whole[:end], "rain.zip")
