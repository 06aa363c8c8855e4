"""The capabilities of an LLM: objects that capability plugins create."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from .. import ports
from ..concurrency import drive
from ..errors import InvalidInputError
from ..registry import Registry, failures_of
from ..schema import GenerateResponse

if TYPE_CHECKING:
    from .auxiliary_models import AuxiliaryModel
    from .llm_base import LLMBase
    from .services import Services


class Capabilities:
    """The capabilities of one LLM, each created on first use with its options; requests of backends are retried
    `max_retries` times.
    """

    def __init__(self, registry: Registry, services: Services, options: Mapping[str, Any], max_retries: int) -> None:
        self._registry = registry
        self._services = services
        self.options = options
        self.max_retries = max_retries
        self._made: dict[str, Any] = {}
        self._models: dict[str, AuxiliaryModel] = {}
        self._locks: dict[int, RLock] = {}

    def model(self, name: str | None, own: LLMBase) -> LLMBase:
        """Returns the LLM of a model by its name, as in "openai/gpt-5.4-mini", or `own`, the LLM of these capabilities.

        Raises the errors of `create_llm`.
        """
        if name is None:
            return own
        from .auxiliary_models import AuxiliaryModel

        if name not in self._models:
            self._models.setdefault(name, AuxiliaryModel(name, self._services))
        return self._models[name].llm()

    def get(self, name: str, llm: LLMBase) -> Any:
        """Returns the object, which belongs to `llm`.

        Raises `UnknownCapabilityError`, `PluginError`, and errors of the capability.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a capability's name, got {type(name).__name__}", path="name")
        if name not in self._made:
            # By process: a forked one has a copy of the lock, but not of the thread that may hold it.
            with self._locks.setdefault(os.getpid(), RLock()):
                if name not in self._made:
                    self._made.setdefault(name, self._connect(name, llm))
        return self._made[name]

    def _connect(self, name: str, llm: LLMBase) -> Any:
        capability = self._registry.capability(name)
        options = {option: value for option, value in self.options.items() if option.startswith(f"{name}_")}
        with failures_of(f"the capability {name!r} ({self._registry.owner('capability', name)})"):
            return capability.connect(options, ServicesOfCapability(self._services, self, llm))


class ServicesOfCapability:
    """What a capability gets of its LLM; see `CapabilityServices`."""

    def __init__(self, services: Services, capabilities: Capabilities, llm: LLMBase) -> None:
        self._services = services
        self._capabilities = capabilities
        self.llm = llm

    @property
    def models(self) -> ports.ModelStore:
        """The store of model weights."""
        return self._services.models

    @property
    def artifacts(self) -> ports.ArtifactStore:
        """The store of artifacts."""
        return self._services.artifacts

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables."""
        return self._services.environment

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use."""
        return self._services.spare_cores

    def generate(self, prompt: str | None = None, *, model: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """Asks a model."""
        chosen = self._capabilities.model(model, self.llm)
        return drive(chosen.answered_in(self._services.sync_runtime, prompt, request))

    async def agenerate(
        self, prompt: str | None = None, *, model: str | None = None, **request: Any
    ) -> GenerateResponse[Any]:
        """Asks a model, in async code."""
        chosen = self._capabilities.model(model, self.llm)
        return await chosen.answered_in(self._services.async_runtime, prompt, request)
