"""The sync and the async pipeline of an LLM, created on first use, so that creating an LLM does no I/O."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..engine import Pipeline, credentials_of_endpoint, lower, refuse_losses
from ..engine.lowering.media_routes import media_parts
from ..errors import AbstractCoreError
from ..ports import MediaHandler, Middleware, Pricing, ProviderSession, Runtime, Transport
from ..schema import CallWarning, Lowered, ModelCall
from ..scrubbing import Secrets
from .connections import Connections
from .services import Services

if TYPE_CHECKING:
    from ..engine.file_facts import FileFacts
    from ..engine.lowering.file_facts import FactsByFile
    from ..engine.lowering.media_policies import MediaDefaults
    from ..ports import Captioner, MediaContext, StoredFileIndex, Transcriber
    from ..schema import CostRange, Plan, TokenCount
    from .media_loading import MediaLoader

_log = logging.getLogger("abstractcore")


class Pipelines:
    """The sync and the async pipeline of an LLM, and what they share.

    Not `cached_property`: until Python 3.12 it has one lock for all instances, which a fork could leave locked.
    """

    def __init__(
        self,
        session: ProviderSession,
        pricing: Pricing,
        services: Services,
        connections: Connections,
        middleware: Sequence[Middleware],
        media_options: Mapping[str, Any],
        secrets: Secrets,
    ) -> None:
        self.session = session
        self.pricing = pricing
        self.registry = services.registry
        self.handlers: Sequence[MediaHandler] = self.registry.media_handlers
        self.services = services
        self._connections = connections
        self._middleware = middleware
        self.media_options = media_options
        self._captioner: Captioner | None = None
        self._transcriber: Transcriber | None = None
        self._file_facts: FileFacts | None = None
        self._passwords: dict[str, str] = {}
        self.secrets = secrets
        self._sync: Pipeline | None = None
        self._async: Pipeline | None = None

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

    def lowered(self, call: ModelCall) -> Lowered:
        """Returns the call as it would be lowered now; blocks, since all of its files are measured."""
        if not media_parts(call):
            return self._lowered(call, {})
        from ..engine.media_conversion import as_planned

        lowered = self._lowered(call, self._facts().of_all(call))
        return as_planned(lowered, self.handlers, self._media_context())

    def plan(self, call: ModelCall, warnings: tuple[CallWarning, ...]) -> Plan:
        """Returns the plan of a call with the warnings that it has already; blocks as `lowered` does.

        Raises `UnsupportedOptionError` for further warnings of losses if the call is strict.
        """
        from ..engine.lowering.token_estimates import estimated_tokens
        from ..schema import Plan

        lowered = self.lowered(call)
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
        from ..engine.lowering.token_estimates import audio_tokens
        from ..telemetry.cost_ranges import cost_range

        session, call = self.session, lowered.call
        audio = audio_tokens(call, session.profile, lowered.decisions)
        now = self.services.clock.time_of_day()
        return cost_range(self.pricing, call, session.profile, tokens, audio, session.terms(call), now)

    def estimate(self, call: ModelCall) -> TokenCount:
        """Returns an estimate of the input tokens of a call, with what was measured of its files before. It reads
        nothing, and raises nothing.
        """
        from ..engine.lowering.token_estimates import estimated_tokens

        facts: FactsByFile = self._facts().known(call) if media_parts(call) else {}
        try:
            lowered = self._lowered(call, facts)
        except AbstractCoreError:  # a call that is refused has tokens nevertheless
            return estimated_tokens(call, self.session.profile)
        return estimated_tokens(lowered.call, self.session.profile, lowered.decisions)

    async def lowered_in(self, runtime: Runtime, call: ModelCall) -> Lowered:
        """Returns the call as it is lowered when it is made; files that may be too long are measured."""
        return self._lowered(call, await self._facts().for_call(call, self.session.profile, runtime))

    def _lowered(self, call: ModelCall, facts: FactsByFile) -> Lowered:
        now = self.services.clock.time_of_day()
        return lower(
            call,
            self.session.profile,
            self.handlers,
            now,
            self.media_options.keys(),
            facts,
            self._media_defaults,
            transpiler=self.session.transpiler,
        )

    def _facts(self) -> FileFacts:
        """Returns what measures files, created for the first of them."""
        if self._file_facts is None:
            from ..engine.file_facts import FileFacts

            self._file_facts = FileFacts(self.handlers, self._artifact, self._media_context)
        return self._file_facts

    def media_loader(self) -> MediaLoader:
        """Returns what loads files of a call; their passwords are kept for this and further calls."""
        from .media_loading import MediaLoader

        return MediaLoader(self.handlers, self.services.fetcher, self._keep_password)

    def _keep_password(self, sha256: str, password: str) -> None:
        self.secrets.add([password])
        self._passwords[sha256] = password

    def close(self) -> None:
        """Closes the provider's session."""
        if self.session.close is None:
            return
        try:
            self.session.close()
        except Exception:
            _log.exception("closing the session of a provider failed")

    def _make(self, runtime: Runtime, transport: Transport) -> Pipeline:
        credentials_of_endpoint(self.session.endpoint, self.secrets)
        return Pipeline(
            self.session,
            self.pricing,
            runtime,
            transport,
            handlers=self.handlers,
            media_context=self._media_context,
            media_options=self.media_options.keys(),
            media_defaults=self._media_defaults,
            artifact=self._artifact,
            file_facts=self._facts,
            stored_files=self._stored_files,
            middleware=self._middleware,
            new_id=self.services.new_id,
            clock=self.services.clock,
            secrets=self.secrets,
        )

    def _media_defaults(self) -> MediaDefaults:
        """Returns what is configured for kinds of files; it is read on first use."""
        return self.services.configuration

    def _stored_files(self) -> StoredFileIndex:
        """Returns the index of uploads, created for the first of them."""
        return self.services.stored_files

    def _artifact(self, sha256: str) -> bytes:
        """Returns the content of an artifact; the store is created on first use."""
        return self.services.artifacts.get(sha256)

    def _media_context(self) -> MediaContext:
        """Creates the context for the first file: the model store takes a while to import."""
        from ..ports import MediaContext

        if self._captioner is None and "vision_model" in self.media_options:
            from .vision_models import VisionModel

            self._captioner = VisionModel(self.media_options["vision_model"], self.services)
        if self._transcriber is None and "transcription_model" in self.media_options:
            self._transcriber = self.new_transcriber(self.media_options["transcription_model"])
        options, cores = self.media_options, self.services.spare_cores
        return MediaContext(
            self.services.models,
            options,
            cores,
            passwords=self._passwords,
            captioner=self._captioner,
            transcriber=self._transcriber,
            fetcher=self.services.fetcher,
            conversions=self.services.conversions,
            isolation=self.services.isolation,
            image_tokens=self.session.profile.media_tokens.get("image"),
            image_limits=self.session.profile.media_limits,
        )

    def new_transcriber(self, model: object) -> Transcriber | None:
        """Returns the transcriber of a model of a provider; None for weights on this machine."""
        from .transcription_models import TranscriptionModel, is_of_provider

        return TranscriptionModel(model, self.services) if is_of_provider(model, self.registry) else None
