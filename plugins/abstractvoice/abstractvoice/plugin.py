"""What this package registers: backends of `llm.voice`, and the weights of voices."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from abstractcore.registry import hookimpl

if TYPE_CHECKING:
    from abstractcore.ports import BackendOwner, BackendRegistry, ModelWeights

_REMOTE = {
    "openai": ("Voices of OpenAI, and of servers with its API.", "OPENAI_API_KEY"),
    "elevenlabs": ("Voices of ElevenLabs, and its speech recognition.", "ELEVENLABS_API_KEY"),
    "deepgram": ("Voices of Deepgram, and its speech recognition.", "DEEPGRAM_API_KEY"),
    "cartesia": ("Voices of Cartesia, and its speech recognition.", "CARTESIA_API_KEY"),
    "gemini": ("Voices of Gemini.", "GEMINI_API_KEY"),
    "assemblyai": ("Speech recognition of AssemblyAI.", "ASSEMBLYAI_API_KEY"),
}
"""Vendors, with a description and the variable of their key."""


@hookimpl
def register_models() -> Iterable[ModelWeights]:
    """Returns the weights of the voices on this machine."""
    from .speakers.weights import packaged_models

    return packaged_models()


def register(registry: BackendRegistry) -> None:
    """Registers the backends: that of this machine comes first."""
    registry.register_voice_backend(
        backend_id="abstractvoice:local",
        factory=_local,
        priority=10,
        description="29 English voices on this machine.",
        config_hint="voice_default='heart' for a voice that sounds natural.",
    )
    for name, (description, variable) in _REMOTE.items():
        registry.register_voice_backend(
            backend_id=f"abstractvoice:{name}",
            factory=partial(_remote, name),
            description=description,
            config_hint=f"Set {variable}, or voice_api_key=..., and voice_backend='abstractvoice:{name}'.",
        )


def _local(owner: BackendOwner) -> Any:
    from .local import LocalVoices

    return LocalVoices(owner)


def _remote(name: str, owner: BackendOwner) -> object:
    from .remote.backends import backend_of

    return backend_of(name, owner)
