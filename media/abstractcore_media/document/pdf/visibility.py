"""Which words of a page nobody sees: off the page, not painted, as light as what is behind, or under a box or picture.

Whether a word shows is seen in two images of the page, with its text objects and without them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from operator import sub

from .drawings import Box, Cover, Drawings
from .frames import PageFrame, from_frame
from .pdfium import functions
from .words import Run

_UNDER_TEXT = 0.2
"""The share of a page that a picture with a text layer covers."""
_CONTRAST = 12
"""The difference of gray that can be seen."""
_SCALE, _MAX_SIDE = 1.5, 1500
"""Pixels for a point, and of the longer side of an image."""
_GRAY, _ANNOTATIONS = 1, 1
"""FPDFBitmap_Gray and FPDF_ANNOT."""
_MAX_CLIPS, _MAX_POINTS = 4, 40
"""Clipping paths of a text object, and points of each, that are looked at."""
_BAND, _MAX_BANDS, _MAX_COVERS = 16.0, 500, 100
"""Points of the bands of a page by which covers are found, how many there are, and of how many covers in each."""


def without_hidden(
    page: int, runs: dict[int | None, list[Run]], frame: PageFrame, drawings: Drawings, on_top: Sequence[Box]
) -> int:
    """Removes the words that nobody sees from the runs of a page, and returns how many.

    `on_top` are the boxes of annotations, which cover everything. Words that are not painted, or stand under a picture,
    are kept if it is a large one: they are the text layer of a scan.
    """
    scans = [box for box in drawings.pictures if frame.share(box) >= _UNDER_TEXT]
    before = sum(len(run.words) for together in runs.values() for run in together)
    clips = _Clips()
    covers = _Covers(drawings, on_top, frame)
    sight = _Sight(page, frame)
    for angle, together in runs.items():
        together[:] = [run for run in together if not clips.hide(run.owner)]
        if covers.has_any:
            together[:] = [part for run in together for part in covers.parts(run, angle or 0)]
        for visibility in ("doubtful", "covered"):
            sight.add(visibility, [run.owner for run in together if run.visibility == visibility])
    hidden = before - sum(len(run.words) for together in runs.values() for run in together)
    for angle, together in runs.items():
        seen: list[Run] = []
        for run in together:
            box = from_frame(run.box, angle or 0)
            if _is_seen(run, box, angle or 0, frame, sight, scans):
                seen.append(run)
            else:
                hidden += len(run.words)
        together[:] = seen
    return hidden


def _is_seen(run: Run, box: Box, angle: int, frame: PageFrame, sight: _Sight, scans: Sequence[Box]) -> bool:
    left, bottom, right, top = frame.box
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    if not (box[2] > left and box[0] < right and bottom < y < top):
        return False
    if run.visibility == "seen" or (run.visibility == "doubtful" and sight.has("doubtful", box)):
        return True
    if run.visibility == "covered" and sight.has("covered", from_frame(run.middle, angle)):
        return True
    if run.visibility == "doubtful" or not any(_has(scan, x, y) for scan in scans):
        return False
    run.visibility = "unpainted"
    return True


def _has(box: Box, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


class _Clips:
    """Text objects whose clipping paths leave nothing of them."""

    def __init__(self) -> None:
        self._call = functions()
        self._hidden: dict[int, bool] = {0: False}
        self._floats = (ctypes.c_float * 4)()
        self._at = ctypes.addressof(self._floats)

    def hide(self, owner: int) -> bool:
        """Returns whether nothing of a text object is within its clipping paths."""
        is_hidden = self._hidden.get(owner)
        if is_hidden is None:
            is_hidden = self._hidden[owner] = self._is_outside(owner)
        return is_hidden

    def _is_outside(self, owner: int) -> bool:
        call, floats, at = self._call, self._floats, self._at
        clip = call.FPDFPageObj_GetClipPath(owner)
        count = call.FPDFClipPath_CountPaths(clip) if clip else 0
        if count <= 0 or not call.FPDFPageObj_GetBounds(owner, at, at + 4, at + 8, at + 12):
            return False
        left, bottom, right, top = floats
        for path in range(min(count, _MAX_CLIPS)):
            xs: list[float] = []
            ys: list[float] = []
            for index in range(min(call.FPDFClipPath_CountPathSegments(clip, path), _MAX_POINTS)):
                segment = call.FPDFClipPath_GetPathSegment(clip, path, index)
                call.FPDFPathSegment_GetPoint(segment, at, at + 4)
                xs.append(floats[0])
                ys.append(floats[1])
            if xs and (max(xs) < left or min(xs) > right or max(ys) < bottom or min(ys) > top):
                return len(xs) < _MAX_POINTS
        return False


class _Covers:
    """What may cover words, by its place on the page."""

    def __init__(self, drawings: Drawings, on_top: Sequence[Box], frame: PageFrame) -> None:
        self._orders = {text: order for order, text in enumerate(drawings.texts)}
        self._bottom = frame.box[1]
        self._height = max(_BAND, frame.height / _MAX_BANDS)
        self._bands: dict[int, list[Cover]] = {}
        last = len(drawings.texts)
        for cover in (*((last, box) for box in on_top), *reversed(drawings.covers)):
            for band in range(
                self._band(max(cover[1][1], frame.box[1])), self._band(min(cover[1][3], frame.box[3])) + 1
            ):
                together = self._bands.setdefault(band, [])
                if cover[0] and len(together) < _MAX_COVERS:
                    together.append(cover)
        self.has_any = any(self._bands.values())

    def parts(self, run: Run, angle: int) -> Iterator[Run]:
        """Yields a run, or its words one by one where some of them are covered."""
        order = self._orders.get(run.owner)
        if order is None or run.visibility == "unpainted":
            yield run
            return
        words = [run] if len(run.words) == 1 else [run.part(index, index + 1) for index in range(len(run.words))]
        are_covered = [self._covers(order, from_frame(word.box, angle)) for word in words]
        if not any(are_covered):
            yield run
            return
        for word, is_covered in zip(words, are_covered, strict=True):
            if is_covered:
                word.visibility = "covered"
            yield word

    def _covers(self, order: int, box: Box) -> bool:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return any(last > order and _has(cover, x, y) for last, cover in self._bands.get(self._band(y), ()))

    def _band(self, y: float) -> int:
        return int((y - self._bottom) // self._height)


class _Sight:
    """Images of a page in gray, with and without text objects."""

    def __init__(self, page: int, frame: PageFrame) -> None:
        self._page = page
        self._frame = frame
        self._owners: dict[str, set[int]] = {}
        self._without: dict[str, bytes] = {}
        self._with = b""
        scale = min(_SCALE, _MAX_SIDE / max(frame.width, frame.height, 1.0))
        self._width, self._height = [max(int(side * scale), 1) for side in frame.shown_size]

    def add(self, group: str, owners: Iterable[int]) -> None:
        """Adds text objects to a group, whose words may be asked for after that."""
        self._owners.setdefault(group, set()).update(owners)

    def has(self, group: str, box: Box) -> bool:
        """Returns whether the page looks different at a box without the text objects of a group."""
        if group not in self._without:
            self._with = self._with or self._image()
            self._without[group] = self._image(self._owners[group])
        before, after = self._with, self._without[group]
        left, top, right, bottom = self._frame.place(box)
        begin, end = int(left * self._width), int(right * self._width) + 1
        for row in range(int(top * self._height), min(int(bottom * self._height) + 1, self._height)):
            part = slice(row * self._width + begin, row * self._width + min(end, self._width))
            one, other = before[part], after[part]
            if one != other and max(map(abs, map(sub, one, other))) >= _CONTRAST:
                return True
        return False

    def _image(self, without: Iterable[int] = ()) -> bytes:
        call = functions()
        pixels = ctypes.create_string_buffer(b"\xff" * (self._width * self._height), self._width * self._height)
        bitmap = call.FPDFBitmap_CreateEx(self._width, self._height, _GRAY, ctypes.addressof(pixels), self._width)
        for owner in without:
            call.FPDFPageObj_SetIsActive(owner, 0)
        try:
            call.FPDF_RenderPageBitmap(bitmap, self._page, 0, 0, self._width, self._height, 0, _ANNOTATIONS)
        finally:
            for owner in without:
                call.FPDFPageObj_SetIsActive(owner, 1)
            call.FPDFBitmap_Destroy(bitmap)
        return pixels.raw
