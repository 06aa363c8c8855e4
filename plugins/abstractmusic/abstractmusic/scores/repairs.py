"""`repaired`: a score in which every voice can be played and written, and what was changed for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from ..theory import Chord
from .instruments import INSTRUMENTS, Instrument, instrument_of
from .score import FASTEST, SLOWEST, Note, Score, Voice

MOST_VOICES = 15
"""Voices that a MIDI file has channels for, besides drums."""
_LONG = 4
"""Sixteenths from which a note outside of the key is heard as wrong, also between beats."""
_USUAL = {"bass": "bass guitar", "chords": "piano", "pad": "strings"}
_Note = Callable[[str], None]


def repaired(score: Score) -> tuple[Score, tuple[str, ...]]:
    """Returns a score that can be played and written, and the list of repairs; none for one that is well formed.

    Pitches beyond an instrument's range move by octaves. Notes that overlap end where the next one begins; those beyond
    the end are cut. In melody and bass, notes outside of the key and the chord move to the nearest tone of the scale,
    on beats and if they are long: short ones between beats may pass. Instruments that are not known are replaced.
    """
    found: list[str] = []
    voices: list[Voice] = []
    for voice in score.voices:

        def note(text: str, name: str = voice.name or voice.part) -> None:
            found.append(f"{name}: {text}")

        mended = _mended(score, voice, note)
        if not mended.notes:
            note("without notes: left out")
        elif len(voices) == MOST_VOICES:
            note(f"more than {MOST_VOICES} voices: left out")
        else:
            voices.append(_renamed(mended, voices, note))
    tempo = min(max(score.tempo, SLOWEST), FASTEST)
    if tempo != score.tempo:
        found.append(f"tempo: {score.tempo:g} becomes {tempo:g}")
    return replace(score, voices=tuple(voices), tempo=tempo), tuple(found)


def _mended(score: Score, voice: Voice, note: _Note) -> Voice:
    player = INSTRUMENTS.get(voice.instrument) or instrument_of(voice.instrument)
    if player is None or player.is_drums != (voice.part == "drums"):
        player = INSTRUMENTS["drums" if voice.part == "drums" else _USUAL.get(voice.part, "flute")]
    if player.name != voice.instrument:
        note(f"{voice.instrument[:40]!r} is played by {player.name}")
    notes = [_in_range(each, player, note) for each in voice.notes if each.pitches and 0 <= each.start < score.length]
    if not player.is_drums:
        notes = _one_after_another(notes, note)
        if voice.part in ("melody", "counter", "bass"):
            notes = [_in_key(score, each, player, note) for each in notes]
    ends = [replace(each, length=min(each.length, score.length - each.start)) for each in notes]
    if ends != notes:
        note("notes beyond the end: cut")
    return replace(voice, name=voice.name or player.name, instrument=player.name, notes=tuple(ends))


def _in_range(each: Note, player: Instrument, note: _Note) -> Note:
    pitches = tuple(sorted({_moved(pitch, player) for pitch in each.pitches}))
    if pitches != each.pitches:
        note(f"{list(each.pitches)} at {each.start} is beyond the range of {player.name}: {list(pitches)}")
    return replace(each, pitches=pitches, velocity=min(max(each.velocity, 1), 127), length=max(each.length, 1))


def _moved(pitch: int, player: Instrument) -> int:
    """Returns a pitch moved by octaves into the range."""
    while pitch > player.highest:
        pitch -= 12
    while pitch < player.lowest:
        pitch += 12
    return min(pitch, player.highest)


def _one_after_another(notes: list[Note], note: _Note) -> list[Note]:
    """Returns notes in order of time: those of one time as one, and none into the next one."""
    at: dict[int, Note] = {}
    for each in sorted(notes, key=lambda each: each.start):
        known = at.get(each.start)
        at[each.start] = (
            each if known is None else replace(known, pitches=tuple(sorted({*known.pitches, *each.pitches})))
        )
    found = list(at.values())
    for index, (each, following) in enumerate(pairwise(found)):
        if each.end > following.start:
            note(f"the note at {each.start} lasts into the next one: cut")
            found[index] = replace(each, length=following.start - each.start)
    return found


def _in_key(score: Score, each: Note, player: Instrument, note: _Note) -> Note:
    chord = next((harmony.chord for harmony in reversed(score.harmony) if harmony.start <= each.start), None)
    if score.meter.strength(each.start) == 0 and each.length < _LONG:
        return each
    allowed = {*score.key.scale, *(chord.pitch_classes if chord else ())}
    pitches = tuple(sorted({_nearest(pitch, allowed, chord, player) for pitch in each.pitches}))
    if pitches != each.pitches:
        note(f"{list(each.pitches)} at {each.start} is not of {score.key.name}: {list(pitches)}")
    return replace(each, pitches=pitches)


def _nearest(pitch: int, allowed: set[int], chord: Chord | None, player: Instrument) -> int:
    """Returns the nearest pitch that is allowed; of two equally near ones, that of the chord."""
    if pitch % 12 in allowed:
        return pitch
    tones = chord.pitch_classes if chord else ()
    near = [each for each in (pitch - 1, pitch + 1, pitch - 2, pitch + 2) if each % 12 in allowed]
    return _moved(min(near, key=lambda each: (abs(each - pitch), each % 12 not in tones)), player)


def _renamed(voice: Voice, others: list[Voice], note: _Note) -> Voice:
    names = {other.name for other in others}
    if voice.name not in names:
        return voice
    number = next(number for number in range(2, len(names) + 3) if f"{voice.name} {number}" not in names)
    note(f"two voices have this name: {voice.name} {number}")
    return replace(voice, name=f"{voice.name} {number}")
