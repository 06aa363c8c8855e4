"""Composition by rules: from wishes to a score. Knows no model and no sound."""

from __future__ import annotations

from .forms import Part, part_of
from .moods import MOODS
from .pieces import RULES, compose, composed, score_of
from .plans import CompositionPlan, bars_in, plan_of, usual_tempo
from .progressions import Bars
from .songs import Song
from .styles import STYLES
from .wishes import Wishes, mood_of, wishes_of

__all__ = [
    "MOODS",
    "RULES",
    "STYLES",
    "Bars",
    "CompositionPlan",
    "Part",
    "Song",
    "Wishes",
    "bars_in",
    "compose",
    "composed",
    "mood_of",
    "part_of",
    "plan_of",
    "score_of",
    "usual_tempo",
    "wishes_of",
]
