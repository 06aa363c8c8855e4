"""`MOODS`: what words for feelings mean in music."""

from __future__ import annotations

from dataclasses import dataclass

from ..theory import Mode


@dataclass(frozen=True, slots=True)
class Mood:
    """A mood. `tempo` is its slowest and fastest in beats a minute; `style` names its usual style.

    `activity` (0 to 1) is how many notes a melody has; `loudness` (0 to 1) how hard they are played; `room` is the
    reverberation time in seconds.
    """

    name: str
    modes: tuple[Mode, ...]
    tempo: tuple[int, int]
    style: str
    activity: float
    loudness: float
    room: float
    words: str


_ROWS = (
    Mood(
        "happy", ("major",), (112, 138), "pop", 0.6, 0.7, 0.9,
        words="happy, cheerful, joyful, joy, bright, sunny, summer, glad, upbeat, fun, birthday, smile",
    ),
    Mood(
        "calm", ("major", "lydian"), (62, 82), "ambient", 0.25, 0.45, 2.2,
        words=(
            "calm, peaceful, relaxing, relaxed, quiet, soft, gentle, serene, meditation, sleep, soothing, rain, "
            "mellow, chill, slow"
        ),
    ),
    Mood(
        "sad", ("minor",), (58, 76), "ballad", 0.35, 0.5, 1.8,
        words=(
            "sad, melancholy, melancholic, grief, lonely, loss, sorrow, tears, mournful, goodbye, autumn, "
            "farewell, nostalgic"
        ),
    ),
    Mood(
        "dark", ("minor", "phrygian"), (70, 92), "cinematic", 0.4, 0.65, 2.2,
        words="dark, scary, horror, ominous, sinister, spooky, haunted, threatening, night, evil",
    ),
    Mood(
        "tense", ("minor", "phrygian"), (112, 140), "cinematic", 0.65, 0.75, 1.4,
        words="tense, suspense, thriller, chase, nervous, danger, urgent, anxious",
    ),
    Mood(
        "epic", ("minor", "dorian"), (88, 116), "cinematic", 0.5, 0.9, 2.0,
        words="epic, heroic, battle, hero, trailer, powerful, majestic, triumphant, glorious, adventure",
    ),
    Mood(
        "romantic", ("major",), (66, 88), "ballad", 0.4, 0.55, 1.6,
        words="romantic, love, tender, wedding, longing, sweet, warm, heart",
    ),
    Mood(
        "playful", ("major", "mixolydian"), (116, 144), "folk", 0.75, 0.65, 0.8,
        words="playful, funny, quirky, silly, comic, childlike, children, kids, game, bouncy, circus",
    ),
    Mood(
        "dreamy", ("lydian", "major"), (66, 88), "ambient", 0.35, 0.45, 2.6,
        words="dreamy, dream, floating, space, ethereal, stars, magical, magic, clouds, ocean, sea",
    ),
    Mood(
        "energetic", ("minor", "major", "mixolydian"), (124, 150), "rock", 0.7, 0.9, 0.7,
        words="energetic, energy, exciting, fast, driving, wild, intense, workout, sport, power, party",
    ),
    Mood(
        "mysterious", ("dorian", "minor", "phrygian"), (76, 98), "cinematic", 0.4, 0.5, 2.0,
        words="mysterious, mystery, enigmatic, secret, ancient, strange, desert, forest, detective",
    ),
    Mood(
        "proud", ("major",), (96, 116), "march", 0.55, 0.8, 1.2,
        words="proud, solemn, ceremony, anthem, hymn, national, victory, festive, christmas",
    ),
)  # fmt: skip
MOODS: dict[str, Mood] = {row.name: row for row in _ROWS}
MOOD_WORDS: dict[str, Mood] = {word: row for row in _ROWS for word in (row.name, *row.words.split(", "))}
"""Moods by all of their words."""
