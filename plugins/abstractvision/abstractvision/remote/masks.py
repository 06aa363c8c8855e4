"""Masks: where a picture may change. `llm.vision` has transparent places for that; some vendors want white ones."""

from __future__ import annotations

import io

from PIL import Image

from ..problems import unreadable
from .requests import InputPicture


def transparent_mask(mask: InputPicture) -> InputPicture:
    """Returns a mask as PNG whose transparent places may change."""
    places = _places(mask)
    made = Image.new("RGBA", places.size, (0, 0, 0, 255))
    made.putalpha(places.point(lambda value: 255 - value))
    return _png(made)


def white_mask(mask: InputPicture) -> InputPicture:
    """Returns a mask as PNG whose white places may change."""
    return _png(_places(mask))


def _places(mask: InputPicture) -> Image.Image:
    """Returns where the picture may change, as white. A mask without transparency is one of white and black already."""
    try:
        with Image.open(io.BytesIO(mask.content)) as opened:
            alpha = opened.convert("RGBA").getchannel("A")
            if alpha.getextrema()[0] == 255:
                return opened.convert("L")
            return alpha.point(lambda value: 255 - value)
    except Exception as error:  # decoders of damaged files may raise any exception
        raise unreadable("mask", error, "mask") from None


def _png(image: Image.Image) -> InputPicture:
    written = io.BytesIO()
    image.save(written, "png")
    return InputPicture(written.getvalue(), "image/png")
