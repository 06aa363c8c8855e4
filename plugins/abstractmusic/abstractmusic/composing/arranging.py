"""`arranged`: the voices of a piece, from its song and its plan."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..scores import Instrument, Note, Voice
from .accompaniment import PEDALLED, chord_notes, voicing_of
from .bass import bass_notes
from .drums import CRASH, KICK, drum_notes
from .forms import Part
from .plans import CompositionPlan
from .songs import Song

_QUIET = 24
"""How much softer than the melody chords are."""


def arranged(plan: CompositionPlan, song: Song, random: Random) -> tuple[Voice, ...]:
    """Returns the voices: melody first, then chords, pad, bass and drums, where the plan has them."""
    voices = [Voice(plan.players.melody.name, plan.players.melody.name, song.melody, "melody")]
    if plan.players.counter:
        voices.append(_voice("counter", plan.players.counter, _held(plan, song, plan.players.counter, 1, -14)))
    if plan.players.chords:
        chords = _voice("chords", plan.players.chords, _chords(plan, song, plan.players.chords))
        voices.append(replace(chords, has_pedal=plan.style.pattern in PEDALLED))
    if plan.players.pad:
        voices.append(_voice("pad", plan.players.pad, _held(plan, song, plan.players.pad, 4, -34)))
    if plan.players.bass:
        voices.append(_voice("bass", plan.players.bass, _bass(plan, song, plan.players.bass, random)))
    if plan.players.has_drums:
        voices.append(Voice("drums", "drums", tuple(_drums(plan)), "drums"))
    return tuple(voice for voice in _named_apart(voices) if voice.notes)


def _voice(part: str, instrument: Instrument, notes: list[Note]) -> Voice:
    return Voice(instrument.name, instrument.name, tuple(notes), part)


def _named_apart(voices: list[Voice]) -> list[Voice]:
    """Returns voices whose names differ: instruments that play twice are named with their part."""
    names = [voice.name for voice in voices]
    return [
        voice if names.count(voice.name) == 1 else replace(voice, name=f"{voice.name} ({voice.part})")
        for voice in voices
    ]


def _parts(plan: CompositionPlan) -> list[tuple[Part, int]]:
    """Returns the parts of the form with their first bars."""
    firsts = [sum(part.bars for part in plan.form[:index]) for index in range(len(plan.form))]
    return list(zip(plan.form, firsts, strict=True))


def _velocity(plan: CompositionPlan, part: Part, change: int = 0) -> int:
    return min(max(round(58 + 40 * part.energy * plan.mood.loudness) + change, 20), 120)


def _chords(plan: CompositionPlan, song: Song, instrument: Instrument) -> list[Note]:
    notes: list[Note] = []
    voicing: tuple[int, ...] = ()
    for part, first in _parts(plan):
        spans = song.spans(plan.meter, first, part.bars)
        for span in spans:
            voicing = voicing_of(span.chord, instrument, voicing)
            is_end = span.start + span.length == plan.bars * plan.meter.bar
            pattern = "block" if is_end else plan.style.pattern
            notes += chord_notes(span, plan.meter, pattern, voicing, _velocity(plan, part, -_QUIET))
    return notes


def _held(plan: CompositionPlan, song: Song, instrument: Instrument, size: int, change: int) -> list[Note]:
    """Returns long notes through the chords, where there is more than the beginning to carry."""
    notes: list[Note] = []
    voicing: tuple[int, ...] = ()
    for part, first in _parts(plan):
        for span in song.spans(plan.meter, first, part.bars):
            voicing = voicing_of(span.chord, instrument, voicing)
            pitches = voicing[-size:] if size < len(voicing) else voicing
            if notes and notes[-1].pitches == pitches and notes[-1].end == span.start:
                notes[-1] = Note(notes[-1].start, notes[-1].length + span.length, pitches, notes[-1].velocity)
            elif part.energy > 0.5:
                notes.append(Note(span.start, span.length, pitches, _velocity(plan, part, change)))
    return notes


def _bass(plan: CompositionPlan, song: Song, instrument: Instrument, random: Random) -> list[Note]:
    notes: list[Note] = []
    spans = song.spans(plan.meter, 0, plan.bars)
    for part, first in _parts(plan):
        velocity = _velocity(plan, part, -4)
        for span in song.spans(plan.meter, first, part.bars):
            following = next((later.chord.lowest for later in spans if later.start > span.start), span.chord.lowest)
            line = "roots" if span.start + span.length == plan.bars * plan.meter.bar else plan.style.bass_line
            notes += bass_notes(span, following, line, plan.meter, plan.key, instrument, velocity, random)
    return notes


def _drums(plan: CompositionPlan) -> list[Note]:
    beat = plan.style.beat or "light"
    notes: list[Note] = []
    for part, first in _parts(plan):
        velocity = _velocity(plan, part, -8)
        for bar in range(first, first + part.bars):
            is_end, is_last = bar == first + part.bars - 1, bar == plan.bars - 1
            start = bar * plan.meter.bar
            if is_last:
                notes += [Note(start, 4, (KICK,), velocity), Note(start, 4, (CRASH,), velocity - 4)]
            else:
                crashes = bar == first and bar > 0 and part.energy >= 0.7 and plan.mood.loudness > 0.55
                notes += drum_notes(beat, plan.meter, start, velocity, fills=is_end and part.bars > 2, crashes=crashes)
    return notes
