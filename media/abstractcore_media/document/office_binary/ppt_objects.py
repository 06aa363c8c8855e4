"""Pictures, embedded files, recordings and controls of a PPT file, which shapes refer to by number (MS-PPT 2.10)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

from ..blocks import Block, BlockPlace, LostContent, Picture
from ..office.embedded import file_of_object
from . import office_art
from .ppt_records import DAMAGES, PresentationRecords, Record

_ENTRY = 36
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
        found = office_art.picture(self._pictures, offset, self._work) if offset is not None else None
        return LostContent("pictures", 1, where=name) if found is None else Picture(found[0], name, place, alt)

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
