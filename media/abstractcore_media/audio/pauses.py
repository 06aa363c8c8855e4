"""Splits a recording at pauses into pieces of speech, without anything else in them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..common.extras import missing_extra
from .sound import SAMPLE_RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]
    FindSpeech: TypeAlias = Callable[[Samples, int], Sequence[tuple[int, int]]]

BYTES_PER_SECOND = 2 * SAMPLE_RATE
"""Of samples of 16 bits, as they are sent to a transcriber elsewhere."""
_INEXACT = SAMPLE_RATE // 2
_WINDOW = 60 * SAMPLE_RATE
_MARGIN = SAMPLE_RATE
"""Speech that begins in the last second of a window may not have been detected yet."""


@dataclass(frozen=True, slots=True)
class SpeechPiece:
    """Samples of speech, joined; `spans` are the first sample and the number of samples of each in the recording."""

    samples: Samples
    spans: tuple[tuple[int, int], ...]

    def times(self, start: float, end: float) -> tuple[float, float]:
        """Returns the seconds in the recording of what is at `start` to `end` seconds in this piece.

        Times of recognised speech are not exact: what reaches a little into another span is not there.
        """
        first, last = self._place(start), self._place(end)
        first_end, last_start = sum(self.spans[first[0]]), self.spans[last[0]][0]
        if first[0] < last[0] and last[1] - last_start < _INEXACT:
            last = (first[0], first_end)
        elif first[0] < last[0] and first_end - first[1] < _INEXACT:
            first = (last[0], last_start)
        return first[1] / SAMPLE_RATE, max(first[1], last[1]) / SAMPLE_RATE

    @property
    def begin(self) -> float:
        """The seconds in the recording at which this piece begins."""
        return self.spans[0][0] / SAMPLE_RATE

    @property
    def end(self) -> float:
        """The seconds in the recording at which this piece ends."""
        return sum(self.spans[-1]) / SAMPLE_RATE

    def parts_between(self, start: float, end: float) -> list[tuple[float, float]]:
        """Returns start and end, in seconds, of the speech of this piece between two times of the recording."""
        spans = ((first / SAMPLE_RATE, (first + length) / SAMPLE_RATE) for first, length in self.spans)
        return [(max(start, first), min(end, last)) for first, last in spans if first < end and start < last]

    def _place(self, seconds: float) -> tuple[int, int]:
        """Returns the index of a span, and the sample of the recording, at `seconds` in this piece."""
        left = round(seconds * SAMPLE_RATE)
        for index, (start, length) in enumerate(self.spans):
            if left < length:
                return index, start + left
            left -= length
        return len(self.spans) - 1, sum(self.spans[-1])


def speech_pieces(
    blocks: Iterable[Samples],
    find_speech: FindSpeech,
    *,
    max_seconds: float,
    max_bytes: float = float("inf"),
) -> Generator[SpeechPiece]:
    """Yields the speech of a recording in pieces up to both limits, each sample of speech once, in order.

    `find_speech` returns first and last sample of the speech in samples, none longer than a number of samples; it
    splits at pauses where there are any.
    """
    longest = int(min(max_seconds, max_bytes / BYTES_PER_SECOND) * SAMPLE_RATE)
    pieces: list[Samples] = []
    spans: list[tuple[int, int]] = []
    for start, samples in _speech(blocks, find_speech, longest):
        if spans and sum(length for _, length in spans) + len(samples) > longest:
            yield _joined(pieces, spans)
            pieces, spans = [], []
        pieces.append(samples)
        spans.append((start, len(samples)))
    if spans:
        yield _joined(pieces, spans)


def _speech(blocks: Iterable[Samples], find_speech: FindSpeech, longest: int) -> Generator[tuple[int, Samples]]:
    """Yields the first sample of each span of speech, and its samples. Holds one window of the recording."""
    try:
        import numpy as np
    except ImportError as error:
        raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error

    offset = size = 0
    enough = _WINDOW
    window: list[Samples] = []
    for block in blocks:
        window.append(block)
        size += len(block)
        if size < enough:
            continue
        samples = np.concatenate(window)
        spans = list(find_speech(samples, longest))
        kept = max(size - _MARGIN, spans[-1][1] if spans else 0)
        if spans and spans[-1][1] > size - _MARGIN:
            kept = spans.pop()[0]  # it may go on in the next window
        yield from ((offset + start, samples[start:end]) for start, end in spans)
        window, offset, size = [samples[kept:]], offset + kept, size - kept
        enough = size + _WINDOW
    if window:
        samples = np.concatenate(window)
        yield from ((offset + start, samples[start:end]) for start, end in find_speech(samples, longest))


def _joined(pieces: list[Samples], spans: list[tuple[int, int]]) -> SpeechPiece:
    import numpy as np

    return SpeechPiece(np.concatenate(pieces), tuple(spans))
