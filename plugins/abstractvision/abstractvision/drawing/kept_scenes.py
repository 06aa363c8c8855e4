"""Scenes that picture files keep."""

from __future__ import annotations

import html
import re

from pydantic import ValidationError

from .png_text import text_of
from .scene import Scene
from .svg import SCENE_KEY

_METADATA = re.compile(rf'<metadata id="{SCENE_KEY}">(.*?)</metadata>', re.DOTALL)


def scene_of(content: bytes) -> Scene | None:
    """Returns the scene that a PNG or SVG file of this package keeps; None for other pictures."""
    text = text_of(content, SCENE_KEY)
    if text is None and content[:4] == b"<svg":
        found = _METADATA.search(content.decode("utf-8", "replace"))
        text = html.unescape(found[1]) if found else None
    try:
        return None if text is None else Scene.model_validate_json(text)
    except ValidationError:
        return None
