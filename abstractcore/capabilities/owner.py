"""`Owner`: what a backend gets from its LLM."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from ..engine import remaining
from ..ports import Runtime
from ..schema import MediaPart
from .current import current_call

if TYPE_CHECKING:
    from ..ports import ArtifactStore, Isolation, ModelStore, Transcriber
    from ..schema import GenerateResponse
    from .caller import Caller
    from .http import CallHttp

_log = logging.getLogger("abstractcore")


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
        return current_call("owner.strict").context.call.strict

    @property
    def llm(self) -> Any:
        """The LLM."""
        return self._caller.llm()

    @property
    def trace_id(self) -> str:
        """The id of the current call."""
        return current_call("owner.trace_id").context.trace_id

    def transcriber(self, model: str | None = None) -> Transcriber | None:
        """Returns what transcribes recordings at a provider; None for weights on this machine."""
        chosen: object = model or self._caller.options.get("transcription_model")
        return None if chosen is None else self._caller.transcriber(chosen)

    def generate(self, prompt: str, *, model: str | None = None, **request: Any) -> Awaitable[GenerateResponse[Any]]:
        """Asks a model, from async methods; the time limit is that of the current call."""
        current = current_call("owner.generate")
        request = {"timeout": remaining(current.context), "parent_id": current.context.trace_id, **request}
        return self._caller.generate(current.pipeline.runtime, prompt, model, request)

    def progress(self, done: float, total: float | None, what: str, part: MediaPart | None = None) -> None:
        """Reports progress. An exception of the user's function is logged: the call goes on."""
        from ..schema import CallProgress

        function = current_call("owner.progress").on_progress
        if function is None:
            return
        try:
            function(CallProgress(done, total, what, part))
        except Exception:
            _log.exception("the function on_progress failed")
