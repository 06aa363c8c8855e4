"""The model that wrote a reasoning part."""

from __future__ import annotations


def origin_of(provider: str, model: str | None) -> str | None:
    """Returns the model as "provider/model"; None if it has no name."""
    return f"{provider}/{model}" if model else None
