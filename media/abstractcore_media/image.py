"""Pictures: known by their first bytes, never decoded here."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import ImagePart, MediaKind, MediaPart

from .content import check_family, source_of
from .media_types import endings_of, is_text_type
from .sniffing import media_type_of


class ImageHandler:
    """Knows pictures. SVG is text, and is left to the handler of text."""

    name = "image"
    kind: MediaKind = "image"
    converts = False
    endings = endings_of("image/")

    def recognise(self, head: bytes, name: str) -> str | None:
        """The media type of a picture; None for any other file."""
        media_type = media_type_of(head, name)
        if media_type is None or is_text_type(media_type):
            return None
        return media_type if media_type.startswith("image/") else None

    def handles(self, part: MediaPart) -> bool:
        """Whether `part` is a picture."""
        return isinstance(part, ImagePart) and part.blob.media_type.startswith("image/")

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
