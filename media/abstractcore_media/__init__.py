"""Media handlers: a module or folder for each kind of file, independent of models and vendors."""

from typing import TYPE_CHECKING, Any

from .audio import AudioHandler
from .document import PdfHandler, TextHandler
from .image import ImageHandler
from .plugin import register_media_handlers
from .video import VideoHandler

if TYPE_CHECKING:
    from .common.sniffing import media_type_of

__all__ = [
    "AudioHandler",
    "ImageHandler",
    "PdfHandler",
    "TextHandler",
    "VideoHandler",
    "media_type_of",
    "register_media_handlers",
]


def __getattr__(name: str) -> Any:
    if name != "media_type_of":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .common.sniffing import media_type_of

    return media_type_of
