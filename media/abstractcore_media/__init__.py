"""Media handlers: one module a kind of file, which knows, checks and converts it. None knows a model or a vendor."""

from .audio import AudioHandler
from .image import ImageHandler
from .pdf import PdfHandler
from .plugin import register_media_handlers
from .sniffing import media_type_of
from .text import TextHandler
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
