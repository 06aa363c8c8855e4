"""OpenTelemetry in a server: spans of its calls, if its configuration says so."""

from __future__ import annotations

import sys
from dataclasses import replace

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from abstractcore.errors import MissingExtraError
from abstractcore_server.configuration.settings import ServerSettings, Settings
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.server.serving import Served, serving

ASK = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
TRACED = Settings(ServerSettings(otel=True))


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """The spans of the provider of the process."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("abstractcore.otel.instrumentation.trace.get_tracer_provider", lambda: provider)
    return exporter


def ask(served: Served) -> None:
    served.script("Yes.")
    assert httpx2.post(f"{served.url}/v1/chat/completions", json=ASK, timeout=PATIENCE_SECONDS).status_code == 200


def test_calls_have_spans_as_long_as_the_configuration_says_so(spans: InMemorySpanExporter):
    with serving(TRACED) as served:
        ask(served)
        wait_until(lambda: len(spans.get_finished_spans()) == 1)
        served.application.reload(replace(served.application.state.settings, server=ServerSettings()))
        ask(served)
        served.application.reload(TRACED)
        ask(served)
        wait_until(lambda: len(spans.get_finished_spans()) == 2)
    assert {span.name for span in spans.get_finished_spans()} == {"chat scripted"}


def test_server_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    from abstractcore_server import Application

    for name in [each for each in sys.modules if each.startswith("abstractcore.otel")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(MissingExtraError, match="pip install opentelemetry-api opentelemetry-sdk"):
        Application(TRACED)
