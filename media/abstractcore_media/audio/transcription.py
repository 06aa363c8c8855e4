"""Transcribes recordings: decodes, splits at pauses and recognises them, at most a few minutes in memory at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from abstractcore.schema import MediaPart

from ..common.content import source_of
from ..common.stopping import StopCheck
from .options import SpeechOptions
from .pauses import speech_pieces
from .sound import SAMPLE_RATE, SECONDS_PER_BLOCK, SoundReader, announced_between
from .speech import MAX_PIECE_SECONDS, Recogniser, find_speech
from .transcript import Dropped, Segment, Transcript

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .pauses import Samples
    from .speech_models import SpeechModels

_SILENCE = 0.001
"""The highest sample of silence: -60 dB."""


def transcribe(part: MediaPart, context: MediaContext, models: SpeechModels, max_seconds: float) -> Transcript:
    """Returns what is said in a recording, within its controls; without segments if there is no speech.

    Raises `MediaError` if it cannot be decoded, has no sound, or is longer than `max_seconds`.
    """
    source = source_of(part)
    options = SpeechOptions.of(context.options)
    controls = part.controls
    start = controls.start or 0.0 if controls is not None else 0.0
    end = controls.end if controls is not None else None
    check_stop = StopCheck(source, context.timeout)
    run = partial(context.isolated, source, SECONDS_PER_BLOCK)
    reader = SoundReader(part, max_seconds, start, end, context.timeout, run)
    peaks = Peaks()
    recogniser: Recogniser | None = None
    said: list[Segment] = []
    dropped: list[Dropped] = []
    covered: list[tuple[float, float]] = []
    for piece in speech_pieces(peaks.of(reader.blocks()), find_speech, max_seconds=MAX_PIECE_SECONDS):
        check_stop()
        if recogniser is None:
            recogniser = Recogniser(models.load(options.model, context.models, context.spare_cores), options, source)
        segments, left_out = recogniser.segments(piece)
        said += segments
        dropped += left_out
        covered += (both for each in (*segments, *left_out) for both in piece.parts_between(each.start, each.end))
        total = announced_between(reader.announced, start, end)
        context.progress(piece.end, max(total, piece.end) if total else None, "seconds")
    context.progress(reader.seconds, reader.seconds, "seconds")
    dropped = sorted([*dropped, *peaks.gaps(covered)], key=lambda each: each.start)
    begin = reader.begin
    return Transcript(
        segments=tuple(_later(each, begin) for each in said),
        dropped=tuple(Dropped(each.start + begin, each.end + begin, each.reason) for each in dropped),
        begin=begin,
        seconds=reader.seconds,
        announced=announced_between(reader.announced, start, end),
        language=recogniser.language if recogniser is not None else options.language or "",
        certainty=recogniser.certainty if recogniser is not None else 1.0,
        model=options.model,
    )


class Peaks:
    """The highest sample of each second of a recording, and its gaps between speech."""

    def __init__(self) -> None:
        self._peaks: list[float] = []
        self._size = 0

    def of(self, blocks: Iterable[Samples]) -> Generator[Samples]:
        """Yields the blocks of a recording, and notes their peaks."""
        for block in blocks:
            position = 0
            while position < len(block):
                second, used = divmod(self._size, SAMPLE_RATE)
                piece = block[position : position + SAMPLE_RATE - used]
                if second == len(self._peaks):
                    self._peaks.append(0.0)
                self._peaks[second] = max(self._peaks[second], float(abs(piece).max()))
                position += len(piece)
                self._size += len(piece)
            yield block

    def gaps(self, covered: Iterable[tuple[float, float]]) -> list[Dropped]:
        """Returns the parts between those that are `covered`, each given by its start and end in seconds."""
        gaps: list[Dropped] = []
        position = 0.0
        end = self._size / SAMPLE_RATE
        for start, stop in (*sorted(covered), (end, end)):
            if start > position:
                gaps.append(self._gap(position, start))
            position = max(position, stop)
        return gaps

    def _gap(self, start: float, end: float) -> Dropped:
        first = ceil(start)
        is_silent = all(peak < _SILENCE for peak in self._peaks[first : max(int(end), first + 1)])
        return Dropped(start, end, "silence" if is_silent else "no speech")


def _later(segment: Segment, seconds: float) -> Segment:
    words = tuple(replace(word, start=word.start + seconds, end=word.end + seconds) for word in segment.words)
    return replace(segment, start=segment.start + seconds, end=segment.end + seconds, words=words)
