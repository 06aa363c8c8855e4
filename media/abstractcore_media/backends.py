"""The backend of `llm.audio` that this package registers: speech recognition on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.schema.base_error import install_hint

if TYPE_CHECKING:
    from abstractcore.ports import BackendOwner, BackendRegistry

    from .audio.backend import CallTranscriber


def register(registry: BackendRegistry) -> None:
    """Registers the backend; what it needs is imported when it is used."""
    registry.register_audio_backend(
        backend_id="abstractcore:local",
        factory=_transcriber,
        description="Speech recognition on this machine.",
        install_hint=install_hint("faster-whisper", extra="audio"),
        config_hint="Set transcription_model=... in create_llm for another model.",
    )


def _transcriber(owner: BackendOwner) -> CallTranscriber:
    from .audio.backend import CallTranscriber

    return CallTranscriber(owner)
