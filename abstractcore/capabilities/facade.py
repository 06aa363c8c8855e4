"""`Facade`: what the capabilities of an LLM have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

from ..engine import Pipeline
from ..errors import PluginError
from ..ports.capabilities import CapabilityName
from ..schema import AudioPart, GenerateResponse, JSONObject, MediaPart, MediaResult, TranscriptResult
from .arguments import FileArgument, stored_parts
from .backends import Backend, CapabilityBackends
from .calls import BackendCalls, BackendRequest
from .options import TranscriptionOptions
from .owner import Caller
from .results import LISTED, MODEL, TRANSCRIPT, transcript_of

P = TypeVar("P", bound=MediaPart)
_VERIFYING_SECONDS = 600.0
_TRANSCRIPTION = frozenset(TranscriptionOptions.__annotations__)


class Facade:
    """A capability of an LLM. Its backend is made at the first call."""

    capability: ClassVar[CapabilityName]

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._backends = CapabilityBackends(self.capability, caller)
        self._calls = BackendCalls(self._backends)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._caller.llm(), self.capability)

    @property
    def backends(self) -> list[str]:
        """The ids of the backends that may be used, the preferred one first."""
        return [entry.backend_id for entry in self._backends.entries()]

    def backend(self, method: str) -> object:
        """Returns the backend, as its plugin made it, that a method such as "tts" uses; for what only it can do.

        Raises `CapabilityUnavailableError` without one.
        """
        return self._backends.with_method(method)[0].instance

    def __repr__(self) -> str:
        return f"<llm.{self.capability}: {', '.join(self.backends) or 'no backend'}>"

    async def make(self, pipeline: Pipeline, request: BackendRequest, *of: type[P]) -> MediaResult[P]:
        """Returns the parts that a backend makes, of the classes `of`. For the methods of this object, which choose the
        sync or the async pipeline.
        """
        backend, response = await self._calls.response(pipeline, request)
        parts, store = parts_of(backend, response, *of), request.options.get("artifact_store")
        result = MediaResult(parts=parts, **facts_of(backend, response))
        if request.options.get("verify"):
            from .result_verification import verified_result

            async def transcribe(speech: AudioPart) -> str:
                options = {"timeout": request.options.get("timeout", _VERIFYING_SECONDS)}
                asked = transcription_request("transcribe", speech, options)
                heard: TranscriptResult = await self._caller.llm().audio.transcript(pipeline, asked)
                return heard.text

            result = await verified_result(result, request.text, pipeline, transcribe)
        return result if store is None else replace(result, parts=await stored_parts(parts, store, pipeline.runtime))

    async def transcript(self, pipeline: Pipeline, request: BackendRequest) -> TranscriptResult:
        """Returns the transcript of a backend. For the methods of this object and of other capabilities."""
        backend, response = await self._calls.response(pipeline, request)
        return TranscriptResult(transcript=transcript_of(response.reply), **facts_of(backend, response))

    async def _list(self, pipeline: Pipeline, request: BackendRequest) -> list[JSONObject]:
        _, response = await self._calls.response(pipeline, request)
        return [*cast("list[JSONObject]", response.reply.provider_metadata[LISTED])]


def transcription_request(method: str, audio: object, options: Mapping[str, Any]) -> BackendRequest:
    """Returns the request of a transcript."""
    return BackendRequest(
        method, "transcript", (FileArgument("audio", audio, ("audio", "video")),), options, _TRANSCRIPTION
    )


def parts_of(backend: Backend, response: GenerateResponse[None], *of: type[P]) -> tuple[P, ...]:
    """Returns the parts that a backend made; raises `PluginError` for parts of other classes than `of`."""
    parts = tuple(part for part in response.parts if isinstance(part, of))
    if len(parts) < len(response.parts) or not parts:
        found = ", ".join(sorted({type(part).__name__ for part in response.parts})) or "nothing"
        raise PluginError(f"the backend {backend.id} returns {found}: expected {of[0].__name__}.")
    return parts


def facts_of(backend: Backend, response: GenerateResponse[None]) -> Mapping[str, Any]:
    """Returns the facts of a call, for its result."""
    metadata = {name: value for name, value in response.reply.provider_metadata.items() if name != TRANSCRIPT}
    model = response.reply.model or metadata.pop(MODEL, None)
    return {
        "backend": backend.id,
        "model": model,
        "usage": response.usage,
        "cost": response.cost,
        "cost_reason": response.cost_reason,
        "estimated_cost": response.estimated_cost,
        "cost_sums": response.cost_sums,
        "warnings": response.warnings,
        "metadata": metadata,
        "trace_id": response.trace_id,
        "seconds": response.seconds,
    }
