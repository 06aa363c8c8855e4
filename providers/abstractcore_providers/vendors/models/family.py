"""`ModelFamily`, a row in the tables of models, and the lookup of a model's row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.ports import ModelProfile, Thinking

UNKNOWN_PROFILE = ModelProfile(known=False)


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Models whose names begin with one of `names`.

    `profile` describes what they can do; it is not `known` if it only says what they refuse. `source` is the page with
    these facts.
    """

    names: tuple[str, ...]
    profile: ModelProfile = UNKNOWN_PROFILE
    source: str = ""


UNKNOWN = ModelFamily(())


def find_family(model: str, families: Iterable[ModelFamily], unknown: ModelFamily = UNKNOWN) -> ModelFamily:
    """Returns the first family with a name that `model` begins with, else `unknown`."""
    return next((family for family in families if model.startswith(family.names)), unknown)


def family(
    source: str,
    name: str,
    accepts: frozenset[str] = frozenset(),
    context_tokens: int | None = None,
    thinking: Thinking | None = None,
    **facts: Any,
) -> ModelFamily:
    """Returns a row for models whose vendor caches prompts without cache points. `facts` are more of the profile."""
    profile = ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=0, **facts)
    return ModelFamily((name,), profile, source)


def with_refusals_of(profile: ModelProfile, other: ModelProfile) -> ModelProfile:
    """Returns `profile` with the sampling options that `other` refuses, and when it thinks."""
    return replace(
        profile,
        thinking=Thinking(on_by_default=True) if other.thinking and other.thinking.on_by_default else None,
        refused=other.refused,
        refused_with_thinking=other.refused_with_thinking,
        refused_together=other.refused_together,
        ranges_with_thinking=other.ranges_with_thinking,
    )
