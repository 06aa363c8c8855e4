"""Videos: recognised by their first bytes, never decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.errors import MediaError
from abstractcore.schema import MediaPart

from .common.content import check_family, source_of
from .common.media_types import extensions_of
from .common.recognition import recognised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstractcore.ports import Conversion, Fallback, MediaContext, Recognised


class VideoHandler:
    """Handles videos."""

    name = "video"
    fallbacks: Sequence[Fallback] = ()
    extensions = extensions_of("video/")

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a video; None for any other file."""
        return recognised("video", _is_video, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the first bytes are not those of a video."""
        check_family(part, "video/")

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Raises `MediaError`: videos cannot be converted to text."""
        source = source_of(part)
        raise MediaError(
            f"{source} cannot be converted to text.",
            source=source,
            hint="Use a model that accepts videos, or send its audio: ffmpeg -i video.mp4 audio.wav",
        )


def _is_video(media_type: str) -> bool:
    return media_type.startswith("video/")
