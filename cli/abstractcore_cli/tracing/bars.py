"""Bars of characters: sums beside each other, and when the parts of a trace ran."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Ink:
    """The characters of bars: those of Unicode, or of ASCII where it is all that an output can encode."""

    full: str = "█"
    light: str = "░"
    thin: str = "━"
    point: str = "╸"
    fork: str = "├─ "
    last: str = "└─ "
    trunk: str = "│  "

    @property
    def text(self) -> str:
        """All of them."""
        return "".join((self.full, self.light, self.thin, self.point, self.fork, self.last, self.trunk, _EIGHTHS))


UNICODE: Final = Ink()
ASCII: Final = Ink("#", ".", "=", "-", "|- ", "`- ", "|  ")


def stacked_bar(known: float, estimated: float, largest: float, width: int, ink: Ink = UNICODE) -> str:
    """Returns a bar: what is known in full, then what is estimated, lighter. `largest` takes the whole width.

    What is more than nothing has at least the smallest mark.
    """
    if width < 1 or not largest > 0:
        return ""
    cells = known / largest * width
    solid = _solid(cells, ink)
    end = min(width, round((known + estimated) / largest * width))
    lighter = end - len(solid)
    if estimated > 0:
        lighter = max(1, lighter)
        solid = solid[: width - lighter]
    return solid + ink.light * max(0, lighter) if estimated > 0 else solid


def _solid(cells: float, ink: Ink) -> str:
    if cells <= 0:
        return ""
    if ink is not UNICODE:
        return ink.full * max(1, round(cells))
    eighths = max(1, round(cells * 8))
    whole, rest = divmod(eighths, 8)
    return ink.full * whole + (_EIGHTHS[rest] if rest else "")


def span_bar(start: float, seconds: float, total: float, width: int, ink: Ink = UNICODE) -> str:
    """Returns a bar from `start` seconds on, where `total` seconds take the whole width: a row of a waterfall."""
    if width < 1:
        return ""
    scale = width / total if total > 0 else 0.0
    first = min(width - 1, max(0, math.floor(start * scale)))
    length = max(0, min(width - first, round((start + seconds) * scale) - first))
    return " " * first + (ink.thin * length or ink.point)
