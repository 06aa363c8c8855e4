"""What leaves through OpenTelemetry's own exporters, as a receiver of its protocol reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from abstractcore import CallRecord, Price, Services, create_llm, tool
from abstractcore.otel import instrument
from abstractcore.testing.http_server import ScriptedServer, answer
from tests.core.tools.loops import calls


@tool
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


class Receiver:
    """A receiver of the OpenTelemetry protocol over HTTP."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        server.always(answer(b"", content_type="application/x-protobuf"))

    @property
    def spans(self) -> list[Span]:
        """The spans so far."""
        requests = [
            ExportTraceServiceRequest.FromString(request.body)
            for request in self.server.requests
            if request.target == "/v1/traces"
        ]
        resources = [each for request in requests for each in request.resource_spans]
        return [span for resource in resources for scope in resource.scope_spans for span in scope.spans]

    def total(self, name: str) -> float:
        """Returns the last sum of a counter, over all attributes."""
        bodies = [request.body for request in self.server.requests if request.target == "/v1/metrics"]
        last = ExportMetricsServiceRequest.FromString(bodies[-1])
        metrics = [metric for each in last.resource_metrics for scope in each.scope_metrics for metric in scope.metrics]
        points = [point for metric in metrics if metric.name == name for point in metric.sum.data_points]
        return sum(point.as_double or point.as_int for point in points)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with ScriptedServer() as server:
        yield Receiver(server)


def value_of(span: Span, name: str) -> Any:
    (value,) = [each.value for each in span.attributes if each.key == name]
    return getattr(value, value.WhichOneof("value"))


def test_receiver_gets_the_tree_and_the_totals(receiver: Receiver, services: Services):
    records: list[CallRecord] = []
    services.records.subscribe(records.append)
    spans = OTLPSpanExporter(f"{receiver.server.url}/v1/traces", compression=Compression.NoCompression)
    metrics = OTLPMetricExporter(f"{receiver.server.url}/v1/metrics", compression=Compression.NoCompression)
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(spans))
    meters = MeterProvider([PeriodicExportingMetricReader(metrics)], shutdown_on_exit=False)
    replies = [calls(("add", {"left": 1, "right": 2})), "It is 3."]
    llm = create_llm("scripted", model="m", replies=replies, services=services, price=Price(input=1, output=2))
    with instrument(tracers, meters, services=services):
        llm.generate("hi", tools=[add], run_tools=True)
    tracers.shutdown()
    meters.shutdown()
    root, *others = sorted(receiver.spans, key=lambda span: (span.name != "invoke_agent", span.name))
    assert [span.name for span in others] == ["chat m", "chat m", "execute_tool add"]
    assert {span.parent_span_id for span in others} == {root.span_id}
    assert {span.trace_id for span in others} == {root.trace_id}
    assert root.parent_span_id == b""
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in receiver.spans)
    cost = float(sum(record.cost or 0 for record in records))
    assert sum(value_of(span, "abstractcore.cost.usd") for span in others[:2]) == pytest.approx(cost)
    assert receiver.total("abstractcore.cost.usd") == pytest.approx(cost)
    tokens = sum(record.usage.input or 0 for record in records)
    assert receiver.total("gen_ai.client.inference.usage.input_tokens") == tokens
