"""Models at Amazon Bedrock, under their makers' names, without the region or ARN in front of them.

The pages are named in tests/providers/formats/bedrock_converse/SOURCES.md.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from abstractcore.ports import ModelProfile, Thinking

from ...common.media_types import BEDROCK_IMAGES
from ...formats.bedrock_converse import maker_of
from .claude import ANY_CLAUDE_THINKING, CLAUDE, SAMPLED
from .family import ModelFamily, find_family

_GUIDE = "https://docs.aws.amazon.com/bedrock/latest/userguide"
_NOVA_GUIDE = "https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        f"{_OFFICE}.wordprocessingml.document",
        f"{_OFFICE}.spreadsheetml.sheet",
        "text/csv",
        "text/html",
        "text/markdown",
        "text/plain",
    }
)
_VIDEO = frozenset(
    {
        "video/mp4",
        "video/quicktime",
        "video/x-matroska",
        "video/webm",
        "video/x-flv",
        "video/mpeg",
        "video/x-ms-wmv",
        "video/3gpp",
    }
)
_FILES = BEDROCK_IMAGES | _DOCUMENTS
_NO_THINKING = Thinking()
_BUDGET = Thinking(budget=(1024, 32_000), budget_within_output=True)
_LEVELS = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)

_ALWAYS_THINKS_HERE = "claude-opus-4-7"
"""Its thinking can be turned off at Anthropic, but not here (User Guide, "Adaptive thinking")."""
_FIVE_MINUTES_ONLY = "claude-opus-4-1"
_FIVE_MINUTES = ("5m",)
_AMAZON: dict[str, Any] = {
    "refused_with_level": MappingProxyType({"high": frozenset({"max_output_tokens", "temperature", "top_p"})}),
    "cache_tools": False,
    "cache_times": _FIVE_MINUTES,
}
"""Options that Amazon's models refuse with the highest effort: Amazon Nova 2 User Guide, "Extended thinking"."""


def _known_claude(family: ModelFamily) -> ModelFamily:
    """A family of Anthropic's table; the format demands no limit of the output."""
    thinking = _ALWAYS if _ALWAYS_THINKS_HERE in family.names else family.profile.thinking
    times = _FIVE_MINUTES if _FIVE_MINUTES_ONLY in family.names else ()
    profile = replace(family.profile, accepts=_FILES, sampling=None, thinking=thinking, cache_times=times)
    names = tuple(f"anthropic.{name}" for name in family.names)
    return ModelFamily(names, profile, f"{_GUIDE}/model-cards.html")


def _older_claude(*names: str, thinking: Thinking = _NO_THINKING, cache_points: int = 4) -> ModelFamily:
    """A family that Anthropic itself no longer runs."""
    profile = ModelProfile(
        _FILES, 200_000, thinking=thinking, cache_points=cache_points, cache_times=_FIVE_MINUTES, **SAMPLED
    )
    names = tuple(f"anthropic.claude-{name}" for name in names)
    return ModelFamily(names, profile, f"{_GUIDE}/model-cards.html")


def _nova(
    *names: str, accepts: frozenset[str] = _FILES | _VIDEO, context_tokens: int, thinking: Thinking = _NO_THINKING
) -> ModelFamily:
    profile = ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=4, **_AMAZON)
    return ModelFamily(tuple(f"amazon.nova-{name}" for name in names), profile, _NOVA_GUIDE)


_UNKNOWN_PROFILE = ModelProfile(assumed=BEDROCK_IMAGES, encodable=_FILES | _VIDEO, known=False)
"""Many vendors' models: few accept documents natively, so PDF is sent as text where it can be converted."""
_UNKNOWN_CLAUDE = replace(_UNKNOWN_PROFILE, thinking=ANY_CLAUDE_THINKING, **SAMPLED)
BEDROCK: tuple[ModelFamily, ...] = (
    *map(_known_claude, CLAUDE),
    _older_claude("3-7-sonnet", "opus-4-2025", "sonnet-4-2025", thinking=_BUDGET),
    _older_claude("3-5-haiku", "3-5-sonnet-20241022"),
    _older_claude("3-", cache_points=0),
    ModelFamily(("anthropic.",), _UNKNOWN_CLAUDE, f"{_GUIDE}/model-cards.html"),
    _nova("2-lite", context_tokens=1_000_000, thinking=_LEVELS),
    _nova("premier", context_tokens=1_000_000),
    _nova("lite", "pro", context_tokens=300_000),
    _nova("micro", accepts=frozenset(), context_tokens=128_000),
    ModelFamily(("amazon.",), replace(_UNKNOWN_PROFILE, **_AMAZON), _NOVA_GUIDE),
    ModelFamily(
        ("openai.gpt-oss",),
        ModelProfile(context_tokens=128_000, thinking=_ALWAYS, cache_points=0),
        source=f"{_GUIDE}/model-cards.html",
    ),
)
_UNKNOWN = ModelFamily((), _UNKNOWN_PROFILE)


def find_bedrock(model: str) -> ModelFamily:
    """Returns the family of a model by its ID or ARN. One that does not name the maker is taken for a model of
    Anthropic, as in the format.
    """
    maker = f"{maker_of(model)}."
    return find_family(maker + model.partition(maker)[2], BEDROCK, _UNKNOWN)
