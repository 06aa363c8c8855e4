"""`CompositionPlan`: everything that is decided before notes are written."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ..scores.score import FASTEST, SLOWEST, TAIL
from ..theory import Key, Meter
from .ensembles import Ensemble, ensemble_of
from .forms import Part, form_of
from .moods import MOODS, Mood
from .styles import STYLES, Style
from .wishes import Wishes

_TONICS = ("C", "G", "D", "A", "F", "Bb", "Eb")
_MINOR_TONICS = ("A", "E", "D", "B", "G", "C", "F#")
_SHORTEST_TAIL = 0.4
"""Seconds that are left after the last whole bar."""
_MOST_CHANGE = 0.06
"""How much a tempo of our own may differ from what was chosen, so that whole bars fill the time."""


@dataclass(frozen=True, slots=True)
class CompositionPlan:
    """What is composed."""

    title: str
    mood: Mood
    style: Style
    key: Key
    meter: Meter
    tempo: float
    form: tuple[Part, ...]
    players: Ensemble

    @property
    def bars(self) -> int:
        """The bars of the piece."""
        return sum(part.bars for part in self.form)


def plan_of(wishes: Wishes, random: Random) -> CompositionPlan:
    """Decides what the wishes leave open."""
    mood = wishes.mood or MOODS["calm" if wishes.style is None else wishes.style.mood]
    style = wishes.style or STYLES[mood.style]
    mode = random.choice(mood.modes)
    tonic = random.choice(_TONICS if mode in ("major", "lydian", "mixolydian") else _MINOR_TONICS)
    meter = wishes.meter or Meter.parse(wishes.meter_of_style or style.meter)
    tempo = wishes.tempo or _tempo(mood, style, random)
    bars, tempo = _fitted(wishes, meter, tempo)
    return CompositionPlan(
        title=_title(wishes.prompt),
        mood=mood,
        style=style,
        key=wishes.key or Key(tonic, mode),
        meter=meter,
        tempo=tempo,
        form=form_of(bars),
        players=ensemble_of(wishes, style, random),
    )


def _tempo(mood: Mood, style: Style, random: Random) -> float:
    lowest, highest = max(mood.tempo[0], style.tempo[0]), min(mood.tempo[1], style.tempo[1])
    if lowest > highest:
        return float(style.tempo[0] if mood.tempo[1] < style.tempo[0] else style.tempo[1])
    return float(random.randint(lowest, highest))


def _fitted(wishes: Wishes, meter: Meter, tempo: float) -> tuple[int, float]:
    """Returns the bars that fill the time, and the tempo: changed a little unless it was asked for."""
    if wishes.tempo is None:
        bars = bars_in(max(wishes.seconds - TAIL, wishes.seconds * 0.6), meter, tempo)
        whole = max(round(bars / 2) * 2 if bars >= 6 else round(bars), 1)
        change = min(max(whole / bars, 1 - _MOST_CHANGE), 1 + _MOST_CHANGE)
        tempo = min(max(round(tempo * change, 1), SLOWEST), FASTEST)
    return max(int(bars_in(wishes.seconds - _SHORTEST_TAIL, meter, tempo)), 1), tempo


def usual_tempo(wishes: Wishes) -> float:
    """Returns the middle of the tempos of mood and style."""
    moods = [wishes.mood] if wishes.mood else []
    low, high = next((each.tempo for each in (*moods, *([wishes.style] if wishes.style else []))), (90, 110))
    return float(low + high) / 2


def bars_in(seconds: float, meter: Meter, tempo: float) -> float:
    """Returns the bars that seconds have."""
    return seconds * tempo * meter.pulse / 60 / meter.bar


def _title(prompt: str) -> str:
    words = " ".join(prompt.split())
    title = words if len(words) <= 60 else f"{words[:57].rsplit(' ', 1)[0]}..."
    return title[:1].upper() + title[1:]
