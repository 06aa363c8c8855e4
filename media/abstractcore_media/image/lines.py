"""Lines of text that were read in an image: merged from several readings, ordered, and joined to one text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from abstractcore.schema import MediaAnchor

UNCERTAIN = "[uncertain]"
"""Stands after a line that may have mistakes."""
Point = tuple[float, float]

_SAME_LINE = 0.5
"""The share of the smaller of two boxes that both cover, from which they hold the same words."""
_SAME_ROW = 0.5
"""The distance of a line's middle from the middle of the row, in heights."""
_CERTAIN = 0.94
"""The confidence from which a line is taken for right. In typefaces on which it was not chosen, 11 of 27 lines with a
mistake are below it, and 1 of 202 without one.
"""
_PARAGRAPH = 1.0
"""The gap between rows, in heights of a row, from which it separates paragraphs."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text with the reader's confidence, from 0 to 1, and its corners in pixels: clockwise from the top left
    of the text.
    """

    text: str
    confidence: float
    corners: tuple[Point, Point, Point, Point]

    @property
    def is_uncertain(self) -> bool:
        """Whether the text may have mistakes."""
        return self.confidence < _CERTAIN

    @property
    def marked(self) -> str:
        """The text, with a mark after one that is uncertain."""
        return f"{self.text} {UNCERTAIN}" if self.is_uncertain else self.text

    @property
    def left(self) -> float:
        return min(x for x, _ in self.corners)

    @property
    def right(self) -> float:
        return max(x for x, _ in self.corners)

    @property
    def top(self) -> float:
        return min(y for _, y in self.corners)

    @property
    def bottom(self) -> float:
        return max(y for _, y in self.corners)

    @property
    def middle(self) -> Point:
        return sum(x for x, _ in self.corners) / 4, sum(y for _, y in self.corners) / 4

    @property
    def height(self) -> float:
        """The height of the text itself, also of a slanted line."""
        first, second, third, fourth = self.corners
        return (math.dist(first, fourth) + math.dist(second, third)) / 2

    @property
    def width(self) -> float:
        first, second, third, fourth = self.corners
        return (math.dist(first, second) + math.dist(fourth, third)) / 2

    def moved(self, right: float, down: float) -> TextLine:
        """Returns the line at another place."""
        if not right and not down:
            return self
        first, second, third, fourth = ((x + right, y + down) for x, y in self.corners)
        return TextLine(self.text, self.confidence, (first, second, third, fourth))

    def box(self, width: int, height: int) -> tuple[float, ...]:
        """Returns left, top, right and bottom from 0 to 1, of an image of this size."""
        edges = self.left / width, self.top / height, self.right / width, self.bottom / height
        return tuple(round(min(max(edge, 0.0), 1.0), 4) for edge in edges)


def merged(readings: Sequence[Sequence[TextLine]]) -> list[TextLine]:
    """Returns for each place in an image the lines of the reading that covers most of it, most surely.

    Readings may divide a line differently: boxes that overlap are one place, and one reading is taken for all of it.
    """
    places = _places([(number, line) for number, lines in enumerate(readings) for line in lines])
    chosen: list[TextLine] = []
    for place in places:
        width = max(line.right for _, line in place) - min(line.left for _, line in place)
        by_reading: dict[int, list[TextLine]] = {}
        for number, line in place:
            by_reading.setdefault(number, []).append(line)
        chosen += max(by_reading.values(), key=lambda lines: _quality(lines, width))
    return chosen


def _places(lines: list[tuple[int, TextLine]]) -> list[list[tuple[int, TextLine]]]:
    """Returns groups of lines, each line with the number of its reading, that overlap directly or by way of others."""
    places: list[list[tuple[int, TextLine]]] = []
    for item in lines:
        touching = [place for place in places if any(_overlap(item[1], other) > _SAME_LINE for _, other in place)]
        rest = [place for place in places if place not in touching]
        places = [*rest, [*(each for place in touching for each in place), item]]
    return places


def _quality(lines: Sequence[TextLine], width: float) -> float:
    coverage = min(1.0, sum(line.right - line.left for line in lines) / width) if width else 1.0
    letters = sum(len(line.text) for line in lines)
    return coverage * sum(line.confidence * len(line.text) for line in lines) / letters if letters else 0.0


def _overlap(one: TextLine, other: TextLine) -> float:
    """Returns how much of the smaller line the other one covers, both taken as straightened boxes."""
    across = min(one.right, other.right) - max(one.left, other.left)
    # Slanted lines overlap as upright boxes do not: their middles are compared where both are.
    x = (max(one.left, other.left) + min(one.right, other.right)) / 2
    apart = abs(_middle_at(one, x) - _middle_at(other, x))
    along = (one.height + other.height) / 2 - apart
    narrow, low = min(one.right - one.left, other.right - other.left), min(one.height, other.height)
    if across <= 0 or along <= 0 or narrow <= 0 or low <= 0:
        return 0.0
    return min(across / narrow, 1.0) * min(along / low, 1.0)


def _middle_at(line: TextLine, x: float) -> float:
    """Returns the height of the middle of a line, extended if need be, at a place from the left."""
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = line.corners
    start, end = ((x1 + x4) / 2, (y1 + y4) / 2), ((x2 + x3) / 2, (y2 + y3) / 2)
    if abs(end[0] - start[0]) < abs(end[1] - start[1]):  # written downwards
        return line.middle[1]
    return start[1] + (end[1] - start[1]) * (x - start[0]) / (end[0] - start[0])


def rows(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Returns lines in reading order: rows from top to bottom, lines of a row from left to right."""
    found: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: -line.width):  # long lines have the surest direction
        row = next((row for row in found if _is_in_row(line, row)), None)
        if row is None:
            found.append([line])
        else:
            row.append(line)
    slope = _slope(line for row in found for line in row)
    found.sort(key=lambda row: row[0].middle[1] - slope * row[0].middle[0])
    return [sorted(row, key=lambda line: line.left) for row in found]


def _slope(lines: Iterable[TextLine]) -> float:
    """Returns how much lines fall to the right, the mean of all by their length."""
    flat = [line for line in lines if line.width > line.height]
    total = sum(line.width for line in flat)
    slopes = ((_middle_at(line, 1.0) - _middle_at(line, 0.0)) * line.width for line in flat)
    return sum(slopes) / total if total else 0.0


def _is_in_row(line: TextLine, row: Sequence[TextLine]) -> bool:
    longest = row[0]
    x, y = line.middle
    if any(min(line.right, other.right) - max(line.left, other.left) > line.height / 2 for other in row):
        return False
    return abs(_middle_at(longest, x) - y) < _SAME_ROW * max(min(line.height, longest.height), 1.0)


def joined(
    lines: Iterable[TextLine], box: Callable[[TextLine], tuple[float, ...]], page: int | None = None
) -> tuple[str, tuple[MediaAnchor, ...]]:
    """Returns the text of lines in reading order, an empty line between paragraphs, and an anchor for each line, whose
    place is its `box`.
    """
    text, anchors, below = "", list[MediaAnchor](), None
    for row in rows(lines):
        if below is not None:
            gap = min(line.middle[1] - line.height / 2 for line in row) - below
            text += "\n\n" if gap > _PARAGRAPH * max(line.height for line in row) else "\n"
        below = max(line.middle[1] + line.height / 2 for line in row)
        for number, line in enumerate(row):
            text += "  " if number else ""
            anchors.append(MediaAnchor(len(text), len(text) + len(line.text), page, box(line)))
            text += line.marked
    return text, tuple(anchors)
