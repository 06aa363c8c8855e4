"""Videos: known by their first bytes, never decoded here."""

from __future__ import annotations

from abstractcore.errors import MediaError
from abstractcore.ports import Conversion, MediaContext, Recognised
from abstractcore.schema import MediaPart

from .common.content import check_family, source_of
from .common.media_types import endings_of
from .common.recognition import recognised


class VideoHandler:
    """Knows videos."""

    name = "video"
    gives = frozenset[str]()
    endings = endings_of("video/")

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """A video; None for any other file."""
        return recognised("video", _is_video, head, name, declared)

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


def _is_video(media_type: str) -> bool:
    return media_type.startswith("video/")
