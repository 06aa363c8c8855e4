"""`TokenRule`: how many tokens a file of a kind has, by the rule that the vendor of a model publishes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..schema import EMPTY

TokenKind = Literal["image", "audio", "video", "pdf"]
_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class TokenRule:
    """`tokens` for each unit that `by` names, and `base` besides; never more than `most`.

    "file" is each image, "page" each page of a PDF, "second" each second of a recording; of a video, each frame, of
    which there is one a second unless the control `fps` says otherwise, and `base` is of each second. "area" is as many
    pixels as `pixels` says; "tiles", "patches" and "cells" are squares with edges of so many pixels. "crops" are
    squares with edges of two thirds of the shorter edge of an image, at least 256 and at most `pixels`; an image with
    edges up to 384 is one.

    An image is first reduced to `max_edge` and `short_edge`, and to `most` patches or cells: of patches, one edge is
    then a whole number; cells are the largest size that keeps the shape of the image. `levels` replace
    `tokens` at a resolution ("low", "medium", "high"); at the detail "low", tiles have `base` tokens only. `sizes`
    replace `max_edge` and `most` at a detail, such as "original"; without a number there, images are not reduced.
    """

    by: Literal["file", "page", "second", "area", "tiles", "patches", "cells", "crops"]
    tokens: float = 1
    base: int = 0
    pixels: int = 1
    max_edge: int | None = None
    short_edge: int | None = None
    most: int | None = None
    levels: Mapping[str, float] = field(default=_NOTHING, hash=False)
    sizes: Mapping[str, Mapping[str, int]] = field(default=_NOTHING, hash=False)


def image_tokens(width: int, height: int, rule: TokenRule, level: str | None = None) -> int:
    """Returns the tokens of an image of this size in pixels, as it is sent."""
    each = rule.levels.get(level or "", rule.tokens)
    if (size := rule.sizes.get(level or "")) is not None:
        rule = replace(rule, max_edge=size.get("max_edge"), most=size.get("most"))
    scale = min(1.0, (rule.max_edge or math.inf) / max(width, height))
    scale = min(scale, (rule.short_edge or math.inf) / min(width, height))
    across, down = width * scale, height * scale
    if rule.by == "area":
        tokens = math.ceil(across * down / rule.pixels)
        return tokens if rule.most is None else min(tokens, rule.most)
    if rule.by == "tiles":
        tiles = 0 if level == "low" else math.ceil(across / rule.pixels) * math.ceil(down / rule.pixels)
        return rule.base + math.ceil(each * tiles)
    if rule.by == "patches":
        return math.ceil(_patches(across, down, rule.pixels, rule.most) * each)
    if rule.by == "cells":
        return math.ceil(_cells(across, down, rule.pixels, rule.most) * each)
    if rule.by == "crops" and max(width, height) > 384:
        edge = min(max(min(width, height) * 2 // 3, 256), rule.pixels)
        return math.ceil(math.ceil(width / edge) * math.ceil(height / edge) * each)
    return math.ceil(each)


def _cells(width: float, height: float, edge: int, most: int | None) -> int:
    """Returns the cells of an image that is reduced until it has at most so many: the most of all its sizes."""
    across, down = width / edge, height / edge
    if most is None or math.ceil(across) * math.ceil(down) <= most:
        return math.ceil(across) * math.ceil(down)
    whole = [(n, math.ceil(n * down / across - 1e-9)) for n in range(1, math.ceil(across))]
    whole += [(math.ceil(n * across / down - 1e-9), n) for n in range(1, math.ceil(down))]
    return max((columns * rows for columns, rows in whole if columns * rows <= most), default=1)


def _patches(width: float, height: float, edge: int, most: int | None) -> int:
    patches = math.ceil(width / edge) * math.ceil(height / edge)
    if most is None or patches <= most:
        return patches
    scale = math.sqrt(edge * edge * most / (width * height))
    across, down = width * scale / edge, height * scale / edge
    # Reduced further, so that one of the edges is a whole number of patches.
    scale *= min(math.floor(across) / across, math.floor(down) / down)
    return min(math.ceil(round(width * scale / edge, 6)) * math.ceil(round(height * scale / edge, 6)), most)
