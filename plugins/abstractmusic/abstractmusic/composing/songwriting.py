"""`song_of`: writes the chords and the melody of a plan, part by part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from ..scores import Note
from .forms import Part
from .melodies import CONTOURS, MelodyPlace, contour_pitch, melody_of
from .plans import CompositionPlan
from .progressions import Bars, progression_of
from .rhythms import Rhythm, closing_rhythm, rhythm_of, split_to
from .songs import Song, bar_spans
from .syllables import lines_of, syllables_of

_PHRASE = 4
"""Bars of a phrase, which a line of lyrics fills; half of it where there are many lines."""
_SPREAD = 14
"""Semitones between the lowest and the highest note of a melody."""
_SHORT_BAR = 1.4
"""Seconds of a bar in which fewer notes are sung or played."""


def song_of(plan: CompositionPlan, lyrics: str, random: Random) -> Song:
    """Writes the chords and the melody of a plan. Lines of lyrics are sung one a phrase, from the first verse on."""
    return _Writer(plan, [syllables_of(line) for line in lines_of(lyrics)], random).song()


@dataclass(frozen=True, slots=True)
class _Theme:
    """What parts of one name share: chords, rhythms without lyrics, and pitches."""

    chords: Bars
    rhythms: list[Rhythm]
    pitches: list[int]


class _Writer:
    """Writes one song."""

    def __init__(self, plan: CompositionPlan, lines: list[list[str]], random: Random) -> None:
        self._plan = plan
        self._lines = lines
        self._phrase_bars = _PHRASE if len(lines) * _PHRASE <= plan.bars else _PHRASE // 2
        self._random = random
        self._themes: dict[str, _Theme] = {}

    def song(self) -> Song:
        bars: Bars = []
        melody: list[Note] = []
        for index, part in enumerate(self._plan.form):
            is_last = index == len(self._plan.form) - 1
            chords = self._chords(part, is_last=is_last)
            if part.has_melody:
                melody += self._melody(part, chords, len(bars), is_last=is_last)
            bars += chords
        return Song(bars, tuple(melody))

    def _chords(self, part: Part, *, is_last: bool) -> Bars:
        """Returns those of the theme that the part repeats; the last part gets an end of its own."""
        plan = self._plan
        known = self._themes.get("verse" if part.name == "outro" else part.name)
        if known and not is_last and len(known.chords) >= part.bars:
            return known.chords[: part.bars]
        chords = progression_of(part.name, part.bars, plan.key, self._random, colour=plan.style.colour, is_last=is_last)
        kept = part.bars // 2 if known and len(known.chords) >= part.bars else 0
        return [*known.chords[:kept], *chords[kept:]] if known else chords

    def _melody(self, part: Part, chords: Bars, first: int, *, is_last: bool) -> list[Note]:
        """Returns the melody of a part. Parts of one name repeat it, with other ends."""
        plan, known = self._plan, self._themes.get(part.name)
        repeats = known is not None and len(known.rhythms) >= part.bars
        rhythms = known.rhythms[: part.bars] if known and repeats else self._rhythms(part)
        lines = -(-part.bars // self._phrase_bars)
        sung, self._lines = self._lines[:lines], self._lines[lines:]
        written, syllables = self._sung(rhythms, sung) if sung else (rhythms, [])
        places = self._places(part, chords, written, is_last=is_last)
        if known and len(known.pitches) == len(places):
            places = [replace(place, contour=pitch) for place, pitch in zip(places, known.pitches, strict=True)]
        pitches = melody_of(places, plan.key, *self._range(part), self._random)
        self._themes.setdefault(part.name, _Theme(chords, rhythms, pitches))
        return self._notes(part, places, pitches, syllables, first * plan.meter.bar)

    def _notes(
        self, part: Part, places: list[MelodyPlace], pitches: list[int], syllables: list[str | None], start: int
    ) -> list[Note]:
        notes: list[Note] = []
        loudness = 62 + 30 * part.energy * self._plan.mood.loudness
        for index, (place, pitch) in enumerate(zip(places, pitches, strict=True)):
            lyric = syllables[index] if index < len(syllables) else None
            if lyric is not None or not syllables:
                velocity = round(loudness + 5 * place.strength + self._random.randint(-3, 3))
                notes.append(Note(start, place.length, (pitch,), min(velocity, 127), lyric))
            start += place.length
        return notes

    def _rhythms(self, part: Part) -> list[Rhythm]:
        """Returns the rhythm of each bar: a motif of two bars that comes back, and long notes where phrases end."""
        meter, random = self._plan.meter, self._random
        activity = min(self._plan.mood.activity * (1.15 if part.name == "chorus" else 1.0), 1.0)
        if len(meter.beats) * 60 / self._plan.tempo < _SHORT_BAR:
            activity *= 0.6
        motif = [rhythm_of(meter, activity, random) for _ in range(2)]
        rhythms = [motif[bar % 2] for bar in range(part.bars)]
        for end in range(_PHRASE, part.bars + 1, _PHRASE):
            rhythms[end - 2] = rhythm_of(meter, activity, random)
            rhythms[end - 1] = closing_rhythm(meter, random)
        rhythms[-1] = (meter.bar,)
        return rhythms

    def _sung(self, rhythms: list[Rhythm], lines: list[list[str]]) -> tuple[list[Rhythm], list[str | None]]:
        """Returns rhythms with a note for each syllable, a line a phrase, and the syllables; None without words."""
        found: list[Rhythm] = []
        words: list[str | None] = []
        for index, start in enumerate(range(0, len(rhythms), self._phrase_bars)):
            phrase = tuple(length for bar in rhythms[start : start + self._phrase_bars] for length in bar)
            line = lines[index][: sum(phrase)] if index < len(lines) else []
            found.append(split_to(phrase, len(line)) if line else phrase)
            words += line or [None] * len(found[-1])
        return found, words

    def _places(self, part: Part, chords: Bars, rhythms: list[Rhythm], *, is_last: bool) -> list[MelodyPlace]:
        """Returns the places of the notes with their contours."""
        meter = self._plan.meter
        spans = [span for bar, chord in enumerate(chords) for span in bar_spans(chord, meter, bar)]
        lowest, highest = self._range(part)
        total, phrase = part.bars * meter.bar, _PHRASE * meter.bar
        shapes = [self._random.choice(CONTOURS) for _ in range(2)]
        places: list[MelodyPlace] = []
        at = 0
        for length in (length for rhythm in rhythms for length in rhythm):
            chord = next(span.chord for span in reversed(spans) if span.start <= at)
            contour = contour_pitch(shapes[at // phrase % 2], at % phrase / min(phrase, total), lowest, highest)
            end = at + length
            ends = (
                chord.pitch_classes[: 1 if is_last and end >= total else 3] if end % phrase == 0 or end >= total else ()
            )
            places.append(MelodyPlace(chord, meter.strength(at), length, contour, ends))
            at = end
        return places

    def _range(self, part: Part) -> tuple[int, int]:
        """Returns the range of a part's melody: choruses lie a little higher."""
        player = self._plan.players.melody
        middle = min(max(player.middle, 60), 76) if player.highest >= 72 else player.middle
        middle = min(middle, player.highest - _SPREAD // 2) + (2 if part.name == "chorus" else -1)
        lowest = max(player.lowest, middle - _SPREAD // 2)
        return lowest, min(player.highest, lowest + _SPREAD)
