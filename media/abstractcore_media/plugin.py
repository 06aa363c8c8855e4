"""The media handlers this package registers."""

from __future__ import annotations

from abstractcore.ports import MediaHandler
from abstractcore.registry.hooks import hookimpl

from .audio import AudioHandler
from .audio.speech_models import SpeechModels
from .document import FORMATS, FormatHandler, PdfHandler, TextHandler
from .image import ImageHandler
from .video import VideoHandler


@hookimpl
def register_media_handlers() -> list[MediaHandler]:
    """Returns new handlers, most specific first: the first that recognises a file handles it."""
    formats = [FormatHandler(each) for each in FORMATS]
    speech = SpeechModels()
    return [
        ImageHandler(),
        AudioHandler(speech),
        VideoHandler(speech),
        PdfHandler(),
        *formats,
        TextHandler(),
    ]
