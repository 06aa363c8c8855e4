"""What a model is told about an answer that does not match the requested type."""

from __future__ import annotations

from ..errors import OutputValidationError


def correction_of(error: OutputValidationError) -> str:
    """Returns the message that asks the model for a valid answer."""
    return f"{error.message}\nAnswer again, with JSON that matches the schema, and nothing else."
