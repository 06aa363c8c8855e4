"""The frame of a page: its box as it is shown, and boxes in the direction in which a text runs."""

from __future__ import annotations

import ctypes

from .drawings import Box
from .pdfium import functions

DOWNWARDS = 270
"""The direction of a text that runs down the page, and whose lines follow each other from right to left."""


def mirrored(direction: int) -> int:
    """Returns the direction of a text that runs in `direction` in a mirror, or that `direction` again. Directions are
    degrees, counterclockwise; mirrored ones are 360 and the degrees of a text that has the same side up.
    """
    return (direction + 180) % 360 + (0 if direction >= 360 else 360)


class PageFrame:
    """The box of a page that is shown, and how it is turned."""

    def __init__(self, page: int) -> None:
        call = functions()
        floats = (ctypes.c_float * 4)()
        call.FPDF_GetPageBoundingBox(page, ctypes.addressof(floats))
        left, top, right, bottom = floats
        self.box: Box = (min(left, right), min(top, bottom), max(left, right), max(top, bottom))
        self.width = self.box[2] - self.box[0] or 1.0
        self.height = self.box[3] - self.box[1] or 1.0
        self._turns: int = call.FPDFPage_GetRotation(page) % 4

    @property
    def shown_size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown."""
        return (self.height, self.width) if self._turns % 2 else (self.width, self.height)

    def share(self, box: Box) -> float:
        """Returns the share of the page that a box in points covers."""
        width = min(box[2], self.box[2]) - max(box[0], self.box[0])
        height = min(box[3], self.box[3]) - max(box[1], self.box[1])
        return max(width, 0.0) * max(height, 0.0) / (self.width * self.height)

    def place(self, box: Box) -> tuple[float, ...]:
        """Returns left, top, right and bottom of a box in points, as shares of the page as it is shown."""
        points = [self._shown(box[0], box[1]), self._shown(box[2], box[3])]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        edges = min(xs), min(ys), max(xs), max(ys)
        return tuple([round(min(max(edge, 0.0), 1.0), 4) for edge in edges])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        across, down = (x - self.box[0]) / self.width, (self.box[3] - y) / self.height
        return ((across, down), (1 - down, across), (1 - across, 1 - down), (down, 1 - across))[self._turns]


def to_frame(box: Box, angle: int) -> Box:
    """Returns a box in points as left, top, right and bottom in the frame of text of that direction."""
    left, bottom, right, top = box
    if angle >= 360:
        left, top, right, bottom = to_frame(box, angle - 360)
        return -right, top, -left, bottom
    return (
        (left, -top, right, -bottom),
        (bottom, left, top, right),
        (-right, bottom, -left, top),
        (-top, -right, -bottom, -left),
    )[angle // 90]


def from_frame(box: Box, angle: int) -> Box:
    """Returns a box of the frame of text of that direction in points."""
    left, top, right, bottom = box
    if angle >= 360:
        return from_frame((-right, top, -left, bottom), angle - 360)
    return (
        (left, -bottom, right, -top),
        (top, left, bottom, right),
        (-right, top, -left, bottom),
        (-bottom, -right, -top, -left),
    )[angle // 90]
