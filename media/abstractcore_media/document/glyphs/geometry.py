"""The sizes of characters and pages: as many characters for a token as the model's vendor allows without reducing the
image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from abstractcore.ports.profiles import MediaLimit, TokenRule, image_tokens

PER_TOKEN = 40
"""Characters that an image may have for each of its tokens: those of ten tokens of English, up to which DeepSeek-OCR
decodes 97 % (https://arxiv.org/abs/2510.18234).
"""
_LONGEST = 2048
_SHORTEST = 256
_UNIT = 28
"""Pixels by which edges grow where the rule has no squares."""
_UNKNOWN_EDGE = 1092
"""The edges of a page for a model without a rule: what Claude does not reduce is fine for others."""
_PIXELS_PER_TOKEN = 784
"""Pixels that a token is taken to show where all images have as many tokens: those of a patch of Claude and Qwen."""
_SAFE = 0.98
"""The share of the vendor's limit that a page uses: pages call it approximate."""
_SIMILAR = 1.02
"""Pages whose costs differ by less are equally good, and the larger one is taken."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The pixels of a character: `size` of the font, and `width` and `height` from one to the next."""

    size: int
    width: int
    height: int


CELLS = (Cell(9, 5, 10), Cell(10, 6, 11), Cell(12, 7, 13), Cell(14, 8, 16))
"""From dense to easy. The smallest is the first of which OCR reads accents too."""


@dataclass(frozen=True, slots=True)
class PageSize:
    """The pixels of a page. `tokens` is what it costs, if the rule is known."""

    width: int
    height: int
    tokens: int | None = None


def page_sizes(rule: TokenRule | None, limits: Mapping[MediaLimit, int]) -> Iterator[tuple[Cell, PageSize]]:
    """Yields cells with the page that is best for them, from dense to easy."""
    edge = min(_LONGEST, limits.get("image_pixels", _LONGEST), limits.get("many_image_pixels", _LONGEST))
    area = limits.get("image_area", _LONGEST**2)
    for cell in CELLS:
        size = _best(rule, cell, edge, area)
        if size.tokens is None or capacity(size, cell) <= PER_TOKEN * size.tokens or cell == CELLS[-1]:
            yield cell, size


def capacity(size: PageSize, cell: Cell) -> int:
    """Returns how many characters a page has room for."""
    return (size.width // cell.width) * (size.height // cell.height)


def shortened(size: PageSize, height: int, rule: TokenRule | None) -> PageSize:
    """Returns the page of this width that costs least and has at least this height."""
    height = max(height, min(size.height, _SHORTEST))
    if rule is None:
        return PageSize(size.width, height)
    unit = _unit(rule)
    heights = {height, min(size.height, math.ceil(height / unit) * unit), size.height}
    return min(
        (PageSize(size.width, each, image_tokens(size.width, each, rule)) for each in heights),
        key=lambda page: (page.tokens or 0, page.height),
    )


@lru_cache(maxsize=256)
def _best(rule: TokenRule | None, cell: Cell, edge: int, area: int) -> PageSize:
    if rule is None:
        edge = min(edge, math.isqrt(area), _UNKNOWN_EDGE)
        return PageSize(edge, edge)
    if rule.by == "file":
        edge = min(edge, math.isqrt(min(area, int(rule.tokens * _PIXELS_PER_TOKEN))))
        return PageSize(edge, edge, image_tokens(edge, edge, rule))
    unit = _unit(rule)
    edges = range(max(unit, math.ceil(_SHORTEST / unit) * unit), edge + 1, unit) or [edge]
    sizes = [
        PageSize(width, height, image_tokens(width, height, rule))
        for width in edges
        for height in edges
        if width * height <= area and not _is_reduced(width, height, rule)
    ]
    if not sizes:
        edge = min(edge, math.isqrt(area))
        return PageSize(edge, edge, image_tokens(edge, edge, rule))
    best = min(_cost(size, cell) for size in sizes)
    similar = [size for size in sizes if _cost(size, cell) <= best * _SIMILAR]
    return max(similar, key=lambda size: (capacity(size, cell), -abs(size.width - size.height)))


def _unit(rule: TokenRule) -> int:
    return rule.pixels if rule.by in ("tiles", "patches", "crops") else _UNIT


def _cost(size: PageSize, cell: Cell) -> float:
    return (size.tokens or 0) / max(1, capacity(size, cell))


def _is_reduced(width: int, height: int, rule: TokenRule) -> bool:
    """Returns whether the vendor would make an image of this size smaller."""
    if max(width, height) > (rule.max_edge or _LONGEST) or min(width, height) > (rule.short_edge or _LONGEST):
        return True
    squares = width * height / rule.pixels if rule.by == "area" else 0
    if rule.by == "patches":
        squares = math.ceil(width / rule.pixels) * math.ceil(height / rule.pixels)
    return squares > (rule.most or math.inf) * _SAFE
