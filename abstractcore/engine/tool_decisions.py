"""`ToolDecisions`: decides which tool calls of a reply run, which wait for an answer, and which have their result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ..concurrency.time_limits import is_of_call
from ..errors import AbstractCoreError, ToolError
from ..ports import ArtifactStore, Runtime
from ..schema import (
    AnswerKind,
    InputRequest,
    InputResponse,
    ModelCall,
    PendingCall,
    PendingReason,
    ToolAnswer,
    ToolCall,
    ToolLabel,
    ToolLoop,
    ToolResult,
    ToolSpec,
    ToolStep,
)
from ..schema.base_error import one_line, shown_seconds
from ..scrubbing import Secrets
from ..tools.execution import prepared_or_refused
from ..tools.long_results import READ_RESULT
from ..tools.loop_rules import SEARCH_TOOLS, refusal, step_not_run
from ..tools.names import PreparedArguments
from ..tools.policy import Allow, Decision, Deny, Edit, Respond, Suspend, ToolPolicy, read_decision
from ..tools.results import message_of
from ..tools.tool import Tool

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..schema import ApprovalDecision, ApprovalSource

_OWN_TOOLS = (SEARCH_TOOLS, READ_RESULT)
"""Tools of the loop itself, which need no approval: they read what it has already."""


_DECISIONS: Mapping[AnswerKind, ApprovalDecision] = {
    "allow": "allowed",
    "deny": "denied",
    "edit": "edited",
    "result": "answered",
}


@dataclass(frozen=True, slots=True)
class ToolSetup:
    """What a loop runs its calls with: the tools by name, the policy, and what their contexts hold.

    `lower` adapts a call to the model, and raises errors for files that it does not support. Calls of models in a block
    `within(id)` have that parent.
    """

    tools: Mapping[str, Tool[..., Any]]
    policy: ToolPolicy
    deps: Any
    llm: Any
    artifacts: Callable[[], ArtifactStore]
    secrets: Secrets
    lower: Callable[[Runtime, ModelCall], Awaitable[object]]
    within: Callable[[str], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call that will be run. `requested` is the model's call, if an approval changed its arguments; `prepared` are
    the arguments, if they have been validated; `input` answers what the tool has asked."""

    call: ToolCall
    tool: Tool[..., Any]
    requested: ToolCall | None = None
    prepared: PreparedArguments | None = None
    input: InputResponse | None = None


Approval: TypeAlias = "tuple[ApprovalDecision, ApprovalSource]"
"""What was decided about a call, and by whom."""
Decided: TypeAlias = "ReadyCall | PendingCall | ToolStep"
"""A call that runs, one that waits, or one that has its result."""


class ToolDecisions:
    """Decides about the open calls of a loop's latest reply, of which `loop` is the state at the beginning."""

    def __init__(
        self,
        loop: ToolLoop,
        specs: Mapping[str, ToolSpec],
        tool_of: Callable[[str], Tool[..., Any] | None],
        setup: ToolSetup,
        runtime: Runtime,
    ) -> None:
        self._loop = loop
        self._specs = specs
        self._tool_of = tool_of
        self._policy = setup.policy
        self._secrets = setup.secrets
        self._runtime = runtime
        self._waiting = {pending.call.id: pending for pending in loop.pending}
        self._allowed = {allowed.call.id: allowed for allowed in loop.allowed}
        self.approvals: dict[str, Approval] = {}
        """The decisions so far about calls that needed one, by their ids."""

    async def decide(self, call: ToolCall, answer: ToolAnswer | None, before: Sequence[ToolCall]) -> Decided | None:
        """Returns the decision about `call`; None if no such tool is offered. `before` are earlier calls of its round.

        Raises `ToolError` for an exception of the approver, `InvalidInputError` for a decision that is none.
        """
        waiting, allowed = self._waiting.get(call.id), self._allowed.get(call.id)
        if waiting is not None:
            if answer is not None:
                return self._apply_answer(waiting, answer)
            asks = waiting.reason == "interrupted" and self._policy.approve is not None
            return await self._ask_approver(waiting) if asks else waiting
        if allowed is not None:
            return self._ready(allowed.call, allowed.requested, input=allowed.input)
        tool = self._tool_of(call.name)
        limit = refusal(self._loop, call, before, self._policy)
        if limit is not None:
            return step_not_run(call, limit, self._round)
        if call.name not in self._specs:
            return None
        if tool is None:
            return self._pending(call, "execution")
        prepared = prepared_or_refused(tool, call, round=self._round)
        return prepared if isinstance(prepared, ToolStep) else await self._approve(call, prepared)

    async def _approve(self, call: ToolCall, prepared: PreparedArguments | None) -> Decided:
        """Asks the approver, if there is one, and the call needs approval."""
        spec = self._specs[call.name]
        if any(spec is own for own in _OWN_TOOLS):
            return self._ready(call, prepared=prepared)
        sends_private = "sends" in spec.labels and {"private", "untrusted"} <= set(self._loop.labels)
        tool = self._tool_of(call.name)
        is_changed = tool is not None and not tool.is_trusted
        must_wait = is_changed or sends_private or self._loop.needs_approval
        if self._policy.approve is None and not must_wait:
            return self._ready(call, prepared=prepared)
        reason = "tool_changed" if is_changed else "data_flow" if sends_private else "approval"
        pending = self._pending(call, reason)
        return pending if self._policy.approve is None else await self._ask_approver(pending, prepared)

    async def _ask_approver(self, pending: PendingCall, prepared: PreparedArguments | None = None) -> Decided:
        """Returns the decision of the approver about a call."""
        decision = await self._decision(pending)
        if isinstance(decision, Suspend):
            return replace(pending, note=decision.note)
        if pending.input is not None and isinstance(decision, Allow | Edit):
            return pending
        if isinstance(decision, Respond):
            return self._apply_answer(pending, pending.respond(*decision.answers))
        if isinstance(decision, Deny):
            self.approvals[pending.call.id] = "denied", "approver"
            return self._deny(pending, decision.reason)
        if isinstance(decision, Allow):
            self.approvals[pending.call.id] = "allowed", "approver"
            return self._ready(pending.call, pending.requested, prepared)
        self.approvals[pending.call.id] = "edited", "approver"
        return self._apply_edit(pending, ToolCall.of(pending.call.id, pending.call.name, decision.arguments))

    async def _decision(self, pending: PendingCall) -> Decision:
        assert self._policy.approve is not None
        try:
            timeout = self._policy.approve_timeout
            return read_decision(await self._runtime.invoke(self._policy.approve, pending, timeout=timeout))
        except (AbstractCoreError, CancelledError):
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and is_of_call(error):
                raise
            if isinstance(error, TimeoutError) and self._policy.approve_timeout is not None:
                return Deny(f"no approval in {shown_seconds(self._policy.approve_timeout)}")
            what = f"the approver failed for {one_line(pending.call.name)!r}: {message_of(error, self._secrets.text)}"
            raise ToolError(what) from self._secrets.cleaned(error)

    def _apply_answer(self, waiting: PendingCall, answer: ToolAnswer) -> Decided:
        """Returns the decision about a call that waited for an answer from elsewhere."""
        decision = _DECISIONS.get(answer.kind)
        if decision is not None:
            self.approvals[waiting.call.id] = decision, "answer"
        if answer.kind == "deny":
            return self._deny(waiting, answer.reason or "")
        if answer.kind == "result":
            result = ToolResult(waiting.call.id, answer.content, answer.is_error)
            outcome = "failed" if answer.is_error else "done"
            spec = self._specs.get(waiting.call.name)
            labels: tuple[ToolLabel, ...] = () if spec is None else spec.labels
            labels = tuple(label for label in labels if label != "sends")
            return ToolStep(waiting.call, result, self._round, outcome, labels=labels, requested=waiting.requested)
        if answer.input is not None:
            return self._ready(waiting.call, waiting.requested, input=answer.input)
        if answer.arguments is not None:
            return self._apply_edit(waiting, ToolCall.of(waiting.call.id, waiting.call.name, answer.arguments))
        return self._ready(waiting.call, waiting.requested)

    def _apply_edit(self, pending: PendingCall, changed: ToolCall) -> Decided:
        requested = pending.requested or pending.call
        tool = self._tool_of(changed.name)
        prepared = None if tool is None else prepared_or_refused(tool, changed, round=self._round)
        if isinstance(prepared, ToolStep):
            return replace(prepared, requested=requested)
        return self._ready(changed, requested, prepared)

    async def asked_for_input(self, ready: ReadyCall, request: InputRequest) -> Decided:
        """Returns how a call goes on whose tool has asked for input: the approver may answer."""
        spec, loop = self._specs.get(ready.call.name), self._loop
        pending = PendingCall(
            ready.call,
            "input",
            labels=loop.labels,
            tool=spec,
            loop=loop.id,
            round=self._round,
            requested=ready.requested,
            input=request,
        )
        return pending if self._policy.approve is None else await self._ask_approver(pending)

    def _ready(
        self,
        call: ToolCall,
        requested: ToolCall | None = None,
        prepared: PreparedArguments | None = None,
        input: InputResponse | None = None,
    ) -> Decided:
        """Returns a call that may run; one whose function is not here waits for whoever has it."""
        tool = self._tool_of(call.name)
        if tool is None:
            return replace(self._pending(call, "execution"), requested=requested)
        return ReadyCall(call, tool, requested, prepared, input)

    @property
    def _round(self) -> int:
        return len(self._loop.replies) - 1

    def _pending(self, call: ToolCall, reason: PendingReason) -> PendingCall:
        spec, loop = self._specs.get(call.name), self._loop
        return PendingCall(call, reason, labels=loop.labels, tool=spec, loop=loop.id, round=self._round)

    def _deny(self, pending: PendingCall, reason: str) -> ToolStep:
        text = f"denied: {reason}" if reason else "denied"
        return replace(step_not_run(pending.call, text, self._round, "denied"), requested=pending.requested)
