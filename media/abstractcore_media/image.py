"""Images: recognised by their first bytes, never decoded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from .common.content import check_family, source_of
from .common.media_types import extensions_of, is_text_type
from .common.recognition import recognised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstractcore.ports import Conversion, Fallback, MediaContext, Recognised


class ImageHandler:
    """Handles images. SVG is text, and is left to the text handler."""

    name = "image"
    fallbacks: Sequence[Fallback] = ()
    extensions = extensions_of("image/")

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of an image; None for any other file."""
        return recognised("image", _is_image, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the content does not match the declared format: vendors compare the two."""
        found = check_family(part, "image/")
        claimed = part.blob.media_type
        if found is not None and found != claimed:
            source = source_of(part)
            raise MediaError(
                f"{source} is declared as {claimed}, but its content is {found}.",
                source=source,
                hint=f"Declare it as {found}.",
            )

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Raises `MediaError`: images cannot be converted to text."""
        source = source_of(part)
        raise MediaError(
            f"{source} cannot be converted to text.", source=source, hint="Use a model that accepts images."
        )


def _is_image(media_type: str) -> bool:
    return media_type.startswith("image/") and not is_text_type(media_type)
