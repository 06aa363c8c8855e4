"""The sync and the async pipeline of an LLM, created on first use, and `PreparedRequest`, which runs in one of them."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ..engine import OutputReader, Pipeline, Prepare, credentials_of_endpoint, lower, refuse_losses
from ..errors import AbstractCoreError, RequestTimeoutError
from ..files.call_files import CallFiles
from ..files.parts import media_parts
from ..ports import (
    CapabilityName,
    Endpoint,
    Interruption,
    KnownUrl,
    Middleware,
    ModelProfile,
    Operation,
    OperationResult,
    Pricing,
    ProviderSession,
    Runtime,
    Transport,
)
from ..registry import Registry
from ..schema import AudioPart, CallWarning, GenerateResponse, ImagePart, Lowered, Modality, ModelCall
from ..scrubbing import Secrets, shown_url
from ..telemetry.costs import cost_range
from .services import Connections, Services

if TYPE_CHECKING:
    from ..capabilities import Vision, VoiceFacade
    from ..embeddings import EmbeddingCache
    from ..engine import CallStream
    from ..engine.answer_checks import AnswerCheck
    from ..engine.interactions import InteractionTrace
    from ..engine.interruptions import WrappedStream
    from ..engine.round_stream import RoundStream
    from ..engine.tool_rounds import RoundsPlan
    from ..files.facts import FactsByFile
    from ..files.loading import MediaLoader
    from ..ports import Transcriber
    from ..schema import CostRange, MediaResult, Plan, TokenCount
    from .auxiliary_models import CreateLLM
    from .streams import AsyncStream, Stream

_log = logging.getLogger("abstractcore")
T = TypeVar("T")


class Pipelines:
    """The sync and the async pipeline of an LLM, and what they share.

    Not `cached_property`: until Python 3.12 it has one lock for all instances, which a fork could leave locked.
    """

    def __init__(
        self,
        provider: str,
        session: ProviderSession,
        pricing: Pricing,
        services: Services,
        connections: Connections,
        middleware: Sequence[Middleware],
        media_options: Mapping[str, Any],
        secrets: Secrets,
        create: CreateLLM,
    ) -> None:
        self._provider = provider
        self._session = session
        self._pricing = pricing
        self.registry = services.registry
        self.services = services
        self.media_options = media_options
        self._create = create
        self._files = self._call_files()
        self._connections = connections
        self._middleware = middleware
        self.secrets = secrets
        self.embed_cache: EmbeddingCache | None = None
        """What has vectors that were asked for before."""
        self.embedder: Any = None
        """The LLM of the model that embeds in place of this one, if there is one."""
        self._sync: Pipeline | None = None
        self._async: Pipeline | None = None

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._session.model

    @property
    def session(self) -> ProviderSession:
        """The provider's session."""
        return self._session

    @property
    def pricing(self) -> Pricing:
        """The prices of the model."""
        return self._pricing

    @property
    def files(self) -> CallFiles:
        """The files of the calls."""
        return self._files

    def find_operation(self, name: str) -> Operation[Any, Any]:
        """Returns an operation other than chat; raises as `operations.find_operation` does."""
        from .operations import find_operation

        return find_operation(self.session.transpiler, name)

    @property
    def sync(self) -> Pipeline:
        """The pipeline of sync calls."""
        if self._sync is None:
            self._sync = self._make(self.services.sync_runtime, self._connections.sync())
        return self._sync

    @property
    def asynchronous(self) -> Pipeline:
        """The pipeline of async calls."""
        if self._async is None:
            self._async = self._make(self.services.async_runtime, self._connections.asynchronous())
        return self._async

    @property
    def members(self) -> Sequence[Any]:
        """The LLMs of a group of models; empty for one model."""
        return ()

    def shown(self) -> str:
        """Returns the model and where it is, for the repr of its LLM."""
        return f"{self._provider}/{self.model}{_location(self.session.endpoint)}"

    def lower(self, call: ModelCall) -> Lowered:
        """Returns the call as it would be lowered now; blocks, since all of its files are measured."""
        if not media_parts(call):
            return self._lower(call, {})
        return self.files.as_planned(self._lower(call, self.files.facts.of_all(call)))

    def plan(self, call: ModelCall, warnings: tuple[CallWarning, ...]) -> Plan:
        """Returns the plan of a call with the warnings that it has already; blocks as `lower` does.

        Raises `UnsupportedOptionError` for further warnings of losses if the call is strict.
        """
        from ..files.token_estimates import estimated_tokens
        from ..schema import Plan

        lowered = self.lower(call)
        if call.strict:
            refuse_losses(lowered.warnings, call)
        tokens = estimated_tokens(lowered.call, self.session.profile, lowered.decisions)
        return Plan(
            lowered.decisions,
            (*warnings, *lowered.warnings),
            lowered.tool_search,
            int(tokens),
            self._cost_range(lowered, tokens),
        )

    def _cost_range(self, lowered: Lowered, tokens: int) -> CostRange | None:
        from ..files.token_estimates import audio_tokens

        session, call = self.session, lowered.call
        audio = audio_tokens(call, session.profile, lowered.decisions)
        now = self.services.clock.time_of_day()
        return cost_range(self.pricing, call, session.profile, tokens, audio, session.terms(call), now)

    def estimate(self, call: ModelCall) -> TokenCount:
        """Returns an estimate of the input tokens of a call, with what was measured of its files before. It reads
        nothing, and raises nothing.
        """
        from ..files.token_estimates import estimated_tokens

        facts: FactsByFile = self.files.facts.known_facts(call) if media_parts(call) else {}
        try:
            lowered = self._lower(call, facts)
        except AbstractCoreError:  # a call that is refused has tokens nevertheless
            return estimated_tokens(call, self.session.profile)
        return estimated_tokens(lowered.call, self.session.profile, lowered.decisions)

    async def lower_in(self, runtime: Runtime, call: ModelCall) -> Lowered:
        """Returns the call as it is lowered when it is made; files that may be too long are measured."""
        return self._lower(call, await self.files.facts_of(call, runtime))

    def _lower(self, call: ModelCall, facts: FactsByFile) -> Lowered:
        now = self.services.clock.time_of_day()
        return lower(
            call,
            self.session.profile,
            self.files.handlers,
            now,
            self.media_options.keys(),
            facts,
            self.files.defaults,
            transpiler=self.session.transpiler,
        )

    def media_loader(self) -> MediaLoader:
        """Returns the loader of a call's files; their passwords are kept for this and further calls."""
        from ..files.loading import MediaLoader

        return MediaLoader(self.files.handlers, self.services.fetcher, self.keep_password)

    def keep_password(self, sha256: str, password: str) -> None:
        """Keeps the password of a file, by its hash, for this and further calls."""
        self.secrets.add([password])
        self.files.passwords[sha256] = password

    def close(self) -> None:
        """Closes the provider's session, and that of the model that embeds in place of this one."""
        if self.embedder is not None:
            self.embedder.close()
        if self.session.close is None:
            return
        try:
            self.session.close()
        except Exception:
            _log.exception("closing the session of a provider failed")

    def _make(self, runtime: Runtime, transport: Transport) -> Pipeline:
        credentials_of_endpoint(self._session.endpoint, self.secrets)
        return self._new_pipeline(
            self._session,
            self._pricing,
            runtime,
            transport,
            files=self.files,
            middleware=self._middleware,
            new_id=self.services.new_id,
            clock=self.services.clock,
            secrets=self.secrets,
            tracer=self.services.records.tracer,
        )

    def _new_pipeline(self, *arguments: Any, **keywords: Any) -> Pipeline:
        return Pipeline(*arguments, **keywords)

    def _call_files(self) -> CallFiles:
        captioner, options = None, self.media_options
        if "vision_model" in options:
            from .auxiliary_models import VisionModel

            captioner = VisionModel(options["vision_model"], self._create)
        transcriber = None
        if "transcription_model" in options:
            transcriber = self.new_transcriber(options["transcription_model"])
        return CallFiles(self._session, self.registry.media_handlers, self.services, options, captioner, transcriber)

    def new_transcriber(self, model: object) -> Transcriber | None:
        """Returns the transcriber of a model of a provider; None for weights on this machine."""
        from .auxiliary_models import TranscriptionModel, is_of_provider

        return TranscriptionModel(model, self._create) if is_of_provider(model, self.registry) else None


def _location(endpoint: Endpoint) -> str:
    """Returns the URL of the endpoint, if it has one."""
    if not isinstance(endpoint, KnownUrl):
        return ""
    return " at a URL known after the first call" if endpoint.url is None else f" at {shown_url(endpoint.url)}"


DEFAULT_TIMEOUT_SECONDS = 600.0
_CAPABILITIES: Mapping[Modality, CapabilityName] = {"audio": "voice", "image": "vision"}


class PreparedRequest(NamedTuple):
    """A request, validated as far as possible without reading files; `timeout` is in seconds."""

    prepare: Prepare
    timeout: float | None
    read_output: OutputReader | None = None
    rounds: RoundsPlan | None = None
    check: AnswerCheck | None = None
    media: AnswerMedia | None = None
    interruption: Interruption | None = None

    def response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns a coroutine of the response."""
        return self.interruptible(self._complete_response(pipeline), pipeline)

    def operate(self, operation: Operation[Any, Any], pipeline: Pipeline) -> Coroutine[Any, Any, OperationResult[Any]]:
        """Returns a coroutine of the result of an operation other than chat."""
        return self.interruptible(pipeline.operate(operation, self.prepare, self.timeout), pipeline)

    def interruptible(self, call: Coroutine[Any, Any, T], pipeline: Pipeline) -> Coroutine[Any, Any, T]:
        """Returns the call, which the interruption of the request ends, if it has one."""
        if self.interruption is None:
            return call
        from ..engine.interruptions import end_on

        loop = None if self.rounds is None else self.rounds.loop
        return end_on(self.interruption, call, pipeline.runtime, loop)

    def _complete_response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        if self.media is None:
            return self._checked_response(pipeline)
        request, trace = self.in_interaction(pipeline)
        return self.media.add_to(request._checked_response(pipeline), pipeline, trace)

    def in_interaction(self, pipeline: Pipeline) -> tuple[PreparedRequest, InteractionTrace | None]:
        """Returns the request as the first call of an interaction that makes sound or images of its answer; None if no
        subscriber wants its record.
        """
        tracer = pipeline.tracer()
        if tracer is None:
            return self, None
        from ..engine.interactions import InteractionTrace

        trace = InteractionTrace(tracer, pipeline, "media", pipeline.new_id())
        return self._replace(prepare=partial(trace.prepare, self.prepare)), trace

    def _checked_response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        response = self._response(pipeline)
        if self.check is None:
            return response
        from ..engine.answer_checks import check_response

        return check_response(response, self.check, pipeline)

    def _response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        if self.rounds is None:
            return pipeline.generate(self.prepare, self.timeout, self.read_output)
        from ..engine.tool_rounds import Rounds, generate_in_rounds

        rounds = Rounds(pipeline, self.prepare, self.timeout, self.read_output, self.rounds)
        return generate_in_rounds(rounds, pipeline)

    def sync_stream(self, pipeline: Pipeline) -> Stream[Any]:
        """Returns the stream of the call in sync code."""
        from .streams import Stream

        return Stream(self.open_stream(pipeline))

    def async_stream(self, pipeline: Pipeline) -> AsyncStream[Any]:
        """Returns the stream of the call in async code."""
        from .streams import AsyncStream

        return AsyncStream(self.open_stream(pipeline))

    def open_stream(self, pipeline: Pipeline) -> CallStream | RoundStream | WrappedStream:
        """Returns the stream of the call, which is sent at its first read."""
        stream: CallStream | RoundStream | WrappedStream = self._unchecked_stream(pipeline)
        if self.check is not None:
            from ..engine.answer_checks import CheckedStream

            stream = CheckedStream(stream, self.check, pipeline)
        if self.interruption is None:
            return stream
        from ..engine.interruptions import InterruptibleStream

        return InterruptibleStream(stream, self.interruption, pipeline.runtime)

    def _unchecked_stream(self, pipeline: Pipeline) -> CallStream | RoundStream:
        if self.rounds is None:
            from ..engine import CallStream

            return CallStream(pipeline, self.prepare, self.timeout, self.read_output)
        from ..engine.round_stream import RoundStream
        from ..engine.tool_rounds import Rounds

        return RoundStream(pipeline, Rounds(pipeline, self.prepare, self.timeout, self.read_output, self.rounds))


class HasVoiceAndVision(Protocol):
    """An LLM, as far as the media of its answers are made by it."""

    @property
    def voice(self) -> VoiceFacade: ...

    @property
    def vision(self) -> Vision: ...


@dataclass(frozen=True, slots=True)
class AnswerMedia:
    """Sound and images made by backends: the answers of `llm` are spoken, images are drawn of the prompt, or of the
    answer if there is none. `modalities` name what is made; `timeout` is that of the call, in seconds.
    """

    llm: HasVoiceAndVision
    modalities: tuple[Modality, ...]
    prompt: str | None
    timeout: float | None

    async def add_to(
        self, response: Coroutine[Any, Any, GenerateResponse[Any]], pipeline: Pipeline, trace: InteractionTrace | None
    ) -> GenerateResponse[Any]:
        """Returns the awaited response with what backends make, in the interaction of `trace`; an empty answer is left
        as it is.

        Raises errors of the backends, with the answer in `partial`.
        """
        if trace is None:
            return await self._add_to(response, pipeline, None)
        with trace.ending():
            return await self._add_to(response, pipeline, trace)

    async def _add_to(
        self, response: Coroutine[Any, Any, GenerateResponse[Any]], pipeline: Pipeline, trace: InteractionTrace | None
    ) -> GenerateResponse[Any]:
        began = pipeline.runtime.now()
        answer = await response
        if trace is not None:
            trace.calls = len(answer.steps)
        results: list[MediaResult[Any]] = []
        for modality in self.modalities if answer.content.strip() else ():
            left = None if self.timeout is None else began + self.timeout - pipeline.runtime.now()
            try:
                results.append(await self._make(modality, answer, pipeline, left, trace))
            except AbstractCoreError as error:
                error.partial = error.partial or answer.reply
                raise
        return replace(answer, made=tuple(results)) if results else answer

    def _make(
        self,
        modality: Modality,
        answer: GenerateResponse[Any],
        pipeline: Pipeline,
        left: float | None,
        trace: InteractionTrace | None,
    ) -> Coroutine[Any, Any, MediaResult[Any]]:
        if left is not None and left <= 0:
            raise RequestTimeoutError("the answer took all of the time", hint="Allow more time with timeout=SECONDS.")
        options = {"parent_id": answer.trace_id, "timeout": left}
        if modality == "audio":
            from ..capabilities.voice import speech_request

            request = speech_request(answer.content, options)
            return self.llm.voice.make(pipeline, request.within(trace), AudioPart)
        from ..capabilities.vision import image_request

        request = image_request(self.prompt or answer.content, options)
        return self.llm.vision.make(pipeline, request.within(trace), ImagePart)


def missing_modalities(
    requested: Sequence[Modality], profile: ModelProfile, registry: Registry
) -> tuple[Modality, ...]:
    """Returns the kinds of output that the model is known not to produce, and that backends can make."""
    if profile.produces is None:
        return ()
    return tuple(
        each
        for each in requested
        if each in _CAPABILITIES and each not in profile.produces and registry.backends.of(_CAPABILITIES[each])
    )
