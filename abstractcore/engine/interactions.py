"""`InteractionTrace`: reports an interaction of several calls, and its tool runs, to subscribers that want all records.

It is imported with the first interaction that a subscriber wants.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..schema import CallWarning, ToolLoop, ToolStep, size_of
from ..telemetry import Tracer
from ..telemetry.ended_interactions import EndedInteraction, EndedToolRun
from ..telemetry.propagation import TraceContext, interaction_name, trace_context_of
from .endings import outcome_of

if TYPE_CHECKING:
    from decimal import Decimal

    from ..ports import AnyInput, Runtime
    from ..schema import InteractionKind, Outcome, ToolSource
    from .pipeline import Pipeline
    from .prepared import Prepare, Prepared
    from .tool_decisions import Approval


class InteractionTrace:
    """One interaction while it goes on. `trace_id` is the parent of its calls and tool runs, of which `calls` counts
    the calls; `trace_context` is its own span. It is not reported unless it has begun.
    """

    def __init__(self, tracer: Tracer, pipeline: Pipeline, kind: InteractionKind, trace_id: str) -> None:
        self.trace_id = trace_id
        self.calls = 0
        self._tracer = tracer
        self._runtime, self._clock, self._new_id = pipeline.runtime, pipeline.clock, pipeline.new_id
        self._kind: InteractionKind = kind
        self._secrets = pipeline.secrets
        self._start, self._started_at = self._runtime.now(), self._clock.time_of_day()
        self._seconds_to_first: float | None = None
        self._runs: dict[tuple[int, str], tuple[str, float, float]] = {}
        self._given: AnyInput | None = None
        self._parent_id: str | None = None
        self._caller: TraceContext = {}
        self.trace_context: TraceContext = {}
        self._has_ended = False

    def begin(self, first: Prepared, given: AnyInput, parent_id: str | None) -> None:
        """Begins with a call or another input, as data and as it was prepared."""
        self._given, self._parent_id = given, parent_id
        self._caller = first.trace_context or {}
        self.trace_context = trace_context_of(interaction_name(self.trace_id, self._started_at), self._caller)
        if first.headers:
            self._secrets = self._secrets.and_those_in(first.headers)

    async def prepare(self, prepare: Prepare, runtime: Runtime) -> Prepared:
        """Returns the call that `prepare` makes, as the first one of the interaction."""
        first = (await prepare(runtime)).in_span()
        self.begin(first, first.input, first.interaction or first.input.parent_id)
        return replace(first, interaction=self.trace_id, trace_context=self.trace_context)

    def note_first(self) -> None:
        """Notes that the first deltas have arrived."""
        if self._seconds_to_first is None:
            self._seconds_to_first = self._runtime.now() - self._start

    def begin_run(self, round: int, call_id: str) -> str:
        """Returns the id of a tool run, which calls of models that the tool makes have as their parent."""
        run = self._runs.setdefault((round, call_id), (self._new_id(), self._clock.time_of_day(), self._runtime.now()))
        return run[0]

    def end_run(
        self,
        step: ToolStep,
        source: ToolSource | None,
        server: str | None,
        approval: Approval | None,
        price: Decimal | None,
    ) -> None:
        """Reports a tool call that has its result, whether it was run or not."""
        assert self._given is not None
        trace_id = self.begin_run(step.round, step.call.id)
        _, started_at, start = self._runs[step.round, step.call.id]
        if step.outcome == "interrupted":  # its step was made when it was cut off
            step = replace(step, seconds=self._runtime.now() - start)
        ended = EndedToolRun(
            trace_id,
            self.trace_id,
            step,
            source,
            server,
            approval,
            started_at,
            price,
            self._given.tags,
            self._secrets,
            self.trace_context,
        )
        self._tracer(lambda: ended, size_of(step.call) + size_of(step.result))

    @contextmanager
    def ending(self) -> Generator[None]:
        """Reports the interaction when the block ends, and how."""
        try:
            yield
        except BaseException as error:
            self.end(outcome_of(error), error=error)
            raise
        self.end("done")

    def end(
        self,
        outcome: Outcome,
        loop: ToolLoop | None = None,
        *,
        error: BaseException | None = None,
        model: str | None = None,
        warnings: Sequence[CallWarning] = (),
    ) -> None:
        """Reports the interaction, once."""
        given = self._given
        if given is None or self._has_ended:
            return
        self._has_ended = True
        make = partial(
            EndedInteraction,
            trace_id=self.trace_id,
            parent_id=self._parent_id,
            kind=self._kind,
            provider=given.provider,
            model=model or given.model,
            outcome=outcome,
            streamed=bool(getattr(given, "stream", False)),
            started_at=self._started_at,
            seconds=self._runtime.now() - self._start,
            seconds_to_first=self._seconds_to_first,
            calls=self.calls,
            tool_runs=0 if loop is None else len(loop.steps),
            status=None if loop is None else loop.status,
            error=error,
            warnings=tuple(warnings),
            tags=given.tags,
            secrets=self._secrets,
            trace_context=self._caller,
        )
        self._tracer(make, 0)
