"""`Makers`: who speaks, listens, draws and composes: the backends of capabilities, by clients' names of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import abstractcore
from abstractcore.errors import ModelNotFoundError
from abstractcore.ports import CapabilityName
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.stores.models import PACKAGED_MODELS

from .llms import DEFAULT, LLMs, is_plain
from .settings import Settings

_VENDOR = "openai"
"""Whose models clients of OpenAI's API name without a provider."""


@dataclass(frozen=True, slots=True)
class Maker:
    """What a client's name for a model stands for: an LLM with the capability, the backend's model, None for its own
    choice, and the name to show.
    """

    capability: CapabilityName
    llm: abstractcore.LLM
    model: str | None
    name: str


class Makers:
    """Finds backends by the names that clients use: "default", "BACKEND", "BACKEND/MODEL", or the bare name of a model
    of OpenAI, if that is set up.
    """

    def __init__(self, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
        self._settings = settings
        self._services = services
        self._llms = llms
        self._made: dict[tuple[str, str], abstractcore.LLM] = {}

    def find(self, capability: CapabilityName, name: str) -> Maker:
        """Returns the maker with a name; raises `ModelNotFoundError` with the nearest names."""
        if name == DEFAULT:
            return Maker(capability, self._llms.default, None, DEFAULT)
        backend, _, model = name.partition("/")
        known = self.names(capability)
        if backend in known and is_plain(name):
            return Maker(capability, self._with(capability, backend), model or None, name)
        if _VENDOR in known and "/" not in name and is_plain(name) and self._llms.usable(_VENDOR):
            return Maker(capability, self._with(capability, _VENDOR), name, f"{_VENDOR}/{name}")
        near = nearest_names(name[:200], [DEFAULT, *known])
        hint = did_you_mean(near) if near else f"There are: {', '.join([DEFAULT, *known])}."
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here. {hint}")

    def listener(self, name: str) -> Maker:
        """Returns who transcribes, by a name: "default", a transcriber of this machine, or "PROVIDER/MODEL"; raises
        `ModelNotFoundError`.
        """
        if name == DEFAULT:
            return Maker("audio", self._llms.default, None, DEFAULT)
        local = [each.name for each in PACKAGED_MODELS if each.name.startswith("whisper-")]
        provider = name.partition("/")[0] if "/" in name else _VENDOR
        full = name if "/" in name else f"{_VENDOR}/{name}"
        if name in local:
            return Maker("audio", self._llms.default, name, name)
        if name.isprintable() and self._llms.usable(provider):
            (transcriber, *_) = self._llms.find(full).llms
            return Maker("audio", self._llms.default_with(transcription_model=transcriber), None, full)
        near = nearest_names(name[:200], [DEFAULT, *local])
        hint = did_you_mean(near) if near else f"There are: {', '.join([DEFAULT, *local])}, and PROVIDER/MODEL."
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here. {hint}")

    def names(self, capability: CapabilityName) -> list[str]:
        """Returns the names of the backends of a capability."""
        return [entry.backend_id.rpartition(":")[2] for entry in self._services.registry.backends.of(capability)]

    def _with(self, capability: str, backend: str) -> abstractcore.LLM:
        found = self._made.get((capability, backend))
        if found is None:
            options: dict[str, Any] = {f"{capability}_backend": backend, **self._options(capability, backend)}
            found = self._llms.default_with(**options)
            self._made[capability, backend] = found
        return found

    def _options(self, capability: str, backend: str) -> dict[str, Any]:
        """Returns the address and the key of a vendor, which are those of its provider."""
        provider = self._settings.providers.get(backend)
        if provider is None:
            return {}
        key = provider.options.get("api_key")
        if provider.api_key_env is not None:
            key = self._services.environment.get(provider.api_key_env, "")
        given = {"base_url": provider.base_url, "api_key": key}
        return {f"{capability}_{name}": value for name, value in given.items() if value is not None}
