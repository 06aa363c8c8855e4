"""`instrument`: makes spans and metrics of the records of calls, until it is closed."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Final, Literal, TypeAlias

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.trace import Tracer, TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from ..client.services import Services, default_services
from ..copying import NotCopied
from ..errors import ConfigurationError, InvalidInputError
from ..schema import CallRecord, Capture, TraceRecord
from ..telemetry.propagation import propagate, stop_propagating
from ..version import __version__
from . import attributes, names, openinference
from .contexts import SpanIds, SpanPropagator, place_of
from .metrics import RecordMetrics

Names: TypeAlias = Literal["otel", "openinference"]
"""The names of attributes: OpenTelemetry's conventions for generative AI, or those of OpenInference."""

_SCOPE: Final = "abstractcore"
_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS: Final = frozenset({"true", "span_only", "span_and_event"})
_NAMES: Final = {"otel": attributes.of_record, "openinference": openinference.of_record}
_NANOSECONDS: Final = 10**9


class Instrumentation(NotCopied):
    """Makes spans and metrics of records. `close`, or the end of `with`, ends it when those so far are made."""

    _holds = "a thread"
    _instead = "Instrument the other process."

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None,
        meter_provider: MeterProvider | None,
        of_record: Names,
        capture: Capture,
        services: Services,
    ) -> None:
        self._provider = tracer_provider
        self._with_content = capture != "off"
        self._attributes = _NAMES[of_record]
        self._ids = SpanIds()
        self._tracer: Tracer | None = None
        meters = metrics.get_meter_provider() if meter_provider is None else meter_provider
        self._metrics = RecordMetrics(meters.get_meter(_SCOPE, __version__))
        self._propagator = SpanPropagator(self._sdk_provider)
        propagate(self._propagator)
        # Parameters of a call are not content; records without any have none of them.
        kept: Capture = "full" if capture == "full" else "redacted"
        self._subscription = services.records.subscribe(self._add, kept, "all")

    @property
    def dropped(self) -> int:
        """How many records were lost: see `Subscription`."""
        return self._subscription.dropped

    def flush(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds until the spans of all calls so far have been made; returns success. Exporters
        are flushed by their providers: `provider.force_flush()`.
        """
        return self._subscription.flush(timeout)

    def close(self) -> None:
        """Ends it. The providers are left open."""
        stop_propagating(self._propagator)
        self._subscription.close()

    def __enter__(self) -> Instrumentation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _sdk_provider(self) -> TracerProvider | None:
        """Returns the provider; None while the application has set none."""
        provider = trace.get_tracer_provider() if self._provider is None else self._provider
        return provider if isinstance(provider, TracerProvider) else None

    def _own_tracer(self) -> Tracer | None:
        """Returns the tracer, whose spans have the ids of records; None while the application has set no provider."""
        if self._tracer is None:
            provider = self._sdk_provider()
            tracer = None if provider is None else provider.get_tracer(_SCOPE, __version__)
            if not isinstance(tracer, Tracer):
                return None
            tracer.id_generator = self._ids
            self._tracer = tracer
        return self._tracer

    def _add(self, record: TraceRecord) -> None:
        """Makes the span of a record, and adds it to the metrics. Runs in the subscription's thread."""
        self._metrics.add(record)
        tracer = self._own_tracer()
        place = place_of(record)
        if tracer is None or not (place.parent or place.is_sampled):
            return
        found = self._attributes(record, with_content=self._with_content) | attributes.own_attributes(record)
        kind = SpanKind.CLIENT if isinstance(record, CallRecord) else SpanKind.INTERNAL
        start = round(record.started_at * _NANOSECONDS)
        self._ids.use(place.trace, place.span)
        span = tracer.start_span(attributes.span_name(record), place.context, kind, found, start_time=start)
        _add_outcome(span, record)
        span.end(start + round(record.seconds * _NANOSECONDS))


def instrument(
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    *,
    names: Names = "otel",
    capture: Capture | None = None,
    services: Services | None = None,
) -> Instrumentation:
    """Makes spans and metrics of every call, interaction and tool run from now on, until the result is closed.

    A call that is made while a span is active is its child; what a tool traces itself is a child of its run; requests
    have the header `traceparent`. Without providers, those of the program are used: `opentelemetry.trace` may get its
    provider later.

    `capture` is how much content spans have: "off", "redacted" (sizes in place of texts) or "full". By default the
    environment variable OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT decides: "full" if it is true, SPAN_ONLY or
    SPAN_AND_EVENT, else "off". Files are their types, hashes and sizes. `services` are those of the LLMs; by default
    those that LLMs without any have.

    Raises `ConfigurationError` if calls are traced already, and for a tracer provider that is not of OpenTelemetry's
    SDK; `InvalidInputError` for other names and another capture.
    """
    if names not in _NAMES:
        raise InvalidInputError(f"expected 'otel' or 'openinference', got {names!r}", path="names")
    if capture not in (None, "off", "redacted", "full"):
        raise InvalidInputError(f"expected 'off', 'redacted' or 'full', got {capture!r}", path="capture")
    if tracer_provider is not None and not isinstance(tracer_provider, TracerProvider):
        raise ConfigurationError(
            f"expected a TracerProvider of opentelemetry.sdk, got {type(tracer_provider).__qualname__}.",
            hint="Spans have the ids of their records, which other providers do not accept.",
        )
    chosen = _capture_of_environment() if capture is None else capture
    return Instrumentation(tracer_provider, meter_provider, names, chosen, services or default_services())


def _capture_of_environment() -> Capture:
    return "full" if os.environ.get(_VARIABLE, "").strip().lower() in _ON_SPANS else "off"


def _add_outcome(span: Span, record: TraceRecord) -> None:
    """Adds the error of a record, and the attempts of a call that failed before it."""
    kind = attributes.error_type(record)
    if kind is not None:
        span.set_attribute(names.ERROR_TYPE, kind)
        if record.error is not None or record.outcome in ("failed", "timed_out", "interrupted"):
            message = None if record.error is None else record.error.message
            span.set_status(Status(StatusCode.ERROR, message or None))
    for attempt in record.attempts if isinstance(record, CallRecord) else ():
        if attempt.error is not None:
            end = round((attempt.started_at + attempt.seconds) * _NANOSECONDS)
            span.add_event(names.FAILED_ATTEMPT, {names.ERROR_TYPE: attempt.error}, end)
