"""Spans of calls, interactions and tool runs: their parents, times and ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode
from pydantic import BaseModel

from abstractcore import (
    ConfigurationError,
    InvalidInputError,
    OverloadedError,
    ScriptExhaustedError,
    Services,
    Suspend,
    ToolError,
    ToolPolicy,
    context,
    create_llm,
    tool,
)
from abstractcore.otel import instrument
from abstractcore.telemetry.propagation import current_propagator, span_id
from tests.core.otel.conftest import Program
from tests.core.tools.loops import WAYS, Way, calls

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    with Way.of(request.param) as way:
        yield way


@tool
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


def test_call_is_a_span_with_the_times_of_its_record(program: Program, services: Services):
    program.instrument()
    create_llm("scripted", model="m", replies=["hello"], services=services).generate("hi")
    span = program.span("chat m")
    (record,) = program.calls()
    assert (span.kind, span.parent, span.status.status_code) == (SpanKind.CLIENT, None, StatusCode.UNSET)
    assert span.start_time == round(record.started_at * 1e9)
    assert span.end_time == span.start_time + round(record.seconds * 1e9)
    assert f"{span.context.span_id:016x}" == span_id(record.trace_id)
    assert span.attributes is not None
    assert span.attributes["abstractcore.trace_id"] == record.trace_id


def test_loop_is_a_tree_below_the_active_span(program: Program, services: Services, way: Way):
    inner = create_llm("scripted", model="inner", replies=["4"], services=services)

    @tool
    def ask(question: str) -> str:
        """Asks another model."""
        with program.tracer.start_as_current_span("the tool's own"):
            return inner.generate(question).content

    replies = [calls(("ask", {"question": "2 + 2"}), ("add", {"left": 1, "right": 2})), "done"]
    llm = create_llm("scripted", model="outer", replies=replies, services=services)
    program.instrument()
    with program.tracer.start_as_current_span("request"):
        way.generate(llm, "hi", tools=[ask, add], run_tools=True)
    assert program.tree() == [
        ("chat inner", "the tool's own"),
        ("chat outer", "invoke_agent"),
        ("chat outer", "invoke_agent"),
        ("execute_tool add", "invoke_agent"),
        ("execute_tool ask", "invoke_agent"),
        ("invoke_agent", "request"),
        ("request", None),
        ("the tool's own", "execute_tool ask"),
    ]
    assert len({span.context.trace_id for span in program.finished()}) == 1


def test_without_an_active_span_each_interaction_is_a_trace(program: Program, services: Services):
    replies = [calls(("add", {"left": 1, "right": 2})), "3", "alone"]
    llm = create_llm("scripted", model="m", replies=replies, services=services)
    program.instrument()
    llm.generate("hi", tools=[add], run_tools=True)
    llm.generate("hi")
    assert program.tree() == [
        ("chat m", "invoke_agent"),
        ("chat m", "invoke_agent"),
        ("chat m", None),
        ("execute_tool add", "invoke_agent"),
        ("invoke_agent", None),
    ]
    assert len({span.context.trace_id for span in program.finished()}) == 2


def test_correction_is_one_tree(program: Program, services: Services, way: Way):
    class Answer(BaseModel):
        number: int

    llm = create_llm("scripted", model="m", replies=["none", '{"number": 4}'], services=services)
    program.instrument()
    way.generate(llm, "hi", response_model=Answer)
    assert program.tree() == [
        ("chat m", "invoke_agent"),
        ("chat m", "invoke_agent"),
        ("invoke_agent", None),
    ]
    assert len({span.context.trace_id for span in program.finished()}) == 1


def test_continued_loop_has_a_span_for_each_part(program: Program, services: Services):
    policy = ToolPolicy(approve=lambda call: Suspend())
    replies = [calls(("add", {"left": 1, "right": 2})), "3"]
    llm = create_llm("scripted", model="m", replies=replies, services=services)
    program.instrument()
    with program.tracer.start_as_current_span("request"):
        response = llm.generate("hi", tools=[add], run_tools=policy)
        assert response.loop is not None
        (waiting,) = response.loop.pending
        services.clock.advance(60)
        llm.resume(response.loop, answers=[waiting.allow()], tools=[add])
    names = [name for name, _ in program.tree()]
    assert names.count("invoke_agent") == 2
    parents = dict(program.tree())
    assert (parents["invoke_agent"], parents["execute_tool add"]) == ("request", "invoke_agent")


def test_trace_context_of_a_call_is_its_parent(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=["hello", "hello"], services=services)
    program.instrument()
    llm.generate("hi", trace_context={"traceparent": CALLER, "tracestate": "vendor=1"})
    with program.tracer.start_as_current_span("of another trace"):
        llm.generate("hi", trace_context={"traceparent": CALLER})
    spans = [span for span in program.finished() if span.name == "chat m"]
    parents = [span.parent for span in spans]
    assert [f"{parent.trace_id:032x}-{parent.span_id:016x}" for parent in parents if parent] == [CALLER[3:-3]] * 2
    assert spans[0].context.trace_state.to_header() == "vendor=1"


@pytest.mark.parametrize("given", ["", "00-zz", "00-" + "0" * 32 + "-b7ad6b7169203331-01", "ff" + CALLER[2:], "é"])
def test_invalid_trace_context_begins_a_trace(program: Program, services: Services, given: str):
    llm = create_llm("scripted", model="m", replies=["hello"], services=services)
    program.instrument()
    llm.generate("hi", trace_context={"traceparent": given})
    assert program.tree() == [("chat m", None)]


def test_parent_id_of_the_user_is_an_attribute(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=["hello"], services=services)
    program.instrument()
    with context(parent_id="ticket-17"):
        llm.generate("hi")
    span = program.span("chat m")
    assert (span.parent, dict(span.attributes or {})["abstractcore.parent_id"]) == (None, "ticket-17")


def test_failed_call_is_an_error_with_its_attempts(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=[OverloadedError("busy"), "hello"], services=services)
    program.instrument()
    llm.generate("hi")
    span = program.span("chat m")
    assert [(event.name, dict(event.attributes or {})) for event in span.events] == [
        ("abstractcore.failed_attempt", {"error.type": "OverloadedError"})
    ]
    assert span.status.status_code == StatusCode.UNSET
    program.spans.clear()
    with pytest.raises(ScriptExhaustedError):
        llm.generate("hi")
    span = program.span("chat m")
    assert (span.status.status_code, dict(span.attributes or {})["error.type"]) == (
        StatusCode.ERROR,
        "ScriptExhaustedError",
    )


def test_abandoned_stream_is_no_error(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=["one two three"], services=services)
    program.instrument()
    with llm.stream("hi") as stream:
        next(stream)
    span = program.span("chat m")
    attributes = dict(span.attributes or {})
    assert (span.status.status_code, attributes["error.type"]) == (StatusCode.UNSET, "abandoned")
    assert attributes["gen_ai.request.stream"] is True


def test_failed_tool_is_an_error(program: Program, services: Services):
    @tool
    def fail() -> str:
        """Fails."""
        raise ToolError("no such file")

    llm = create_llm("scripted", model="m", replies=[calls(("fail", {})), "sorry"], services=services)
    program.instrument()
    llm.generate("hi", tools=[fail], run_tools=True)
    span = program.span("execute_tool fail")
    assert (span.status.status_code, dict(span.attributes or {})["error.type"]) == (StatusCode.ERROR, "ToolError")


def test_sampled_out_trace_has_no_spans(services: Services):
    program = Program(services, provider=TracerProvider(ParentBased(TraceIdRatioBased(0.0)), shutdown_on_exit=False))
    with program.instrument():
        replies = [calls(("add", {"left": 1, "right": 2})), "3"]
        llm = create_llm("scripted", model="m", replies=replies, services=services)
        llm.generate("hi", tools=[add], run_tools=True)
        assert program.finished() == []
        assert program.total("gen_ai.client.inference.usage.input_tokens") > 0


def test_half_of_the_traces_are_whole_or_missing(services: Services):
    program = Program(services, provider=TracerProvider(ParentBased(TraceIdRatioBased(0.5)), shutdown_on_exit=False))
    with program.instrument():
        for _ in range(20):
            replies = [calls(("add", {"left": 1, "right": 2})), "3"]
            llm = create_llm("scripted", model="m", replies=replies, services=services)
            llm.generate("hi", tools=[add], run_tools=True)
        traces = [span.context.trace_id for span in program.finished()]
    assert {traces.count(each) for each in traces} <= {4}


def test_span_that_is_not_sampled_has_no_children(services: Services):
    program = Program(services, provider=TracerProvider(ParentBased(ALWAYS_OFF), shutdown_on_exit=False))
    llm = create_llm("scripted", model="m", replies=["hello"], services=services)
    with program.instrument(), program.tracer.start_as_current_span("request"):
        llm.generate("hi")
        assert program.finished() == []


def test_closing_ends_it(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=["one", "two"], services=services)
    with program.instrument() as instrumentation:
        llm.generate("hi")
        assert instrumentation.flush(30)
    llm.generate("hi")
    assert len(program.finished()) == 1
    assert (current_propagator(), instrumentation.dropped) == (None, 0)
    assert program.calls()[1].trace_context == {}


def test_second_instrumentation_is_refused(program: Program, services: Services):
    program.instrument()
    with pytest.raises(ConfigurationError, match="calls are traced already"):
        instrument(program.provider, services=services)


def test_invalid_arguments_are_refused(services: Services):
    with pytest.raises(InvalidInputError, match="expected 'otel' or 'openinference', got 'x'"):
        instrument(names="x", services=services)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="expected 'off', 'redacted' or 'full', got 'all'"):
        instrument(capture="all", services=services)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"expected a TracerProvider of opentelemetry\.sdk, got NoOpTracer"):
        instrument(trace.NoOpTracerProvider(), services=services)
    assert current_propagator() is None


def test_provider_may_be_set_later(program: Program, services: Services, monkeypatch: pytest.MonkeyPatch):
    llm = create_llm("scripted", model="m", replies=["one", "two"], services=services)
    with instrument(services=services):
        llm.generate("hi")
        assert services.records.flush(30)
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: program.provider)
        llm.generate("hi")
        assert len(program.finished()) == 1
