"""The properties of the characters and paragraphs of a DOC, and its styles (MS-DOC, 2.6 and 2.9.271).

Properties are kept as modifiers: a number that also says how long its value is, and the value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..marks import NO_PROPERTIES, RunProperties

DELETED, IS_DATA, SYMBOL, IS_OLE, STYLE, STRUCK, HIDDEN, RISE, STRUCK_TWICE, PLACE, FONT = (
    0x0800, 0x0806, 0x6A09, 0x080A, 0x4A30, 0x0837, 0x083C, 0x2A48, 0x2A53, 0x6A03, 0x4A4F,
)  # fmt: skip
_CHARACTERS = frozenset({DELETED, IS_DATA, SYMBOL, IS_OLE, STYLE, STRUCK, HIDDEN, RISE, STRUCK_TWICE, PLACE, FONT})
_PARAGRAPH_STYLE, _LIST, _LIST_LEVEL, _OUTLINE, _HUGE = 0x4600, 0x460B, 0x260A, 0x2640, 0x6646
_IN_TABLE, _ROW_END, _DEPTH, _DEPTH_CHANGE, _INNER_CELL, _INNER_ROW_END = 0x2416, 0x2417, 0x6649, 0x664A, 0x244B, 0x244C
_CELLS, _CELLS_OF_WORD_10, _MERGE, _MERGE_UP = 0xD608, 0xD606, 0x5624, 0xD62B
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)
_NO_STYLE = 0xFFF
_MAX_DEPTH = 16
_TITLE, _PARAGRAPH, _CHARACTER = 62, 1, 2
"""The number of the style "Title", and the kinds of styles."""


def modifiers(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the property modifiers in some bytes, up to one that is cut."""
    place, end = 0, len(data)
    while place + 3 <= end:
        code = data[place] | data[place + 1] << 8
        place += 2
        size = _SIZES[code >> 13]
        if not size:
            size = data[place] + 1
            if code in (_CELLS, _CELLS_OF_WORD_10):
                size = int.from_bytes(data[place : place + 2], "little") + 1
            elif code == 0xC615 and data[place] == 255 and place + 1 < end:  # tab stops may be longer
                deleted = data[place + 1]
                size = 2 + 4 * deleted + 1
                added = data[place + size - 1] if place + size <= end else 0
                size += 3 * added
        if place + size > end:
            return
        yield code, data[place : place + size]
        place += size


def character_properties(data: bytes) -> dict[int, int]:
    """Returns those properties of a run that matter for its text, by the number of their modifier."""
    if not data:
        return {}
    found: dict[int, int] = {}
    for code, value in modifiers(data):
        if code in _CHARACTERS:
            found[code] = int.from_bytes(value, "little")
        elif code == 0x2A33:  # back to what the style has
            found = {STYLE: found[STYLE]} if STYLE in found else {}
    return found


def run_properties(properties: dict[int, int], base: RunProperties) -> RunProperties:
    """Returns how the words of a run are set; `base` is how its style sets them."""
    rise = properties.get(RISE)
    return RunProperties(
        base.rise if rise is None else {1: "sup", 2: "sub"}.get(rise, ""),
        _toggled(properties.get(STRUCK), base.is_struck) or properties.get(STRUCK_TWICE, 0) & 1 == 1,
        _toggled(properties.get(HIDDEN), base.is_hidden),
    )


def _toggled(value: int | None, base: bool | None) -> bool:
    """Returns a property that a run turns on or off, leaves as it is (0x80), or has as its style has not (0x81)."""
    if value is None or value & 0x80:
        return bool(base) ^ (value == 0x81)
    return value & 1 == 1


@dataclass(slots=True)
class TableRow:
    """The cells of a row: the places of their edges in twentieths of a point, and which are merged with others."""

    edges: tuple[int, ...] = ()
    beside: frozenset[int] = frozenset()
    """The cells that continue the one to their left."""
    below: frozenset[int] = frozenset()
    """The cells that continue the one above."""


@dataclass(slots=True)
class ParagraphProperties:
    """What matters of a paragraph: its style, heading level, list, and place in tables. None stands for its style's."""

    style: int = 0
    outline: int | None = None
    list: int | None = None
    list_level: int | None = None
    depth: int = 0
    """In how many tables it is."""
    is_cell_end: bool = False
    is_row_end: bool = False
    row: TableRow | None = None


def paragraph_properties(data: bytes, more: bytes = b"") -> ParagraphProperties:
    """Returns the properties of a paragraph. `more` is a stream where long ones stand."""
    found = ParagraphProperties(int.from_bytes(data[:2], "little"))
    _apply(found, data[2:], more)
    if not found.depth:
        found.is_cell_end = found.is_row_end = False
    return found


def _apply(found: ParagraphProperties, data: bytes, more: bytes) -> None:
    for code, value in modifiers(data):
        number = int.from_bytes(value, "little")
        if code == _PARAGRAPH_STYLE:
            found.style = number
        elif code == _OUTLINE:
            found.outline = number
        elif code == _LIST:
            found.list = number if number < 0x7FF else 0
        elif code == _LIST_LEVEL:
            found.list_level = number
        elif code == _HUGE and more:
            size = int.from_bytes(more[number : number + 2], "little")
            _apply(found, more[number + 2 : number + 2 + size], b"")
        elif code >> 10 & 7 == 5:
            _apply_to_row(found, code, value)
        else:
            _apply_depth(found, code, number)


def _apply_depth(found: ParagraphProperties, code: int, number: int) -> None:
    if code == _IN_TABLE:
        found.depth = max(found.depth, 1) if number else 0
    elif code == _DEPTH:
        found.depth = min(number, _MAX_DEPTH) if number < 1 << 31 else 0
    elif code == _DEPTH_CHANGE:
        found.depth = max(0, min(found.depth + (number if number < 1 << 31 else number - (1 << 32)), _MAX_DEPTH))
    elif code in (_ROW_END, _INNER_ROW_END):
        found.is_row_end = found.is_row_end or bool(number)
    elif code == _INNER_CELL:
        found.is_cell_end = bool(number)


def _apply_to_row(found: ParagraphProperties, code: int, value: bytes) -> None:
    row = found.row or TableRow()
    if code in (_CELLS, _CELLS_OF_WORD_10) and len(value) >= 3:
        number = min(value[2], 63)
        if len(value) < 3 + 2 * (number + 1):
            return
        edges = struct.unpack_from(f"<{number + 1}h", value, 3)
        cells = value[3 + 2 * (number + 1) :][: 20 * number : 20]  # a byte with flags begins each
        beside = frozenset(index for index, flags in enumerate(cells) if flags & 2)
        below = frozenset(index for index, flags in enumerate(cells) if flags & 0x60 == 0x20)
        found.row = TableRow(edges, beside, below)
    elif code == _MERGE and len(value) == 2:
        row.beside |= frozenset(range(value[0] + 1, min(value[1], 64)))
        found.row = row
    elif code == _MERGE_UP and len(value) == 3:
        row.below = row.below | {value[1]} if value[2] == 1 else row.below - {value[1]}
        found.row = row


@dataclass(slots=True)
class _Style:
    kind: int = 0
    base: int = _NO_STYLE
    level: int | None = None
    paragraph: ParagraphProperties = field(default_factory=ParagraphProperties)
    characters: dict[int, int] = field(default_factory=dict[int, int])


class DocStyles:
    """The styles of a document, by number."""

    def __init__(self, table: bytes) -> None:
        self._styles = list(_styles(table))
        self._runs: dict[int, RunProperties] = {}

    def run_properties(self, number: int) -> RunProperties:
        """Returns how a style sets words."""
        found = self._runs.get(number)
        if found is None:
            found = NO_PROPERTIES
            for style in reversed(list(self._line(number))):
                if style.characters:
                    found = run_properties(style.characters, found)
            found = NO_PROPERTIES if not (found.rise or found.is_struck or found.is_hidden) else found
            self._runs[number] = found
        return found

    def heading_level(self, paragraph: ParagraphProperties) -> int | None:
        """Returns 1 to 9 for a heading."""
        if paragraph.outline is not None and paragraph.outline < 9:
            return paragraph.outline + 1
        return next((style.level for style in self._line(paragraph.style) if style.level is not None), None)

    def list_of(self, paragraph: ParagraphProperties) -> tuple[int, int | None]:
        """Returns the number of the list of a paragraph, 0 for none; the level is None if its style stands for one."""
        line = [paragraph, *(style.paragraph for style in self._line(paragraph.style))]
        number = next((each.list for each in line if each.list is not None), 0)
        return number, next((each.list_level for each in line if each.list_level is not None), None)

    def numbers(self, number: int) -> Iterator[int]:
        """Yields the number of a style, and of those that it is based on."""
        for _ in range(20):  # styles may be based on each other in a circle
            if not 0 <= number < len(self._styles):
                return
            yield number
            kind, number = self._styles[number].kind, self._styles[number].base
            if number < len(self._styles) and self._styles[number].kind != kind:
                return

    def _line(self, number: int) -> Iterator[_Style]:
        return (self._styles[each] for each in self.numbers(number))


def _styles(table: bytes) -> Iterator[_Style]:
    if len(table) < 6:
        return
    size, number, base_size = struct.unpack_from("<HHH", table)
    place = 2 + size
    for _ in range(number):
        if place + 2 > len(table):
            return
        (length,) = struct.unpack_from("<H", table, place)
        yield _style(table[place + 2 : place + 2 + length], base_size) if length else _Style()
        place += 2 + length + length % 2


def _style(data: bytes, base_size: int) -> _Style:
    try:
        first, second, third = struct.unpack_from("<HHH", data)
        number, kind, parts = first & 0xFFF, second & 0xF, third & 0xF
        (characters,) = struct.unpack_from("<H", data, base_size)
    except struct.error:
        return _Style()
    found = _Style(kind, second >> 4)
    place = base_size + 2 + 2 * (characters + 1)
    properties: list[bytes] = []
    for _ in range(min(parts, 3)):
        size = int.from_bytes(data[place : place + 2], "little")
        properties.append(data[place + 2 : place + 2 + size])
        place += 2 + size + size % 2
    if kind == _PARAGRAPH and properties:
        found.paragraph = paragraph_properties(properties[0])
    if kind in (_PARAGRAPH, _CHARACTER) and properties:
        found.characters = character_properties(properties[-1])
    outline = found.paragraph.outline
    if 1 <= number <= 9:
        found.level = number
    elif number == _TITLE:
        found.level = 1
    elif outline is not None:
        found.level = outline + 1 if outline < 9 else None
    return found
