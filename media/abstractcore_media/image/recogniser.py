"""RapidOCR that decides by the image what its recogniser left undecided: narrow spaces, and capitals.

The recogniser gives for each position along a line the probability of each character, and of none. A narrow space has
a part of it at several positions, and none of them wins: "over 12" becomes "over12". Between two characters a space is
written if it is likely over all positions together and the image is empty there. A capital that differs from its small
letter by its height alone is one if it is as high as the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy
from numpy.typing import NDArray
from rapidocr import RapidOCR

_LIKELY = 0.1
"""The sum of probabilities of a space, over the positions between two characters, from which there may be one."""
_WIDTH = 0.26
"""The width of the widest gap between two characters, in heights of the ink of the line, from which it is a space:
between letters it was 0.24 at most.
"""
_SAME_SHAPE = "COSVWXZ"
"""Capitals that differ from their small letters by their height alone."""
_DOUBT = 0.2
"""The probability of the small letter from which a capital is in doubt."""
_LOWER = 0.15
"""The distance of a letter from the highest ink of its line, in heights of it, from which it is a small one."""
_STEP = 1 / 6
"""The width of a position, in heights of the picture of a line: the recogniser reads 8 of 48 pixels at once."""
_INK = 0.4
"""The part of the strongest contrast from which a pixel is ink."""

Numbers = NDArray[numpy.floating]
Flags = NDArray[numpy.bool_]


@dataclass(frozen=True, slots=True)
class _Gap:
    """Where a space may stand: before a character of the text, between two positions along the line."""

    before: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Capital:
    """A character of the text that may be a small letter, somewhere between two positions."""

    number: int
    start: float
    end: float


_Doubt = _Gap | _Capital


class SpacedOCR(RapidOCR):
    """RapidOCR, with the spaces that its recogniser nearly saw."""

    def recognize_txt(self, img: list[Any]) -> Any:
        """Reads pictures of lines; without a space that the recogniser is sure of, one where there is a gap."""
        self.return_word_box = True  # the recogniser returns what its decoder says of words: doubts
        try:
            result: Any = super().recognize_txt(img)
        finally:
            self.return_word_box = False
        doubts: Sequence[list[_Doubt]] = result.word_results
        result.txts = tuple(map(_decided, result.txts, doubts, img))
        result.word_results = (None,) * len(doubts)
        return result

    def _load_rec_model(self) -> Any:
        recogniser: Any = super()._load_rec_model()
        if not isinstance(recogniser.postprocess_op, _Decoder):
            recogniser.postprocess_op = _Decoder(recogniser.postprocess_op)
        return recogniser


class _Decoder:
    """A decoder of RapidOCR that also returns gaps in which a space may be, and capitals that may be none."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self._space = len(decoder.character) - 1
        numbers = {character: number for number, character in enumerate(decoder.character)}
        self._small = {numbers[each]: numbers[each.lower()] for each in _SAME_SHAPE if each in numbers}

    def __call__(
        self, probabilities: Numbers, return_word_box: bool = False, **options: Any
    ) -> tuple[list[tuple[str, float]], list[list[_Doubt]]]:
        best, sureness = probabilities.argmax(axis=2), probabilities.max(axis=2)
        lines, _ = self._decoder.decode(best, sureness, remove_duplicate=True)
        return lines, list(map(self._doubts, best, probabilities))

    def _doubts(self, best: NDArray[numpy.integer], line: Numbers) -> list[_Doubt]:
        is_new = numpy.append(True, best[1:] != best[:-1]) & (best != 0)  # 0 is no character
        places = [int(place) for place in numpy.flatnonzero(is_new)]
        spaces = line[:, self._space]
        gaps = [
            _Gap(number, start, end)
            for number, (start, end) in enumerate(pairwise(places), 1)
            if self._space not in (best[start], best[end]) and spaces[start : end + 1].sum() >= _LIKELY
        ]
        edges = [-1, *places, len(best)]
        capitals = [
            _Capital(number, (before + place + 1) / 2, (place + after + 1) / 2)
            for number, (before, place, after) in enumerate(zip(edges, places, edges[2:], strict=False))
            if (small := self._small.get(int(best[place]))) is not None and line[place, small] >= _DOUBT
        ]
        return [*capitals, *gaps]


def _decided(text: str, doubts: Sequence[_Doubt], line: NDArray[numpy.uint8]) -> str:
    """Returns the text of a line with its doubts decided by its picture."""
    if not doubts:
        return text
    ink, step = _ink(line), _STEP * line.shape[0]
    rows = numpy.flatnonzero(ink.any(axis=1))
    if not rows.size:
        return text
    height = int(rows[-1] - rows[0]) + 1
    columns = numpy.asarray(ink.any(axis=0))
    capitals = [doubt for doubt in doubts if isinstance(doubt, _Capital)]
    for doubt in capitals:
        letter = numpy.flatnonzero(ink[:, int(doubt.start * step) : int(doubt.end * step)].any(axis=1))
        if letter.size and letter[0] - rows[0] >= _LOWER * height:
            text = f"{text[: doubt.number]}{text[doubt.number].lower()}{text[doubt.number + 1 :]}"
    gaps = [doubt for doubt in doubts if isinstance(doubt, _Gap)]
    for gap in reversed(gaps):
        if _longest_gap(columns[int(gap.start * step) : int((gap.end + 1) * step)]) >= _WIDTH * height:
            text = f"{text[: gap.before]} {text[gap.before :]}"
    return text


def _ink(line: NDArray[numpy.uint8]) -> Flags:
    """Returns of each pixel of a picture of a line whether it is ink, be it dark or light."""
    gray = line.mean(axis=2)
    contrast = abs(gray - numpy.median(gray))
    return contrast >= _INK * max(1.0, float(numpy.percentile(contrast, 99)))


def _longest_gap(has_ink: Flags) -> int:
    edges = numpy.flatnonzero(numpy.concatenate(([True], has_ink, [True])))
    return int((edges[1:] - edges[:-1]).max()) - 1
