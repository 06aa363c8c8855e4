"""The numbers and bullets of the list items of a DOC, as Word counts them (MS-DOC, 2.9.147 LSTF and 2.9.131 LFO)."""

from __future__ import annotations

import struct
from dataclasses import replace

from ..counting import ListCounters, ListLevel

_STYLES = {
    0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 5: "ordinal", 6: "cardinalText",
    7: "ordinalText", 8: "hex", 9: "chicago", 10: "ideographDigital", 11: "japaneseCounting", 14: "decimalFullWidth",
    18: "decimalEnclosedCircle", 20: "aiueoFullWidth", 21: "iroha", 22: "decimalZero", 23: "bullet", 24: "ganada",
    26: "decimalEnclosedFullstop", 27: "decimalEnclosedParen", 30: "ideographTraditional", 33: "taiwaneseCounting",
    35: "taiwaneseCountingThousand", 37: "chineseCounting", 39: "chineseCountingThousand", 42: "koreanCounting",
    57: "numberInDash", 58: "russianLower", 59: "russianUpper", 255: "none",
}  # fmt: skip
"""The number formats, by their numbers in MS-OSHARED 2.2.1.3; others are decimal."""
_MAX_LISTS = 10_000
_NO_STYLE = 0xFFF


class _TableBytes:
    """Bytes that are read one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def values(self, form: str) -> tuple[int, ...]:
        """Returns the next values; raises `struct.error` at the end."""
        found = struct.unpack_from(form, self._data, self._place)
        self._place += struct.calcsize(form)
        return found

    def take(self, size: int) -> bytes:
        self._place += size
        return self._data[self._place - size : self._place]


class DocLists:
    """The lists of a document. `definitions` and `uses` are its tables of them, and `uses` is what paragraphs name."""

    def __init__(self, definitions: bytes, uses: bytes) -> None:
        self._definitions: dict[int, dict[int, ListLevel]] = {}
        self._lists: list[tuple[int, dict[int, ListLevel]]] = []
        self._starts: dict[int, dict[int, int]] = {}
        self._counters = ListCounters()
        self.is_damaged = False
        try:
            if definitions:
                self._define(_TableBytes(definitions))
            if uses:
                self._use(_TableBytes(uses))
        except struct.error:
            self.is_damaged = True

    def level_of_style(self, number: int, style: int) -> int | None:
        """Returns the level of a list that a paragraph style stands for."""
        levels = self._levels(number)[1]
        return next((level for level, each in levels.items() if each.paragraph_style == str(style)), None)

    def marker(self, number: int, level: int) -> str:
        """Returns the marker of the next item, "-" or "2.1."; "" if the item has none."""
        if not 0 < number <= len(self._lists):
            return ""
        key, levels = self._levels(number)
        starts = self._starts.pop(number, {}) if level in levels else {}  # they count for the first item of the list
        return self._counters.marker(str(key), levels, level, starts)

    def _levels(self, number: int) -> tuple[int, dict[int, ListLevel]]:
        return self._lists[number - 1] if 0 < number <= len(self._lists) else (0, {})

    def _define(self, source: _TableBytes) -> None:
        (number,) = source.values("<H")
        headers = [source.values("<ii9HBB") for _ in range(min(number, _MAX_LISTS))]
        for key, _, *styles, flags, _ in headers:
            levels: dict[int, ListLevel] = {}
            for level in range(1 if flags & 1 else 9):
                style = str(styles[level]) if styles[level] != _NO_STYLE else ""
                levels[level] = replace(_level(source, level), paragraph_style=style)
            self._definitions[key] = levels

    def _use(self, source: _TableBytes) -> None:
        (number,) = source.values("<I")
        headers = [source.values("<i8xB3x") for _ in range(min(number, _MAX_LISTS))]
        for key, _ in headers:
            self._lists.append((key, dict(self._definitions.get(key, {}))))
        for index, (key, overrides) in enumerate(headers):
            source.values("<I")
            levels = self._lists[index][1]
            for _ in range(overrides):
                start, flags = source.values("<iI")
                level = flags & 0xF
                if flags & 0x20:
                    own = _level(source, level)
                    before = levels.get(level)
                    levels[level] = replace(own, paragraph_style=before.paragraph_style if before else "")
                    start = own.start
                if flags & 0x10 and level in levels:
                    self._starts.setdefault(index + 1, {})[level] = start
                    levels[level] = replace(levels[level], start=start)
            self._lists[index] = key, levels


def _level(source: _TableBytes, number: int) -> ListLevel:
    start, style, flags, *_, characters, paragraph, limit, _ = source.values("<iBB9BB4x4xBBBB")
    source.take(paragraph + characters)
    (size,) = source.values("<H")
    text = source.take(2 * size).decode("utf-16-le", "replace")
    shown = "".join(f"%{ord(each) + 1}" if each < "\x09" else each for each in text)
    is_restarted_by_all = not flags & 0x8
    return ListLevel(
        start,
        _STYLES.get(style, "decimal"),
        shown,
        bool(flags & 0x4),
        None if is_restarted_by_all else min(limit, number),
    )
