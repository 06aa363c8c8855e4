"""Makes the `InteractionRecord`s of finished interactions, and the `ToolRecord`s of their tool runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast

from ..schema import (
    ApprovalDecision,
    ApprovalSource,
    CallWarning,
    Capture,
    ErrorRecord,
    InteractionKind,
    InteractionRecord,
    JSONValue,
    LoopStatus,
    Outcome,
    ToolApproval,
    ToolRecord,
    ToolSource,
    ToolStep,
    redacted_data,
    redacted_result,
)
from ..scrubbing import Secrets
from .call_records import error_record
from .propagation import TraceContext


@dataclass(frozen=True, slots=True)
class EndedInteraction:
    """A finished interaction: the fields of its record, and the error that ended it."""

    trace_id: str
    parent_id: str | None
    kind: InteractionKind
    provider: str
    model: str
    outcome: Outcome
    streamed: bool
    started_at: float
    seconds: float
    seconds_to_first: float | None
    calls: int
    tool_runs: int
    status: LoopStatus | None
    error: BaseException | None
    warnings: Sequence[CallWarning]
    tags: Mapping[str, str]
    secrets: Secrets
    trace_context: TraceContext

    def record(self, capture: Capture, *, in_tree: bool = True) -> InteractionRecord:
        """Returns the record; of its content, only the message of an error of another package depends on `capture`."""
        return InteractionRecord(
            trace_id=self.trace_id,
            parent_id=self.parent_id,
            kind=self.kind,
            provider=self.provider,
            model=self.model,
            outcome=self.outcome,
            streamed=self.streamed,
            started_at=self.started_at,
            seconds=self.seconds,
            seconds_to_first=self.seconds_to_first,
            calls=self.calls,
            tool_runs=self.tool_runs,
            status=self.status,
            error=self.secrets.value(error_record(self.error, capture)),
            warnings=self.secrets.value(tuple(self.warnings)),
            tags=self.tags,
            trace_context=self.trace_context,
            capture=capture,
        )


@dataclass(frozen=True, slots=True)
class EndedToolRun:
    """A tool call that a loop has handled: its step, and what the step does not say."""

    trace_id: str
    parent_id: str
    step: ToolStep
    source: ToolSource | None
    server: str | None
    approval: tuple[ApprovalDecision, ApprovalSource] | None
    started_at: float
    price: Decimal | None
    tags: Mapping[str, str]
    secrets: Secrets
    trace_context: TraceContext

    def record(self, capture: Capture, *, in_tree: bool = True) -> ToolRecord:
        """Returns the record, with as much content as `capture` allows."""
        step, approval = self.step, self.approval
        bare = ToolRecord(
            trace_id=self.trace_id,
            parent_id=self.parent_id,
            tool=step.call.name,
            call_id=step.call.id,
            source=self.source,
            outcome=step.outcome,
            started_at=self.started_at,
            seconds=step.seconds,
            round=step.round,
            server=self.secrets.value(self.server),
            approval=ToolApproval(*approval) if approval is not None else None,
            error=self._error(capture),
            warnings=self.secrets.value(step.warnings),
            cost=self.price,
            tags=self.tags,
            trace_context=self.trace_context,
            capture=capture,
        )
        if capture == "off":
            return bare
        arguments, result = _arguments(step), step.result
        requested = None if step.requested is None else cast("JSONValue", step.requested.arguments)
        if capture == "redacted":
            arguments, result, requested = redacted_data(arguments), redacted_result(result), redacted_data(requested)
        if bare.approval is not None:
            bare = replace(bare, approval=replace(bare.approval, requested=requested))
        return replace(bare, arguments=arguments, result=result)

    def _error(self, capture: Capture) -> ErrorRecord | None:
        """Returns the error of the step: only its class if its message, which the model reads, is content."""
        error = self.step.error
        if error is None or capture == "full":
            return self.secrets.value(error)
        return replace(error, message="")


def _arguments(step: ToolStep) -> JSONValue:
    arguments = step.call.arguments
    return step.call.arguments_text if arguments is None else cast("JSONValue", arguments)
