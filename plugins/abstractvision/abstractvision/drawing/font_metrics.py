"""The widths of characters in the fonts of this package, read from their files (TrueType, `cmap` format 4)."""

from __future__ import annotations

import struct
from functools import cache
from importlib import resources
from pathlib import Path

_HERE = "abstractvision.drawing"
_FILES = {False: "DejaVuSans-subset.ttf", True: "DejaVuSans-Bold-subset.ttf"}
FAMILY = "DejaVu Sans"


def font_files() -> list[str]:
    """Returns the paths of the fonts."""
    folder = Path(str(resources.files(_HERE).joinpath("fonts")))
    return [str(folder / name) for name in _FILES.values()]


@cache
def advances(bold: bool) -> dict[int, float]:
    """Returns the width of each character of a font, by its code point, in units of the font size."""
    data = resources.files(_HERE).joinpath("fonts", _FILES[bold]).read_bytes()
    tables = _tables(data)
    units = struct.unpack_from(">H", data, tables["head"] + 18)[0]
    count = struct.unpack_from(">H", data, tables["hhea"] + 34)[0]
    widths = struct.unpack_from(">" + "Hh" * count, data, tables["hmtx"])[::2]
    glyphs = _glyphs(data, tables["cmap"])
    return {code: widths[min(glyph, count - 1)] / units for code, glyph in glyphs.items()}


def text_width(text: str, size: float, bold: bool) -> float:
    """Returns the width of a line in the unit of `size`; other characters count as wide as the size."""
    known = advances(bold)
    return size * sum(known.get(ord(character), 1.0) for character in text)


def unknown_characters(text: str, bold: bool) -> str:
    """Returns the characters that the font lacks, each once."""
    known = advances(bold)
    return "".join(dict.fromkeys(each for each in text if ord(each) not in known and not each.isspace()))


def _tables(data: bytes) -> dict[str, int]:
    count = struct.unpack_from(">H", data, 4)[0]
    rows = (struct.unpack_from(">4sIII", data, 12 + 16 * index) for index in range(count))
    return {tag.decode("latin-1"): offset for tag, _, offset, _ in rows}


def _glyphs(data: bytes, cmap: int) -> dict[int, int]:
    """Returns the glyph of each character, of the first subtable with format 4."""
    count = struct.unpack_from(">H", data, cmap + 2)[0]
    starts = (cmap + struct.unpack_from(">HHI", data, cmap + 4 + 8 * index)[2] for index in range(count))
    start = next(each for each in starts if struct.unpack_from(">H", data, each)[0] == 4)
    segments = struct.unpack_from(">H", data, start + 6)[0] // 2
    place = start + 14
    columns = [
        struct.unpack_from(
            f">{segments}{'h' if column == 2 else 'H'}", data, place + column * 2 * segments + (column and 2)
        )
        for column in range(4)
    ]
    offsets_at = place + 6 * segments + 2
    glyphs: dict[int, int] = {}
    for index, (last, first, delta, offset) in enumerate(zip(*columns, strict=True)):
        for code in range(first, min(last, 0xFFFE) + 1):
            if offset:
                at = offsets_at + 2 * index + offset + 2 * (code - first)
                glyph = struct.unpack_from(">H", data, at)[0]
                glyph = (glyph + delta) & 0xFFFF if glyph else 0
            else:
                glyph = (code + delta) & 0xFFFF
            if glyph:
                glyphs[code] = glyph
    return glyphs
