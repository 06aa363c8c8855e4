"""The words of a page by PDFium, with their places, and how they are painted."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import gt, sub
from typing import Any

from ..marks import PLAIN, Marks
from .frames import DOWNWARDS, mirrored
from .pdfium import functions

_LINES = re.compile(r"[^\r\n]+")
_WORDS = re.compile(r"\S+")
_AS_WRITTEN = str.maketrans({"\ufffe": "-", "\x02": "-"})
"""PDFium marks hyphens at the ends of lines."""
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_EAST_ASIAN = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_INVISIBLE_MODES = frozenset({3, 7})
_LIGHT, _FAINT = 216, 40
"""Fill colors from which on a word may be invisible on paper, and opacities up to which it may be anywhere."""
_UPRIGHT = 10
"""Degrees that a text may differ from upright, or from a quarter turn."""
_DROPPED, _MOSTLY_DROPPED = 0.3, 0.75
"""The shares of the objects of a page, and of a font, that have no words if there are characters that are dropped."""
_LEAST_SIZE = 1.0
"""Points of the smallest letters that can be seen."""


@dataclass(slots=True)
class Run:
    """Words of one line that are painted at once, with their places in the frame of their text: `lefts` and `rights`
    along the line, `base` down the page.

    `follows` is whether no space stands before it. `visibility` is "seen", "doubtful" for what may not show, "covered"
    for what something later may cover, "unpainted" for what is not painted, as in the text layer of a scan.
    """

    words: list[str]
    lefts: list[float]
    rights: list[float]
    base: float
    size: float
    follows: bool = False
    visibility: str = "seen"
    marks: Marks = PLAIN
    address: str = ""
    """The address that it links to."""
    owner: int = 0
    """The text object that it is of."""

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.lefts[0]

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.rights[-1]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        return self.lefts[0], self.base - 0.75 * self.size, self.rights[-1], self.base + 0.2 * self.size

    @property
    def middle(self) -> tuple[float, float, float, float]:
        """The box of the middle of its small letters, without what edges of a box that covers them may leave."""
        width = 0.1 * (self.right - self.left)
        return self.left + width, self.base - 0.5 * self.size, self.right - width, self.base

    def part(self, begin: int, end: int) -> Run:
        """Returns some of its words."""
        follows = self.follows and begin == 0
        words, lefts, rights = self.words[begin:end], self.lefts[begin:end], self.rights[begin:end]
        return replace(self, words=words, lefts=lefts, rights=rights, follows=follows)

    def parts(self, key: Callable[[float], Hashable]) -> list[Run]:
        """Returns the parts that it falls into by what `key` returns for the middles of its words."""
        keys = [key((left + right) / 2) for left, right in zip(self.lefts, self.rights, strict=True)]
        cuts = [0, *[index for index in range(1, len(keys)) if keys[index] != keys[index - 1]], len(keys)]
        return [self] if len(cuts) == 2 else [self.part(begin, end) for begin, end in pairwise(cuts)]


@dataclass(frozen=True, slots=True)
class _Painting:
    """How a text object is painted."""

    size: float
    angle: int | None
    """Its direction, as `frames.py` counts it; None for a diagonal text."""
    visibility: str
    owner: int
    is_vertical: bool = False
    """Whether its characters are upright, one below the other."""


class TextPage:
    """The text of one page that PDFium has opened. `is_doubtful` is whether any of it may not show."""

    def __init__(self, handle: int, is_doubtful: bool) -> None:
        self._call = functions()
        self._handle = handle
        self._visible = "doubtful" if is_doubtful else "seen"
        self._paintings: dict[int, _Painting] = {}
        self._floats = (ctypes.c_float * 6)()
        self._doubles = (ctypes.c_double * 4)()
        self._channels = (ctypes.c_uint * 4)()
        self._text = self._whole_text()
        self._has_ligatures = _LIGATURE.search(self._text) is not None
        self._has_east_asian = _EAST_ASIAN.search(self._text) is not None

    def runs(self) -> dict[int | None, list[Run]]:
        """Returns the words in the order of the page's content, by their direction."""
        found: dict[int | None, list[Run]] = {}
        for line in _LINES.finditer(self._text):
            spans = [match.span() for match in _WORDS.finditer(self._text, *line.span())]
            for begin, end, owner in self._owned(spans):
                painting = self._paintings.get(owner) or self._painting(owner, spans[begin][0])
                if painting.size <= 0:
                    continue
                together = spans[begin:end]
                if self._has_east_asian and not painting.angle and self._is_vertical(together):
                    painting = replace(painting, angle=DOWNWARDS, is_vertical=True)
                found.setdefault(painting.angle, []).extend(self._runs(together, painting))
        return found

    def lacks(self, texts: Sequence[int]) -> bool:
        """Returns whether many of the page's text objects have no words here: PDFium drops the characters of fonts that
        are neither in the file nor on this machine. Of other fonts, some objects are only spaces.
        """
        call = self._call
        dropped = [each for each in texts if each not in self._paintings]
        if len(dropped) < _DROPPED * len(texts):
            return False
        objects: Counter[int] = Counter(call.FPDFTextObj_GetFont(each) or 0 for each in texts)
        missing: Counter[int] = Counter(call.FPDFTextObj_GetFont(each) or 0 for each in dropped)
        fonts = [font for font, count in missing.items() if count >= _MOSTLY_DROPPED * objects[font]]
        if sum(missing[font] for font in fonts) < _DROPPED * len(texts):
            return False
        return any(font and call.FPDFFont_GetIsEmbedded(font) == 0 for font in fonts)

    def _whole_text(self) -> str:
        call, handle = self._call, self._handle
        count = max(call.FPDFText_CountChars(handle), 0)
        buffer = ctypes.create_string_buffer(4 * count + 4)
        size = call.FPDFText_GetText(handle, 0, count, ctypes.addressof(buffer))
        text = buffer.raw[: max(2 * size - 2, 0)].decode("utf-16-le", "replace")
        if len(text) != count:
            codes = [call.FPDFText_GetUnicode(handle, index) for index in range(count)]
            text = "".join([chr(code) if 0 <= code < 0x110000 else "\ufffd" for code in codes])
        return text if text.isascii() and "\2" not in text else text.translate(_AS_WRITTEN)

    def _owned(self, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        """Yields the begin and end of spans that are of one text object, with it; splits words that are of several."""
        if not spans:
            return
        owner_of, handle = self._call.FPDFText_GetTextObject, self._handle
        first = owner_of(handle, spans[0][0]) or 0
        if first == (owner_of(handle, spans[-1][1] - 1) or 0):
            yield 0, len(spans), first
            return
        owners: list[int] = []
        pieces: list[tuple[int, int]] = []
        for begin, end in spans:
            first = owner_of(handle, begin) or 0
            if first == (owner_of(handle, end - 1) or 0):
                owners.append(first)
                pieces.append((begin, end))
                continue
            for index in range(begin, end):
                owner = owner_of(handle, index) or 0
                if index > begin and owner == owners[-1]:
                    pieces[-1] = pieces[-1][0], index + 1
                else:
                    owners.append(owner)
                    pieces.append((index, index + 1))
        spans[:] = pieces
        begin = 0
        for index in range(1, len(owners) + 1):
            if index == len(owners) or owners[index] != owners[begin]:
                yield begin, index, owners[begin]
                begin = index

    def _painting(self, owner: int, index: int) -> _Painting:
        call, floats = self._call, self._floats
        size, angle, is_mirrored = 0.0, 0.0, False
        if call.FPDFText_GetMatrix(self._handle, index, ctypes.addressof(floats)):
            size = call.FPDFText_GetFontSize(self._handle, index) * math.hypot(floats[2], floats[3])
            angle = math.degrees(math.atan2(floats[1], floats[0])) % 360
            is_mirrored = floats[0] * floats[3] < floats[1] * floats[2]
        turn = round(angle / 90) * 90
        turned = turn % 360 if abs(angle - turn) <= _UPRIGHT else None
        if turned is not None and is_mirrored:
            turned = mirrored(turned)
        painting = _Painting(size, turned, self._visibility(owner, size), owner)
        self._paintings[owner] = painting
        return painting

    def _visibility(self, owner: int, size: float) -> str:
        if not owner:
            return self._visible
        if self._call.FPDFTextObj_GetTextRenderMode(owner) in _INVISIBLE_MODES:
            return "unpainted"
        channels = self._channels
        at = ctypes.addressof(channels)
        if size < _LEAST_SIZE:
            return "doubtful"
        if self._call.FPDFPageObj_GetFillColor(owner, at, at + 4, at + 8, at + 12):
            red, green, blue, opacity = channels
            if min(red, green, blue) >= _LIGHT or opacity <= _FAINT:
                return "doubtful"
        return self._visible

    def _runs(self, spans: list[tuple[int, int]], painting: _Painting) -> Iterator[Run]:
        """Yields the words of one text object, apart where there are wide gaps."""
        handle, text, size = self._handle, self._text, painting.size
        box, at, of_char = self._floats, ctypes.addressof(self._floats), self._call.FPDFText_GetLooseCharBox
        angle = painting.angle or 0
        along = mirrored(angle) if angle >= 360 else angle
        near, far = _EDGES[along]
        lefts: list[float] = []
        rights: list[float] = []
        for begin, end in spans:
            of_char(handle, begin, at)
            lefts.append(box[near])
            if end - begin > 1:
                of_char(handle, end - 1, at)
            rights.append(box[far])
        if along >= 180:
            lefts, rights = [-left for left in lefts], [-right for right in rights]
        words = [text[begin:end] for begin, end in spans]
        if self._has_ligatures:
            words = [word.translate(_LIGATURES) for word in words]
        begin = spans[0][0]
        follows = begin > 0 and not text[begin - 1].isspace()
        base = _down(*self._origin(begin, is_vertical=painting.is_vertical), angle % 360)
        run = Run(words, lefts, rights, base, size, follows, painting.visibility, owner=painting.owner)
        if any(map(gt, lefts, rights)):  # from right to left
            run.lefts, run.rights = list(map(min, lefts, rights)), list(map(max, lefts, rights))
            yield from (run.part(index, index + 1) for index in range(len(words)))
            return
        widest = max(map(sub, lefts[1:], rights), default=0.0)
        least = max(map(sub, lefts[1:], lefts), default=0.0) if widest <= size else 0.0
        if widest <= size and least >= 0:
            yield run
            return
        begin = 0
        for index in range(1, len(words) + 1):
            if index == len(words) or not -size < lefts[index] - rights[index - 1] <= size:
                yield run.part(begin, index)
                begin = index

    def _is_vertical(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Returns whether the last character of a text stands below the first one."""
        box, at, of_char = self._floats, ctypes.addressof(self._floats), self._call.FPDFText_GetLooseCharBox
        of_char(self._handle, spans[0][0], at)
        left, _, right, bottom = box[:4]
        of_char(self._handle, spans[-1][1] - 1, at)
        return box[1] <= bottom + 0.1 * (right - left) and box[0] < right and box[2] > left

    def _origin(self, index: int, *, is_vertical: bool) -> tuple[float, float]:
        if is_vertical:
            self._call.FPDFText_GetLooseCharBox(self._handle, index, ctypes.addressof(self._floats))
            return self._floats[0], self._floats[1]
        at = ctypes.addressof(self._doubles)
        self._call.FPDFText_GetCharOrigin(self._handle, index, at, at + 8)
        return self._doubles[0], self._doubles[1]


_EDGES = {0: (0, 2), 90: (3, 1), 180: (2, 0), 270: (1, 3)}
"""Where in a box of left, top, right and bottom a text of such a direction begins and ends."""


def _down(x: float, y: float, angle: int) -> float:
    return (-y, x, y, -x)[angle // 90]


@contextmanager
def opened_text(page: int, is_doubtful: bool) -> Generator[TextPage]:
    """Opens the text of a page that PDFium has opened."""
    call: Any = functions()
    handle = call.FPDFText_LoadPage(page)
    try:
        if not handle:
            raise ValueError("the text of the page cannot be loaded")
        yield TextPage(handle, is_doubtful)
    finally:
        call.FPDFText_ClosePage(handle)
