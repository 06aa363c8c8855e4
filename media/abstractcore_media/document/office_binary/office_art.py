"""Pictures and shapes in binary Office files (MS-ODRAW). Records follow each other, and some contain others."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..work_limits import Work

STORED_PICTURE, SHAPE, SHAPE_PROPERTIES, SHAPES, SHAPE_CONTAINER = 0xF007, 0xF00A, 0xF00B, 0xF003, 0xF004
_MORE_PROPERTIES = 0xF122
_BITMAPS = {0xF01D: "jpeg", 0xF01E: "png", 0xF01F: "bmp", 0xF029: "tiff", 0xF02A: "jpeg"}
_METAFILES = {0xF01A: "emf", 0xF01B: "wmf", 0xF01C: "pict"}
_PICTURE, _DESCRIPTION, _WORD_ART = 0x0104, 0x0381, 0x00C0
_MAX_METAFILE = 50_000_000


@dataclass(frozen=True, slots=True)
class ArtRecord:
    """One record: its kind, a number that some kinds have, how many records or the like, and where its content is."""

    kind: int
    instance: int
    is_container: bool
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class ShapeProperties:
    """What a shape shows: the number of its picture, from 1, and texts."""

    picture: int = 0
    description: str = ""
    word_art: str = ""


def records(data: bytes, begin: int, end: int) -> Iterator[ArtRecord]:
    """Yields the records between two places, and after each container those in it."""
    end = min(end, len(data))
    while begin + 8 <= end:
        head, kind, size = struct.unpack_from("<HHI", data, begin)
        is_container = head & 0xF == 0xF
        found = ArtRecord(kind, head >> 4, is_container, begin + 8, min(begin + 8 + size, end))
        yield found
        begin = found.begin if is_container else found.end


def stored_picture(data: bytes, record: ArtRecord, elsewhere: bytes, work: Work) -> tuple[bytes, str] | None:
    """Returns the picture that a record of a store has in itself, or in another stream, and its ending."""
    if record.end - record.begin < 36:
        return None
    place = record.begin + 36 + data[record.begin + 33]
    if place + 8 <= record.end:
        return picture(data, place, work)
    (delayed,) = struct.unpack_from("<I", data, record.begin + 28)
    return picture(elsewhere, delayed, work)


def picture(data: bytes, place: int, work: Work) -> tuple[bytes, str] | None:
    """Returns the picture of a record at a place, and its ending; None if there is none."""
    record = next(records(data, place, len(data)), None)
    if record is None:
        return None
    begin = record.begin + (32 if record.instance & 1 else 16)
    if record.kind in _BITMAPS:
        content = data[begin + 1 : record.end]
        work.unpacked(len(content))
        ending = _BITMAPS[record.kind]
        return (_with_header(content) if ending == "bmp" else content, ending) if content else None
    if record.kind not in _METAFILES or record.end - begin < 34:
        return None
    content = data[begin + 34 : record.end]
    if data[begin + 32] == 0:
        try:
            content = zlib.decompressobj().decompress(content, _MAX_METAFILE)
        except zlib.error:
            return None
    work.unpacked(len(content))
    return content, _METAFILES[record.kind]


def _with_header(bitmap: bytes) -> bytes:
    """Returns a bitmap as a file."""
    if len(bitmap) < 40:
        return bitmap
    size, bits, colors = *struct.unpack_from("<I10xH", bitmap), *struct.unpack_from("<I", bitmap, 32)
    palette = 4 * min(colors or (1 << bits if bits <= 8 else 0), 256)
    return struct.pack("<2sIII", b"BM", 14 + len(bitmap), 0, 14 + size + palette) + bitmap


def shape_properties(data: bytes, record: ArtRecord, before: ShapeProperties) -> ShapeProperties:
    """Returns the properties of a shape, and those of the records of it before."""
    if record.kind not in (SHAPE_PROPERTIES, _MORE_PROPERTIES):
        return before
    picture, texts = before.picture, {_DESCRIPTION: before.description, _WORD_ART: before.word_art}
    place = record.begin + 6 * record.instance
    for at in range(record.begin, min(place, record.end - 5), 6):
        code, value = struct.unpack_from("<HI", data, at)
        if code & 0x3FFF == _PICTURE and not code & 0x8000:
            picture = value
        if code & 0x8000:
            if code & 0x3FFF in texts:
                content = data[place : min(place + value, record.end)]
                texts[code & 0x3FFF] = content.decode("utf-16-le", "replace").rstrip("\0")
            place += value
    return ShapeProperties(picture, texts[_DESCRIPTION], texts[_WORD_ART])
