"""The records of a PPT file, and the order in which programs saved them (MS-PPT 2.1 and 2.3)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, cast

from ...common.extras import missing_extra
from ..format_handler import DocumentFile
from ..office.decryption import needs_password
from ..vocabularies import Treatment
from .ppt_vocabulary import KINDS

DAMAGES = (OSError, ValueError, IndexError, KeyError, struct.error)
"""What the readers of damaged files raise."""
_HEADER = struct.Struct("<HHI")
_IS_CONTAINER, _MAX_EDITS, _RECORD_BYTES = 0xF, 10_000, 200
_ENCRYPTED = 0xF3D1C4DF
_BATCH = 1_000
_SEEN = (Treatment.READ, Treatment.PROPERTY)


class Record:
    """A record: its kind, the number that tells it from others of its kind, and its content."""

    def __init__(self, kind: str, instance: int, data: bytes, place: tuple[int, int], file: DocumentFile) -> None:
        self.kind = kind
        self.instance = instance
        self._data = data
        self._place = place
        self._file = file

    @property
    def content(self) -> bytes:
        """The bytes of the record."""
        return self._data[self._place[0] : self._place[1]]

    @cached_property
    def children(self) -> list[Record]:
        """The records inside that are read or describe others; those that are lost are counted."""
        return list(records(self._data, self._place, self._file))

    def all(self, kind: str) -> Iterator[Record]:
        """Yields the records inside of a kind."""
        return (each for each in self.children if each.kind == kind)

    def first(self, kind: str) -> Record | None:
        """Returns the first record inside of a kind."""
        return next(self.all(kind), None)

    def unpacked(self, form: str, place: int = 0) -> tuple[Any, ...]:
        """Returns fields of the content; raises `struct.error` if it is too short."""
        start = self._place[0] + place
        if start + struct.calcsize(form) > self._place[1]:
            raise struct.error("the record is too short")
        return struct.unpack_from(form, self._data, start)

    @property
    def text(self) -> str:
        """The content as characters."""
        return self.content.decode("utf-16-le", "replace").rstrip("\0")


def records(data: bytes, place: tuple[int, int], file: DocumentFile) -> Iterator[Record]:
    """Yields the records between two places; what is in a container of an unknown kind stands in its place."""
    at, end = place
    count = 0
    while at + _HEADER.size <= end:
        version, number, size = _HEADER.unpack_from(data, at)
        inside = at + _HEADER.size, min(at + _HEADER.size + size, end)
        at = inside[1]
        count += 1
        kind = KINDS.get(number, "")
        if kind and file.losses.meet(kind) in _SEEN:
            yield Record(kind, version >> 4, data, inside, file)
        elif not kind and version & 0xF == _IS_CONTAINER:
            yield from records(data, inside, file)
        if count % _BATCH == 0:
            file.work.unpacked(_RECORD_BYTES * _BATCH)
    file.work.unpacked(_RECORD_BYTES * (count % _BATCH))


def parts_of(records: Sequence[Record], kind: str) -> list[list[Record]]:
    """Returns the records from each one of a kind up to the next."""
    found: list[list[Record]] = []
    for each in records:
        if each.kind == kind:
            found.append([each])
        elif found:
            found[-1].append(each)
    return found


class PresentationRecords:
    """The streams of a PPT file, with the places of the objects that others refer to by number.

    `encrypted` is the file that this one was decrypted from: msoffcrypto damages what was not encrypted.
    """

    def __init__(self, ole: Any, file: DocumentFile, encrypted: Any = None) -> None:
        self.ole = ole
        self.file = file
        user = self.stream("Current User")
        token, edit = struct.unpack_from("<II", user, 12)
        self._data = self.stream("PowerPoint Document")
        self._edits = self._data if encrypted is None else encrypted.openstream("PowerPoint Document").read()
        self._places: dict[int, int] = {}
        reference = self._read_edits(edit)
        if token == _ENCRYPTED:
            raise needs_password(file.name)
        document = self.object(reference)
        if document is None or document.kind != "Document":
            raise ValueError("it has no document")
        self.document = document

    def stream(self, name: str) -> bytes:
        """Returns the content of a stream of the file, b"" if there is none of that name."""
        if not self.ole.exists(name):
            return b""
        data = cast(bytes, self.ole.openstream(name).read())
        self.file.work.unpacked(len(data))
        return data

    def object(self, reference: int) -> Record | None:
        """Returns the record with the number that others refer to it by."""
        place = self._places.get(reference)
        if place is None or place + _HEADER.size > len(self._data):
            return None
        version, number, size = _HEADER.unpack_from(self._data, place)
        place += _HEADER.size
        inside = place, min(place + size, len(self._data))
        return Record(KINDS.get(number, ""), version >> 4, self._data, inside, self.file)

    def _read_edits(self, place: int) -> int:
        """Reads where the objects are, from the last edit to the first; returns the number of the document."""
        document = 0
        for _ in range(_MAX_EDITS):
            _, number, _ = _HEADER.unpack_from(self._edits, place)
            if KINDS.get(number) != "UserEditAtom":
                raise ValueError("it has no edits")
            before, directory, reference = struct.unpack_from("<III", self._edits, place + _HEADER.size + 8)
            document = document or reference
            self._read_directory(directory)
            if not before or before >= place:
                return document
            place = before
        raise ValueError("it has too many edits")

    def _read_directory(self, place: int) -> None:
        _, number, size = _HEADER.unpack_from(self._edits, place)
        if KINDS.get(number) != "PersistDirectoryAtom":
            raise ValueError("it has no directory")
        at = place + _HEADER.size
        end = min(at + size, len(self._edits))
        while at + 4 <= end:
            (entry,) = struct.unpack_from("<I", self._edits, at)
            first, count = entry & 0xFFFFF, entry >> 20
            at += 4
            count = min(count, (end - at) // 4)
            for number, offset in enumerate(struct.unpack_from(f"<{count}I", self._edits, at), first):
                self._places.setdefault(number, offset)
            at += 4 * count
            self.file.work.unpacked(_RECORD_BYTES * count)


def opened(file: DocumentFile, encrypted: bytes = b"") -> PresentationRecords:
    """Returns the records of a PPT file, and of the one that it was decrypted from.

    Raises one of `DAMAGES` if it is damaged or older than PowerPoint 97.
    """
    try:
        olefile = cast(Any, import_module("olefile"))
    except ImportError as error:
        raise missing_extra("Reading PPT files", "olefile", "documents") from error
    before = olefile.OleFileIO(io.BytesIO(encrypted)) if encrypted else None
    return PresentationRecords(olefile.OleFileIO(io.BytesIO(file.data)), file, before)
