"""Pictures, embedded files, recordings and controls of a PPT file, which shapes refer to by number (MS-PPT 2.10)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

from ..blocks import Block, BlockPlace, LostContent, Picture
from ..office.embedded import file_of_object
from .ppt_records import DAMAGES, PresentationRecords, Record

_TWO_CHECKSUMS = frozenset((0x3D5, 0x217, 0x543, 0x46B, 0x6E3, 0x6E1, 0x7A9, 0x6E5))
"""The instances of pictures that begin with two checksums."""
_EMF, _WMF, _PICT, _DIB = 0xF01A, 0xF01B, 0xF01C, 0xF01F
_BITMAPS = (0xF01D, 0xF01E, _DIB, 0xF029, 0xF02A)
_CHECKSUM, _METAFILE_HEADER, _ENTRY = 16, 34, 36
_RECORDINGS = {
    "ExternalVideo",
    "ExternalAviMovie",
    "ExternalMciMovie",
    "ExternalMidiAudio",
    "ExternalCdAudio",
    "ExternalWavAudioEmbedded",
    "ExternalWavAudioLink",
    "ExternalQuickTimeMovie",
}
_CHARTS = ("MSGraph", "StarChart", "Excel.Chart")
_CHART_OF_LIBREOFFICE = b"ChartDocument"


class PresentationObjects:
    """The objects of a presentation."""

    def __init__(self, presentation: PresentationRecords) -> None:
        self._presentation = presentation
        self._work = presentation.file.work
        self._losses = presentation.file.losses
        self._pictures = presentation.stream("Pictures")
        self._entries = list(_entries(presentation.document))
        self._recordings: set[int] = set()
        self._controls: set[int] = set()
        self._embedded: dict[int, tuple[str, int]] = {}
        objects = presentation.document.first("ExternalObjectList")
        for each in objects.children if objects is not None else ():
            self._add(each)

    def _add(self, record: Record) -> None:
        if record.kind in _RECORDINGS:
            self._recordings.update(each.unpacked("<I")[0] for each in _inside(record, "ExternalMediaAtom"))
            return
        found = record.first("ExternalOleObjectAtom")
        if found is None:
            return
        _, _, number, _, reference = found.unpacked("<5I")
        if record.kind == "ExternalOleControl":
            self._controls.add(number)
        else:
            names = {each.instance: each.text for each in record.all("CString")}
            self._embedded[number] = names.get(2) or names.get(1, "object"), reference

    def picture(self, index: int, place: BlockPlace, alt: str) -> Block:
        """Returns the picture with a number from 1; one that is not in the file is lost."""
        name = f"picture {index}"
        offset = self._entries[index - 1] if 0 < index <= len(self._entries) else None
        try:
            data = self._picture(offset) if offset is not None else b""
        except (*DAMAGES, zlib.error):
            data = b""
        return Picture(data, name, place, alt) if data else LostContent("pictures", 1, where=name)

    def _picture(self, offset: int) -> bytes:
        version, kind, size = struct.unpack_from("<HHI", self._pictures, offset)
        content = self._pictures[offset + 8 : offset + 8 + size]
        at = 2 * _CHECKSUM if version >> 4 in _TWO_CHECKSUMS else _CHECKSUM
        if kind in (_EMF, _WMF, _PICT):
            is_packed = content[at + _METAFILE_HEADER - 2] == 0
            content = content[at + _METAFILE_HEADER :]
            return self._inflated(content) if is_packed else content
        if kind not in _BITMAPS:
            return b""
        content = content[at + 1 :]
        return _bitmap(content) if kind == _DIB else content

    def object(self, number: int, slide: int, place: BlockPlace) -> Iterator[Block]:
        """Yields the file that a shape embeds; else what it is, as lost."""
        if number in self._recordings:
            self._losses.meet("recording")
        if number in self._controls:
            self._losses.meet("control")
        if number not in self._embedded:
            return
        program, reference = self._embedded[number]
        try:
            content = self._storage(reference)
        except (*DAMAGES, zlib.error):
            content = b""
        is_chart = program.startswith(_CHARTS) or _CHART_OF_LIBREOFFICE in content
        file = None if is_chart else file_of_object(content, f"object {number}", place)
        if file is not None:
            yield file
        else:
            yield LostContent("charts" if is_chart else "embedded objects", 1, where=f"slide {slide}: {program}")

    def _storage(self, reference: int) -> bytes:
        record = self._presentation.object(reference)
        if record is None or record.kind != "ExternalOleObjectStg":
            return b""
        return self._inflated(record.content[4:]) if record.instance == 1 else record.content

    def _inflated(self, data: bytes) -> bytes:
        opened: Any = zlib.decompressobj()
        most = self._work.limits.unpacked_bytes
        content = opened.decompress(data, most + 1)
        self._work.unpacked(len(content))
        return content


def _entries(document: Record) -> Iterator[int | None]:
    """Yields where in their stream the pictures are that shapes have the numbers of, from 1."""
    group = document.first("DrawingGroup")
    for each in _inside(group, "FBSE") if group is not None else ():
        content = each.content
        yield struct.unpack_from("<I", content, 28)[0] if len(content) >= _ENTRY and content[0] > 1 else None


def _inside(record: Record, kind: str) -> Iterator[Record]:
    for each in record.children:
        if each.kind == kind:
            yield each
        elif each.kind in ("DggContainer", "BStoreContainer", "ExternalVideo"):
            yield from _inside(each, kind)


def _bitmap(content: bytes) -> bytes:
    """Returns a BMP file, whose header such pictures lack."""
    size, bits, colors = struct.unpack_from("<I10xH16xI", content)
    palette = 4 * (colors or (1 << bits if bits <= 8 else 0))
    return struct.pack("<2sIII", b"BM", 14 + len(content), 0, 14 + size + palette) + content
