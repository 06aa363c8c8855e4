"""`compose`: writes a score by rules: form, harmony, melody, accompaniment.

The same prompt and seed give the same score.
"""

from __future__ import annotations

from random import Random
from typing import Any

from ..scores import Score, Section
from .arranging import arranged
from .plans import CompositionPlan, plan_of
from .songs import Song
from .songwriting import song_of
from .wishes import Wishes, wishes_of

RULES = "rules"
"""The composer of scores that no model wrote."""


def compose(
    prompt: str,
    *,
    lyrics: str = "",
    seconds: float | None = None,
    tempo: float | None = None,
    key: str | None = None,
    meter: str | None = None,
    mood: str | None = None,
    seed: int | None = None,
) -> Score:
    """Returns a score for a description such as `a calm waltz for flute and harp`; another seed gives another piece.

    Options win over words of the description. `seconds` is 2 to 600, by default 30, with the time in which the last
    notes die away; `tempo` is in beats a minute, 20 to 320; `key` is a name like `D minor`, `meter` like `6/8`. Lines
    of `lyrics` are set to phrases of the melody. Raises `InvalidInputError` for impossible ones.
    """
    options: Any = {"seconds": seconds, "tempo": tempo, "key": key, "meter": meter, "mood": mood}
    return composed(wishes_of(prompt, lyrics=lyrics, **options), seed)


def composed(wishes: Wishes, seed: int | None = None) -> Score:
    """Returns a score for wishes."""
    random = Random(f"{seed}:{wishes.prompt}")
    plan = plan_of(wishes, random)
    song = song_of(plan, wishes.lyrics, random)
    return score_of(plan, song, random)


def score_of(plan: CompositionPlan, song: Song, random: Random) -> Score:
    """Returns the score of a plan and its song."""
    sections: list[Section] = []
    for part in plan.form:
        sections.append(Section(part.name, sum(section.bars for section in sections), part.bars))
    return Score(
        title=plan.title,
        key=plan.key,
        meter=plan.meter,
        tempo=plan.tempo,
        bars=plan.bars,
        voices=arranged(plan, song, random),
        sections=tuple(sections),
        harmony=song.harmony(plan.meter),
        is_swung=plan.style.is_swung and plan.meter.pulse == 4,
        composer=RULES,
        moods=(plan.mood.name, plan.style.name),
    )
