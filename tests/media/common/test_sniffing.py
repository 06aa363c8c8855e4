"""File type detection by content. Expected: libmagic 5.44's result for the same files, or the format's magic number."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from PIL import Image

from abstractcore_media import media_type_of, register_media_handlers
from tests.media.parts import EXAMPLES, FILES

OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("animated.gif", "image/gif"),
        ("clip.avi", "video/x-msvideo"),
        ("clip.mp4", "video/mp4"),
        ("clip.webm", "video/webm"),
        ("linearized.pdf", "application/pdf"),
        ("locked.pdf", "application/pdf"),
        ("multipage.tif", "image/tiff"),
        ("report.docx", OFFICE),
        ("report.odt", "application/vnd.oasis.opendocument.text"),
        ("small.jpg", "image/jpeg"),
        ("small.png", "image/png"),
        ("small.webp", "image/webp"),
        ("speech.flac", "audio/flac"),
        ("speech.m4a", "audio/mp4"),  # audio/x-m4a to libmagic
        ("speech.mp3", "audio/mpeg"),
        ("speech.ogg", "audio/ogg"),
        ("speech.webm", "audio/webm"),  # video/webm to libmagic, though it has no picture
        ("untagged.mp3", "audio/mpeg"),
    ],
)
def test_type_is_detected_by_content_whatever_the_name(file: str, expected: str):
    head = (FILES / file).read_bytes()[:8192]
    assert media_type_of(head, file) == expected
    assert media_type_of(head, "") == expected
    assert media_type_of(head, "wrong.txt") == expected


def test_wav_named_pdf_is_wav():
    assert media_type_of((EXAMPLES / "meeting.wav").read_bytes()[:8192], "meeting.pdf") == "audio/wav"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"PK\x03\x04" + bytes(26) + b"note.txt", "application/zip"),  # APPNOTE 4.3.7: local file header
        (b"PK\x03\x04", "application/zip"),
        (b"RF64\xff\xff\xff\xffWAVEds64\x1c\0\0\0", "audio/wav"),  # EBU Tech 3306
        (bytes.fromhex("0000001c66747970") + b"qt  ", "video/quicktime"),  # ISO 14496-12: ftyp and its brand
        (bytes.fromhex("0000001c66747970") + b"avif", "image/avif"),
        (b"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00", "image/bmp"),
        (b"OggS\x00\x02" + bytes(22) + b"\x80theora", "video/ogg"),
        (b"\n\n%PDF-1.7\n", "application/pdf"),
        (b"\0\1 a mail's header \r\n%PDF-1.7\n", "application/pdf"),  # ISO 32000: within the first 1,024 bytes
    ],
)
def test_magic_number_is_enough(head: bytes, expected: str):
    assert media_type_of(head, "") == expected


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("BMP", "image/bmp"),
        ("GIF", "image/gif"),
        ("ICNS", "image/x-icns"),
        ("ICO", "image/vnd.microsoft.icon"),
        ("JPEG", "image/jpeg"),
        ("JPEG2000", "image/jp2"),
        ("PCX", "image/x-pcx"),
        ("PNG", "image/png"),
        ("PPM", "image/x-portable-pixmap"),
        ("SGI", "image/x-rgb"),  # unknown to libmagic
        ("TGA", "image/x-tga"),
        ("TIFF", "image/tiff"),
        ("WEBP", "image/webp"),
    ],
)
def test_image_that_pillow_writes_is_recognised(format: str, expected: str):
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(file, format)
    assert media_type_of(file.getvalue()[:8192], "") == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (gzip.compress(b"a", mtime=0), "application/gzip"),
        (bz2.compress(b"a"), "application/x-bzip2"),
        (lzma.compress(b"a"), "application/x-xz"),
        (tarfile.TarInfo("a").tobuf(), "application/x-tar"),
        (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg"),  # id3.org
        (b"\xff\xfd\x90\x04", "audio/mpeg"),  # ISO 11172-3, layer II
        (b"\xff\xf1\x50\x80\0", "audio/aac"),  # ISO 13818-7: ADTS; audio/x-hx-aac-adts to libmagic
        (b"FORM\0\0\0\x10AIFFCOMM", "audio/aiff"),  # audio/x-aiff to libmagic
        (b"FORM\0\0\0\x10AIFCFVER", "audio/aiff"),
        (b"#!AMR\n\0", "audio/amr"),  # RFC 4867
        (b"#!AMR-WB\n\x44\0\x01", "audio/amr"),
        (b"#!AMR_MC1.0\n\0\0\0\x02", "audio/amr"),
        (b"\x7f\xfe\x80\x01\xfc\x3c", "audio/vnd.dts"),  # ETSI TS 102 114: the sync word, in four orders of bytes
        (b"\xfe\x7f\x01\x80\x3c\xfc", "audio/vnd.dts"),
        (b"\x1f\xff\xe8\0\x07\xf0", "audio/vnd.dts"),
        (b"\xff\x1f\0\xe8\xf1\x07", "audio/vnd.dts"),
        (b"MAC \x96\x0f\0\0", "audio/x-ape"),  # Monkey's Audio 3.99
        (b"DSD \x1c\0\0\0\0\0\0\0", "audio/x-dsf"),
        (b"MP+\x07\0\x01", "audio/x-musepack"),
        (b"MPCKSH\x0f\0", "audio/x-musepack"),
        (b"tBaK\x01\0\x17", "audio/x-tak"),
        (b"TTA1\x01\0", "audio/x-tta"),
        (b"Creative Voice File\x1a\x1a\0", "audio/x-voc"),
        (b"riff\x2e\x91\xcf\x11\xa5\xd6", "audio/x-w64"),
        (b".ra\xfd\0\x04", "audio/vnd.rn-realaudio"),
        (b".RMF\0\0\0\x12", "audio/vnd.rn-realaudio"),
        (b".RMF\0\0\0\x12" + bytes(40) + b"video/x-pn-realvideo", "video/vnd.rn-realvideo"),
        (b"\x56\xe0\x20\0", "audio/mp4a-latm"),  # ISO 14496-3: LOAS
        (b"\x0b\x77\xd4\x3a\0\x14", "audio/ac3"),  # ATSC A/52
        (b"wvpk\xa0\0\0\0\x10\x04", "audio/x-wavpack"),
        (b"nut/multimedia container\0", "video/x-nut"),
        (b"MThd\0\0\0\x06", "audio/midi"),
        (b".snd\0\0\0\x18", "audio/basic"),
        (b"caff\0\x01\0\0desc", "audio/x-caf"),
        (bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"), "audio/x-ms-wma"),
        (bytes.fromhex("3026b2758e66cf11 c0ef19bc4d5bcf11a8fd00805f5c442b"), "video/x-ms-wmv"),
        (b"\0\0\x01\xba\x44", "video/mpeg"),  # ISO 13818-1
        ((b"\x47" + bytes(187)) * 3, "video/mp2t"),
        (b"FLV\x01\x05\0\0\0\t", "video/x-flv"),
    ],
)
def test_signature_is_recognised_in_the_base_installation(head: bytes, expected: str):
    assert media_type_of(head, "") == expected


class Pipe(io.BytesIO):
    """A file that has no position."""

    def tell(self) -> int:
        raise io.UnsupportedOperation("tell")


def archive(*members: tuple[str, bytes], method: int, sizes: str) -> bytes:
    """A ZIP file with the sizes of members "before" or "behind" them."""
    file = io.BytesIO() if sizes == "before" else Pipe()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members:
            made.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("sizes", ["before", "behind"])
def test_archive_of_office_files_is_an_archive(method: int, sizes: str):
    document = (FILES / "report.docx").read_bytes()
    for members in ([("report.docx", document), ("a.txt", b"words")], [("word/list.txt", b"one, two")]):
        assert media_type_of(archive(*members, method=method, sizes=sizes), "a.zip") == "application/zip"
    main = [("[Content_Types].xml", b"<Types/>"), ("word/document.xml", b"<document/>")]
    assert media_type_of(archive(*main, method=method, sizes=sizes), "a.docx") == OFFICE


@pytest.mark.parametrize("first", ["content.xml", "META-INF/manifest.xml"])
def test_opendocument_file_zipped_again_is_recognised_by_its_name_and_its_members(first: str):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(first, "<a/>")
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert media_type_of(file.getvalue(), "book.ods") == "application/vnd.oasis.opendocument.spreadsheet"
    assert media_type_of(file.getvalue(), "book.zip") == "application/zip"


@pytest.mark.parametrize("start", ["BM", "ID3", "MZ", "GIF89a", "%PDF", "RIFF", "II*", "PK", "OggS", "P6"])
def test_text_that_begins_like_a_binary_format_is_text(start: str):
    assert media_type_of(f"{start} is how some files begin.\n".encode(), "note.txt") == "text/plain"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "# Title", "text/markdown"),
        ("a.csv", "a,b\n1,2", "text/csv"),
        ("a.json", "{}", "application/json"),
        ("a.YAML", "a: 1", "application/yaml"),
        ("a.svg", "<svg/>", "image/svg+xml"),
        ("a.py", "import os", "text/x-python"),
        ("Makefile", "all:\n", "text/plain"),
        ("a.ts", "let a = 1", "text/plain"),
        ("", "<?xml version='1.0'?><a/>", "application/xml"),
        ("", "\n<!DOCTYPE html><p>", "text/html"),
        ("report.pdf", "<html>Not found</html>", "text/html"),
        ("song.mp3", "Not found", "text/plain"),
    ],
)
def test_name_distinguishes_kinds_of_text(name: str, content: str, expected: str):
    assert media_type_of(content.encode(), name) == expected


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_character_truncated_at_the_end_of_the_head_is_still_text(cut: int):
    assert media_type_of("\x01 smile 🙂".encode()[:-cut], "") == "text/plain"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1251", "shift_jis"])
def test_text_in_any_encoding_is_text(encoding: str):
    assert media_type_of("naïve".encode(encoding, "ignore") + "\n".encode(encoding), "") == "text/plain"


def test_unknown_content_is_typed_by_its_name():
    garbage = bytes(range(256)) * 4
    assert media_type_of(garbage, "") is None
    assert media_type_of(garbage, "a.unknown") is None
    assert media_type_of(garbage, "a.pdf") == "application/pdf"
    assert media_type_of(b"RIFF" + garbage, "a.wav") == "audio/wav"


@pytest.mark.parametrize(
    "file", sorted(file.name for file in FILES.iterdir() if file.is_file() and file.name != "SOURCES.md")
)
def test_one_handler_recognises_a_file(file: str):
    head = (FILES / file).read_bytes()[:8192]
    claims = [handler.name for handler in register_media_handlers() if handler.recognise(head, file, None)]
    assert len(claims) == 1


@pytest.mark.parametrize("first", ["content.xml", "Configurations2/floater/", "META-INF/manifest.xml", "mimetype"])
def test_open_document_files_of_other_programs_have_the_type_of_their_name(first: str):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(first, "application/vnd.oasis.opendocument.text" * 2)
    head = file.getvalue()[:8192]
    assert media_type_of(head, "letter.odt") == "application/vnd.oasis.opendocument.text"
    assert media_type_of(head, "letter.docx") == media_type_of(head, "") == "application/zip"
