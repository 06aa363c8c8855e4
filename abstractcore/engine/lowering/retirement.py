"""Warns of a model that its provider has retired."""

from __future__ import annotations

from functools import lru_cache
from time import gmtime, strftime

from ...ports import ModelProfile
from ...schema import CallWarning

_DAY_SECONDS = 86_400


def retirement_warning(model: str, profile: ModelProfile, time: float) -> list[CallWarning]:
    """Returns a warning from the day of the profile on, in UTC; `time` is in seconds since the epoch."""
    if profile.retires is None or _date_of(int(time // _DAY_SECONDS)) < profile.retires:
        return []
    instead = f": use {profile.replaced_by!r} instead" if profile.replaced_by else ""
    if profile.routed:
        instead = f": {profile.replaced_by!r} answers instead, by its own rules and at its price"
    message = f"the model {model!r} is retired as of {profile.retires}{instead}"
    return [CallWarning("retired_model", "model", message, model)]


@lru_cache(maxsize=8)
def _date_of(day: int) -> str:
    """Returns the date of a day since the epoch, as "2026-11-21"."""
    return strftime("%Y-%m-%d", gmtime(day * _DAY_SECONDS))
