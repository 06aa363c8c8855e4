"""`ToolCalls`: runs the tool calls of one reply: approval, limits, order, events and the journal."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidInputError, ToolError
from ..ports import ArtifactStore, Runtime, ToolContext
from ..schema import (
    PendingCall,
    PendingReason,
    ToolAnswer,
    ToolCall,
    ToolEnded,
    ToolEvent,
    ToolLoop,
    ToolProgress,
    ToolResult,
    ToolSpec,
    ToolStarted,
    ToolStep,
)
from ..scrubbing import Secrets
from ..tools.approval import Allow, Deny, Edit, Suspend, read_decision
from ..tools.execution import execute, refusal_of
from ..tools.journal import JournalKind
from ..tools.long_results import READ_RESULT, page_of_result, shortened_step
from ..tools.loop import offered_tools, refusal, unrun, with_steps
from ..tools.policy import ToolPolicy
from ..tools.search import SEARCH_TOOLS, found_tools
from ..tools.tool import Tool

_log = logging.getLogger("abstractcore")
_READ_LABELS = ("private", "untrusted")


@dataclass(frozen=True, slots=True)
class ToolSetup:
    """What a loop runs its calls with: the tools by name, the policy, and what their contexts hold."""

    tools: Mapping[str, Tool[..., Any]]
    policy: ToolPolicy
    deps: Any
    llm: Any
    artifacts: Callable[[], ArtifactStore]
    secrets: Secrets


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that will be run. `requested` is the model's call, if an approval changed its arguments."""

    call: ToolCall
    tool: Tool[..., Any]
    requested: ToolCall | None = None


class ToolCalls:
    """Runs the open calls of a loop. `loop` is its state, also after an exception; `emit` gets each event."""

    def __init__(
        self,
        loop: ToolLoop,
        setup: ToolSetup,
        runtime: Runtime,
        deadline: float | None,
        emit: Callable[[ToolEvent], object],
    ) -> None:
        self._loop = loop
        self._steps: list[ToolStep] = []
        self._setup = setup
        self._policy = setup.policy
        self._runtime = runtime
        self._deadline = deadline
        self._emit = emit
        self._failure: ToolError | None = None
        self._specs = {spec.name: spec for spec in offered_tools(loop)}

    @property
    def loop(self) -> ToolLoop:
        """The state of the loop, with the steps so far."""
        self._take_steps()
        return self._loop

    def _take_steps(self, **changes: Any) -> None:
        """Takes the steps of tools that have ended: those that ran at once have added theirs from several threads."""
        if self._steps or changes:
            steps, self._steps = self._steps, []
            self._loop = with_steps(self._loop, steps, **changes)

    async def run(self, answers: Mapping[str, ToolAnswer]) -> None:
        """Decides about each open call, runs those that may run, and keeps those that wait as pending.

        Raises `ToolError` for an exception of a tool with `on_error="raise"`, when the other calls have ended.
        """
        waiting = {pending.call.id: pending for pending in self._loop.pending}
        ready: list[_Ready] = []
        pending: list[PendingCall] = []
        for call in self._loop.open_calls:
            decided = await self._decide(
                call, waiting.get(call.id), answers.get(call.id), [each.call for each in ready]
            )
            if isinstance(decided, _Ready):
                ready.append(decided)
            elif isinstance(decided, PendingCall):
                pending.append(decided)
            else:
                self._add(decided)
        groups = self._groups(ready)
        for index, group in enumerate(groups):
            await self._runtime.gather(*(self._running(each) for each in group))
            if index < len(groups) - 1:
                self._take_steps()
        self._take_steps(pending=tuple(pending), status="suspended" if pending else "running")
        if self._failure is not None:
            raise self._failure

    async def _decide(
        self, call: ToolCall, waiting: PendingCall | None, answer: ToolAnswer | None, before: Sequence[ToolCall]
    ) -> _Ready | PendingCall | ToolStep:
        if waiting is not None:
            return waiting if answer is None else self._answered(waiting, answer)
        spec, tool = self._specs.get(call.name), self._tool(call.name)
        limit = refusal(self._loop, call, before, self._policy)
        if limit is not None:
            return unrun(call, limit, self._round)
        if spec is None:
            return await self._executed(None, call)
        if tool is None:
            return self._pending(call, "execution")
        return self._refused(tool, call) or await self._approved(call, spec, tool)

    async def _approved(self, call: ToolCall, spec: ToolSpec, tool: Tool[..., Any]) -> _Ready | PendingCall | ToolStep:
        """Asks the approver, if there is one or the call would send private data after untrusted content."""
        sends_private = "sends" in spec.labels and set(_READ_LABELS) <= set(self._loop.labels)
        if self._policy.approve is None and not sends_private:
            return _Ready(call, tool)
        pending = self._pending(call, "data_flow" if sends_private else "approval")
        if self._policy.approve is None:
            return pending
        decision = read_decision(await self._runtime.invoke(self._policy.approve, pending))
        if isinstance(decision, Allow):
            return _Ready(call, tool)
        if isinstance(decision, Deny):
            return self._denied(call, decision.reason)
        if isinstance(decision, Suspend):
            return replace(pending, note=decision.note)
        return self._edited(call, tool, decision)

    def _answered(self, waiting: PendingCall, answer: ToolAnswer) -> _Ready | ToolStep:
        """Returns what an answer from elsewhere makes of a call that waited for it."""
        call, tool = waiting.call, self._tool(waiting.call.name)
        if answer.kind == "deny":
            return self._denied(call, answer.reason or "")
        if answer.kind == "result":
            result = ToolResult(call.id, answer.content, answer.is_error)
            return self._labelled(ToolStep(call, result, self._round, "failed" if answer.is_error else "done"))
        if tool is None:
            raise InvalidInputError(
                f"{call.name} cannot be run here: its function is not among the tools",
                path="answers",
                hint="Pass it with tools=[...], or answer with pending.result(...).",
            )
        if answer.kind == "edit":
            return self._edited(call, tool, Edit(answer.arguments or {}))
        return _Ready(call, tool)

    def _edited(self, call: ToolCall, tool: Tool[..., Any], edit: Edit) -> _Ready | ToolStep:
        changed = ToolCall.of(call.id, call.name, edit.arguments)
        refused = self._refused(tool, changed)
        return _Ready(changed, tool, call) if refused is None else replace(refused, requested=call)

    def _refused(self, tool: Tool[..., Any], call: ToolCall) -> ToolStep | None:
        return refusal_of(tool, call, round=self._round, secrets=self._setup.secrets)

    def _executed(self, tool: Tool[..., Any] | None, call: ToolCall) -> Awaitable[ToolStep]:
        return execute(
            tool,
            call,
            self._context(call),
            self._runtime,
            round=self._round,
            timeout=self._policy.timeout,
            secrets=self._setup.secrets,
            known=self._specs,
        )

    def _groups(self, ready: Sequence[_Ready]) -> list[list[_Ready]]:
        """Returns the calls that run at once, in order: a tool that is not parallel runs alone."""
        groups: list[list[_Ready]] = []
        alone = self._loop.call.parallel_tool_calls is False
        for each in ready:
            separate = alone or not each.tool.parallel
            if separate or not groups or not groups[-1][-1].tool.parallel or alone:
                groups.append([each])
            else:
                groups[-1].append(each)
        return groups

    def _running(self, ready: _Ready) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            call = ready.call
            self._note("intent", call=call)
            self._tell(ToolStarted(call, self._round))
            try:
                step = await self._executed(ready.tool, call)
            except ToolError as error:
                self._failure = self._failure or error
                result = ToolResult.text(call.id, error.message, is_error=True)
                step = ToolStep(call, result, self._round, "failed")
            is_final = ready.tool.final and step.outcome == "done"
            step = replace(step, requested=ready.requested, final=is_final)
            step = shortened_step(step, self._policy.max_result, self._setup.artifacts)
            self._add(step)

        return run

    def _context(self, call: ToolCall) -> ToolContext[Any]:
        def progress(done: float, total: float | None, message: str | None) -> None:
            self._tell(ToolProgress(call, done, total, message))

        setup = self._setup
        return ToolContext(setup.deps, setup.llm, call, self._loop.id, self._runtime, self._deadline, progress)

    def _tool(self, name: str) -> Tool[..., Any] | None:
        """Returns the tool that runs calls of `name`, also those that the loop itself offers."""
        if name not in self._specs:
            return None
        if name == SEARCH_TOOLS.name:
            return Tool.of(SEARCH_TOOLS, self._search)
        if name == READ_RESULT.name:
            return Tool.of(READ_RESULT, self._read_result)
        return self._setup.tools.get(name)

    def _search(self, call: ToolCall, context: ToolContext[Any]) -> Any:
        from ..tools.results import ToolOutput

        query = str((call.arguments or {}).get("query", ""))
        deferred = [spec for spec in self._loop.call.tools if spec.defer and spec.name not in self._loop.found]
        found = found_tools(query, deferred)
        if not found:
            return "No tool matches. Try other words."
        lines = [f"{spec.name}: {spec.description}".rstrip(": ") for spec in found]
        text = "\n".join(["These tools can be called now:", *lines])
        return ToolOutput(text, data=[spec.name for spec in found])

    def _read_result(self, call: ToolCall, context: ToolContext[Any]) -> str:
        arguments = call.arguments or {}
        wanted, offset = arguments.get("id"), arguments.get("offset", 0)
        step = next((each for each in reversed(self._loop.steps) if each.artifact and each.call.id == wanted), None)
        if step is None or step.artifact is None:
            known = ", ".join(each.call.id for each in self._loop.steps if each.artifact)
            return f"No result with this id was shortened. Ids: {known}."
        text = self._setup.artifacts().get(step.artifact).decode()
        return page_of_result(text, offset if isinstance(offset, int) else 0, self._policy.max_result // 2)

    @property
    def _round(self) -> int:
        return len(self._loop.replies) - 1

    def _pending(self, call: ToolCall, reason: PendingReason) -> PendingCall:
        return PendingCall(call, reason, labels=self._loop.labels)

    def _denied(self, call: ToolCall, reason: str) -> ToolStep:
        return unrun(call, f"denied: {reason}" if reason else "denied", self._round, "denied")

    def _labelled(self, step: ToolStep) -> ToolStep:
        """Returns the step with the labels of the content that its tool returned."""
        spec = self._specs.get(step.call.name)
        labels = () if spec is None else tuple(label for label in spec.labels if label in _READ_LABELS)
        return replace(step, labels=labels)

    def _add(self, step: ToolStep) -> None:
        self._steps.append(step)
        self._note("step", step=step)
        self._tell(ToolEnded(step))

    def _note(self, kind: JournalKind, **data: object) -> None:
        if self._policy.journal is not None:
            self._policy.journal.note(self._loop, kind, **data)

    def _tell(self, event: ToolEvent) -> None:
        self._emit(event)
        if self._policy.on_event is not None:
            try:
                self._policy.on_event(event)
            except Exception:
                _log.exception("on_event of run_tools failed")
