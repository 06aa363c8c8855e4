"""RapidOCR that writes spaces which its recogniser saw, but less surely than nothing.

The recogniser gives for each position along a line the probability of each character, and of none. A narrow space has
a part of it at several positions, and none of them wins: "over 12" becomes "over12". Between two characters a space is
written if it is likely over all positions together and the image is empty there.
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


class SpacedOCR(RapidOCR):
    """RapidOCR, with the spaces that its recogniser nearly saw."""

    def recognize_txt(self, img: list[Any]) -> Any:
        """Reads pictures of lines; without a space that the recogniser is sure of, one where there is a gap."""
        self.return_word_box = True  # the recogniser returns what its decoder says of words: gaps
        try:
            result: Any = super().recognize_txt(img)
        finally:
            self.return_word_box = False
        gaps: Sequence[list[_Gap]] = result.word_results
        result.txts = tuple(map(_spaced, result.txts, gaps, img))
        result.word_results = (None,) * len(gaps)
        return result

    def _load_rec_model(self) -> Any:
        recogniser: Any = super()._load_rec_model()
        if not isinstance(recogniser.postprocess_op, _Decoder):
            recogniser.postprocess_op = _Decoder(recogniser.postprocess_op)
        return recogniser


class _Decoder:
    """A decoder of RapidOCR that also returns gaps in which a space may be."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self._space = len(decoder.character) - 1

    def __call__(
        self, probabilities: Numbers, return_word_box: bool = False, **options: Any
    ) -> tuple[list[tuple[str, float]], list[list[_Gap]]]:
        best, sureness = probabilities.argmax(axis=2), probabilities.max(axis=2)
        lines, _ = self._decoder.decode(best, sureness, remove_duplicate=True)
        return lines, list(map(self._gaps, best, probabilities[:, :, self._space]))

    def _gaps(self, best: NDArray[numpy.integer], spaces: Numbers) -> list[_Gap]:
        is_new = numpy.append(True, best[1:] != best[:-1]) & (best != 0)  # 0 is no character
        places = numpy.flatnonzero(is_new)
        return [
            _Gap(number, int(start), int(end))
            for number, (start, end) in enumerate(pairwise(places), 1)
            if self._space not in (best[start], best[end]) and spaces[start : end + 1].sum() >= _LIKELY
        ]


def _spaced(text: str, gaps: Sequence[_Gap], line: NDArray[numpy.uint8]) -> str:
    """Returns the text of a line with a space in each gap in which the image is empty."""
    if not gaps:
        return text
    ink, step = _ink(line), _STEP * line.shape[0]
    rows, columns = numpy.flatnonzero(ink.any(axis=1)), numpy.asarray(ink.any(axis=0))
    widest = _WIDTH * (rows[-1] - rows[0] + 1) if rows.size else 0.0
    for gap in reversed(gaps):
        if rows.size and _longest_gap(columns[int(gap.start * step) : int((gap.end + 1) * step)]) >= widest:
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
