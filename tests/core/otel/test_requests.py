"""Requests name the span of their call, and no key is on a span."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry import trace

from abstractcore import LLM, AuthenticationError, Budget, Price, ResponseCache, create_llm
from abstractcore.testing import CallStyle
from tests.chaos_server import ScriptedServer, completion, failure, streamed
from tests.core.otel.conftest import Program
from tests.providers.file_stores.fakes import running

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PNG = (Path(__file__).parents[2] / "media/files/small.png").read_bytes()
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


def test_span_of_a_call_does_not_make_it_another_one_for_a_cache(
    program: Program, server: ScriptedServer, call_style: CallStyle
):
    server.script(completion())
    program.instrument()
    llm = create_llm(
        "openai-compatible", "m", base_url=server.url, api_key=KEY, services=program.services,
        middleware=[ResponseCache()],
    )  # fmt: skip
    assert [call_style.generate(llm, "hi").cached_at is None for _ in range(2)] == [True, False]


def test_span_of_a_call_does_not_make_it_one_of_another_account_for_a_store_of_files(program: Program):
    program.instrument()
    with running("anthropic") as store:
        llm = create_llm(
            "anthropic", "claude-sonnet-4-5", base_url=store.server.url, api_key="key-1", services=program.services,
            file_store="always",
        )  # fmt: skip
        responses = [llm.generate("hi", media=[PNG]) for _ in range(2)]
        assert [each.media[0].stored for each in responses] == ["uploaded", "reused"]
        spans = {f"{span.context.span_id:016x}" for span in program.finished()}
        named = [request.headers["traceparent"].split("-")[2] for request in store.server.requests]
        assert len({*named}) == len(named)
        assert {*named} <= spans


def test_cheaper_model_that_answers_instead_names_the_span_too(program: Program, server: ScriptedServer):
    server.script(completion())
    program.instrument()
    connection = {"base_url": f"{server.url}/v1", "api_key": KEY, "services": program.services}
    cheaper = create_llm("openai", "gpt-5.4-mini", price=Price(input=0, output=0), **connection)
    llm = create_llm(
        "openai-compatible",
        "m",
        price=Price(input=1, output=1),
        budgets=[Budget(1e-9, on_exceeded=cheaper)],
        **connection,
    )
    llm.generate("hi", headers={"x-token": "for the other provider"})
    (span,) = program.finished()
    (request,) = server.requests
    assert request.headers["traceparent"].split("-")[2] == f"{span.context.span_id:016x}"
    assert "x-token" not in request.headers


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
