"""Scenes that picture files keep."""

from __future__ import annotations

import html

from pydantic import ValidationError

from .png_text import text_of
from .scene import Scene
from .svg import SCENE_KEY

_BEGIN, _END = f'<metadata id="{SCENE_KEY}">', "</metadata>"


def scene_of(content: bytes) -> Scene | None:
    """Returns the scene that a PNG or SVG file of this package keeps; None for other pictures."""
    text = text_of(content, SCENE_KEY)
    if text is None and content[:4] == b"<svg":
        _, _, rest = content.decode("utf-8", "replace").partition(_BEGIN)
        kept, end, _ = rest.partition(_END)
        text = html.unescape(kept) if end else None
    try:
        return None if text is None else Scene.model_validate_json(text)
    except ValidationError:
        return None
