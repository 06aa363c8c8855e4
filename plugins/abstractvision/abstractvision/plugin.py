"""Registers the backends of `llm.vision`; the entry point names `register`."""

from __future__ import annotations

from functools import partial

from abstractcore.ports import BackendOwner, BackendRegistry
from abstractcore.schema import install_hint

_VENDORS = (
    ("openai", "OpenAI's Images API.", "OPENAI_API_KEY"),
    ("gemini", "Images of Google's Gemini models.", "GEMINI_API_KEY"),
    ("imagen", "Google's Imagen.", "GEMINI_API_KEY"),
    ("veo", "Videos of Google's Veo.", "GEMINI_API_KEY"),
    ("stability", "Stability AI: pictures, inpainting, enlarging.", "STABILITY_API_KEY"),
    ("fal", "Models of many makers behind fal's queue.", "FAL_KEY"),
    ("replicate", "Models of many makers as predictions of Replicate.", "REPLICATE_API_TOKEN"),
    ("bfl", "FLUX of Black Forest Labs.", "BFL_API_KEY"),
    ("sd-server", "The server of stable-diffusion.cpp, with its seed, steps and sampler.", None),
    ("openai-compatible", "Another server with OpenAI's Images API.", None),
)
"""Names, descriptions and keys; `remote/vendors.json` has the rest, which is read when a backend is used."""


def register(registry: BackendRegistry) -> None:
    """Registers all backends; drawing, which needs neither key nor weights, is the preferred one."""
    registry.register_vision_backend(
        backend_id="abstractvision:drawing",
        factory=_drawer,
        priority=50,
        description="Draws scenes that the language model writes as data, or that rules compose.",
        config_hint="vision_scene='model', 'rules' or 'auto' is who writes the scene.",
    )
    registry.register_vision_backend(
        backend_id="abstractvision:diffusers",
        factory=_diffusers,
        priority=5,
        description="Models on this machine, by the library diffusers.",
        install_hint=install_hint("diffusers", "torch", "transformers", "accelerate"),
        config_hint="vision_image_model='a folder, or a name on the Hugging Face hub'.",
    )
    for rank, (name, description, key) in enumerate(_VENDORS):
        needed = f"Set {key}, or vision_api_key=..." if key else "Set vision_base_url=..."
        registry.register_vision_backend(
            backend_id=f"abstractvision:{name}",
            factory=partial(_remote, name=name),
            priority=20 - rank,
            description=description,
            config_hint=f"{needed} in create_llm; vision_image_model=... is the model.",
        )


def _drawer(owner: BackendOwner) -> object:
    from .drawing.drawer import Drawer

    return Drawer(owner)


def _diffusers(owner: BackendOwner) -> object:
    from .local.backend import DiffusersBackend

    return DiffusersBackend(owner)


def _remote(owner: BackendOwner, name: str) -> object:
    from .remote.backend import remote_backend

    return remote_backend(owner, name)
