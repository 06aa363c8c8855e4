"""`ModelFamily`, a row in the tables of models, and the lookup of a model's row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from abstractcore.ports import ModelProfile, Thinking

RulesT = TypeVar("RulesT", covariant=True)
_NOTHING: Any = None
_UNKNOWN_PROFILE = ModelProfile(known=False)


@dataclass(frozen=True, slots=True)
class ModelFamily(Generic[RulesT]):
    """Models whose names begin with one of `names`.

    `profile` describes what they can do; it is not `known` if only their rules are. `rules` describe what they refuse
    and how their requests are written, for vendors whose models differ in that. `source` is the page with these facts.
    """

    names: tuple[str, ...]
    profile: ModelProfile = _UNKNOWN_PROFILE
    rules: RulesT = _NOTHING
    source: str = ""


UNKNOWN: ModelFamily[Any] = ModelFamily(())


def find_family(
    model: str, families: Iterable[ModelFamily[RulesT]], unknown: ModelFamily[RulesT] = UNKNOWN
) -> ModelFamily[RulesT]:
    """Returns the first family with a name that `model` begins with, else `unknown`."""
    return next((family for family in families if model.startswith(family.names)), unknown)


def family(
    source: str,
    name: str,
    accepts: frozenset[str] = frozenset(),
    context_tokens: int | None = None,
    thinking: Thinking | None = None,
    rules: Any = None,
) -> ModelFamily[Any]:
    """Returns a row for models whose vendor caches prompts without cache points."""
    profile = ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=0)
    return ModelFamily((name,), profile, rules, source)
