"""Errors of this package, and texts of others in them: short, and on one line."""

from __future__ import annotations

from abstractcore import MediaError


def shortened(text: str, length: int = 60) -> str:
    """Returns a text on one line, of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def failed_drawing(error: BaseException) -> MediaError:
    """Returns the error for a failure of the renderer."""
    return MediaError(f"the scene cannot be drawn: {shortened(str(error), 200) or type(error).__name__}")
