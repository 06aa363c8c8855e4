"""The backends of `llm.music` in this package: an entry point of `abstractcore.capabilities_plugins`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from abstractcore.ports import BackendOwner, BackendRegistry
from abstractcore.schema import install_hint

_VENDORS = (
    ("elevenlabs", "ElevenLabs Music: songs with and without vocals.", "Set ELEVENLABS_API_KEY, or music_api_key=..."),
    ("lyria", "Google's Lyria 3 through the Gemini API.", "Set GEMINI_API_KEY, or music_api_key=..."),
    ("stable-audio", "Stable Audio: music without vocals.", "Set STABILITY_API_KEY, or music_api_key=..."),
    ("ace-step", "An API server of ACE-Step 1.5, with lyrics.", "Set music_base_url=..."),
    ("lyria-vertex", "Google's Lyria 2 through Vertex AI.", "Set music_base_url=... and music_api_key=..."),
)
"""Names, descriptions and what to set; `remote/vendors.json` has the rest, which is read when a backend is used."""


def register(registry: BackendRegistry) -> None:
    """Registers the backends. What they need is imported at the first call."""
    registry.register_music_backend(
        backend_id="abstractmusic:score",
        factory=_made_by("backend", "Composer"),
        priority=10,
        description="Composes a score by the model or by rules, and plays it on this machine.",
        config_hint="music_composer='model' never composes by rules; music_soundfont='...' names another SoundFont.",
    )
    registry.register_music_backend(
        backend_id="abstractmusic:rules",
        factory=_made_by("backend", "RulesComposer"),
        priority=5,
        description="Composes a score by rules, without a model, and plays it on this machine.",
        config_hint="music_soundfont='...' names another SoundFont.",
    )
    registry.register_music_backend(
        backend_id="abstractmusic:musicgen",
        factory=_made_by("local.backend", "MusicgenBackend"),
        priority=1,
        description="MusicGen on this machine, by the library transformers.",
        install_hint=install_hint("torch", "transformers"),
        config_hint="music_model='a folder, or a name on the Hugging Face hub'.",
    )
    for rank, (name, description, needed) in enumerate(_VENDORS):
        registry.register_music_backend(
            backend_id=f"abstractmusic:{name}",
            factory=partial(_remote, name=name),
            priority=-rank - 1,
            description=description,
            config_hint=f"{needed} in create_llm; music_model=... is the model.",
        )


def _remote(owner: BackendOwner, name: str) -> Any:
    from .remote.backend import remote_music

    return remote_music(owner, name)


def _made_by(module: str, name: str) -> Callable[[BackendOwner], Any]:
    """Returns a factory that imports a class when it is first used."""

    def factory(owner: BackendOwner) -> Any:
        return getattr(import_module(f".{module}", __package__), name)(owner)

    return factory
