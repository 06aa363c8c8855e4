"""Words that OpenAI's formats share."""

from __future__ import annotations

from abstractcore.schema import ThinkingLevel

EFFORTS: dict[str, ThinkingLevel] = {
    "none": "off",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
}


def origin_of(provider: str, model: str | None) -> str | None:
    """Whose reasoning it is; None if the model is not named."""
    return f"{provider}/{model}" if model else None


def reported(**counts: int | None) -> dict[str, int]:
    """The counts that were reported."""
    return {name: count for name, count in counts.items() if count is not None}
