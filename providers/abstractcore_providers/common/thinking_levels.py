"""Thinking levels, for formats that cannot express each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from abstractcore.schema import CallWarning, ThinkingLevel

_ORDER = {level: number for number, level in enumerate(get_args(ThinkingLevel))}


def nearest_level(
    asked: ThinkingLevel | int | None, levels: Iterable[ThinkingLevel], warnings: list[CallWarning]
) -> ThinkingLevel | int | None:
    """Returns the level to send, the nearest of `levels`, with a warning if it is another one.

    Of two that are equally near it is the higher one. "off", a budget and None are returned unchanged.
    """
    if asked is None or isinstance(asked, int) or asked == "off" or asked in levels:
        return asked
    known = sorted(levels, key=_ORDER.__getitem__)
    nearest = min(reversed(known), key=lambda level: abs(_ORDER[level] - _ORDER[asked]))
    message = f"this format's levels are {', '.join(known)}"
    warnings.append(CallWarning("thinking_changed", "thinking", message, asked, nearest))
    return nearest
