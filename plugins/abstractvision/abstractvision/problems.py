"""Errors of this package, and texts of others in them: short, and on one line."""

from __future__ import annotations

from abstractcore import CorruptFileError, MediaError


def shortened(text: str, length: int = 60) -> str:
    """Returns a text on one line, of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def failed_drawing(error: BaseException) -> MediaError:
    """Returns the error for a failure of the renderer."""
    return MediaError(f"the scene cannot be drawn: {shortened(str(error), 200) or type(error).__name__}")


def unreadable(what: str, error: Exception, source: str = "") -> CorruptFileError:
    """Returns the error for a picture that Pillow cannot read; `what` is "image" or "mask"."""
    from PIL import UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):  # its text is the address of a buffer
        why = "it is damaged, or of an unknown format"
    else:
        why = shortened(str(error), 200) or type(error).__name__
    return CorruptFileError(f"the {what} cannot be read: {why}", source=source)
