"""`llm.voice`, `llm.audio`, `llm.vision` and `llm.music`: calls of the backends that plugins register.

Knows no vendor, no model and no format of sound or images.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audio import Audio
    from .music import Music
    from .owner import Caller
    from .speech_streams import AsyncSpeechStream, SpeechStream
    from .vision import Vision
    from .voice import VoiceFacade

_LATER = {
    "AsyncSpeechStream": "speech_streams",
    "Audio": "audio",
    "Caller": "owner",
    "Music": "music",
    "SpeechStream": "speech_streams",
    "Vision": "vision",
    "VoiceFacade": "voice",
}
"""Names whose module is imported on first access: few programs need them."""

__all__ = ["AsyncSpeechStream", "Audio", "Caller", "Music", "SpeechStream", "Vision", "VoiceFacade"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
