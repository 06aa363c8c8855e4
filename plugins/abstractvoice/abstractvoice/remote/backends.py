"""The backends of vendors, made by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from abstractcore.ports import BackendOwner

from .formats.assemblyai import AssemblyAI
from .formats.cartesia import Cartesia
from .formats.deepgram import Deepgram
from .formats.elevenlabs import ElevenLabs
from .formats.gemini import GeminiSpeech
from .formats.openai import OpenAISpeech
from .jobs import JobListener
from .listener import RemoteListener
from .vendors import VendorRow, vendor_rows
from .voice import LiveVoice, RemoteVoice


class SpeakingListener(LiveVoice, RemoteListener):
    """A vendor that speaks, also over WebSocket, lists its voices, and listens."""

    def __init__(self, owner: BackendOwner, format: Any) -> None:
        LiveVoice.__init__(self, owner, format)
        RemoteListener.__init__(self, owner, format)


_BACKENDS: Mapping[str, Callable[[BackendOwner, VendorRow], object]] = {
    "openai": lambda owner, row: RemoteVoice(owner, OpenAISpeech(row)),
    "elevenlabs": lambda owner, row: SpeakingListener(owner, ElevenLabs(row)),
    "deepgram": lambda owner, row: SpeakingListener(owner, Deepgram(row)),
    "cartesia": lambda owner, row: SpeakingListener(owner, Cartesia(row)),
    "gemini": lambda owner, row: RemoteVoice(owner, GeminiSpeech(row)),
    "assemblyai": lambda owner, row: JobListener(owner, AssemblyAI(row)),
}


def backend_of(name: str, owner: BackendOwner) -> object:
    """Returns the backend of a vendor."""
    return _BACKENDS[name](owner, vendor_rows()[name])
