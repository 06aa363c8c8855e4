"""Videos: recognised by their first bytes, converted to frames and a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.ports import Fallback
from abstractcore.schema import MediaFacts, MediaPart

from ..audio.speech_models import SpeechModels
from ..common.content import check_family
from ..common.media_types import extensions_of
from ..common.recognition import recognised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstractcore.ports import Conversion, MediaContext, Recognised

_JPEG = "image/jpeg"
_BOTH = frozenset({"text", _JPEG})
_TIMES = frozenset({"start", "end"})


_PACKAGES = {"av": "av", "numpy": "numpy", "pillow": "PIL"}


class VideoHandler:
    """Handles videos: frames, as images or described by the image handler, and a transcript, in order of time.

    `max_frames` is the default of the option `video_frames`, `max_side` the longer side of a frame in pixels. Larger
    and longer videos than the other limits are refused. `models` are loaded speech models to share.
    """

    name = "video"
    fallbacks = (
        Fallback("frames+transcript", _BOTH, controls=_TIMES | {"fps"}, packages=_PACKAGES),
        Fallback("frames", _BOTH, controls=_TIMES | {"fps"}, packages=_PACKAGES),
        Fallback("transcript", frozenset({"text"}), controls=_TIMES, packages={"faster-whisper": "faster_whisper"}),
    )
    extensions = extensions_of("video/")
    max_frames = 16
    max_side = 768
    max_pixels = 40_000_000
    max_seconds = 4 * 3600.0

    def __init__(self, models: SpeechModels | None = None) -> None:
        self._models = models if models is not None else SpeechModels()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a video; None for any other file."""
        return recognised("video", _is_video, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the first bytes are not those of a video."""
        check_family(part, "video/")

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """Returns the seconds that the header says, and the size of a frame, before it is turned.

        Raises `MediaError` for a file that cannot be read, and `MissingExtraError` without PyAV.
        """
        from ..common.isolation import first_value
        from .reader import measured

        width, height, seconds = first_value(context, measured, part)
        return MediaFacts(width, height, seconds=seconds)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns frames and words in order of time, by the first of `context.fallbacks` that both allow.

        Frames are images if the model accepts JPEG, else what the image handler makes of them. Raises `MediaError` if
        there is neither a frame nor a word.
        """
        from .conversion import converted_video

        return converted_video(part, context, self, self._models)

    def retranscribe(self, part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext) -> Conversion:
        """Returns a transcript of `spans`, as another model on this machine hears it: see `Retranscribes`."""
        from ..audio.retranscription import retranscribed

        return retranscribed(part, spans, context, self._models, self.max_seconds)


def _is_video(media_type: str) -> bool:
    return media_type.startswith("video/")
