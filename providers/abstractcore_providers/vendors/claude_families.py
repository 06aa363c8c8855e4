"""What Claude's models can do, by the beginnings of their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from abstractcore.ports import ModelProfile, Price, Thinking
from abstractcore.schema import Sampling

from ..common.media_types import ANTHROPIC_IMAGES
from .claude_rules import ClaudeRules

_READS = ANTHROPIC_IMAGES | {"application/pdf", "text/plain"}
_CACHE_POINTS = 4
_LONG = Sampling(max_output_tokens=32_000)
_SHORT = Sampling(max_output_tokens=8_192)
"""The format demands a limit on the answer: enough for a long one, or what every model can write."""

_ADAPTIVE = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_BUDGET = Thinking(budget=(1024, 63_999))
_SHORTER_BUDGET = Thinking(budget=(1024, 31_999))
_ANY = ClaudeRules()
_SAMPLED = ClaudeRules(one_of_temperature_and_top_p=True)
"""That they refuse `temperature` beside `top_p`: about-claude/models/migrating-to-claude-4."""
_UNSAMPLED = ClaudeRules(takes_sampling=False)
_NEWER = ClaudeRules(takes_sampling=False, system_in_place=True)
_NEWEST = ClaudeRules(takes_sampling=False, tools_forced=False, system_in_place=True)
_SONNET_5_5 = replace(_NEWEST, off="between_tools")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class _Family:
    """Models whose names begin alike. Older ones go on with an answer that is begun."""

    beginnings: tuple[str, ...]
    context_tokens: int
    price: Price | None
    thinking: Thinking
    rules: ClaudeRules
    accepts_prefill: bool = False

    @property
    def profile(self) -> ModelProfile:
        return ModelProfile(
            _READS,
            self.context_tokens,
            self.price,
            _LONG,
            self.thinking,
            _CACHE_POINTS,
            accepts_prefill=self.accepts_prefill,
        )


_FAMILIES = (
    _Family(("claude-fable-5-2", "claude-mythos-5-2"), _MILLION, None, _ALWAYS, _NEWEST),
    _Family(("claude-fable-5-1", "claude-mythos-5-1"), _MILLION, Price(10, 50, 0.25, 12.5), _ALWAYS, _NEWEST),
    _Family(("claude-fable-5", "claude-mythos-5"), _MILLION, Price(10, 50, 1, 12.5), _ALWAYS, _NEWER),
    _Family(("claude-opus-5-5",), _MILLION, Price(4, 20, 0.2, 5), _ALWAYS, _NEWEST),
    _Family(("claude-opus-5",), _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, _NEWER),
    _Family(("claude-sonnet-5-5",), _MILLION, Price(2, 10, 0.1, 2.5), _ADAPTIVE, _SONNET_5_5),
    _Family(("claude-sonnet-5",), _MILLION, Price(2, 10, 0.2, 2.5), _ADAPTIVE, _UNSAMPLED),
    _Family(("claude-haiku-5-5",), _MILLION, None, _ADAPTIVE, _NEWER),
    _Family(("claude-opus-4-8",), _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, _NEWER),
    _Family(("claude-opus-4-7",), _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, _UNSAMPLED),
    _Family(("claude-opus-4-6",), _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, _SAMPLED),
    _Family(("claude-sonnet-4-6",), _MILLION, Price(3, 15, 0.3, 3.75), _ADAPTIVE, _SAMPLED),
    _Family(("claude-opus-4-5",), 200_000, Price(5, 25, 0.5, 6.25), _BUDGET, _SAMPLED, accepts_prefill=True),
    _Family(("claude-sonnet-4-5",), 200_000, Price(3, 15, 0.3, 3.75), _BUDGET, _SAMPLED, accepts_prefill=True),
    _Family(("claude-haiku-4-5",), 200_000, Price(1, 5, 0.1, 1.25), _BUDGET, _SAMPLED, accepts_prefill=True),
    _Family(("claude-opus-4-1",), 200_000, None, _SHORTER_BUDGET, _SAMPLED, accepts_prefill=True),
)
"""After the pages named in tests/providers/formats/anthropic_messages/SOURCES.md. Writing to the cache is priced for
five minutes. A model without a price here has several, by the length of the prompt, or an unknown one for the cache.
"""

_UNKNOWN = ModelProfile(assumed=_READS, carried=_READS, sampling=_SHORT, cache_points=_CACHE_POINTS, known=False)


def profile_of(model: str) -> ModelProfile:
    """What is known of a model at Anthropic."""
    return known_profile_of(model) or _UNKNOWN


def known_profile_of(model: str) -> ModelProfile | None:
    """What a model can do, whoever runs it; None if its family is not known."""
    family = _family_of(model)
    return None if family is None else family.profile


def rules_of(model: str) -> ClaudeRules:
    """What a model refuses, whoever runs it; `model` is Anthropic's name of it. Nothing of one that is not known."""
    family = _family_of(model)
    return _ANY if family is None else family.rules


def rules_by_name() -> Iterator[tuple[str, ClaudeRules]]:
    """The beginning of every name that is known, with what those models refuse; the first that fits counts."""
    return ((beginning, family.rules) for family in _FAMILIES for beginning in family.beginnings)


def _family_of(model: str) -> _Family | None:
    return next((family for family in _FAMILIES if model.startswith(family.beginnings)), None)
