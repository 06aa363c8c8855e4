"""`llm.voice`, `llm.audio`, `llm.vision` and `llm.music`: calls of the backends that plugins register.

Knows no vendor, no model and no format of sound or images.
"""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .audio import Audio as Audio
    from .music import Music as Music
    from .owner import Caller as Caller
    from .speech_streams import (
        AsyncSpeechStream as AsyncSpeechStream,
        SpeechStream as SpeechStream,
        as_wav as as_wav,
        one_part as one_part,
    )
    from .vision import Vision as Vision
    from .voice import VoiceFacade as VoiceFacade
