"""`in_key`: a score moved to another key."""

from __future__ import annotations

from dataclasses import replace

from ..theory import MODES, Chord, Key
from .score import Harmony, Note, Score

_TRIADS: dict[tuple[int, ...], str] = {(0, 4, 7): "", (0, 3, 7): "m", (0, 3, 6): "dim"}


def in_key(score: Score, key: Key) -> Score:
    """Returns the score in another key: moved by the nearest way. In another mode, degrees of the scale stay degrees,
    and chords of the scale become those of the new one.
    """
    distance = (key.pitch_class - score.key.pitch_class + 6) % 12 - 6
    old_steps, target = MODES[score.key.mode], MODES[key.mode]
    change = {step: other - step for step, other in zip(old_steps, target, strict=True)}

    def moved(pitch: int) -> int:
        return pitch + distance + change.get((pitch - score.key.pitch_class) % 12, 0)

    def chord(old: Chord) -> Chord:
        root = moved(old.root) % 12
        bass = None if old.bass is None else moved(old.bass) % 12
        is_of_scale = set(old.pitch_classes[:3]) <= set(score.key.scale)
        if score.key.mode == key.mode or not is_of_scale:
            return Chord(root, old.quality, bass)
        steps = sorted((moved(tone) - root) % 12 for tone in old.pitch_classes[:3])
        return Chord(root, _TRIADS.get(tuple(steps), old.quality), bass)

    def note(old: Note) -> Note:
        return replace(old, pitches=tuple(sorted({moved(pitch) for pitch in old.pitches})))

    voices = tuple(
        voice if voice.part == "drums" else replace(voice, notes=tuple(note(each) for each in voice.notes))
        for voice in score.voices
    )
    harmony = tuple(Harmony(each.start, chord(each.chord)) for each in score.harmony)
    return replace(score, key=key, voices=voices, harmony=harmony)
