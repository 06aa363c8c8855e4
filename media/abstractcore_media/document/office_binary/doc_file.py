"""The parts of a DOC file: its streams, the characters of all texts, and where their properties stand (MS-DOC, 2.4).

Word keeps the characters of all texts of a document one after the other, in pieces of a stream. A character position
counts UTF-16 code units in the texts, an offset counts bytes in the stream. Properties are kept by offset.
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from abstractcore.errors import MediaError

from ...common.extras import missing_extra
from ..format_handler import DocumentFile
from ..office.decryption import needs_password
from ..work_limits import Work

_MAGIC, _OLDER, _WORD_97 = 0xA5EC, frozenset({0xA5DC, 0xA5DB, 0xA59B, 0xA59C}), 193
_WORD_2 = b"\xdb\xa5"
_SECTOR = 512
_STORIES = ("ccpText", "ccpFtn", "ccpHdd", "ccpMcr", "ccpAtn", "ccpEdn", "ccpTxbx", "ccpHdrTxbx")
"""The texts of a document, in the order of their characters."""
TABLES = {
    "stshf": 1, "plcffndRef": 2, "plcffndTxt": 3, "plcfandRef": 4, "plcfandTxt": 5, "plcfSed": 6, "plcfHdd": 11,
    "plcfBteChpx": 12, "plcfBtePapx": 13, "sttbfFfn": 15, "clx": 33, "grpXstAtnOwners": 36, "plcSpaMom": 40,
    "plcSpaHdr": 41, "plcfendRef": 46, "plcfendTxt": 47, "dggInfo": 50, "plcftxbxTxt": 56, "plcfHdrtxbxTxt": 58,
    "plfLst": 73, "plfLfo": 74,
}  # fmt: skip
"""The number of each table in FibRgFcLcb97."""


@dataclass(frozen=True, slots=True)
class _Piece:
    begin: int
    end: int
    offset: int
    width: int
    """How many bytes a character has: 1 or 2."""
    properties: bytes
    """Those that all characters and paragraphs of the piece have beside their own."""


@dataclass(frozen=True, slots=True)
class PropertyRun:
    """Characters, or a paragraph, from one position to another, with their property modifiers."""

    begin: int
    end: int
    properties: bytes


class WordFile:
    """The content of a DOC. Raises `MediaError` if its texts are not known, or need a password."""

    def __init__(self, streams: Any, file: DocumentFile) -> None:
        self._streams = streams
        self._file = file
        self._document = self.stream("WordDocument")
        if len(self._document) < 0x200:
            raise self._corrupt("it has no header")
        magic, version, flags = struct.unpack_from("<HH6xH", self._document)
        if magic in _OLDER or (magic == _MAGIC and version < _WORD_97):
            raise _older(file.name)
        if magic != _MAGIC:
            raise self._corrupt("it has no header")
        if flags & 0x100:
            raise needs_password(file.name)
        self._tables = self.stream("1Table" if flags & 0x200 else "0Table")
        self.data = self.stream("Data") if streams.exists("Data") else b""
        self._objects: dict[str, list[str]] | None = None
        self.spans = self._spans()
        try:
            self._pieces = list(_pieces(self.table("clx"), len(self._document), file.work))
        except (IndexError, ValueError, struct.error) as error:
            raise self._corrupt("its texts have no places") from error
        self.text = "".join(self._characters(piece) for piece in self._pieces)

    @property
    def document(self) -> bytes:
        """The main stream."""
        return self._document

    def stream(self, *path: str) -> bytes:
        """Returns a stream of the file."""
        data = cast(bytes, self._streams.openstream(list(path)).read())
        self._file.work.unpacked(len(data))
        return data

    def objects(self, storage: str) -> list[str]:
        """Returns the names of the streams in the storage of an embedded object."""
        if self._objects is None:
            self._objects = {}
            for path in cast("list[list[str]]", self._streams.listdir()):
                if len(path) == 3 and path[0] == "ObjectPool":
                    self._objects.setdefault(path[1], []).append(path[2])
        return self._objects.get(storage, [])

    def table(self, name: str) -> bytes:
        """Returns a table; b"" if the document has none, or if it stands outside of the file."""
        place = 0x9A + 8 * TABLES[name]
        if place + 8 > len(self._document):
            return b""
        begin, size = struct.unpack_from("<II", self._document, place)
        found = self._tables[begin : begin + size]
        if len(found) < size:
            self._file.losses.count("damaged tables of the document", name)
        return found

    def table_and_more(self, name: str) -> bytes:
        """Returns a table and all that follows; b"" if the document has none."""
        begin, size = struct.unpack_from("<II", self._document, 0x9A + 8 * TABLES[name])
        return self._tables[begin:] if size else b""

    def character_runs(self) -> list[PropertyRun]:
        """Returns the runs of characters that have properties."""
        return self._runs("plcfBteChpx", _characters_of_page)

    def paragraph_runs(self) -> list[PropertyRun]:
        """Returns the properties of paragraphs: two bytes with the number of the style come first."""
        return self._runs("plcfBtePapx", _paragraphs_of_page)

    def _corrupt(self, why: str) -> MediaError:
        return self._file.work.corrupt("DOC file", why)

    def _spans(self) -> dict[str, tuple[int, int]]:
        """Returns the begin and the end of each text."""
        counts = struct.unpack_from(f"<{len(_STORIES)}i", self._document, 0x4C)
        spans: dict[str, tuple[int, int]] = {}
        begin = 0
        for name, count in zip(_STORIES, counts, strict=True):
            if not 0 <= count <= len(self._document):
                raise self._corrupt("its texts have no sizes")
            spans[name] = begin, begin + count
            begin += count
        return spans

    def _characters(self, piece: _Piece) -> str:
        size = (piece.end - piece.begin) * piece.width
        data = self._document[piece.offset : piece.offset + size]
        if len(data) < size:
            self._file.losses.count("characters outside of the file", count=(size - len(data)) // piece.width)
            data = data.ljust(size, b"\0")
        if piece.width == 1:
            return data.decode("cp1252", "replace")
        text = data.decode("utf-16-le", "surrogatepass")
        if len(text) == piece.end - piece.begin:
            return text
        return "".join(map(chr, struct.unpack(f"<{size // 2}H", data)))  # positions count the halves of a pair

    def _runs(self, table: str, read_page: Any) -> list[PropertyRun]:
        data = self.table(table)
        number = max(0, len(data) - 4) // 8
        pages = dict.fromkeys(struct.unpack_from(f"<{number}I", data, 4 * (number + 1))) if number else {}
        by_offset: list[tuple[int, int, bytes]] = []
        for page in pages:
            content = self._document[(page & 0x3FFFFF) * _SECTOR :][:_SECTOR]
            if len(content) == _SECTOR:
                by_offset += read_page(content)
            else:
                self._file.losses.count("damaged tables of the document", table)
        by_offset.sort(key=lambda run: run[0])
        ends = [min(end, after[0]) for (_, end, _), after in pairwise(by_offset)]
        ends += [end for _, end, _ in by_offset[-1:]]  # damaged runs may overlap
        return list(self._by_position(by_offset, ends))

    def _by_position(self, runs: Sequence[tuple[int, int, bytes]], ends: Sequence[int]) -> Iterator[PropertyRun]:
        """Yields the runs in the order of the texts, cut where pieces end."""
        for piece in self._pieces:
            self._file.work.check()
            first, last = piece.offset, piece.offset + (piece.end - piece.begin) * piece.width
            at = piece.begin
            for index in range(bisect_right(ends, first), len(runs)):
                begin, _, properties = runs[index]
                end = ends[index]
                if begin >= last:
                    break
                begin = max(at, piece.begin + (begin - first) // piece.width)
                end = min(piece.end, piece.begin + (end - first + piece.width - 1) // piece.width)
                if begin < end:
                    yield PropertyRun(begin, end, properties + piece.properties)
                    at = end


def _pieces(clx: bytes, size: int, work: Work) -> Iterator[_Piece]:
    """Yields the pieces of the texts: at most as many bytes as the stream has.

    Raises `ValueError`, `IndexError` or `struct.error` if they are damaged.
    """
    place = 0
    modifiers: list[bytes] = []
    while clx[place] == 1:
        (length,) = struct.unpack_from("<H", clx, place + 1)
        modifiers.append(clx[place + 3 : place + 3 + length])
        place += 3 + length
    number = (len(clx) - place - 5 - 4) // 12
    positions = struct.unpack_from(f"<{number + 1}I", clx, place + 5)
    descriptors = place + 5 + 4 * (number + 1)
    left = size
    for index in range(number):
        work.check()
        address, modifier = struct.unpack_from("<2xIH", clx, descriptors + 8 * index)
        width, offset = (1, (address & 0x3FFFFFFF) // 2) if address & 0x40000000 else (2, address & 0x3FFFFFFF)
        begin, end = positions[index : index + 2]
        left -= (end - begin) * width
        if end < begin or left < 0 or (index == 0 and begin):
            raise ValueError("the pieces have more characters than the file")
        if end > begin:
            yield _Piece(begin, end, offset, width, _of_piece(modifier, modifiers))


_SHORT_MODIFIERS = {
    0x05: 0x2403, 0x18: 0x2416, 0x19: 0x2417, 0x41: 0x0800, 0x42: 0x0801, 0x43: 0x0802, 0x53: 0x2A33, 0x57: 0x0837,
    0x5C: 0x083C, 0x68: 0x2A48, 0x73: 0x2A53, 0x78: 0x2640,
}  # fmt: skip
"""The property modifiers that a piece may have by a number of their own."""


def _of_piece(modifier: int, modifiers: Sequence[bytes]) -> bytes:
    if modifier & 1:
        return modifiers[modifier >> 1] if modifier >> 1 < len(modifiers) else b""
    code = _SHORT_MODIFIERS.get(modifier >> 1 & 0x7F)
    return struct.pack("<HB", code, modifier >> 8) if modifier and code is not None else b""


def _characters_of_page(page: bytes) -> Iterator[tuple[int, int, bytes]]:
    number = min(page[511], 101)
    offsets = struct.unpack_from(f"<{number + 1}I", page)
    for index in range(number):
        place = 2 * page[4 * (number + 1) + index]
        yield offsets[index], offsets[index + 1], page[place + 1 : place + 1 + page[place]] if place else b""


def _paragraphs_of_page(page: bytes) -> Iterator[tuple[int, int, bytes]]:
    number = min(page[511], 29)
    offsets = struct.unpack_from(f"<{number + 1}I", page)
    for index in range(number):
        place = 2 * page[4 * (number + 1) + 13 * index]
        properties = b"\0\0"
        if place:
            begin, size = (place + 1, 2 * page[place] - 1) if page[place] else (place + 2, 2 * page[place + 1])
            properties = page[begin : begin + size] if size >= 2 else properties
        yield offsets[index], offsets[index + 1], properties


def positions_of(data: bytes, size: int) -> tuple[list[int], list[bytes]]:
    """Returns the positions of a table, and the data of each but the last one, which have `size` bytes each."""
    number = max(0, len(data) - 4) // (4 + size)
    if len(data) < 4:
        return [], []
    positions = list(struct.unpack_from(f"<{number + 1}I", data))
    first = 4 * (number + 1)
    return positions, [data[first + size * index : first + size * (index + 1)] for index in range(number)]


def opened(file: DocumentFile) -> WordFile:
    """Returns the content of a DOC."""
    if file.data.startswith(_WORD_2):
        raise _older(file.name)
    try:
        import olefile
    except ImportError as error:
        raise missing_extra("Reading DOC files", "olefile", "documents") from error
    try:
        return WordFile(cast(Any, olefile).OleFileIO(io.BytesIO(file.data)), file)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise file.work.corrupt("DOC file", "its parts are not where they have to be") from error


def _older(name: str) -> MediaError:
    return MediaError(
        f"{name} is of a version of Word before 1997, which is not read.",
        source=name,
        hint="Open it in Word or LibreOffice, and save it as DOCX.",
    )
