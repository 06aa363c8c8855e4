"""Checks of texts that users give to capabilities."""

from __future__ import annotations

from ..errors import InvalidInputError


def checked_text(text: object, name: str) -> str:
    """Returns a text that the user gave; raises `InvalidInputError` unless it has any words."""
    if not isinstance(text, str):
        raise InvalidInputError(f"expected text, got {type(text).__name__}", path=name)
    if not text.strip():
        raise InvalidInputError("the text is empty", path=name)
    return text
