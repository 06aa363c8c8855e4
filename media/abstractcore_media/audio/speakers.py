"""`Speakers`: names speakers alike in all pieces of a recording, by samples of their voices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from abstractcore.ports import VoiceSample
from abstractcore.schema import CallWarning, TranscriptSegment

from .sound import SAMPLE_RATE

if TYPE_CHECKING:
    from abstractcore.schema import AudioPart

    from .pauses import Samples

_SHORTEST, _LONGEST = 2 * SAMPLE_RATE, 10 * SAMPLE_RATE
"""The samples of a voice that transcribers accept: 2 to 10 seconds."""


@dataclass(slots=True)
class _Voice:
    """A speaker: how many samples were heard, and the longest of them in one piece."""

    heard: int = 0
    sample: Samples | None = None


class Speakers:
    """Names the speakers of a recording "Speaker 1", "Speaker 2" and so on.

    Transcribers label them anew in each piece. One that accepts samples of up to `most` voices recognises these
    speakers; `record` makes a file of samples.
    """

    def __init__(self, most: int, record: Callable[[Samples, str], AudioPart]) -> None:
        self.warnings: list[CallWarning] = []
        self._most, self._record = most, record
        self._voices: dict[str, _Voice] = {}
        self._sent = frozenset[str]()
        self._pieces = 0

    def voices(self) -> list[VoiceSample]:
        """Returns samples of those who spoke most so far, for the next piece."""
        by_length = sorted(self._voices.items(), key=lambda each: -each[1].heard)
        known = [(name, voice.sample) for name, voice in by_length if voice.sample is not None][: self._most]
        self._sent = frozenset(name for name, _ in known)
        return [VoiceSample(name, self._record(sample, "voice")) for name, sample in known]

    def named(self, segments: Sequence[TranscriptSegment], samples: Samples) -> list[TranscriptSegment]:
        """Returns the segments of a piece with the names of their speakers, and keeps samples of their voices."""
        names: dict[str, str] = {}
        labels = dict.fromkeys(each.speaker for each in segments if each.speaker is not None)
        for label in labels:
            names[label] = label if label in self._sent else f"Speaker {len(self._voices) + 1}"
            self._voices.setdefault(names[label], _Voice())
        if self._pieces and any(name not in self._sent for name in names.values()):
            message = (
                "The recording was transcribed in several pieces. A speaker who was not recognised in a later one has "
                "another number there."
            )
            self.warnings = [CallWarning("speakers_not_matched", "", message)]
        self._pieces += bool(labels)
        named = [each if each.speaker is None else replace(each, speaker=names[each.speaker]) for each in segments]
        for each in named:
            self._hear(each, samples)
        return named

    def _hear(self, segment: TranscriptSegment, samples: Samples) -> None:
        if segment.speaker is None or segment.start is None or segment.end is None:
            return
        voice = self._voices[segment.speaker]
        spoken = samples[int(segment.start * SAMPLE_RATE) : int(segment.end * SAMPLE_RATE)]
        voice.heard += len(spoken)
        best = spoken[:_LONGEST]
        if len(best) >= _SHORTEST and (voice.sample is None or len(best) > len(voice.sample)):
            voice.sample = best.copy()
