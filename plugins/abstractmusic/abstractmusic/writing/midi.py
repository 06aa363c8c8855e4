"""`midi_of`: a score as a Standard MIDI File, written by symusic."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from ..scores import Score, Voice

TICKS_PER_QUARTER = 480
_TICKS_PER_SIXTEENTH = TICKS_PER_QUARTER // 4
_BREATH = 12
"""Ticks between a note and the next one of the same pitch."""


def midi_of(score: Score) -> bytes:
    """Returns a MIDI file of format 1: a track a voice, with tempo, signatures, lyrics and markers of sections."""
    return bytes(performed(score, score.voices).dumps_midi())


def performed(score: Score, voices: Iterable[Voice]) -> Any:
    """Returns a `symusic.Score` of some voices as they are played, in ticks: with swing."""
    symusic = import_module("symusic")
    played = symusic.Score(TICKS_PER_QUARTER)
    played.tempos.append(symusic.Tempo(0, score.quarters_per_minute))
    played.time_signatures.append(symusic.TimeSignature(0, score.meter.count, score.meter.unit))
    played.key_signatures.append(symusic.KeySignature(0, score.key.fifths, int(score.key.is_minor)))
    for section in score.sections:
        played.markers.append(symusic.TextMeta(_tick(score, section.bar * score.meter.bar), section.name))
    for voice in voices:
        played.tracks.append(_track(score, voice))
    return played


def _track(score: Score, voice: Voice) -> Any:
    symusic = import_module("symusic")
    track = symusic.Track(voice.name, voice.played_by.program, voice.played_by.is_drums)
    following: dict[int, int] = {}
    for note in reversed(voice.notes):
        start, end = _tick(score, note.start), _tick(score, _released(score, note.end) if voice.has_pedal else note.end)
        for pitch in note.pitches:
            length = min(end, following.get(pitch, end)) - start - _BREATH
            track.notes.append(symusic.Note(start, max(length, 1), pitch, note.velocity))
            following[pitch] = start
        if note.lyric is not None:
            track.lyrics.append(symusic.TextMeta(start, note.lyric))
    return track


def _released(score: Score, end: int) -> int:
    """Returns when the pedal is released after a note that ends at `end`: where the harmony changes."""
    return next((harmony.start for harmony in score.harmony if harmony.start >= end), score.length)


def _tick(score: Score, sixteenth: int) -> int:
    """Returns the tick of a sixteenth. Swing puts the second eighth of a quarter at two thirds of it."""
    if not score.is_swung:
        return sixteenth * _TICKS_PER_SIXTEENTH
    quarter, inside = divmod(sixteenth, 4)
    early = inside * TICKS_PER_QUARTER // 3 if inside <= 2 else TICKS_PER_QUARTER * 5 // 6
    return quarter * TICKS_PER_QUARTER + early
