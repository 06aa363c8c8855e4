"""Requests name the span of their call, and no key is on a span."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry import trace

from abstractcore import LLM, AuthenticationError, create_llm
from abstractcore.testing import CallStyle
from tests.chaos_server import ScriptedServer, completion, failure, streamed
from tests.core.otel.conftest import Program

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
KEY = "sk-canary-0123456789abcdef0123456789abcdef"


@pytest.fixture
def connect(program: Program, server: ScriptedServer) -> Callable[..., LLM]:
    """Makes an LLM that talks to `server`."""

    def connect() -> LLM:
        base_url = f"{server.url}/v1"
        return create_llm("openai-compatible", model="m", base_url=base_url, api_key=KEY, services=program.services)

    return connect


def test_request_names_the_span_of_its_call(
    program: Program, server: ScriptedServer, connect: Callable[..., LLM], call_style: CallStyle
):
    server.script(failure(503))
    server.script(completion())
    program.instrument()
    with program.tracer.start_as_current_span("request") as active:
        call_style.generate(connect(), "hi")
        assert trace.get_current_span() is active
    (span,) = [span for span in program.finished() if span.name == "chat m"]
    sent = [request.headers["traceparent"] for request in server.requests]
    assert sent == [f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-01"] * 2


def test_state_of_the_trace_is_passed_on(program: Program, server: ScriptedServer, connect: Callable[..., LLM]):
    server.script(completion())
    program.instrument()
    connect().generate("hi", trace_context={"traceparent": CALLER, "tracestate": "vendor=1"})
    (request,) = server.requests
    assert request.headers["traceparent"].startswith(CALLER[:36])
    assert request.headers["traceparent"] != CALLER
    assert request.headers["tracestate"] == "vendor=1"


def test_header_of_the_user_goes_before(program: Program, server: ScriptedServer, connect: Callable[..., LLM]):
    server.script(completion())
    program.instrument()
    connect().generate("hi", headers={"traceparent": CALLER})
    assert server.requests[0].headers["traceparent"] == CALLER


def test_without_instrumentation_nothing_is_sent(program: Program, server: ScriptedServer, connect: Callable[..., LLM]):
    server.script(completion())
    with program.tracer.start_as_current_span("request"):
        connect().generate("hi", trace_context={"traceparent": CALLER})
    assert "traceparent" not in server.requests[0].headers
    assert program.calls()[0].trace_context == {"traceparent": CALLER}


def test_stream_is_read_outside_of_its_span(program: Program, server: ScriptedServer, connect: Callable[..., LLM]):
    server.script(streamed("hello"))
    program.instrument()
    with connect().stream("hi") as stream:
        assert not trace.get_current_span().get_span_context().is_valid
        list(stream)
    span = program.span("chat m")
    assert span.parent is None
    assert f"-{span.context.span_id:016x}-" in server.requests[0].headers["traceparent"]


def test_key_is_on_no_span(program: Program, server: ScriptedServer, connect: Callable[..., LLM]):
    server.script(failure(401, message=f"bad key {KEY}"))
    program.instrument(capture="full")
    with pytest.raises(AuthenticationError):
        connect().generate("hi")
    span = program.span("chat m")
    assert "canary" not in span.to_json() + str(span.status.description) + str(program.metrics())
