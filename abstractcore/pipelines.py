"""The two pipelines of an LLM, each made at its first use: so that making an LLM costs nothing and does no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from .engine import Pipeline
from .ports import MediaContext, MediaHandler, Middleware, ProviderSession, Runtime, Transport
from .services import Services
from .transport import TransportSettings


class Pipelines:
    """What the sync and the async pipeline share, and the pipelines themselves."""

    def __init__(
        self,
        session: ProviderSession,
        services: Services,
        settings: TransportSettings,
        middleware: Sequence[Middleware],
        transcription_model: str | None,
    ) -> None:
        self.session = session
        self.handlers: Sequence[MediaHandler] = services.registry.media_handlers
        self._services = services
        self._settings = settings
        self._middleware = middleware
        self._transcription_model = transcription_model

    @cached_property
    def sync(self) -> Pipeline:
        """For plain code."""
        from .runtimes import SyncRuntime

        return self._make(SyncRuntime(), self.session.transport or self._services.sync_transport(self._settings))

    @cached_property
    def asynchronous(self) -> Pipeline:
        """For event loops."""
        from .runtimes import AsyncRuntime

        return self._make(AsyncRuntime(), self.session.transport or self._services.async_transport(self._settings))

    def _make(self, runtime: Runtime, transport: Transport) -> Pipeline:
        options = {"transcription_model": self._transcription_model} if self._transcription_model else {}
        return Pipeline(
            self.session,
            runtime,
            transport,
            handlers=self.handlers,
            media_context=MediaContext(self._services.models, options, self._services.spare_cores),
            middleware=self._middleware,
            new_id=self._services.new_id,
            time_of_day=self._services.time_of_day,
        )
