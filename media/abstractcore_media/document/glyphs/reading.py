"""Reads drawn text back: a size of characters is used only if OCR reads a sample of the text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from .drawing import as_image, pen
from .geometry import Cell
from .layout import CONTINUED, TAB

if TYPE_CHECKING:
    from PIL.Image import Image

    from abstractcore.ports import MediaContext

LEGIBLE = 0.95
"""The share of letters and digits that must be read. OCR confuses 1 to 3 % of accented ones at any size."""
_SAMPLES, _WIDTH, _FEWEST = 10, 48, 12
"""Rows that are read, their characters, and the letters and digits of a row that is worth reading."""
_ENLARGED = 3
"""OCR reads lines of about 30 pixels. Enlarging adds no detail."""
_PADDING = 6
_IMPORTANT = 0.02
"""The share of letters from which a script must have been read before."""
_read: dict[tuple[Cell, frozenset[str]], float] = {}
"""What was read of legible sizes, by the scripts of the text."""


def legibility(
    lines: Sequence[str], scripts: frozenset[str], cell: Cell, context: MediaContext, check: Callable[[], None]
) -> float:
    """Returns the share of letters and digits that OCR reads of a sample of lines, drawn at this size; blocks.

    A size that was legible before for the same scripts is not read again. Raises `MissingExtraError` without RapidOCR.
    """
    if (known := _read.get((cell, scripts))) is not None:
        return known
    right, total = 0, 0
    for row in _sample(lines):
        check()
        wanted = _words(row)
        right += _same(wanted, _words(_recognised(row, cell, context)))
        total += len(wanted)
    share = right / total if total else 1.0
    if total and share >= LEGIBLE:
        _read[cell, scripts] = share
    return share


def scripts_of(characters: Counter[str]) -> frozenset[str]:
    """Returns the scripts of a text, such as "LATIN", without those of few letters; "ACCENTS" are letters beyond ASCII
    of the Latin script.
    """
    found: Counter[str] = Counter()
    for each, count in characters.items():
        if each.isalnum():
            script = unicodedata.name(each, "UNKNOWN").partition(" ")[0]
            found["ASCII" if each.isascii() else "ACCENTS" if script == "LATIN" else script] += count
    total = sum(found.values())
    return frozenset(script for script, count in found.items() if count >= total * _IMPORTANT)


def _sample(lines: Sequence[str]) -> list[str]:
    """Returns rows of text from all over the lines."""
    rows = [line.strip() for line in lines[:: max(1, len(lines) // (20 * _SAMPLES))]]
    pieces = [row[start : start + _WIDTH] for row in rows for start in range(0, min(len(row), 5000), _WIDTH)]
    worthwhile = [piece for piece in pieces if len(_words(piece)) >= _FEWEST]
    if not worthwhile:
        joined = " ".join(rows)[: _SAMPLES * _WIDTH]
        worthwhile = [joined[start : start + _WIDTH] for start in range(0, len(joined), _WIDTH)]
    step = max(1, len(worthwhile) // _SAMPLES)
    return worthwhile[::step][:_SAMPLES]


def _recognised(row: str, cell: Cell, context: MediaContext) -> str:
    from ...image.ocr import shared_reader

    drawn = as_image(pen(cell).rows([row], len(row)))
    return shared_reader().read_row(_enlarged(drawn), "a drawn row", threads=context.spare_cores)


def _enlarged(row: Image) -> Image:
    from PIL.Image import Resampling, new

    large = row.resize((row.width * _ENLARGED, row.height * _ENLARGED), Resampling.LANCZOS)
    padded = new("L", (large.width + 2 * _PADDING, large.height + 2 * _PADDING), 255)
    padded.paste(large, (_PADDING, _PADDING))
    return padded


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text.replace(CONTINUED, "").replace(TAB, "")))


def _same(wanted: str, got: str) -> int:
    return sum(block.size for block in SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks())
