"""What the models of Bedrock can do, by what their ids hold: an id may begin with a region, or be an ARN.

The pages that say so are named in tests/providers/bedrock_converse/SOURCES.md.
"""

from __future__ import annotations

import re

from abstractcore.ports import ModelProfile, Thinking

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
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
_READS = _IMAGES | _DOCUMENTS
_BUDGET = Thinking(budget=(1024, 32_000))
_LEVELS = Thinking(("low", "medium", "high"))


def _claude(thinking: Thinking) -> ModelProfile:
    return ModelProfile(_READS, 200_000, thinking=thinking, cache_points=4)


def _nova(accepts: frozenset[str], context_tokens: int, thinking: Thinking) -> ModelProfile:
    return ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=4)


_FAMILIES: tuple[tuple[re.Pattern[str], ModelProfile], ...] = tuple(
    (re.compile(rf"(?:^|[./]){pattern}"), profile)
    for pattern, profile in (
        (r"anthropic\.claude-(?:opus|sonnet)-4-6", _claude(_LEVELS)),
        (r"anthropic\.claude-(?:3-7-sonnet|(?:opus|sonnet|haiku)-4)", _claude(_BUDGET)),
        (r"anthropic\.claude-3-", _claude(Thinking())),
        (r"amazon\.nova-2-lite", _nova(_READS | _VIDEO, 1_000_000, _LEVELS)),
        (r"amazon\.nova-premier", _nova(_READS | _VIDEO, 1_000_000, Thinking())),
        (r"amazon\.nova-(?:lite|pro)", _nova(_READS | _VIDEO, 300_000, Thinking())),
        (r"amazon\.nova-micro", _nova(frozenset(), 128_000, Thinking())),
        (r"openai\.gpt-oss", ModelProfile(thinking=Thinking(("low", "medium", "high"), can_be_off=False))),
    )
)


def profile_of(model: str) -> ModelProfile:
    """What is known of a model."""
    return next((profile for pattern, profile in _FAMILIES if pattern.search(model)), ModelProfile(known=False))
