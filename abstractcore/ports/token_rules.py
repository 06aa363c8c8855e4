"""`TokenRule`: how many tokens a file of a kind has, by the rule that the vendor of a model publishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    `tokens` at a resolution ("low", "medium", "high"); at the detail "low", tiles have `base` tokens only.
    """

    by: Literal["file", "page", "second", "area", "tiles", "patches", "cells", "crops"]
    tokens: float = 1
    base: int = 0
    pixels: int = 1
    max_edge: int | None = None
    short_edge: int | None = None
    most: int | None = None
    levels: Mapping[str, float] = field(default=_NOTHING, hash=False)
