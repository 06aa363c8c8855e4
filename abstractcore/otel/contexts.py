"""The spans of records in OpenTelemetry's own terms: their ids, their parents, and which span is active."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    get_current_span,
    set_span_in_context,
)

from ..schema import InteractionRecord, TraceRecord
from ..telemetry.propagation import NO_PARENT, TraceContext, interaction_name, span_id


class SpanIds(IdGenerator):
    """Gives the next span the ids that a record has; without any, random ones. It is used by one thread."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._next: tuple[int, int] | None = None

    def use(self, trace: int, span: int) -> None:
        """Sets the ids of the next span."""
        self._next = trace, span

    def generate_trace_id(self) -> int:
        """Returns the id of the trace that the next span begins."""
        return self._random.generate_trace_id() if self._next is None else self._next[0]

    def generate_span_id(self) -> int:
        """Returns the id of the next span, once."""
        ids, self._next = self._next, None
        return self._random.generate_span_id() if ids is None else ids[1]


class SpanPlace(NamedTuple):
    """Where the span of a record belongs. A record that was made before calls were traced begins a trace."""

    trace: int
    span: int
    parent: int
    is_sampled: bool
    state: TraceState

    @property
    def context(self) -> Context:
        """The context of the parent."""
        if not self.parent:
            return Context()
        flags = TraceFlags(TraceFlags.SAMPLED if self.is_sampled else TraceFlags.DEFAULT)
        parent = SpanContext(self.trace, self.parent, is_remote=False, trace_flags=flags, trace_state=self.state)
        return set_span_in_context(NonRecordingSpan(parent), Context())


def place_of(record: TraceRecord) -> SpanPlace:
    """Returns the ids of the span of a record, and of its parent; ones of its own for a context that is not valid."""
    name = record.trace_id
    if isinstance(record, InteractionRecord):
        name = interaction_name(record.trace_id, record.started_at)
    own = int(span_id(name), 16)
    parsed = _parsed(record.trace_context)
    if parsed is None:
        return SpanPlace(int(span_id(f"trace {name}") + span_id(name), 16), own, 0, True, TraceState())
    trace, parent, flags = parsed
    return SpanPlace(trace, own, parent, bool(flags & TraceFlags.SAMPLED), _state(record.trace_context))


def _parsed(context: TraceContext) -> tuple[int, int, int] | None:
    """Returns the ids and the flags of a `traceparent`; None if it is not valid."""
    fields = context.get("traceparent", "").split("-")
    if len(fields) < 4 or [len(field) for field in fields[:4]] != [2, 32, 16, 2] or fields[0] == "ff":
        return None
    try:
        trace, parent, flags = (int(field, 16) for field in fields[1:4])
    except ValueError:
        return None
    return (trace, parent, flags) if trace else None


def _state(context: TraceContext) -> TraceState:
    return TraceState.from_header([context["tracestate"]]) if context.get("tracestate") else TraceState()


def _written(trace: int, span: int | None, flags: int) -> TraceContext:
    parent = NO_PARENT if span is None else f"{span:016x}"
    return {"traceparent": f"00-{trace:032x}-{parent}-{flags & TraceFlags.SAMPLED:02x}"}


class SpanPropagator:
    """OpenTelemetry as the tracing system that calls belong to. `provider` returns its provider, if it is known."""

    def __init__(self, provider: Callable[[], TracerProvider | None]) -> None:
        self._provider = provider

    def active(self) -> TraceContext:
        """Returns the active span; empty if there is none."""
        active = get_current_span().get_span_context()
        if not active.is_valid:
            return {}
        context = _written(active.trace_id, active.span_id, active.trace_flags)
        return {**context, "tracestate": active.trace_state.to_header()} if active.trace_state else context

    def begin(self) -> TraceContext:
        """Returns the beginning of a new trace, with the decision of the sampler."""
        provider = self._provider()
        ids = RandomIdGenerator() if provider is None else provider.id_generator
        trace = ids.generate_trace_id()
        if provider is None:
            return _written(trace, None, TraceFlags.SAMPLED)
        sampled = provider.sampler.should_sample(Context(), trace, "abstractcore").decision.is_sampled()
        return _written(trace, None, TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)

    @contextmanager
    def within(self, context: TraceContext) -> Generator[None]:
        """Makes a span active in the block."""
        parsed = _parsed(context)
        if parsed is None:
            yield
            return
        trace, span, flags = parsed
        active = SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(flags), trace_state=_state(context))
        token = otel_context.attach(set_span_in_context(NonRecordingSpan(active)))
        try:
            yield
        finally:
            otel_context.detach(token)
