"""Detects the media type of a file, from its content first and its name second. Needs no optional package.

Text is detected before signatures, since texts may begin like another format. A container (RIFF, MP4, Matroska, Ogg,
ZIP) is opened as far as needed, since its signature alone does not distinguish audio from video.
"""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Callable, Iterator

from .media_types import is_text_type, type_by_name

UNICODE_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose BOM it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ZIP = b"PK\x03\x04"
_CONTROL_BYTES = bytes(set(range(0x20)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"


def media_type_of(head: bytes, name: str) -> str | None:
    """Returns the media type of a file that begins with `head` and is called `name`; None if it is unknown.

    Content takes precedence. The name distinguishes kinds of text, settles ties, and is used for unknown content.
    """
    named = type_by_name(name)
    if head.lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    if looks_like_text(head):
        return _text_type(head, named)
    if b"%PDF-" in head[:1024]:  # readers accept some bytes before it
        return "application/pdf"
    for signature, type_inside in _CONTAINERS:
        if signature.match(head):
            return type_inside(head, named) or named
    return next((media_type for signature, media_type in _SIGNATURES if signature.match(head)), named)


def looks_like_text(head: bytes) -> bool:
    """Returns whether the beginning of a file is text in some encoding; the last character may be incomplete."""
    if head.startswith(tuple(UNICODE_MARKS)):
        return True
    if b"\0" in head or head.startswith(_ZIP):
        return False
    if head == head.translate(None, _CONTROL_BYTES):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _text_type(head: bytes, named: str | None) -> str:
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1000].lower()
    if start.startswith(b"{\\rtf"):
        return "text/rtf"
    if named is not None and (is_text_type(named) or named == "message/rfc822"):
        return named
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if start.startswith(b"<?xml"):
        return "text/html" if b"<html" in start else "application/xml"
    return "message/rfc822" if _MAIL.match(head) else "text/plain"


_MAIL = re.compile(
    rb"(?=(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?i:MIME-Version|Message-ID|Received):)"
    rb"(?=(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?i:From):)"
)
"""Lines of headers, with two that all mails have."""


def _ole_type(head: bytes, named: str | None) -> str | None:
    """Returns the type of an OLE file, whose directory may stand behind the head: then the name decides."""
    for stream, media_type in _OLE_STREAMS:
        if stream.encode("utf-16-le") in head:
            return media_type
    is_office = named is not None and named.startswith(
        ("application/vnd.openxml", "application/vnd.ms-", "application/ms")
    )
    return named if is_office else "application/x-ole-storage"


_OLE_STREAMS = (
    ("__properties_version1.0", "application/vnd.ms-outlook"),
    ("WordDocument", "application/msword"),
    ("Workbook", "application/vnd.ms-excel"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
)


def _riff_type(head: bytes, named: str | None) -> str | None:
    return {b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo", b"WEBP": "image/webp"}.get(head[8:12])


_MP4_BRANDS = {
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"qt  ": "video/quicktime",
}


def _mp4_type(head: bytes, named: str | None) -> str:
    return _MP4_BRANDS.get(head[8:12]) or ("audio/mp4" if named == "audio/mp4" else "video/mp4")


def _matroska_type(head: bytes, named: str | None) -> str:
    # Element 0x86 is a track's codec, "A_..." or "V_...", after the length of its name.
    tracks = set(re.findall(rb"\x86[\x80-\xff]([AV]_)", head))
    return ("audio/" if tracks == {b"A_"} else "video/") + ("webm" if b"webm" in head[:64] else "x-matroska")


def _ogg_type(head: bytes, named: str | None) -> str:
    return "video/ogg" if b"\x80theora" in head else "audio/ogg"


def _zip_type(head: bytes, named: str | None) -> str:
    if declared := re.match(rb"PK\x03\x04.{26}mimetype(application/[\w.+-]+?)PK", head, re.DOTALL):
        return declared[1].decode("ascii").removesuffix("-template")
    members = list(_zip_members(head))
    is_office = any(member.startswith((b"[Content_Types].xml", b"_rels/", b"docProps/")) for member in members)
    for folder, media_type in _OFFICE_FOLDERS:
        if any(member.startswith(folder) and (is_office or member.endswith(b".xml")) for member in members):
            return media_type
    if b"META-INF/container.xml" in members:
        return "application/epub+zip"
    # The member that distinguishes an Office file may stand behind the head, or be packed.
    is_open = any(member.startswith(_OPEN_DOCUMENT_MEMBERS) for member in members)
    is_named = named is not None and (
        (is_office and "officedocument" in named) or (is_open and "opendocument" in named)
    )
    return named if is_named and named is not None else "application/zip"


def _zip_members(head: bytes) -> Iterator[bytes]:
    """Yields the names of the first members, and of no archive inside of this one."""
    at = 0
    while len(header := head[at : at + 30]) == 30 and header.startswith(_ZIP):
        flags, method, packed, name_length, extra_length = struct.unpack("<6xHH8xI4xHH", header)
        start = at + 30 + name_length + extra_length
        yield head[at + 30 : at + 30 + name_length]
        at = start + packed
        if flags & 8 and not packed:  # the size stands behind the content, which may be an archive if it is stored
            at = head.find(_ZIP, start) if method else -1
        if at < 0:
            return


_OPEN_DOCUMENT_MEMBERS = (b"Configurations2/", b"META-INF/manifest.xml", b"content.xml", b"mimetype")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OFFICE_FOLDERS = (
    (b"word/", _OFFICE + "wordprocessingml.document"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet"),
    (b"ppt/", _OFFICE + "presentationml.presentation"),
)


def _asf_type(head: bytes, named: str | None) -> str:
    return "video/x-ms-wmv" if _ASF_VIDEO_STREAM in head and named != "audio/x-ms-wma" else "audio/x-ms-wma"


_ASF_VIDEO_STREAM = bytes.fromhex("c0ef19bc4d5bcf11a8fd00805f5c442b")


def _real_type(head: bytes, named: str | None) -> str:
    return "video/vnd.rn-realvideo" if b"video/x-pn-realvideo" in head else "audio/vnd.rn-realaudio"


def _tagged_type(head: bytes, named: str | None) -> str:
    return named if named in ("audio/aac", "audio/flac") else "audio/mpeg"


_CONTAINERS: tuple[tuple[re.Pattern[bytes], Callable[[bytes, str | None], str | None]], ...] = (
    (re.compile(rb"RIFF|RF64"), _riff_type),
    (re.compile(rb"....ftyp", re.DOTALL), _mp4_type),
    (re.compile(rb"\x1a\x45\xdf\xa3"), _matroska_type),
    (re.compile(rb"OggS"), _ogg_type),
    (re.compile(_ZIP), _zip_type),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), _ole_type),
    (re.compile(rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11"), _asf_type),
    (re.compile(rb"\.RMF\0"), _real_type),
    (re.compile(rb"ID3[\x02-\x04]"), _tagged_type),
)
_SIGNATURES = tuple(
    (re.compile(signature, re.DOTALL), media_type)
    for signature, media_type in (
        (rb"\xff\xd8\xff", "image/jpeg"),
        (rb"\x89PNG\r\n\x1a\n", "image/png"),
        (rb"GIF8[79]a", "image/gif"),
        (rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0", "image/bmp"),  # the size of one of its headers
        (rb"II[*+]\0|MM\0[*+]", "image/tiff"),
        (rb"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
        (rb"\xff\x4f\xff\x51", "image/j2c"),
        (rb"\0\0\x01\0[^\0]", "image/vnd.microsoft.icon"),
        (rb"8BPS\0\x01", "image/vnd.adobe.photoshop"),
        (rb"P4\s", "image/x-portable-bitmap"),
        (rb"P5\s", "image/x-portable-graymap"),
        (rb"P6\s", "image/x-portable-pixmap"),
        (rb"DDS \x7c\0\0\0", "image/x-dds"),
        (rb"icns.{4}[\w ]{4}", "image/x-icns"),
        (rb"\x01\xda[\0\x01][\x01\x02]", "image/x-rgb"),
        (rb"\n[\0-\x05]\x01[\x01\x02\x04\x08]", "image/x-pcx"),
        (rb"\A.*TRUEVISION-XFILE", "image/x-tga"),
        (rb"fLaC", "audio/flac"),
        (rb"FORM....AIF[FC]", "audio/aiff"),
        # An MP3 without an ID3 tag: sync word, layer II or III, a bit rate that is neither free nor bad.
        (rb"\xff[\xe2\xe3\xf2-\xf5\xfa-\xfd][\x10-\xef]", "audio/mpeg"),
        (rb"\xff[\xf0\xf1\xf8\xf9]|ADIF", "audio/aac"),
        (rb"\x0b\x77", "audio/ac3"),
        (rb"wvpk.{4}.\x04", "audio/x-wavpack"),
        (rb"#!AMR", "audio/amr"),
        (rb"MThd", "audio/midi"),
        (rb"MAC [\x80-\xff]\x0f", "audio/x-ape"),
        (rb"DSD \x1c\0", "audio/x-dsf"),
        (rb"MP\+[\x07\x17]|MPCK", "audio/x-musepack"),
        (rb"tBaK", "audio/x-tak"),
        (rb"TTA[12]", "audio/x-tta"),
        (rb"Creative Voice File\x1a", "audio/x-voc"),
        (rb"riff\x2e\x91\xcf\x11", "audio/x-w64"),
        (rb"\.ra\xfd", "audio/vnd.rn-realaudio"),
        (rb"\x7f\xfe\x80\x01|\xfe\x7f\x01\x80|\x1f\xff\xe8\0|\xff\x1f\0\xe8", "audio/vnd.dts"),
        (rb"\x56[\xe0-\xff]", "audio/mp4a-latm"),
        (rb"nut/multimedia container\0", "video/x-nut"),
        (rb"\.snd\0", "audio/basic"),
        (rb"caff\0\x01", "audio/x-caf"),
        (rb"\0\0\x01[\xb3\xba]", "video/mpeg"),
        (rb"\x47.{187}\x47.{187}\x47", "video/mp2t"),
        (rb"FLV\x01", "video/x-flv"),
        (rb"\x1f\x8b\x08", "application/gzip"),
        (rb"BZh[1-9]", "application/x-bzip2"),
        (rb"\xfd7zXZ\0", "application/x-xz"),
        (rb".{257}ustar", "application/x-tar"),
    )
)
