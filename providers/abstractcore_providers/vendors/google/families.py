"""What Google's models can do, by the beginnings of their names.

The pages that say so are named in tests/providers/formats/gemini/SOURCES.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.ports import ModelProfile, Price, Thinking

from ...common.media_types import GEMINI_AUDIO, GEMINI_IMAGES, GEMINI_VIDEO

_SEES_AND_HEARS = GEMINI_IMAGES | GEMINI_AUDIO | GEMINI_VIDEO | {"application/pdf"}
_CONTEXT = 1_048_576
_FROM_MINIMAL = Thinking(("minimal", "low", "medium", "high"), can_be_off=False)
_FROM_LOW = Thinking(("low", "medium", "high"), can_be_off=False)


@dataclass(frozen=True, slots=True)
class Family:
    """Models whose names begin alike. Where a price depends on the length of a prompt there is none here.

    With `since_3`, files stand in the results of tools, and the first call of a turn has a signature. Without
    `accepts_prefill`, a request may not end with the model's turn.
    """

    beginning: str
    thinking: Thinking
    price: Price | None = None
    since_3: bool = False
    accepts_prefill: bool = True

    @property
    def profile(self) -> ModelProfile:
        """What all of them take."""
        return ModelProfile(
            _SEES_AND_HEARS,
            _CONTEXT,
            self.price,
            thinking=self.thinking,
            cache_points=0,
            accepts_prefill=self.accepts_prefill,
        )


_FAMILIES = (
    Family("gemini-4-argon", _FROM_LOW, since_3=True),
    Family("gemini-3.8-flash", _FROM_LOW, since_3=True, accepts_prefill=False),
    Family("gemini-3.7-flash", _FROM_LOW, since_3=True, accepts_prefill=False),
    Family("gemini-3.6-flash", _FROM_MINIMAL, since_3=True, accepts_prefill=False),
    Family("gemini-3.5-flash-lite", _FROM_MINIMAL, since_3=True, accepts_prefill=False),
    Family("gemini-3.5-flash", _FROM_MINIMAL, since_3=True),
    Family("gemini-3.1-flash-lite", _FROM_MINIMAL, since_3=True),
    Family("gemini-3.1-pro", _FROM_LOW, since_3=True),
    Family("gemini-3-flash", _FROM_MINIMAL, Price(0.5, 3.0, 0.05), since_3=True),
    Family("gemini-3-pro", Thinking(("low", "high"), can_be_off=False), since_3=True),
    Family("gemini-2.5-pro", Thinking(budget=(128, 32768), can_be_off=False)),
    Family("gemini-2.5-flash-lite", Thinking(budget=(512, 24576)), Price(0.1, 0.4)),
    Family("gemini-2.5-flash", Thinking(budget=(0, 24576)), Price(0.3, 2.5)),
    Family("gemini-2.0", Thinking()),
)
_NO_CHAT = ("embedding", "-image", "-tts", "-live", "-audio", "computer-use", "robotics")
"""Names of models that take or give something else than the rest of their family."""
UNKNOWN = ModelProfile(assumed=_SEES_AND_HEARS, carried=_SEES_AND_HEARS, cache_points=0, known=False)
"""A model of no family."""


def family_of(model: str) -> Family | None:
    """The family of a model; None for one that is not known."""
    name = model.rpartition("/")[2]
    if any(word in name for word in _NO_CHAT):
        return None
    return next((family for family in _FAMILIES if name.startswith(family.beginning)), None)
