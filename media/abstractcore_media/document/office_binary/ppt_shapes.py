"""The shapes of the slides of a PPT file (MS-ODRAW 2.2.14, MS-PPT 2.7)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .ppt_records import Record

_REPEATED = {5: "", 7: "footer", 8: "", 9: "footer", 10: "header", 11: ""}
"""Placeholders for dates, footers, headers and numbers, and for the picture of the slide in notes."""
TABLE_PROPERTIES, SHAPE_PROPERTIES, PICTURE, FILL_TYPE, FILL, WORD_ART, DESCRIPTION = (
    0x39F, 0x3BF, 0x104, 0x180, 0x186, 0xC0, 0x381,
)  # fmt: skip
"""The numbers of properties of shapes."""
IS_TABLE, IS_HIDDEN = 0x1, 0x20002


class PptShape:
    """A shape of a slide: its properties, and what its text and data say."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.properties: dict[int, int | str] = {}
        for each in record.children:
            if each.kind in ("FOPT", "SecondaryFOPT", "TertiaryFOPT"):
                self.properties.update(_properties(each))
        self.data = record.first("ClientData")
        self.text = record.first("ClientTextbox")
        shape = record.first("FSP")
        self.kind = shape.instance if shape is not None else 0

    def number(self, name: int) -> int:
        """Returns a property, 0 if it has none."""
        value = self.properties.get(name, 0)
        return value if isinstance(value, int) else 0

    def words(self, name: int) -> str:
        """Returns a property that is a text."""
        value = self.properties.get(name, "")
        return " ".join(value.split()) if isinstance(value, str) else ""

    @property
    def is_hidden(self) -> bool:
        """Whether slides are shown without it."""
        return self.number(SHAPE_PROPERTIES) & IS_HIDDEN == IS_HIDDEN

    @property
    def repeated(self) -> str | None:
        """What a placeholder is that repeats on slides: "header", "footer", or "" for a number; None for others."""
        for each in self.data.children if self.data is not None else ():
            at = {"PlaceholderAtom": 4, "RoundTripHFPlaceholder12Atom": 0}.get(each.kind)
            code = each.content[at] if at is not None and len(each.content) > at else -1
            if code in _REPEATED:
                return _REPEATED[code]
        return None

    @property
    def is_placeholder(self) -> bool:
        """Whether it shows on a master where the text of a slide is to stand."""
        return self.data is not None and self.data.first("PlaceholderAtom") is not None

    @property
    def frame(self) -> tuple[int, ...] | None:
        """The left, top, right and bottom of a shape in a group."""
        found = self.record.first("ChildAnchor")
        return found.unpacked("<4i") if found is not None else None


def _properties(record: Record) -> Iterator[tuple[int, int | str]]:
    """Yields the properties of a shape by their numbers; texts follow after all (MS-ODRAW 2.3.1)."""
    content = record.content
    at = 6 * min(record.instance, len(content) // 6)
    for place in range(0, at, 6):
        name, value = struct.unpack_from("<HI", content, place)
        if name & 0x8000:
            text = content[at : at + value]
            at += value
            if name & 0x3FFF in (WORD_ART, DESCRIPTION):
                yield name & 0x3FFF, text.decode("utf-16-le", "replace").rstrip("\0")
        else:
            yield name & 0x3FFF, value


def drawings_of(record: Record) -> Iterator[Record]:
    """Yields the drawings of a slide or of notes, which hold its shapes."""
    for drawing in record.all("Drawing"):
        yield from drawing.all("DgContainer")


def shapes_in(container: Record) -> Iterator[Record]:
    """Yields the shapes of a drawing or a group, those of groups inside too."""
    for each in container.children:
        if each.kind == "SpContainer":
            yield each
        elif each.kind == "SpgrContainer":
            yield from shapes_in(each)


def tagged(record: Record | None, kind: str) -> Iterator[Record]:
    """Yields the records of a kind that newer programs added to a slide or a shape."""
    for tags in record.all("ProgTags") if record is not None else ():
        for tag in tags.all("ProgBinaryTag"):
            for data in tag.all("BinaryTagDataBlob"):
                yield from data.all(kind)
