"""W3C Trace Context: which span of another tracing system a call belongs to, and the ids of its own span.

It knows no tracing system: `propagate` adds one, such as OpenTelemetry (`abstractcore.otel`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol, TypeAlias

from ..errors import ConfigurationError

TraceContext: TypeAlias = Mapping[str, str]
"""`traceparent`, and `tracestate` if there is one, as in HTTP headers: <https://www.w3.org/TR/trace-context/>."""

NO_PARENT: Final = "0" * 16
"""The id of the parent in a `traceparent` that begins a trace. It stays in this process: in HTTP it is not valid."""


class Propagator(Protocol):
    """A tracing system that calls belong to."""

    def active(self) -> TraceContext:
        """Returns the span that is active where it is called; empty if there is none."""
        ...

    def begin(self) -> TraceContext:
        """Returns the beginning of a new trace: a `traceparent` with its id, and `NO_PARENT`."""
        ...

    def within(self, context: TraceContext) -> AbstractContextManager[object]:
        """Makes a span active in the block."""
        ...


_propagators: Final[list[Propagator]] = []


def current_propagator() -> Propagator | None:
    """Returns the tracing system that calls belong to, if there is one."""
    return _propagators[-1] if _propagators else None


def propagate(propagator: Propagator) -> None:
    """Adds a tracing system; raises `ConfigurationError` if there is another one."""
    if _propagators:
        raise ConfigurationError("calls are traced already.", hint="Close the other instrumentation first.")
    _propagators.append(propagator)


def stop_propagating(propagator: Propagator) -> None:
    """Removes a tracing system; has no effect if it was removed before."""
    if propagator in _propagators:
        _propagators.remove(propagator)


def trace_context_of_caller(given: TraceContext) -> TraceContext:
    """Returns the span that a call belongs to which begins here: the active one, if there is a tracing system. A call
    may be `given` that of another process; the active one goes before it only if it is of the same trace.
    """
    propagator = current_propagator()
    if propagator is None:
        return given
    active = propagator.active()
    if given and trace_id_of(given) != trace_id_of(active):
        return given
    return active or propagator.begin()


def trace_context_of(name: str, parent: TraceContext) -> TraceContext:
    """Returns the span of a record with this name: its id is a hash of the name; empty without a trace."""
    fields = parent.get("traceparent", "").split("-")
    if len(fields) < 4:
        return {}
    version, trace_id, _, flags = fields[:4]
    return {**parent, "traceparent": f"{version}-{trace_id}-{span_id(name)}-{flags}"}


def span_id(name: str) -> str:
    """Returns the id of the span of a record, in hex: a call's or tool run's name is its `trace_id`."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def interaction_name(trace_id: str, started_at: float) -> str:
    """Returns the name of an interaction's span: each continuation of a loop has one of its own."""
    return f"{trace_id} {started_at!r}"


def trace_id_of(context: TraceContext) -> str | None:
    """Returns the id of a trace, in hex; None without one."""
    fields = context.get("traceparent", "").split("-")
    return fields[1] if len(fields) >= 4 else None


@contextmanager
def within_span(name: str, parent: TraceContext) -> Generator[TraceContext]:
    """Makes the span of a record active in the block, if there is a tracing system; yields it, or nothing."""
    propagator = current_propagator()
    own: TraceContext = {} if propagator is None else trace_context_of(name, parent)
    if propagator is None or not own:
        yield own
        return
    with propagator.within(own):
        yield own
