"""`Song`: the chords of every bar and the melody of a piece, before others accompany it."""

from __future__ import annotations

from dataclasses import dataclass

from ..scores import Harmony, Note
from ..theory import Chord, Meter
from .accompaniment import Span
from .progressions import Bars


@dataclass(frozen=True, slots=True)
class Song:
    """Chords by bar, and the notes of the melody."""

    bars: Bars
    melody: tuple[Note, ...]

    def spans(self, meter: Meter, first: int, bars: int) -> list[Span]:
        """Returns the chords of some bars with their times."""
        return [span for bar in range(first, first + bars) for span in bar_spans(self.bars[bar], meter, bar)]

    def harmony(self, meter: Meter) -> tuple[Harmony, ...]:
        """Returns the chords where they change."""
        found: list[Harmony] = []
        for span in self.spans(meter, 0, len(self.bars)):
            if not found or found[-1].chord != span.chord:
                found.append(Harmony(span.start, span.chord))
        return tuple(found)


def bar_spans(chords: tuple[Chord, ...], meter: Meter, bar: int) -> list[Span]:
    """Returns the chords of a bar with their times; two of them change on a beat."""
    if len(chords) == 1 or len(meter.beats) < 2:
        return [Span(chords[0], bar * meter.bar, meter.bar, 0)]
    middle = meter.starts[(len(meter.beats) + 1) // 2]
    return [
        Span(chords[0], bar * meter.bar, middle, 0),
        Span(chords[-1], bar * meter.bar + middle, meter.bar - middle, middle),
    ]
