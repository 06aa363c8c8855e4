"""Google's Gemini models.

The pages are named in tests/providers/formats/gemini/SOURCES.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abstractcore.ports import ModelProfile, Thinking

from ...common.media_types import GEMINI_AUDIO, GEMINI_IMAGES, GEMINI_VIDEO
from .family import ModelFamily, find_family

_SOURCE = "https://ai.google.dev/gemini-api/docs/models"
_FILES = GEMINI_IMAGES | GEMINI_AUDIO | GEMINI_VIDEO | {"application/pdf"}
_FROM_MINIMAL = Thinking(("minimal", "low", "medium", "high"), can_be_off=False)
_FROM_LOW = Thinking(("low", "medium", "high"), can_be_off=False)
_GEMINI_2: Mapping[str, bool] = MappingProxyType({})
_GEMINI_3: Mapping[str, bool] = MappingProxyType({"media_in_results": True, "signed_calls": True})


def _family(
    name: str,
    thinking: Thinking,
    settings: Mapping[str, bool] = _GEMINI_3,
    accepts_prefill: bool = True,
) -> ModelFamily:
    profile = ModelProfile(
        _FILES,
        1_048_576,
        thinking=thinking,
        cache_points=0,
        accepts_prefill=accepts_prefill,
        settings=settings,
    )
    return ModelFamily((name,), profile, _SOURCE)


GEMINI: tuple[ModelFamily, ...] = (
    _family("gemini-4-argon", _FROM_LOW),
    _family("gemini-3.8-flash", _FROM_LOW, accepts_prefill=False),
    _family("gemini-3.7-flash", _FROM_LOW, accepts_prefill=False),
    _family("gemini-3.6-flash", _FROM_MINIMAL, accepts_prefill=False),
    _family("gemini-3.5-flash-lite", _FROM_MINIMAL, accepts_prefill=False),
    _family("gemini-3.5-flash", _FROM_MINIMAL),
    _family("gemini-3.1-flash-lite", _FROM_MINIMAL),
    _family("gemini-3.1-pro", _FROM_LOW),
    _family("gemini-3-flash", _FROM_MINIMAL),
    _family("gemini-3-pro", Thinking(("low", "high"), can_be_off=False)),
    _family("gemini-2.5-pro", Thinking(budget=(128, 32768), can_be_off=False), _GEMINI_2),
    _family("gemini-2.5-flash-lite", Thinking(budget=(512, 24576)), _GEMINI_2),
    _family("gemini-2.5-flash", Thinking(budget=(0, 24576)), _GEMINI_2),
    _family("gemini-2.0", Thinking(), _GEMINI_2),
)
_SPECIAL = ("embedding", "-image", "-tts", "-live", "-audio", "computer-use", "robotics")
"""Parts of the names of models whose input or output differs from that of their family."""
_UNKNOWN = ModelFamily((), ModelProfile(assumed=_FILES, encodable=_FILES, cache_points=0, known=False))


def find_gemini(model: str) -> ModelFamily:
    """Returns the family of a model, whose name may follow a path."""
    name = model.rpartition("/")[2]
    return _UNKNOWN if any(part in name for part in _SPECIAL) else find_family(name, GEMINI, _UNKNOWN)
