"""The English words that the rules know, read from `vocabulary.json`."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

from PIL import ImageColor
from pydantic import BaseModel

from ..motif_names import MotifName
from ..motifs import motif_rows

Side: TypeAlias = Literal["left", "middle", "right"]
Relation: TypeAlias = Literal["on", "under", "over", "beside", "behind"]
Setting: TypeAlias = Literal[
    "night", "sunset", "winter", "sea", "beach", "desert", "space", "underwater", "city", "meadow", "storm", "autumn"
]
_HERE = "abstractvision.drawing.rules"


class Vocabulary(BaseModel):
    """Words by what they mean. `crowds` name a motif and how many of it; `daylight` is what a landscape has by day.

    `filler` words ask for a picture, or connect others, and mean nothing in it.
    """

    numbers: dict[str, int]
    crowds: dict[str, int]
    sides: dict[str, Side]
    relations: dict[str, Relation]
    removing: frozenset[str]
    colors: dict[str, str]
    settings: dict[Setting, list[str]]
    daylight: frozenset[str]
    filler: frozenset[str]

    def color(self, word: str) -> str | None:
        """Returns the colour that a word names."""
        return self.colors.get(word) or (word if word in ImageColor.colormap else None)


@cache
def vocabulary() -> Vocabulary:
    """Returns all words that the rules know, but those of motifs."""
    text = resources.files(_HERE).joinpath("vocabulary.json").read_text(encoding="utf-8")
    return Vocabulary.model_validate_json(text)


@cache
def motif_words() -> dict[str, MotifName]:
    """Returns the motif of each word."""
    return {word: name for name, row in motif_rows().items() for word in row.words}


@cache
def setting_words() -> dict[str, Setting]:
    """Returns the setting of each word."""
    return {word: setting for setting, words in vocabulary().settings.items() for word in words}
