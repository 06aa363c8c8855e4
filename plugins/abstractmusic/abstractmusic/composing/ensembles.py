"""`Ensemble`: who plays, by what is asked for and what the style has."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ..scores import INSTRUMENTS, Instrument
from .styles import Style
from .wishes import Wishes

_ACCOMPANYING = (
    "piano", "guitar", "harp", "organ", "accordion", "banjo", "electric piano", "steel guitar", "distorted guitar",
    "pad",
)  # fmt: skip
_PADS = ("strings", "choir", "pad", "organ")
_HIGHEST_BASS = 60


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The instruments of a piece, by what they do. `counter` plays a second line of long notes."""

    melody: Instrument
    chords: Instrument | None = None
    bass: Instrument | None = None
    pad: Instrument | None = None
    counter: Instrument | None = None
    has_drums: bool = False


def ensemble_of(wishes: Wishes, style: Style, random: Random) -> Ensemble:
    """Chooses who plays."""
    asked = [player for player in wishes.instruments if not player.is_drums]
    bass = next((player for player in asked if player.clef == "bass" and player.highest <= _HIGHEST_BASS), None)
    chords = next((player for player in asked if player.name in _ACCOMPANYING), None)
    pad = next((player for player in asked if player.name in _PADS and player is not chords), None)
    soloists = [player for player in asked if player not in (bass, chords, pad)]
    if wishes.is_solo:
        main = (soloists or asked or [INSTRUMENTS["piano"]])[0]
        return Ensemble(main, chords=main if main.name in _ACCOMPANYING else None)
    allowed = {name: INSTRUMENTS[name] for name in INSTRUMENTS if name not in wishes.without}
    chords = chords or allowed.get(random.choice(style.chords))
    melodies = [allowed[name] for name in style.melody if name in allowed and allowed[name] is not chords]
    melody = soloists[0] if soloists else random.choice(melodies or [INSTRUMENTS["flute"]])
    if chords is not None and asked == [chords] and len(wishes.instruments) == 1:
        melody = chords
    return Ensemble(
        melody,
        chords,
        bass=bass or allowed.get(style.bass),
        pad=pad or allowed.get(style.pad),
        counter=soloists[1] if len(soloists) > 1 else None,
        has_drums="drums" in allowed and (bool(style.beat) or any(player.is_drums for player in wishes.instruments)),
    )
