"""The capabilities of an LLM: objects of capability plugins, `llm.voice`, `llm.audio`, `llm.vision` and `llm.music`."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, get_origin

from .. import capabilities, ports
from ..concurrency import drive
from ..errors import InvalidInputError
from ..ports import Pricing, Runtime
from ..registry import failures_of
from ..schema import GenerateResponse, MediaPart
from ..schema.base_error import shown
from .auxiliary_models import AuxiliaryLLM, AuxiliaryModel, CreateLLM

if TYPE_CHECKING:
    from ..capabilities import Caller
    from .pipelines import Pipelines
    from .preparing import RequestPreparer
    from .services import Services


def _voice() -> Any:
    from .voice import Voice

    return Voice


_FACADES: Mapping[str, Callable[[], Any]] = {
    "audio": lambda: capabilities.Audio,
    "music": lambda: capabilities.Music,
    "vision": lambda: capabilities.Vision,
    "voice": _voice,
}
"""The classes of capabilities that have a property of their own."""


class LLMCapabilities:
    """The capabilities of `llm`, each created on first use with its options; requests of backends are retried
    `max_retries` times.
    """

    def __init__(
        self,
        llm: AuxiliaryLLM,
        pipelines: Pipelines,
        preparer: RequestPreparer,
        create: CreateLLM,
        options: Mapping[str, Any],
        max_retries: int,
    ) -> None:
        self._llm = llm
        self._pipelines = pipelines
        self._preparer = preparer
        self._create = create
        self._options = options
        self._max_retries = max_retries
        self._created: dict[str, Any] = {}
        self._facades: dict[str, Any] = {}
        self._models: dict[str, AuxiliaryModel] = {}
        self._locks: dict[int, RLock] = {}

    def model(self, name: str | None) -> AuxiliaryLLM:
        """Returns the LLM of a model by its name, as in "openai/gpt-5.4-mini", or the LLM of these capabilities.

        Raises the errors of `create_llm`.
        """
        if name is None:
            return self._llm
        if name not in self._models:
            self._models.setdefault(name, AuxiliaryModel(name, self._create))
        return self._models[name].llm()

    def facade(self, name: str) -> Any:
        """Returns a capability with a property of its own."""
        if name not in self._facades:
            facade = _FACADES[name]()
            self._facades.setdefault(name, facade(self._caller()))
        return self._facades[name]

    def get(self, name: str | type, of_type: Any) -> Any:
        """Returns the object of a capability, by its name or its class; see `LLM.capability`."""
        if isinstance(name, type):
            name, of_type = _name_of(name), name
        registry = self._pipelines.registry
        if name in [*_FACADES] and name not in registry.capabilities and registry.backends.of(name):
            found = self.facade(name)
        else:
            found = self._object(name)
        if of_type is not None:
            _check_type(found, name, of_type)
        return found

    def _object(self, name: str) -> Any:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a capability's name, got {type(name).__name__}", path="name")
        if name not in self._created:
            # By process: a forked one has a copy of the lock, but not of the thread that may hold it.
            with self._locks.setdefault(os.getpid(), RLock()):
                if name not in self._created:
                    self._created.setdefault(name, self._connect(name))
        return self._created[name]

    def _connect(self, name: str) -> Any:
        registry = self._pipelines.registry
        capability = registry.capability(name)
        options = {option: value for option, value in self._options.items() if option.startswith(f"{name}_")}
        with failures_of(f"the capability {name!r} ({registry.owner('capability', name)})"):
            return capability.connect(options, ServicesOfCapability(self._pipelines.services, self))

    def _caller(self) -> Caller:
        """Returns the part of the LLM that backends use."""
        pipelines, services = self._pipelines, self._pipelines.services

        def load(source: Any, path: str) -> MediaPart:
            return pipelines.media_loader().load_one(source, path)

        def download(url: str) -> bytes:
            return services.fetcher.fetch(url).data

        def pricing(model: str) -> Pricing | None:
            provider, _, name = model.partition("/")
            return services.catalogue.pricing(provider, name)

        def generate(
            runtime: Runtime, prompt: str, model: str | None, request: Mapping[str, Any]
        ) -> Awaitable[GenerateResponse[Any]]:
            return self.model(model).answered_in(runtime, prompt, request)

        return capabilities.Caller(
            registry=services.registry,
            services=services,
            sync=lambda: pipelines.sync,
            asynchronous=lambda: pipelines.asynchronous,
            options={**_of_recordings(pipelines.media_options), **self._options},
            defaults=self._preparer.scoped_defaults,
            load=load,
            download=download,
            pricing=pricing,
            transcriber=pipelines.new_transcriber,
            llm=lambda: self._llm,
            generate=generate,
            scrub=pipelines.secrets.error,
            check_open=self._preparer.check_open,
            max_retries=self._max_retries,
            random=services.random,
        )


class ServicesOfCapability:
    """What a capability gets of its LLM; see `CapabilityServices`."""

    def __init__(self, services: Services, capabilities: LLMCapabilities) -> None:
        self._services = services
        self._capabilities = capabilities

    @property
    def llm(self) -> Any:
        """The LLM."""
        return self._capabilities.model(None)

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
        return drive(self._capabilities.model(model).answered_in(self._services.sync_runtime, prompt, request))

    async def agenerate(
        self, prompt: str | None = None, *, model: str | None = None, **request: Any
    ) -> GenerateResponse[Any]:
        """Asks a model, in async code."""
        return await self._capabilities.model(model).answered_in(self._services.async_runtime, prompt, request)


def _of_recordings(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the options of `create_llm` for transcripts, which backends may follow too."""
    return {name: value for name, value in options.items() if name.startswith("transcription_")}


def _name_of(of_type: type) -> str:
    """Returns the name of the capability of a class; raises `InvalidInputError` for a class without one."""
    name: object = getattr(of_type, "capability", None)
    if isinstance(name, str):
        return name
    hint = f"Pass the name too: capability(NAME, {of_type.__name__}), or give the class an attribute `capability`."
    raise InvalidInputError(f"{of_type.__name__} names no capability", path="name", hint=hint)


def _check_type(found: object, name: str, of_type: Any) -> None:
    """Raises `InvalidInputError` if the object of a capability is not of a type. Of a protocol it has all members."""
    kind: Any = get_origin(of_type) or of_type
    if not isinstance(kind, type) or _is_of(found, kind):
        return
    message = f"the capability {shown(name)} is of the type {type(found).__name__}, not {kind.__name__}"
    raise InvalidInputError(message, path="of_type", hint=f"Call capability({name!r}) for any type.")


def _is_of(found: object, kind: type) -> bool:
    from typing_extensions import get_protocol_members, is_protocol

    if is_protocol(kind):
        return all(hasattr(found, member) for member in get_protocol_members(kind))
    return isinstance(found, kind)
