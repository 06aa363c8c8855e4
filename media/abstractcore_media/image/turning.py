"""Pages that were photographed sideways or upside down: by how much, and where places are in the photo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from .lines import TextLine

if TYPE_CHECKING:
    from PIL.Image import Image

Turn = Literal[0, 90, 180, 270]
"""Degrees, against the clock, after which a page is upright."""
_LETTERS = 4
"""Shorter lines say little about it."""
_ASKED = 8
_LONGEST = 6
"""The part of a line, in heights, that is looked at."""


def turn_of(
    image: Image, lines: Sequence[TextLine], are_upside_down: Callable[[Sequence[Image]], Sequence[bool]]
) -> Turn:
    """Returns the turn of a page, by its longest lines; 0 for fewer than two, whose order is none.

    `are_upside_down` says so of pictures of lines, each lying.
    """
    long = sorted((line for line in lines if len(line.text) >= _LETTERS), key=lambda line: -len(line.text))[:_ASKED]
    if len(long) < 2:
        return 0
    standing = [line for line in long if line.bottom - line.top > line.right - line.left]
    is_sideways = 2 * sum(len(line.text) for line in standing) > sum(len(line.text) for line in long)
    asked = standing if is_sideways else [line for line in long if line not in standing]
    is_upside_down = 2 * sum(are_upside_down([_lying(image, line) for line in asked])) > len(asked)
    return (270 if is_upside_down else 90) if is_sideways else (180 if is_upside_down else 0)


def turned(image: Image, turn: Turn) -> Image:
    """Returns an image that is turned against the clock."""
    if turn == 0:
        return image
    from PIL.Image import Transpose

    return image.transpose({90: Transpose.ROTATE_90, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_270}[turn])


def before(box: tuple[float, ...], turn: Turn) -> tuple[float, ...]:
    """Returns the place in an image of a place in the turned one: left, top, right and bottom from 0 to 1."""
    left, top, right, bottom = box
    for _ in range(turn // 90):
        left, top, right, bottom = 1 - bottom, left, 1 - top, right
    return tuple(round(edge, 4) for edge in (left, top, right, bottom))


def _lying(image: Image, line: TextLine) -> Image:
    """Returns the beginning of a line, straightened, and turned as the reader turns lines that stand."""
    from PIL.Image import Resampling, Transform

    first, second, third, fourth = line.corners
    size = max(1, round(line.width)), max(1, round(line.height))
    corners = (*first, *fourth, *third, *second)  # from the top left, against the clock
    cut = image.transform(size, Transform.QUAD, corners, Resampling.BICUBIC)
    cut = turned(cut, 90) if cut.height > cut.width else cut
    return cut.crop((0, 0, min(cut.width, _LONGEST * cut.height), cut.height))
