"""What a page draws besides text: ruling lines, and where its pictures are."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .pdfium import functions

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points from the lower left corner of the page; or left, top, right and bottom."""
Cover = tuple[int, Box]
"""What may cover words: the number of text objects before it, and its box."""
_Matrix = tuple[float, float, float, float, float, float]
_TEXT, _PATH, _IMAGE, _FORM = 1, 2, 3, 5
"""FPDF_PAGEOBJ_TEXT, _PATH, _IMAGE and _FORM."""
_MOVE_TO, _LINE_TO = 2, 0
_THIN, _SHORTEST = 2.5, 6.0
"""Points up to which a drawing is a line, and of the shortest one that separates cells."""
_ROUNDED_CORNERS = 12
"""The points of the four curves of a box with rounded corners: drawings have more that are not straight."""
_MAX_OBJECTS, _MAX_SEGMENTS, _MAX_DEPTH = 20_000, 20_000, 8
_UNIT: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Drawings:
    """The straight lines that a page draws, each as a box, the boxes of its pictures and of its shapes that are not
    straight, how many paths it has, and its text objects.
    """

    rules: list[Box] = field(default_factory=list[Box])
    pictures: list[Box] = field(default_factory=list[Box])
    shapes: list[Box] = field(default_factory=list[Box])
    paths: int = 0
    texts: list[int] = field(default_factory=list[int])
    covers: list[Cover] = field(default_factory=list[Cover])


class _DrawingReader:
    def __init__(self) -> None:
        self._call = functions()
        self._floats = (ctypes.c_float * 6)()
        self._at = ctypes.addressof(self._floats)
        self._modes = (ctypes.c_int * 2)()
        self._modes_at = ctypes.addressof(self._modes)
        self._objects = self._segments = 0
        self.found = Drawings()

    def read(self, page: int) -> Drawings:
        """Reads a page that PDFium has opened."""
        call = self._call
        count = call.FPDFPage_CountObjects(page)
        self._read((call.FPDFPage_GetObject(page, index) for index in range(count)), _UNIT, 0)
        return self.found

    def _read(self, objects: Iterator[int | None], matrix: _Matrix, depth: int) -> None:
        call = self._call
        for each in objects:
            self._objects += 1
            if self._objects > _MAX_OBJECTS:
                return
            kind = call.FPDFPageObj_GetType(each) if each else 0
            if kind == _TEXT and each:
                self.found.texts.append(each)
            elif kind == _PATH:
                self.found.paths += 1
                self._read_path(each, matrix)
            elif kind == _IMAGE:
                box = self._bounds(each, matrix)
                if box is not None:
                    self.found.pictures.append(box)
                    self._add_cover(box)
            elif kind == _FORM and depth < _MAX_DEPTH and each:
                own = tuple(self._floats) if call.FPDFPageObj_GetMatrix(each, self._at) else _UNIT
                count = call.FPDFFormObj_CountObjects(each)
                inner = (call.FPDFFormObj_GetObject(each, index) for index in range(count))
                self._read(inner, _product(own, matrix), depth + 1)

    def _add_cover(self, box: Box) -> None:
        if self.found.texts:
            self.found.covers.append((len(self.found.texts), box))

    def _bounds(self, each: int | None, matrix: _Matrix) -> Box | None:
        at, floats = self._at, self._floats
        if not self._call.FPDFPageObj_GetBounds(each, at, at + 4, at + 8, at + 12):
            return None
        return _box_of([(floats[x], floats[y]) for x in (0, 2) for y in (1, 3)], matrix)

    def _read_path(self, path: int | None, matrix: _Matrix) -> None:
        box = self._bounds(path, matrix)
        if box is None:
            return
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) <= _THIN:
            if max(width, height) >= _SHORTEST:
                self.found.rules.append(box)
            return
        call = self._call
        if call.FPDFPath_GetDrawMode(path, self._modes_at, self._modes_at + 4) and self._modes[0]:
            self._add_cover(box)
        count = call.FPDFPath_CountSegments(path)
        self._segments += count
        if count < 2 or self._segments > _MAX_SEGMENTS:
            return
        start = before = (0.0, 0.0)
        slanting = 0
        at = self._at
        for index in range(count):
            segment = call.FPDFPath_GetPathSegment(path, index)
            kind = call.FPDFPathSegment_GetType(segment)
            call.FPDFPathSegment_GetPoint(segment, at, at + 4)
            point = self._floats[0], self._floats[1]
            if kind == _MOVE_TO:
                start = point
            elif kind == _LINE_TO:
                slanting += not self._add_rule(before, point, path, matrix)
            else:
                slanting += 1
            before = point
        if before != start:
            self._add_rule(before, start, path, matrix)
        if slanting > _ROUNDED_CORNERS:
            self.found.shapes.append(box)

    def _add_rule(
        self, first: tuple[float, float], last: tuple[float, float], path: int | None, matrix: _Matrix
    ) -> bool:
        """Adds a line if it is straight and long enough; returns whether it is straight."""
        own = tuple(self._floats) if self._call.FPDFPageObj_GetMatrix(path, self._at) else _UNIT
        box = _box_of([first, last], _product(own, matrix))
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) > _THIN:
            return False
        if max(width, height) >= _SHORTEST:
            self.found.rules.append(box)
        return True


def drawings_of(page: int) -> Drawings:
    """Returns the drawings of a page that PDFium has opened, of its first 20,000 objects."""
    return _DrawingReader().read(page)


def _product(first: Sequence[float], second: _Matrix) -> _Matrix:
    if second == _UNIT:
        a, b, c, d, e, f = first
        return a, b, c, d, e, f
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _box_of(points: Sequence[tuple[float, float]], matrix: _Matrix) -> Box:
    if matrix != _UNIT:
        a, b, c, d, e, f = matrix
        points = [(x * a + y * c + e, x * b + y * d + f) for x, y in points]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)
