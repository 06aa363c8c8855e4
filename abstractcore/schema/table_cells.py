"""The cells that a span of a table's row is in. Rows are Markdown, as media handlers write them: `| a | b |`."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from .media_anchors import MediaAnchor

_ROW = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})\2")
_BORDER = re.compile(r"(?<!\\)\|")
_LONGEST_ROW = 20_000


def in_cells(anchor: MediaAnchor, text: str, start: int, end: int) -> MediaAnchor:
    """Returns the anchor of a row for the cells that hold `start` to `end` of `text` alone, where that is certain."""
    row = None if anchor.cell is None else _ROW.fullmatch(anchor.cell)
    if row is None or anchor.end - anchor.start > _LONGEST_ROW:
        return anchor
    borders = [found.start() for found in _BORDER.finditer(text, anchor.start, anchor.end)]
    first, last = _number(row[1]), _number(row[3])
    if len(borders) != last - first + 2:
        return anchor
    touched = [
        first + index for index, (left, right) in enumerate(pairwise(borders)) if start < right and end > left + 1
    ]
    if not touched:
        return anchor
    cells = dict.fromkeys(f"{_letters(column)}{row[2]}" for column in (touched[0], touched[-1]))
    start, end = max(borders[touched[0] - first], anchor.start), min(borders[touched[-1] - first + 1] + 1, anchor.end)
    return replace(anchor, cell=":".join(cells), start=start, end=end)


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
