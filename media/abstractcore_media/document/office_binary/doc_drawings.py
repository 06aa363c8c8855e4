"""What is drawn in a DOC: pictures, embedded objects, text boxes, and the state of form fields (MS-DOC, 2.9.190)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..blocks import AttachedFile, Block, BlockPlace, LostContent, MarkdownText, Picture
from ..office.embedded import packed_file
from ..work_limits import Work
from .doc_file import WordFile, positions_of
from .office_art import (
    SHAPE,
    SHAPE_CONTAINER,
    SHAPES,
    STORED_PICTURE,
    ArtRecord,
    ShapeProperties,
    picture,
    records,
    shape_properties,
    stored_picture,
)

_MAX_SHAPES = 100_000
_MAX_CHOICES = 25
_NAMED_PICTURE = 0x66
_BOX, _CHOICES, _DEFAULT = 1, 2, 25


@dataclass(slots=True)
class _Shape:
    number: int = 0
    properties: ShapeProperties = field(default_factory=ShapeProperties)


@dataclass(slots=True)
class _Store:
    pictures: list[ArtRecord] = field(default_factory=list[ArtRecord])
    shapes: dict[int, list[_Shape]] = field(default_factory=dict[int, list[_Shape]])
    """The shapes by the number of the one that is anchored: those of a group are together."""


class DocDrawings:
    """The drawings of a document, found when the first one is asked for."""

    def __init__(self, word: WordFile, work: Work) -> None:
        self._word = word
        self._work = work
        self._art = word.table("dggInfo")
        self._made: _Store | None = None
        self._anchors: dict[int, int] = {}
        self._pictures = 0
        self._objects: set[int] = set()
        for table, story in (("plcSpaMom", "ccpText"), ("plcSpaHdr", "ccpHdd")):
            positions, anchors = positions_of(word.table(table), 26)
            for position, anchor in zip(positions, anchors, strict=False):
                self._anchors[word.spans[story][0] + position] = int.from_bytes(anchor[:4], "little")

    def shapes_at(self, position: int) -> list[int]:
        """Returns the numbers of the shape that is anchored at a position, and of those in it if it is a group."""
        anchor = self._anchors.get(position)
        if anchor is None:
            return []
        return [anchor, *(shape.number for shape in self._store.shapes.get(anchor, ()))]

    def shown_at(self, position: int, place: BlockPlace) -> Iterator[Block]:
        """Yields the pictures and words of the shapes that are anchored at a position."""
        store = self._store
        for shape in store.shapes.pop(self._anchors.get(position, -1), ()):  # once, though many places may name it
            properties = shape.properties
            yield MarkdownText(" ".join(properties.word_art.split()), place)
            if not properties.picture:
                continue
            index = properties.picture - 1
            stored = store.pictures[index] if index < len(store.pictures) else None
            found = stored_picture(self._art, stored, self._word.document, self._work) if stored else None
            yield self._picture(found, properties.description, place)

    def pictures_of(self, data_place: int, place: BlockPlace) -> Iterator[Block]:
        """Yields the picture that stands in a line of text."""
        self._work.check()
        data = self._word.data
        if data_place + 8 > len(data):
            yield self._picture(None, "", place)
            return
        size, header, kind = struct.unpack_from("<IHH", data, data_place)
        begin, end = data_place + header, min(data_place + size, len(data))
        if kind == _NAMED_PICTURE and begin < end:
            begin += 1 + data[begin]
        properties = ShapeProperties()
        found: tuple[bytes, str] | None = None
        for record in records(data, begin, end):
            properties = shape_properties(data, record, properties)
            if found is None:
                if record.kind == STORED_PICTURE:
                    found = stored_picture(data, record, b"", self._work)
                else:
                    found = picture(data, record.begin - 8, self._work)
        yield MarkdownText(" ".join(properties.word_art.split()), place)
        if found or properties.picture:
            yield self._picture(found, properties.description, place)

    def object_of(self, number: int, place: BlockPlace) -> Iterator[Block]:
        """Yields the file that an object embeds, or the loss of it, once: its picture follows in the text."""
        if number in self._objects:
            return
        self._objects.add(number)
        storage = f"_{number}"
        try:
            found = packed_file(
                self._word.objects(storage), lambda stream: self._word.stream("ObjectPool", storage, stream), storage
            )
        except (OSError, IndexError, ValueError):
            found = None
        if found is not None and found[0]:
            yield AttachedFile(found[0], found[1], place)
        else:
            yield LostContent("embedded objects", 1, where=f"object {len(self._objects)}")

    def form_state(self, data_place: int) -> str:
        """Returns the state of a box, or the choice of a list; texts are in the field themselves (2.9.78 FFData)."""
        data = self._word.data
        self._work.check()
        try:
            size, header = struct.unpack_from("<IH", data, data_place)
            place = data_place + header
            mark, flags, _, _ = struct.unpack_from("<IHHH", data, place)
            if mark != 0xFFFFFFFF or size < header:
                return ""
            kind, state = flags & 3, flags >> 2 & 0x1F
            place += 10
            (length,) = struct.unpack_from("<H", data, place)
            place += 2 + 2 * length + 2
            if kind not in (_BOX, _CHOICES):
                return ""
            chosen = struct.unpack_from("<H", data, place)[0] if state == _DEFAULT else state
            if kind == _BOX:
                return "[x]" if chosen else "[ ]"
            place += 2
            for _ in range(5):  # format, help, status, and macros
                place += 2 + 2 * struct.unpack_from("<H", data, place)[0] + 2
            return self._choice(place, chosen)
        except struct.error:
            return ""

    def _choice(self, place: int, chosen: int) -> str:
        """Returns an entry of a list (STTB)."""
        data = self._word.data
        mark, number, extra = struct.unpack_from("<HHH", data, place)
        if mark != 0xFFFF or chosen >= min(number, _MAX_CHOICES):
            return ""
        place += 6
        for _ in range(chosen):
            place += 2 + 2 * struct.unpack_from("<H", data, place)[0] + extra
        (length,) = struct.unpack_from("<H", data, place)
        return data[place + 2 : place + 2 + 2 * length].decode("utf-16-le", "replace")

    def _picture(self, found: tuple[bytes, str] | None, description: str, place: BlockPlace) -> Block:
        self._pictures += 1
        name = f"picture {self._pictures}"
        if found is None:
            return LostContent("pictures", 1, where=name)
        return Picture(found[0], f"{name}.{found[1]}", place, " ".join(description.split()))

    @property
    def _store(self) -> _Store:
        if self._made is None:
            self._made = _store(self._art)
        return self._made


def _store(art: bytes) -> _Store:
    """Reads the store of pictures, and after a byte for each, the drawings of the document and of its headers."""
    store = _Store()
    place = 0
    while place + 8 <= len(art):
        size = int.from_bytes(art[place + 4 : place + 8], "little")
        groups: list[int] = []
        anchor = 0
        shape: _Shape | None = None
        for record in records(art, place, place + 8 + size):
            while groups and record.begin > groups[-1]:
                groups.pop()
            if record.kind == STORED_PICTURE:
                store.pictures.append(record)
            elif record.kind == SHAPES:
                groups.append(record.end)
                anchor = 0 if len(groups) == 2 else anchor  # the first one of a group stands for it
            elif record.kind == SHAPE_CONTAINER:
                shape = _Shape()
            elif record.kind == SHAPE and shape is not None and record.end - record.begin >= 4:
                shape.number = int.from_bytes(art[record.begin : record.begin + 4], "little")
                anchor = shape.number if len(groups) < 2 or not anchor else anchor
                store.shapes.setdefault(anchor, []).append(shape)
            elif shape is not None:
                shape.properties = shape_properties(art, record, shape.properties)
            if len(store.shapes) > _MAX_SHAPES:
                return store
        place += 8 + size + 1
    return store
