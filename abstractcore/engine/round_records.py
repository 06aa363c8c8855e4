"""`RoundRecords`: what is reported of the rounds of one call and of its tool runs, and what these runs have cost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..ports import CallContext, CallEnd
from ..ports.middleware import NestedCall, enclosing_call
from ..schema import EMPTY, ToolLoop, ToolOutcome, ToolStep, Usage
from ..schema.costs import Cost
from ..telemetry.propagation import TraceContext, within_span
from ..tools.long_results import READ_RESULT
from ..tools.loop_rules import SEARCH_TOOLS
from .endings import notify_of
from .pipeline import Pipeline
from .prepared import Prepared

if TYPE_CHECKING:
    from ..schema import GenerateResponse, Outcome, ToolSource
    from ..tools.tool import Tool
    from .interactions import InteractionTrace
    from .tool_decisions import Approval

_OWN_NAMES: Final = frozenset({SEARCH_TOOLS.name, READ_RESULT.name})
_CHARGED: Final[frozenset[ToolOutcome]] = frozenset({"done", "failed", "retry", "timed_out", "interrupted"})
"""How a tool call ends that was run: each has the price of a run."""
_NO_APPROVALS: Mapping[str, Approval] = EMPTY  # type: ignore[assignment]


class RoundRecords:
    """The records of one call of several rounds: of the interaction and of its tool runs, if a subscriber wants them.

    The ends of rounds whose answers the user checks are held back until then: their records say whether the model was
    asked again.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._trace: InteractionTrace | None = None
        self._tools: Mapping[str, Tool[..., Any]] | None = None
        self._prices: dict[str, Decimal] = {}
        self._charges: list[Decimal] = []
        self._reported: set[tuple[int, str]] = set()
        self._first: Prepared | None = None
        self._context: CallContext | None = None
        self._held_end: tuple[CallContext, CallEnd] | None = None
        self._is_several = False

    def begin(
        self,
        first: Prepared,
        loop: ToolLoop,
        tools: Mapping[str, Tool[..., Any]] | None,
        *,
        is_resumed: bool,
    ) -> None:
        """Begins the records of a loop, of which `first` is the first call; it has `tools` if it runs them."""
        self._first, self._tools = first, tools
        if tools is not None:
            self._prices = {name: tool.price for name, tool in tools.items() if tool.price is not None}
        self._reported = {(step.round, step.call.id) for step in loop.steps}
        tracer = self._pipeline.tracer()
        if tracer is None:
            return
        from .interactions import InteractionTrace

        self._is_several = tools is not None or is_resumed
        parent = first.interaction or loop.call.parent_id
        if tools is not None:
            trace = InteractionTrace(tracer, self._pipeline, "tools", loop.id)
        else:  # the id of the loop is that of its first call
            trace = InteractionTrace(tracer, self._pipeline, "correction", self._pipeline.new_id())
            parent = loop.id if is_resumed else parent
        trace.begin(first, loop.call, parent)
        trace.calls = len(loop.replies)
        self._trace = trace

    @property
    def interaction(self) -> str | None:
        """The id of the interaction that the next round belongs to."""
        if self._trace is not None and self._is_several:
            return self._trace.trace_id
        return None if self._first is None else self._first.interaction

    @property
    def trace_context(self) -> TraceContext | None:
        """The span that the next round belongs to."""
        if self._trace is not None and self._is_several:
            return self._trace.trace_context
        return None if self._first is None else self._first.trace_context

    def begin_round(self, context: CallContext) -> None:
        """Notes that the call of a round has begun."""
        self._context = context
        if self._trace is not None:
            self._trace.calls += 1

    def note_first_deltas(self) -> None:
        """Notes that the first deltas have arrived."""
        if self._trace is not None:
            self._trace.note_first()

    def hold_end(self, context: CallContext, end: CallEnd) -> bool:
        """Holds back the end of a round whose answer will be checked; `release` ends it."""
        if end.outcome != "done":
            return self._hold_further(context, end)
        self._held_end = context, end
        return True

    def release(self) -> None:
        """Ends the round that is held back, if there is one."""
        held, self._held_end = self._held_end, None
        if held is not None and not self._hold_further(*held):
            context, end = held
            notify_of(end, context)

    def _hold_further(self, context: CallContext, end: CallEnd) -> bool:
        hold = None if self._first is None else self._first.hold_end
        return hold is not None and hold(context, end)

    def ask_again(self, *, discarded: bool) -> None:
        """Notes that the model will be asked again after the answer of the current round."""
        self._is_several = True
        if self._context is not None:
            self._context.discarded = discarded
            if self._trace is not None:
                self._context.interaction = self._trace.trace_id
                self._context.trace_context = self._trace.trace_context

    def begin_run(self, round: int, call_id: str) -> str | None:
        """Notes that a tool is about to run; returns the id of its record, if there will be one."""
        return None if self._trace is None else self._trace.begin_run(round, call_id)

    def within_run(self, run_id: str) -> AbstractContextManager[object]:
        """Makes the span of a tool run active in the block, for what the tool traces itself."""
        return within_span(run_id, {} if self._trace is None else self._trace.trace_context)

    def end_run(self, step: ToolStep, approval: Approval | None) -> None:
        """Notes a tool call that has its result, once: a tool may run on in its thread."""
        key = (step.round, step.call.id)
        if key in self._reported:
            return
        self._reported.add(key)
        name, is_answered = step.call.name, approval is not None and approval[0] == "answered"
        price = None if is_answered or step.outcome not in _CHARGED else self._prices.get(name)
        if price is not None:
            self._charges.append(price)
            if self._context is not None and self._context.count_cost is not None:
                self._context.count_cost(price)
            outer = enclosing_call.get()
            if outer is not None:
                outer.nested.append(NestedCall(Usage(), partial(Cost, price, "computed")))
        if self._trace is not None:
            tool = (self._tools or {}).get(name)
            source: ToolSource | None = "own" if name in _OWN_NAMES else None if tool is None else tool.source
            server = None if tool is None else tool.server
            self._trace.end_run(step, "answer" if is_answered else source, server, approval, price)

    def end_runs(self, loop: ToolLoop, approvals: Mapping[str, Approval] = _NO_APPROVALS) -> None:
        """Notes the tool calls that were not run, or did not end."""
        if len(loop.steps) > len(self._reported):
            for step in loop.steps:
                self.end_run(step, approvals.get(step.call.id))

    @property
    def charges(self) -> Cost | None:
        """What the tool runs so far have cost; None if none has a price."""
        return Cost(sum(self._charges, Decimal(0)), "computed") if self._charges else None

    def end(self, outcome: Outcome, loop: ToolLoop, response: GenerateResponse[Any] | None = None) -> None:
        """Ends the interaction with its response."""
        self.release()
        if self._trace is not None and self._is_several:
            model, warnings = (None, ()) if response is None else (response.model, response.warnings)
            self._trace.end(outcome, loop, model=model, warnings=warnings)

    def fail(self, outcome: Outcome, loop: ToolLoop, error: BaseException) -> None:
        """Ends the interaction with an error."""
        self.release()
        if self._trace is not None and self._is_several:
            self._trace.end(outcome, loop, error=error)
