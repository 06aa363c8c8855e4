"""`ServerTelemetry`: OpenTelemetry's spans and metrics of the calls of a server, if its configuration says so."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import abstractcore

from .configuration.settings import Settings

if TYPE_CHECKING:
    from abstractcore.otel import Instrumentation


class ServerTelemetry:
    """Makes spans and metrics of the calls of the services that are current."""

    def __init__(self) -> None:
        self._instrumentation: Instrumentation | None = None

    @staticmethod
    def check(settings: Settings) -> None:
        """Raises `MissingExtraError` if `otel` is set without the extra."""
        if settings.server.otel:
            import_module("abstractcore.otel")

    def follow(self, settings: Settings, services: abstractcore.Services) -> None:
        """Follows services from now on, instead of earlier ones, if `otel` is set.

        Raises `MissingExtraError` without the extra, and `ConfigurationError` in a program that is traced already.
        """
        if not settings.server.otel:
            self.close()
            return
        from abstractcore.otel import instrument

        self.close()
        self._instrumentation = instrument(services=services)

    def close(self) -> None:
        """Ends it, after the spans of calls that have ended."""
        if self._instrumentation is not None:
            self._instrumentation.close()
            self._instrumentation = None
