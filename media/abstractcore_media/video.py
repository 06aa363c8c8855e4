"""Videos: known by their first bytes, never decoded here."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import MediaKind, MediaPart, VideoPart

from .content import check_family, source_of
from .media_types import endings_of
from .sniffing import media_type_of


class VideoHandler:
    """Knows videos."""

    name = "video"
    kind: MediaKind = "video"
    converts = False
    endings = endings_of("video/")

    def recognise(self, head: bytes, name: str) -> str | None:
        """The media type of a video; None for any other file."""
        media_type = media_type_of(head, name)
        return media_type if media_type is not None and media_type.startswith("video/") else None

    def handles(self, part: MediaPart) -> bool:
        """Whether `part` is a video."""
        return isinstance(part, VideoPart) and part.blob.media_type.startswith("video/")

    def check(self, part: MediaPart) -> None:
        """Raise `MediaError` if the first bytes are not those of a video."""
        check_family(part, "video/")

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Always raises `MediaError`: videos have no text form here."""
        source = source_of(part)
        raise MediaError(
            f"No text can be made of {source}.",
            source=source,
            hint="Use a model that takes videos, or send its sound: ffmpeg -i video.mp4 sound.wav",
        )
