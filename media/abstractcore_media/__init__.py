"""Media handlers: a module or folder for each kind of file, independent of models and vendors."""

from .audio import AudioHandler
from .common.sniffing import media_type_of
from .document import PdfHandler, TextHandler
from .image import ImageHandler
from .plugin import register_media_handlers
from .video import VideoHandler

__all__ = [
    "AudioHandler",
    "ImageHandler",
    "PdfHandler",
    "TextHandler",
    "VideoHandler",
    "media_type_of",
    "register_media_handlers",
]
