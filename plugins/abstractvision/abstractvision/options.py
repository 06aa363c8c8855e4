"""Arguments of the backends, checked."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from abstractcore import InvalidInputError


def choice_of(value: object, choices: Sequence[str], path: str) -> str:
    """Returns a value that is one of the choices; raises `InvalidInputError` with the nearest one."""
    if value in choices:
        return str(value)
    near = get_close_matches(str(value), choices, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else None
    raise InvalidInputError(f"expected one of {', '.join(choices)}, got {value!r}", path=path, hint=hint)


def count_of(value: object, most: int) -> int:
    """Returns a number of pictures; raises `InvalidInputError`."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most:
        return value
    raise InvalidInputError(f"expected a whole number from 1 to {most}, got {value!r}", path="count")


def size_of(width: object, height: object) -> tuple[int, int]:
    """Returns width and height in pixels; raises `InvalidInputError` for what is not a whole number."""
    for value, path in ((width, "width"), (height, "height")):
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidInputError(f"expected a whole number of pixels, got {value!r}", path=path)
    assert isinstance(width, int)
    assert isinstance(height, int)
    return width, height
