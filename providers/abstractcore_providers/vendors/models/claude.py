"""Claude's models, under the names that Anthropic gives them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import Sampling

from ...common.media_types import ANTHROPIC_IMAGES
from .family import ModelFamily

_SOURCE = "https://platform.claude.com/docs/en/models/overview"
_ACCEPTS = ANTHROPIC_IMAGES | {"application/pdf", "text/plain"}
_CACHE_POINTS = 4
_LONG = Sampling(max_output_tokens=32_000)
_SHORT = Sampling(max_output_tokens=8_192)
"""`max_tokens` is required: enough for a long answer, or what every model can write."""
_ADAPTIVE = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_BUDGET = Thinking(budget=(1024, 63_999), budget_within_output=True)
_SHORTER_BUDGET = Thinking(budget=(1024, 31_999), budget_within_output=True)
ANY_CLAUDE_THINKING = Thinking(
    ("minimal", "low", "medium", "high", "xhigh", "max"), (1024, 127_999), budget_within_output=True
)
"""That of a model of which it is not known whether it takes levels or budgets."""

SAMPLED: dict[str, Any] = {
    "refused_with_thinking": frozenset({"top_k"}),
    "ranges_with_thinking": MappingProxyType({"temperature": (1.0, 1.0), "top_p": (0.95, 1.0)}),
    "forced_tools": "without_thinking",
}
"""What models with sampling options refuse (build-with-claude/extended-thinking, "Feature compatibility")."""
_ONE_OF_TWO: dict[str, Any] = {**SAMPLED, "refused_together": (("temperature", "top_p"),)}
"""That `temperature` and `top_p` exclude each other: about-claude/models/migrating-to-claude-4."""
_UNSAMPLED: dict[str, Any] = {
    "refused": frozenset({"temperature", "top_p", "top_k"}),
    "forced_tools": "without_thinking",
}
_NEWER: dict[str, Any] = {**_UNSAMPLED, "settings": MappingProxyType({"system_in_place": True})}
_NEWEST: dict[str, Any] = {**_NEWER, "forced_tools": "never"}
_SONNET_5_5: dict[str, Any] = {
    **_NEWEST,
    "settings": MappingProxyType({"system_in_place": True, "off": "between_tools"}),
}


def _family(
    names: tuple[str, ...],
    thinking: Thinking,
    facts: dict[str, Any],
    context_tokens: int = 1_000_000,
    accepts_prefill: bool = False,
) -> ModelFamily:
    profile = ModelProfile(
        _ACCEPTS, context_tokens, _LONG, thinking, _CACHE_POINTS, accepts_prefill=accepts_prefill, **facts
    )
    return ModelFamily(names, profile, _SOURCE)


CLAUDE: tuple[ModelFamily, ...] = (
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
    _family(("claude-opus-4-6",), _ADAPTIVE, _ONE_OF_TWO),
    _family(("claude-sonnet-4-6",), _ADAPTIVE, _ONE_OF_TWO),
    _family(("claude-opus-4-5",), _BUDGET, _ONE_OF_TWO, 200_000, True),
    _family(("claude-sonnet-4-5",), _BUDGET, _ONE_OF_TWO, 200_000, True),
    _family(("claude-haiku-4-5",), _BUDGET, _ONE_OF_TWO, 200_000, True),
    _family(("claude-opus-4-1",), _SHORTER_BUDGET, _ONE_OF_TWO, 200_000, True),
)
"""After the pages named in tests/providers/formats/anthropic_messages/SOURCES.md."""
UNKNOWN_CLAUDE = ModelFamily(
    (),
    ModelProfile(
        assumed=_ACCEPTS,
        encodable=_ACCEPTS,
        sampling=_SHORT,
        thinking=ANY_CLAUDE_THINKING,
        cache_points=_CACHE_POINTS,
        known=False,
        **SAMPLED,
    ),
)
