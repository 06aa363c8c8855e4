"""`progression_of`: the chords of a part, in phrases that end with cadences."""

from __future__ import annotations

from random import Random

from ..theory import Chord, Key

Bars = list[tuple[Chord, ...]]
"""The chords of each bar, which share it equally."""
_MAJOR = (
    "I V vi IV", "I vi IV V", "I IV vi V", "vi IV I V", "I iii IV V", "I IV ii V", "IV I V vi", "I V IV I", "I ii IV V",
    "I V/vi vi IV", "I IV I V", "I iii vi IV",
)  # fmt: skip
_MINOR = (
    "i VI III VII", "i iv VII III", "i VII VI V", "i iv i V", "i VI iv V", "i III VII iv", "i v VI iv", "i VI VII i",
    "i iv VI V", "VI VII i i",
)  # fmt: skip
_BY_MODE = {
    "major": _MAJOR,
    "minor": _MINOR,
    "dorian": ("i IV i VII", "i ii IV i", "i VII IV i", "i III IV VII"),
    "phrygian": ("i II i vii", "i II III II", "i VI II i"),
    "lydian": ("I II I vii", "I II iii II", "I V II vi"),
    "mixolydian": ("I VII IV I", "I v IV I", "I VII I IV"),
}
_CADENCES = {
    "major": "half: IV, V; full: IV V, I; plagal: IV, I; jazz: ii V, I; deceptive: V, vi",
    "minor": "half: iv, V; full: iv V, i; plagal: iv, i; jazz: iiø7 V, i; deceptive: V, VI",
    "dorian": "half: IV, VII; full: IV VII, i",
    "phrygian": "half: VI, II; full: II, i",
    "lydian": "half: II, V; full: II V, I",
    "mixolydian": "half: IV, VII; full: VII IV, I",
}
"""Two bars that end a phrase, by mode and by name."""
_PHRASE = 4


def progression_of(name: str, bars: int, key: Key, random: Random, *, colour: float, is_last: bool) -> Bars:
    """Returns the chords of each bar of a part. `colour` is the share of sevenths; the last part ends on the tonic."""
    degrees: list[str] = []
    loops = [random.choice(_BY_MODE[key.mode]).split() for _ in range(2)]
    while len(degrees) < bars:
        degrees += loops[len(degrees) // _PHRASE % 2 if name == "bridge" else 0]
    degrees = degrees[:bars]
    for end in range(_PHRASE, bars + 1, _PHRASE):
        if end < bars or not is_last:
            _close(degrees, end, _open_cadence(key, random, is_end=end == bars))
    if is_last:
        cadences = _cadences(key)
        _close(degrees, bars, cadences.get("jazz" if colour > 0.5 else "full", cadences["full"]))
    return [tuple(_coloured(degree, key, colour) for degree in bar.split()) for bar in degrees]


def _open_cadence(key: Key, random: Random, *, is_end: bool) -> list[str]:
    """Returns a cadence within a piece: mostly one that asks to go on."""
    cadences = _cadences(key)
    usual = {"half": 6, "full": 4 if is_end else 1, "plagal": 2}
    return random.choices(list(cadences.values()), [usual.get(name, 1) for name in cadences])[0]


def _cadences(key: Key) -> dict[str, list[str]]:
    rows = (row.split(": ") for row in _CADENCES[key.mode].split("; "))
    return {name: bars.split(", ") for name, bars in rows}


def _close(degrees: list[str], end: int, cadence: list[str]) -> None:
    for place, degree in zip((end - 2, end - 1), cadence, strict=True):
        if place >= 0:
            degrees[place] = degree


def _coloured(degree: str, key: Key, colour: float) -> Chord:
    chord = Chord.of_degree(degree, key)
    if colour < 0.5 or chord.quality not in ("", "m"):
        return chord
    return Chord(chord.root, _seventh(chord, key))


def _seventh(chord: Chord, key: Key) -> str:
    """Returns the quality with the seventh of the key's scale: dominant on its fifth degree."""
    if chord.quality == "m":
        return "m7"
    is_dominant = (chord.root - key.pitch_class) % 12 == 7 or (chord.root + 11) % 12 not in key.scale
    return "7" if is_dominant else "maj7"
