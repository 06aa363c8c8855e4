"""`form_of`: the parts of a piece for a number of bars."""

from __future__ import annotations

from dataclasses import dataclass

_SONG = ("verse", "chorus", "verse", "chorus", "bridge", "chorus")
_ENERGY = {"intro": 0.55, "theme": 0.75, "verse": 0.7, "chorus": 1.0, "bridge": 0.8, "outro": 0.6}
_PHRASE = 4
_INTRO_FROM, _OUTRO_FROM = 20, 28
"""Bars that a piece has at least to have an introduction and an ending of their own."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the form; parts of one name share harmony and melody. `energy` is 0 to 1."""

    name: str
    bars: int
    energy: float

    @property
    def has_melody(self) -> bool:
        """Whether the melody plays."""
        return self.name != "intro"


def form_of(bars: int) -> tuple[Part, ...]:
    """Returns the parts for a number of bars: a theme in short pieces, verses and choruses in longer ones."""
    if bars <= 2 * _PHRASE:
        return (part_of("theme", bars),)
    over = bars % _PHRASE
    intro = over if over else _PHRASE if bars >= _INTRO_FROM else 0
    outro = _PHRASE if bars >= _OUTRO_FROM else 0
    left, parts = bars - intro - outro, [part_of("intro", intro)] if intro else []
    turn = 0
    while left > 0:
        name = _SONG[turn % len(_SONG)]
        length = min(left, _PHRASE if left <= 3 * _PHRASE and turn == 0 and left != 2 * _PHRASE * 2 else 2 * _PHRASE)
        parts.append(part_of(name, length))
        left, turn = left - length, turn + 1
    if outro:
        parts.append(part_of("outro", outro))
    return tuple(parts)


def part_of(name: str, bars: int) -> Part:
    """Returns a part with the energy of its name, as far as that is known."""
    known = next((each for each in _ENERGY if each in name.lower()), "theme")
    return Part(name, bars, _ENERGY[known])
