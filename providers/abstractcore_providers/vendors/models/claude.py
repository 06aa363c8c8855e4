"""Claude's models, under the names that Anthropic gives them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import Sampling

from ...common.media_types import ANTHROPIC_IMAGES
from ..rules.claude import ClaudeRules
from .family import ModelFamily

ClaudeFamily: TypeAlias = ModelFamily[ClaudeRules]

_SOURCE = "https://platform.claude.com/docs/en/models/overview"
_ACCEPTS = ANTHROPIC_IMAGES | {"application/pdf", "text/plain"}
_CACHE_POINTS = 4
_LONG = Sampling(max_output_tokens=32_000)
_SHORT = Sampling(max_output_tokens=8_192)
"""`max_tokens` is required: enough for a long answer, or what every model can write."""
_ADAPTIVE = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_BUDGET = Thinking(budget=(1024, 63_999))
_SHORTER_BUDGET = Thinking(budget=(1024, 31_999))

_SAMPLED = ClaudeRules(one_of_temperature_and_top_p=True)
"""That `temperature` and `top_p` exclude each other: about-claude/models/migrating-to-claude-4."""
_UNSAMPLED = ClaudeRules(accepts_sampling=False)
_NEWER = ClaudeRules(accepts_sampling=False, system_in_place=True)
_NEWEST = ClaudeRules(accepts_sampling=False, accepts_forced_tools=False, system_in_place=True)
_SONNET_5_5 = replace(_NEWEST, off="between_tools")


def _family(
    names: tuple[str, ...],
    thinking: Thinking,
    rules: ClaudeRules,
    context_tokens: int = 1_000_000,
    accepts_prefill: bool = False,
) -> ClaudeFamily:
    profile = ModelProfile(_ACCEPTS, context_tokens, _LONG, thinking, _CACHE_POINTS, accepts_prefill=accepts_prefill)
    return ModelFamily(names, profile, rules, _SOURCE)


CLAUDE: tuple[ClaudeFamily, ...] = (
    _family(("claude-fable-5-2", "claude-mythos-5-2"), _ALWAYS, _NEWEST),
    _family(("claude-fable-5-1", "claude-mythos-5-1"), _ALWAYS, _NEWEST),
    _family(("claude-fable-5", "claude-mythos-5"), _ALWAYS, _NEWER),
    _family(("claude-opus-5-5",), _ALWAYS, _NEWEST),
    _family(("claude-opus-5",), _ADAPTIVE, _NEWER),
    _family(("claude-sonnet-5-5",), _ADAPTIVE, _SONNET_5_5),
    _family(("claude-sonnet-5",), _ADAPTIVE, _UNSAMPLED),
    _family(("claude-haiku-5-5",), _ADAPTIVE, _NEWER),
    _family(("claude-opus-4-8",), _ADAPTIVE, _NEWER),
    _family(("claude-opus-4-7",), _ADAPTIVE, _UNSAMPLED),
    _family(("claude-opus-4-6",), _ADAPTIVE, _SAMPLED),
    _family(("claude-sonnet-4-6",), _ADAPTIVE, _SAMPLED),
    _family(("claude-opus-4-5",), _BUDGET, _SAMPLED, 200_000, True),
    _family(("claude-sonnet-4-5",), _BUDGET, _SAMPLED, 200_000, True),
    _family(("claude-haiku-4-5",), _BUDGET, _SAMPLED, 200_000, True),
    _family(("claude-opus-4-1",), _SHORTER_BUDGET, _SAMPLED, 200_000, True),
)
"""After the pages named in tests/providers/formats/anthropic_messages/SOURCES.md."""
UNKNOWN_CLAUDE: ClaudeFamily = ModelFamily(
    (),
    ModelProfile(assumed=_ACCEPTS, encodable=_ACCEPTS, sampling=_SHORT, cache_points=_CACHE_POINTS, known=False),
    ClaudeRules(),
)
