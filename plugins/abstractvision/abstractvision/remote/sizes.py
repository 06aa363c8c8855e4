"""Sizes in pixels as the aspect ratios that vendors offer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .requests import TrackedPictureOptions


def nearest_ratio(asked: TrackedPictureOptions, ratios: Sequence[str]) -> str | None:
    """Returns the offered ratio, such as "16:9", nearest to the size that is asked for; warns if it differs."""
    size = asked.size()
    if size is None:
        return None
    ratio = min(ratios, key=lambda each: abs(math.log(_value(each) * size[1] / size[0])))
    if not math.isclose(_value(ratio), size[0] / size[1], rel_tol=0.01):
        asked.warn("width", f"the nearest aspect ratio is used: {ratio}", sent=ratio)
    else:
        asked.warn("width", f"the model chooses the pixels for the aspect ratio {ratio}", sent=ratio)
    return ratio


def _value(ratio: str) -> float:
    across, _, down = ratio.partition(":")
    return float(across) / float(down)
