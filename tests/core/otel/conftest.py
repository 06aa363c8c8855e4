"""A program with OpenTelemetry's own SDK, whose spans and metrics stay in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from abstractcore import CallRecord, Services, ToolRecord, TraceRecord
from abstractcore.otel import Instrumentation, instrument
from abstractcore.testing import VirtualClock
from tests.chaos_server import PATIENCE_SECONDS


@pytest.fixture
def services() -> Iterator[Services]:
    """Pauses before retries take no time here."""
    services = Services(environment={}, clock=VirtualClock(time_of_day=1_800_000_000.0), random=lambda: 0.0)
    yield services
    services.close()


@dataclass
class Program:
    """A program that is instrumented with `instrument(...)`, and has the records of its calls beside."""

    services: Services
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    records: list[TraceRecord] = field(default_factory=list[TraceRecord])
    provider: TracerProvider = field(default_factory=lambda: TracerProvider(shutdown_on_exit=False))
    instrumentation: Instrumentation | None = None

    def __post_init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.services.records.subscribe(self.records.append, "full", "all")
        self.tracer = self.provider.get_tracer("the program")

    def instrument(self, **options: Any) -> Instrumentation:
        """Instruments it, until the end of the test."""
        self.instrumentation = instrument(self.provider, self.meters, services=self.services, **options)
        return self.instrumentation

    def finished(self) -> list[ReadableSpan]:
        """Returns the spans of all calls so far."""
        assert self.services.records.flush(PATIENCE_SECONDS)
        return list(self.spans.get_finished_spans())

    def tree(self) -> list[tuple[str, str | None]]:
        """Returns the names of all spans and of their parents, sorted."""
        spans = self.finished()
        by_id = {span.context.span_id: span.name for span in spans}
        assert len(by_id) == len(spans), "two spans have the same id"
        found = [(span.name, None if span.parent is None else by_id[span.parent.span_id]) for span in spans]
        return sorted(found, key=lambda each: (each[0], each[1] or "~"))

    def span(self, name: str) -> ReadableSpan:
        """Returns the only span with this name."""
        (found,) = [span for span in self.finished() if span.name == name]
        return found

    def metrics(self) -> dict[str, list[tuple[Mapping[str, Any], Any]]]:
        """Returns the attributes and the values of all metrics: a histogram's is its count and its sum."""
        self.finished()
        data = self.reader.get_metrics_data()
        found: dict[str, list[tuple[Mapping[str, Any], Any]]] = {}
        scopes = [] if data is None else [each for one in data.resource_metrics for each in one.scope_metrics]
        for metric in [each for scope in scopes for each in scope.metrics]:
            for point in metric.data.data_points:
                value = getattr(point, "value", None)
                value = (getattr(point, "count", 0), getattr(point, "sum", 0)) if value is None else value
                found.setdefault(metric.name, []).append((dict(point.attributes or {}), value))
        return found

    def total(self, name: str) -> float:
        """Returns the sum of a counter over all attributes."""
        return sum(value for _, value in self.metrics().get(name, ()))

    def calls(self) -> list[CallRecord]:
        """Returns the records of all calls so far."""
        self.finished()
        return [record for record in self.records if isinstance(record, CallRecord)]

    def tool_runs(self) -> list[ToolRecord]:
        """Returns the records of all tool runs so far."""
        self.finished()
        return [record for record in self.records if isinstance(record, ToolRecord)]


@pytest.fixture
def program(services: Services) -> Iterator[Program]:
    """A program that is not instrumented yet."""
    program = Program(services)
    yield program
    if program.instrumentation is not None:
        program.instrumentation.close()
    program.provider.shutdown()
    program.meters.shutdown()
