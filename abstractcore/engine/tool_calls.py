"""`ToolCalls`: runs the tool calls of one reply: approval, limits, order, events and the journal."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from ..errors import InputRequired, ToolError
from ..files.tool_results import without_unsupported_files
from ..ports import Runtime, ToolContext, current_interruption
from ..schema import (
    AllowedCall,
    InputResponse,
    JournalEntry,
    PendingCall,
    ToolAnswer,
    ToolCall,
    ToolEnded,
    ToolEvent,
    ToolLoop,
    ToolProgress,
    ToolResult,
    ToolStarted,
    ToolStep,
)
from ..schema.base_error import one_line
from ..tools.execution import execute
from ..tools.long_results import READ_RESULT, page_of_result, shortened_step
from ..tools.loop_rules import SEARCH_TOOLS, callable_tools, found_tools, with_steps
from ..tools.results import ToolOutput
from ..tools.tool import Tool
from .tool_decisions import Approval, ReadyCall, ToolDecisions, ToolSetup

_log = logging.getLogger("abstractcore")
_MOST_QUESTIONS = 10
"""How often a tool may ask the approver in one call: one that never stops must not hang the loop."""
Note: TypeAlias = Callable[[JournalEntry], Awaitable[None]]
"""Notes an event in the journal."""


class ToolRuns(Protocol):
    """What follows the tool runs of a loop."""

    def begin_run(self, round: int, call_id: str) -> str | None:
        """Notes that a tool is about to run; returns the id that its calls of models have as their parent."""
        ...

    def within_run(self, run_id: str) -> AbstractContextManager[object]:
        """Makes the span of a tool run active in the block."""
        ...

    def end_run(self, step: ToolStep, approval: Approval | None) -> None:
        """Notes a call that has its result."""
        ...


class ToolCalls:
    """Runs the open calls of a loop. `loop` is its state, also after an exception; `emit` gets each event, and `runs`
    each tool run.
    """

    def __init__(
        self,
        loop: ToolLoop,
        setup: ToolSetup,
        runtime: Runtime,
        deadline: float | None,
        emit: Callable[[ToolEvent], object],
        note: Note | None,
        runs: ToolRuns,
    ) -> None:
        self._loop = loop
        self._runs = runs
        self._steps: list[ToolStep] = []
        self._begun: set[str] = set()
        self._setup = setup
        self._policy = setup.policy
        self._runtime = runtime
        self._deadline = deadline
        self._emit = emit
        self._note = note
        self._failure: ToolError | None = None
        self._has_ended = False
        self._specs = {spec.name: spec for spec in callable_tools(loop)}
        self._decisions = ToolDecisions(loop, self._specs, self._tool, setup, runtime)
        self._asking: list[PendingCall] = []

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

    @property
    def approvals(self) -> Mapping[str, Approval]:
        """The decisions about calls that needed one, by their ids."""
        return self._decisions.approvals

    @property
    def begun(self) -> Collection[str]:
        """The ids of the calls that have begun, and have no result yet."""
        return frozenset(self._begun)

    def end(self) -> None:
        """Has events of tools that run on ignored."""
        self._has_ended = True

    async def run(self, answers: Mapping[str, ToolAnswer]) -> None:
        """Decides about each open call, runs those that may run, and keeps those that wait as pending.

        Raises `ToolError` for an exception of a tool with `on_error="raise"`, when the calls that run beside it have
        ended; those after them are not run. Raises `StreamInterruptedError` if the call is interrupted.
        """
        ready: list[ReadyCall] = []
        pending: list[PendingCall] = []
        before: list[ToolCall] = []
        for call in self._loop.open_calls:
            _check_interrupted()
            decided = await self._decisions.decide(call, answers.get(call.id), before)
            if isinstance(decided, ReadyCall):
                ready.append(decided)
            elif isinstance(decided, PendingCall):
                pending.append(decided)
            else:
                step = await self._execute(None, call) if decided is None else decided
                await self._add(step)
                if step.outcome == "not_run":
                    continue
            before.append(call)
        if self._note is not None:
            allowed = tuple(AllowedCall(each.call, each.requested, each.input) for each in ready)
            self._take_steps(pending=tuple(pending), allowed=allowed)
            await self._note(JournalEntry("decision", allowed=allowed, pending=self._loop.pending))
        groups = self._groups(ready)
        for index, group in enumerate(groups):
            await self._runtime.gather(*(self._running(each) for each in group))
            if self._failure is not None:
                raise self._failure
            if index < len(groups) - 1:
                self._take_steps()
        pending += self._asking
        self._take_steps(pending=tuple(pending), allowed=(), status="suspended" if pending else "running")
        if self._note is not None and self._asking:
            await self._note(JournalEntry("decision", pending=self._loop.pending))

    def _execute(
        self, tool: Tool[..., Any] | None, call: ToolCall, ready: ReadyCall | None = None
    ) -> Awaitable[ToolStep]:
        return execute(
            tool,
            call,
            self._context(call, None if ready is None else ready.input),
            self._runtime,
            round=self._round,
            timeout=self._policy.timeout,
            secrets=self._setup.secrets,
            known=self._specs,
            prepared=None if ready is None else ready.prepared,
        )

    def _groups(self, ready: Sequence[ReadyCall]) -> list[list[ReadyCall]]:
        """Returns the calls that run at once, in order: a tool that is not parallel runs alone."""
        groups: list[list[ReadyCall]] = []
        alone = self._loop.call.parallel_tool_calls is False
        for each in ready:
            if groups and not alone and each.tool.parallel and groups[-1][-1].tool.parallel:
                groups[-1].append(each)
            else:
                groups.append([each])
        return groups

    def _running(self, ready: ReadyCall) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            _check_interrupted()
            call = ready.call
            if self._note is not None:
                await self._note(JournalEntry("intent", call=call))
            self._begun.add(call.id)
            self._tell(ToolStarted(call, self._round))
            run_id = self._runs.begin_run(self._round, call.id)
            try:
                if run_id is None:
                    step = await self._step(ready)
                else:
                    with self._setup.within(run_id), self._runs.within_run(run_id):
                        step = await self._step(ready)
                if isinstance(step, PendingCall):
                    self._asking.append(step)
                    self._begun.discard(call.id)
                    return
            except ToolError as error:
                self._failure = self._failure or error
                result = ToolResult.text(call.id, error.message, is_error=True)
                step = ToolStep(call, result, self._round, "failed")
            is_final = ready.tool.final and step.outcome == "done"
            if is_final or ready.requested is not None:
                step = replace(step, requested=ready.requested, final=is_final)
            await self._add(step)

        return run

    async def _step(self, ready: ReadyCall) -> ToolStep | PendingCall:
        """Runs a call until it has a result, or waits for the user's answers to what its tool asks."""
        for _ in range(_MOST_QUESTIONS):
            try:
                return await self._execute(ready.tool, ready.call, ready)
            except InputRequired as error:
                decided = await self._decisions.asked_for_input(ready, error.request)
            if not isinstance(decided, ReadyCall):
                return decided
            ready = decided
        problem = f"{one_line(ready.call.name)} asked for input {_MOST_QUESTIONS} times"
        return ToolStep(ready.call, ToolResult.text(ready.call.id, problem, is_error=True), self._round, "failed")

    def _context(self, call: ToolCall, input: InputResponse | None) -> ToolContext[Any]:
        def progress(done: float, total: float | None, message: str | None) -> None:
            if call.id in self._begun:  # after its time limit, a tool may run on
                self._tell(ToolProgress(call, done, total, message))

        setup = self._setup
        return ToolContext(
            setup.deps, setup.llm, call, self._loop.id, self._runtime, self._deadline, progress, input, self._round
        )

    def _tool(self, name: str) -> Tool[..., Any] | None:
        """Returns the tool that runs calls of `name`, also those that the loop itself offers."""
        spec = self._specs.get(name)
        if spec is None:
            return None
        if spec is SEARCH_TOOLS:
            return Tool.of(SEARCH_TOOLS, self._search)
        if spec is READ_RESULT:
            return Tool.of(READ_RESULT, self._read_result)
        return self._setup.tools.get(name)

    def _search(self, call: ToolCall, context: ToolContext[Any]) -> Any:
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

    async def _add(self, step: ToolStep) -> None:
        step = await without_unsupported_files(step, self._loop.call, partial(self._setup.lower, self._runtime))
        step = shortened_step(step, self._policy.max_result, self._setup.artifacts)
        if step.traceback is not None:
            _log.warning("the tool %r failed: %s", step.call.name, one_line(step.result.as_text))
        self._steps.append(step)
        self._begun.discard(step.call.id)
        self._runs.end_run(step, self.approvals.get(step.call.id))
        if self._note is not None:
            await self._note(JournalEntry("step", step=step))
        self._tell(ToolEnded(step))

    def _tell(self, event: ToolEvent) -> None:
        if self._has_ended:
            return
        self._emit(event)
        if self._policy.on_event is not None:
            try:
                self._policy.on_event(event)
            except Exception:
                _log.exception("on_event of run_tools failed")


def _check_interrupted() -> None:
    """Raises `StreamInterruptedError` if the call was interrupted: a sync call goes on in a thread that nobody ends."""
    interruption = current_interruption()
    if interruption is not None:
        interruption.check()
