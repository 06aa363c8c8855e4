"""Colours: as models write them, and as `#rrggbb` in a drawing."""

from __future__ import annotations

import difflib
import re

from PIL import ImageColor

NONE = "none"
_FALLBACK = "#808080"


def exact_color(text: str) -> str | None:
    """Returns a CSS colour as `#rrggbb` or `#rrggbbaa`, or `none`; None if it is not one."""
    name = text.strip().lower()
    if name in (NONE, "transparent", ""):
        return NONE
    try:
        channels = ImageColor.getrgb(re.sub(r"^rgba\((.*),\s*[\d.]+\s*\)$", r"rgb(\1)", name))
    except ValueError:
        return None
    return "#" + "".join(f"{min(max(channel, 0), 255):02x}" for channel in channels)


def nearest_color(text: str) -> str:
    """Returns a colour for a text that is not one: of a similar name, or named in it, else gray."""
    names = list(ImageColor.colormap)
    joined = re.sub(r"[^a-z]", "", text.lower())
    similar = difflib.get_close_matches(joined, names, n=1, cutoff=0.8)
    inside = sorted((name for name in names if name in joined), key=len, reverse=True)
    named = [word for word in reversed(re.findall(r"[a-z]+", text.lower())) if word in ImageColor.colormap]
    found = similar or named or inside
    return (exact_color(found[0]) or _FALLBACK) if found else _FALLBACK


def mixed(color: str, other: str, share: float) -> str:
    """Returns a colour with `share` of another one in it; both are `#rrggbb`, transparency is dropped."""
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(one + (two - one) * share):02x}" for one, two in pairs)


def luminance(color: str) -> float:
    """Returns the relative luminance of `#rrggbb`, 0 to 1, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(color))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(color: str) -> tuple[int, int, int]:
    red, green, blue = ImageColor.getrgb(color)[:3]
    return red, green, blue
