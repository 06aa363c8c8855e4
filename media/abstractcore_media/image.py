"""Pictures: known by their first bytes, never decoded here."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.ports import Conversion, MediaContext, Recognised
from abstractcore.schema import MediaPart

from .common.content import check_family, source_of
from .common.media_types import endings_of, is_text_type
from .common.recognition import recognised


class ImageHandler:
    """Knows pictures. SVG is text, and is left to the handler of text."""

    name = "image"
    gives = frozenset[str]()
    endings = endings_of("image/")

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """A picture; None for any other file."""
        return recognised("image", _is_picture, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raise `MediaError` if the first bytes are not those of the picture's format: vendors compare the two."""
        found = check_family(part, "image/")
        claimed = part.blob.media_type
        if found is not None and found != claimed:
            source = source_of(part)
            raise MediaError(
                f"{source} is said to be {claimed}, and its content is {found}.",
                source=source,
                hint=f"Give it the media type {found}.",
            )

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Always raises `MediaError`: pictures have no text form here."""
        source = source_of(part)
        raise MediaError(f"No text can be made of {source}.", source=source, hint="Use a model that takes images.")


def _is_picture(media_type: str) -> bool:
    return media_type.startswith("image/") and not is_text_type(media_type)
