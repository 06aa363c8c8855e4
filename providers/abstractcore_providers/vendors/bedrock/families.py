"""What the models of Bedrock can do, by what their ids hold: an id may begin with a region, or be an ARN.

The pages that say so are named in tests/providers/formats/bedrock_converse/SOURCES.md.
"""

from __future__ import annotations

import re
from dataclasses import replace

from abstractcore.ports import ModelProfile, Thinking

from ...common.media_types import BEDROCK_IMAGES
from ..claude_families import known_profile_of

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
_READS = BEDROCK_IMAGES | _DOCUMENTS
_NEVER = Thinking()
_BUDGET = Thinking(budget=(1024, 32_000))
_LEVELS = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_MILLION = 1_000_000


def _claude(thinking: Thinking, cache_points: int = 4) -> ModelProfile:
    """One that Anthropic runs no longer."""
    return ModelProfile(_READS, 200_000, thinking=thinking, cache_points=cache_points)


def _nova(accepts: frozenset[str], context_tokens: int, thinking: Thinking) -> ModelProfile:
    return ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=4)


_FAMILIES: tuple[tuple[re.Pattern[str], ModelProfile], ...] = tuple(
    (re.compile(rf"(?:^|[./]){pattern}"), profile)
    for pattern, profile in (
        (r"anthropic\.claude-(?:3-7-sonnet|(?:opus|sonnet)-4-2025)", _claude(_BUDGET)),
        (r"anthropic\.claude-3-5-(?:haiku|sonnet-20241022)", _claude(_NEVER)),
        (r"anthropic\.claude-3-", _claude(_NEVER, cache_points=0)),
        (r"amazon\.nova-2-lite", _nova(_READS | _VIDEO, _MILLION, _LEVELS)),
        (r"amazon\.nova-premier", _nova(_READS | _VIDEO, _MILLION, _NEVER)),
        (r"amazon\.nova-(?:lite|pro)", _nova(_READS | _VIDEO, 300_000, _NEVER)),
        (r"amazon\.nova-micro", _nova(frozenset(), 128_000, _NEVER)),
        (r"openai\.gpt-oss", ModelProfile(context_tokens=128_000, thinking=_ALWAYS, cache_points=0)),
    )
)
_UNKNOWN = ModelProfile(assumed=BEDROCK_IMAGES, carried=_READS | _VIDEO, known=False)
"""Many vendors' models: few take documents themselves, so that PDF goes as text where that can be made."""
_CLAUDE = re.compile(r"(?:^|[./])anthropic\.(claude-.*)")
_NEVER_OFF_HERE = ("claude-opus-4-7",)
"""Models that can be asked not to think at Anthropic, and not here (User Guide, "Adaptive thinking")."""


def claude_name(model: str) -> str | None:
    """Anthropic's own name of a model; None for another maker's, or for an id that does not show the model."""
    named = _CLAUDE.search(model)
    return named[1] if named is not None else None


def profile_of(model: str) -> ModelProfile:
    """What is known of a model."""
    name = claude_name(model)
    known = None if name is None else known_profile_of(name)
    if name is not None and known is not None:
        thinking = _ALWAYS if name.startswith(_NEVER_OFF_HERE) else known.thinking
        return replace(known, accepts=_READS, price=None, sampling=None, thinking=thinking)
    return next((profile for pattern, profile in _FAMILIES if pattern.search(model)), _UNKNOWN)
