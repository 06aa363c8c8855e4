"""The fallback "glyphs": the text of a file drawn as images, where they have fewer tokens than the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.ports import Fallback

if TYPE_CHECKING:
    from collections.abc import Set

    from abstractcore.ports import Conversion, MediaContext
    from abstractcore.schema import MediaPart

_NAME = "glyphs"
_PNG = "image/png"
_PACKAGES = {"pillow": "PIL", "numpy": "numpy"}
_TEXTS = (None, "text", "source")
"""Fallbacks whose conversions are texts."""


def glyphs(outputs: Set[str] = frozenset(), controls: Set[str] = frozenset()) -> Fallback:
    """Returns the fallback of a handler whose text may have `outputs` in it, such as types of pictures."""
    return Fallback(
        _NAME, frozenset({"text", _PNG}) | outputs, controls=controls, preferred_with=_NAME, packages=_PACKAGES
    )


def drawn_or_text(
    part: MediaPart, context: MediaContext, to_text: Callable[[MediaPart, MediaContext], Conversion]
) -> Conversion:
    """Returns the conversion by `to_text`, drawn if the context prefers "glyphs" and the model accepts images; blocks.

    Raises what `to_text` raises, and `MissingExtraError` without the extra "images", unless the option `glyphs` is set:
    it asks for what is possible.
    """
    if _NAME not in context.fallbacks:
        return to_text(part, context)
    others = tuple(each for each in context.fallbacks if each != _NAME)
    conversion = to_text(part, replace(context, fallbacks=others or ("text",)))
    if context.fallbacks[0] != _NAME or conversion.fallback not in _TEXTS:
        return conversion
    conversion = replace(conversion, fallback=conversion.fallback or "text")
    if _PNG not in context.accepted_outputs:
        return conversion
    from .conversion import drawn

    return drawn(conversion, part, context, if_possible=bool(context.options.get(_NAME)))
