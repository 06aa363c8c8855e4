"""Reads a page of a file as an image: a second means beside the text that the file has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..ports import MediaContext, MediaHandler
from ..schema import ImagePart, MediaControls, MediaPart
from .cached_conversions import convert
from .extraction import with_bytes
from .nested_files import NestedFiles
from .parts import handler_for

_PAGES = "pages"
_IMAGES = frozenset({"image/png", "image/jpeg"})


def page_words(
    part: MediaPart,
    page: int,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> str | None:
    """Returns the words that are read on the image of a page, from 1; None for a file whose handler draws no pages.

    Blocks. Raises `MediaError`, `ArtifactError` or `MissingExtraError`.
    """
    handler, _ = handler_for(part, handlers)
    draws = handler is not None and any(each.name == _PAGES and _PAGES in each.controls for each in handler.fallbacks)
    if handler is None or not draws:
        return None
    controls = replace(part.controls or MediaControls(), pages=str(page))
    part = replace(with_bytes(part, artifact), controls=controls)
    context = replace(context, captioner=None)
    read = NestedFiles(handlers, {"image": "ocr"}, context)
    drawn = convert(handler, part, replace(context, fallbacks=(_PAGES,), accepted_outputs=_IMAGES))
    return "\n".join(read(image).text for image in drawn.parts if isinstance(image, ImagePart))
