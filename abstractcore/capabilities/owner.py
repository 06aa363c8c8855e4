"""`Caller`: what the capabilities of one LLM need of it. `Owner`: what its backends get."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..engine import remaining
from ..ports import ArtifactStore, Clock, Isolation, ModelStore, Pricing, Runtime
from ..ports.stores import MachineServices
from ..registry import Registry
from ..schema import CallProgress, GenerateResponse, MediaPart
from .invocation import current_call

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..ports import Transcriber
    from .http import CallHttp

_log = logging.getLogger("abstractcore")


class CallerServices(MachineServices, Protocol):
    """The services that backends may use."""

    @property
    def artifacts(self) -> ArtifactStore: ...

    @property
    def isolation(self) -> Isolation: ...

    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """What the capabilities of one LLM need of it.

    `options` are those of `create_llm` for backends, `defaults` returns those for every call. `load` returns the part
    of a file, and `download` its content if it is at a URL; both block. `pricing` returns the prices of a model, as
    "provider/model", `transcriber` what transcribes by a model of a provider, None for weights on this machine.
    `scrub` removes the LLM's credentials from an error. `check_open` raises `ConfigurationError` if the LLM is closed.
    """

    registry: Registry
    services: CallerServices
    sync: Callable[[], Pipeline]
    asynchronous: Callable[[], Pipeline]
    options: Mapping[str, Any]
    defaults: Callable[[], Mapping[str, Any]]
    load: Callable[[Any, str], MediaPart]
    download: Callable[[str], bytes]
    pricing: Callable[[str], Pricing | None]
    transcriber: Callable[[object], Transcriber | None]
    llm: Callable[[], Any]
    generate: Callable[[Runtime, str, str | None, Mapping[str, Any]], Awaitable[GenerateResponse[Any]]]
    scrub: Callable[[BaseException], object]
    check_open: Callable[[], None]
    max_retries: int
    random: Callable[[], float]


class Owner:
    """The owner of the backends of one LLM; see `BackendOwner`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._http: CallHttp | None = None

    @property
    def config(self) -> dict[str, Any]:
        """A copy of the options for backends."""
        return {**self._caller.options}

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables."""
        return self._caller.services.environment

    @property
    def models(self) -> ModelStore:
        """The store of model weights."""
        return self._caller.services.models

    @property
    def artifacts(self) -> ArtifactStore:
        """The store of artifacts."""
        return self._caller.services.artifacts

    @property
    def isolation(self) -> Isolation:
        """Runs functions in processes of their own."""
        return self._caller.services.isolation

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use."""
        return self._caller.services.spare_cores

    @property
    def http(self) -> CallHttp:
        """HTTP for async methods."""
        if self._http is None:
            from .http import CallHttp

            self._http = CallHttp(self._caller.max_retries, self._caller.random)
        return self._http

    @property
    def runtime(self) -> Runtime:
        """The runtime of the current call."""
        return current_call("owner.runtime").context.runtime

    @property
    def time_left(self) -> float | None:
        """The seconds until the time limit of the current call; raises `RequestTimeoutError` past it."""
        return remaining(current_call("owner.time_left").context)

    @property
    def strict(self) -> bool:
        """Whether the current call is strict."""
        return current_call("owner.strict").context.input.strict

    @property
    def llm(self) -> Any:
        """The LLM."""
        return self._caller.llm()

    @property
    def trace_id(self) -> str:
        """The id of the current call."""
        return current_call("owner.trace_id").context.trace_id

    def transcriber(self, model: str | None = None) -> Transcriber | None:
        """Returns the transcriber of a provider; None for weights on this machine."""
        chosen: object = model or self._caller.options.get("transcription_model")
        return None if chosen is None else self._caller.transcriber(chosen)

    def generate(self, prompt: str, *, model: str | None = None, **request: Any) -> Awaitable[GenerateResponse[Any]]:
        """Asks a model, from async methods; the time limit is that of the current call."""
        current = current_call("owner.generate")
        request = {"timeout": remaining(current.context), "parent_id": current.context.trace_id, **request}
        return self._caller.generate(current.pipeline.runtime, prompt, model, request)

    def progress(self, done: float, total: float | None, what: str, part: MediaPart | None = None) -> None:
        """Reports progress. An exception of the user's function is logged: the call goes on."""
        function = current_call("owner.progress").on_progress
        if function is None:
            return
        try:
            function(CallProgress(done, total, what, part))
        except Exception:
            _log.exception("the function on_progress failed")
