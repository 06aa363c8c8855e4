"""The model that reasoning belongs to."""

from __future__ import annotations


def origin_of(provider: str, model: str | None) -> str | None:
    """The model as "provider/model"; None if it is not named."""
    return f"{provider}/{model}" if model else None
