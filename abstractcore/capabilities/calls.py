"""`BackendCalls`: makes the calls of one capability of an LLM, sync and async."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..engine import Pipeline, Prepared
from ..ports import Runtime
from ..schema import CallWarning, GenerateResponse
from .arguments import FileArgument, TextPieces, accepted_arguments, recognised_part
from .backends import Backend, BackendPricing, CapabilityBackends
from .invocation import BackendInput, Invocation
from .options import CALL_NAMES
from .results import ResultKind, ResultReader

if TYPE_CHECKING:
    from ..engine import CallStream
    from ..engine.interactions import InteractionTrace

DEFAULT_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class BackendRequest:
    """A request of the user: a method of a backend with its `positional` arguments and the `options`, texts and
    `FileArgument`s among them. `standard` are the names of arguments that backends may have.
    """

    method: str
    kind: ResultKind
    positional: tuple[object, ...]
    options: Mapping[str, Any]
    standard: frozenset[str] = field(default_factory=frozenset[str])
    stream: bool = False
    interaction: InteractionTrace | None = None
    """The interaction that the call belongs to, if its record is wanted."""

    def within(self, interaction: InteractionTrace | None) -> BackendRequest:
        """Returns the request as a call of an interaction."""
        return self if interaction is None else replace(self, interaction=interaction)

    @property
    def text(self) -> str:
        """The text or prompt."""
        return next((each for each in self.positional if isinstance(each, str)), "")

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments for the backend by name: those that were given."""
        return {name: value for name, value in self.options.items() if name not in CALL_NAMES and value is not None}


@dataclass(frozen=True, slots=True)
class _BackendCall:
    """A call that can be made: its pipeline, and what it needs."""

    backend: Backend
    pipeline: Pipeline
    prepare: Any
    timeout: float | None


class BackendCalls:
    """Makes the calls of one capability of an LLM."""

    def __init__(self, backends: CapabilityBackends) -> None:
        self._backends = backends
        self._caller = backends.caller

    async def response(self, pipeline: Pipeline, request: BackendRequest) -> tuple[Backend, GenerateResponse[None]]:
        """Makes a call; raises as the methods of capabilities do."""
        started = self._start(pipeline, request)
        return started.backend, await started.pipeline.generate(started.prepare, started.timeout)

    def stream(self, pipeline: Pipeline, request: BackendRequest) -> tuple[Backend, CallStream]:
        """Returns the stream of a call, which begins at its first read."""
        from ..engine import CallStream

        started = self._start(pipeline, request)
        return started.backend, CallStream(started.pipeline, started.prepare, started.timeout)

    def _start(self, pipeline: Pipeline, request: BackendRequest) -> _BackendCall:
        self._caller.check_open()
        backend, method = self._backends.with_method(request.method)
        defaults = self._caller.defaults()
        options = request.options
        strict = bool(_choose(options.get("strict"), defaults.get("strict", False)))
        where = f"{request.method} of the backend {backend.id}"
        keywords, warnings = accepted_arguments(method, where, request.arguments, request.standard, strict=strict)
        usual = _media_type(keywords.get("format"))
        reader = ResultReader(
            where, request.kind, lambda content, declared: recognised_part(content, declared, self._caller, usual)
        )
        without_key = partial(self._backends.without_key, backend, request.method)
        progress = options.get("on_progress")
        invocation = Invocation(
            backend.id, request.method, method, reader, without_key, backend.is_local, on_progress=progress
        )
        clock = self._caller.services.clock
        served = pipeline.answered_by(
            invocation.operation,
            BackendPricing(backend.id, backend.is_local, self._caller.pricing),
            partial(invocation.answer, pipeline, clock.time_of_day),
        )
        prepare = partial(self._prepare, request, backend, keywords, warnings, strict)
        timeout = options["timeout"] if "timeout" in options else defaults.get("timeout", DEFAULT_TIMEOUT_SECONDS)
        return _BackendCall(backend, served, prepare, timeout)

    async def _prepare(
        self,
        request: BackendRequest,
        backend: Backend,
        keywords: dict[str, Any],
        warnings: list[CallWarning],
        strict: bool,
        runtime: Runtime,
    ) -> Prepared:
        """Reads the files, and returns the input of the call."""

        async def read(value: object) -> object:
            if isinstance(value, FileArgument):
                read_file = value.part if backend.takes_parts else value.read
                return await runtime.call(read_file, self._caller, kind="files")
            if isinstance(value, TextPieces):
                if backend.streams_text:
                    return value.pieces(runtime)
                return await value.whole(runtime)
            return value

        arguments = tuple([await read(value) for value in request.positional])
        keywords = {
            name: await read(value) if isinstance(value, FileArgument) else value for name, value in keywords.items()
        }
        defaults, options = self._caller.defaults(), request.options
        tags: dict[str, str] = {**defaults.get("tags", {}), **(options.get("tags") or {})}
        given = BackendInput(
            arguments,
            keywords,
            request.stream,
            model=str(keywords.get("model") or ""),
            provider=backend.id,
            strict=strict,
            tags=tags,
            parent_id=_choose(options.get("parent_id"), defaults.get("parent_id")),
        )
        interaction = request.interaction
        if interaction is None:
            return Prepared(given, tuple(warnings))
        interaction.calls += 1
        return Prepared(
            given, tuple(warnings), interaction=interaction.trace_id, trace_context=interaction.trace_context
        )


def _media_type(format: object) -> str | None:
    """Returns the media type of a format, as far as this machine knows it."""
    return mimetypes.guess_type(f"file.{format}")[0] if isinstance(format, str) else None


def _choose(given: Any, default: Any) -> Any:
    return default if given is None else given
