"""`parts_of`: a score as the files that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from abstractcore import AudioPart, Blob, DocumentPart

from .composing import MOODS
from .playing import AUDIO_TYPES, sound_of
from .scores import Score
from .scores.score import TAIL
from .writing import midi_of, musicxml_of

SCORES = {"midi": "audio/midi", "musicxml": "application/vnd.recordare.musicxml+xml"}
"""Media types of scores by format."""
FORMATS = (*AUDIO_TYPES, *SCORES)
_ENDINGS = {"midi": "mid", "musicxml": "musicxml"}
_SHORTEST_TAIL = TAIL / 3


def parts_of(
    score: Score,
    seconds: float,
    format: str,
    also: Sequence[str],
    soundfont: str | None,
    progress: Callable[[float, float | None, str], object],
) -> list[AudioPart | DocumentPart]:
    """Returns the file of `format` first, then those of `also`: scores, and with "stems" the sound of each voice."""
    parts: list[AudioPart | DocumentPart] = []
    sound_format = "wav" if format in SCORES else format
    wants_stems = "stems" in also
    sound = None
    if format not in SCORES or wants_stems:
        sound = sound_of(
            score,
            seconds=max(seconds, score.seconds + _SHORTEST_TAIL),
            soundfont=soundfont,
            room=MOODS[score.moods[0]].room if score.moods else 1.2,
            stems=wants_stems,
            progress=lambda done, total: progress(done, total, "voices"),
        )
    if sound is not None and format not in SCORES:
        parts.append(_audio(sound.encoded(format), AUDIO_TYPES[format], f"{_stem(score.title)}.{format}"))
    parts += [_written(score, name) for name in dict.fromkeys((format, *also)) if name in SCORES]
    if sound is not None and wants_stems:
        for voice in sound.stems:
            name = f"{_stem(score.title)}-{_stem(voice)}.{sound_format}"
            parts.append(_audio(sound.encoded(sound_format, voice), AUDIO_TYPES[sound_format], name))
    return parts


def _written(score: Score, format: str) -> AudioPart | DocumentPart:
    name = f"{_stem(score.title)}.{_ENDINGS[format]}"
    if format == "midi":
        return _audio(midi_of(score), SCORES[format], name)
    return DocumentPart(Blob.from_bytes(musicxml_of(score), SCORES[format], name=name))


def _audio(content: bytes, media_type: str, name: str) -> AudioPart:
    return AudioPart(Blob.from_bytes(content, media_type, name=name))


def _stem(title: str) -> str:
    """Returns a title as the name of a file."""
    kept = "".join(each if each.isalnum() else "-" for each in title.lower())
    return "-".join(part for part in kept.split("-") if part)[:60] or "music"
