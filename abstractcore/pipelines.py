"""The two pipelines of an LLM, each made at its first use: so that making an LLM costs nothing and does no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from .engine import Pipeline
from .ports import MediaContext, MediaHandler, Middleware, ProviderSession, Runtime, Transport
from .services import Services
from .transport import TransportSettings


class Pipelines:
    """What the sync and the async pipeline share, and the pipelines themselves.

    Not `cached_property`: until Python 3.12 it has one lock for all instances, which a fork could leave locked.
    """

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
        self._sync: Pipeline | None = None
        self._async: Pipeline | None = None

    @property
    def sync(self) -> Pipeline:
        """For plain code."""
        if self._sync is None:
            from .runtimes import SyncRuntime

            transport = self.session.transport or self._services.sync_transport(self._settings)
            self._sync = self._make(SyncRuntime(), transport)
        return self._sync

    @property
    def asynchronous(self) -> Pipeline:
        """For event loops."""
        if self._async is None:
            from .runtimes import AsyncRuntime

            transport = self.session.transport or self._services.async_transport(self._settings)
            self._async = self._make(AsyncRuntime(), transport)
        return self._async

    def _make(self, runtime: Runtime, transport: Transport) -> Pipeline:
        return Pipeline(
            self.session,
            runtime,
            transport,
            handlers=self.handlers,
            media_context=self._media_context,
            middleware=self._middleware,
            new_id=self._services.new_id,
            time_of_day=self._services.time_of_day,
        )

    def _media_context(self) -> MediaContext:
        """Made for the first file: the model store takes a while to load."""
        options = {"transcription_model": self._transcription_model} if self._transcription_model else {}
        return MediaContext(self._services.models, options, self._services.spare_cores)
