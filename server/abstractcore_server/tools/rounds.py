"""The state of a tool loop, from a conversation that ends with calls about which the client has decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import abstractcore
from abstractcore.errors import InvalidInputError, ToolFailed
from abstractcore.ports import ToolContext
from abstractcore.schema import (
    Delta,
    GenerateResponse,
    ModelCall,
    ModelReply,
    PartDelta,
    PendingCall,
    StreamEvent,
    ToolAnswer,
    ToolCall,
    ToolEnded,
    ToolEvent,
    ToolLoop,
    ToolResult,
    ToolSpec,
    ToolStep,
    accumulate,
    deltas_of,
)
from abstractcore.tools import Tool

from ..configuration.settings import ServerLimits
from ..records import AuditEntry, ToolRun
from ..requests import next_trace_id
from .items import Approval, ToolOffer
from .merging import CallParts, MergedReply
from .servers import ServerTool

if TYPE_CHECKING:
    from ..access.guarding import Guarding

_INPUT = "input"


async def resume_loop(
    id: str,
    call: ModelCall,
    approvals: Mapping[str, Approval],
    approved: Callable[[Sequence[tuple[str, PendingCall]]], Awaitable[Sequence[ToolAnswer]]],
) -> tuple[ToolLoop, tuple[ToolAnswer, ...]]:
    """Returns a loop with an id, and the answers to its pending calls: those of the last reply in the messages of
    `call`, which have an approval or, as the client's own, a result. `approved` returns how those go on that the
    client has approved, each with the item that asked. Without approvals the loop is a new one.

    Raises `InvalidInputError` for calls without an answer, and for messages after them.
    """
    if not approvals:
        return ToolLoop(id, call), ()
    found = [number for number, message in enumerate(call.messages) if _decided_calls(message.parts, approvals)]
    if not found or not found[-1]:
        raise InvalidInputError("expected the call that was answered, and the messages before it", path=_INPUT)
    index = found[-1]
    after = call.messages[index + 1 :]
    if any(message.role != "tool" for message in after):
        problem = "a message cannot follow an approval in the same request"
        raise InvalidInputError(problem, path=_INPUT, hint="Send it with the next one.")
    results = {part.call_id: part for message in after for part in message.parts if isinstance(part, ToolResult)}
    specs = {spec.name: spec for spec in call.tools}
    reply = ModelReply(call.messages[index].parts, "tool_calls")
    waiting = [_pending(each, id, specs, approvals) for each in reply.tool_calls]
    if len(_decided_calls(reply.parts, approvals)) < len(approvals):
        raise InvalidInputError("the approvals are of different answers: send those of the last one", path=_INPUT)
    loop = ToolLoop(
        id,
        call.with_(messages=call.messages[:index]),
        replies=(reply,),
        pending=tuple(waiting),
        status="suspended",
        needs_approval=True,
    )
    given = [_result(each, results) for each in waiting if each.call.id not in approvals]
    decided = [(approvals[each.call.id], each) for each in waiting if each.call.id in approvals]
    denied = [each.deny(approval.reason) for approval, each in decided if not approval.is_given]
    allowed = [(approval.request, each) for approval, each in decided if approval.is_given]
    return loop, (*given, *denied, *(await approved(allowed) if allowed else ()))


def _decided_calls(parts: tuple[object, ...], approvals: Mapping[str, Approval]) -> list[ToolCall]:
    return [part for part in parts if isinstance(part, ToolCall) and part.id in approvals]


def _pending(
    call: ToolCall, loop: str, specs: Mapping[str, ToolSpec], approvals: Mapping[str, Approval]
) -> PendingCall:
    reason = "approval" if call.id in approvals else "execution"
    return PendingCall(call, reason, tool=specs.get(call.name), loop=loop)


def _result(pending: PendingCall, results: Mapping[str, ToolResult]) -> ToolAnswer:
    """Returns the client's result of a call of its own function."""
    result = results.get(pending.call.id)
    if result is None:
        problem = f"the call {pending.call.id[:100]!r} of {pending.call.name[:100]!r} has no function_call_output"
        raise InvalidInputError(problem, path=_INPUT)
    return pending.result(*result.content, is_error=result.is_error)


_NEVER_KEPT = 1_000_000_000
"""Results are shortened before the loop has them, which would keep the whole text on the disk."""


@dataclass(frozen=True, slots=True)
class ToolRounds:
    """The rounds of one call: `tools` are those that the server runs, by the names that the model has for them,
    `own_tools` the names of the client's. `parts` are what the client, `owner`, is shown of its calls.
    """

    offer: ToolOffer
    tools: Mapping[str, ServerTool]
    own_tools: frozenset[str]
    parts: CallParts
    limits: ServerLimits
    entry: AuditEntry
    owner: str

    async def response(
        self, llm: abstractcore.LLM, call: ModelCall, timeout: float
    ) -> tuple[GenerateResponse[None], ModelReply]:
        """Returns the response of all rounds, and the reply for the client. Raises as `llm.arun` does."""
        async with self.offer.servers.keep_running():
            loop, answers = await self._begin_loop(call)
            response = await llm.aresume(
                loop, answers, tools=self._runnable, run_tools=self._policy, timeout=timeout, deps=None
            )
            await self.offer.servers.approved.wait_until_saved()
        events: list[StreamEvent] = []
        for number, reply in enumerate(response.steps):
            events += [] if number < len(loop.replies) else deltas_of(reply)
            events += [ToolEnded(step) for step in response.tool_steps if step.round == number]
        merged = self._merged_reply(call)
        return response, accumulate([*merged.feed(events), *merged.finish(response.pending)])

    @property
    def earlier(self) -> int:
        """How many replies of the loop an earlier request has asked for."""
        return 1 if self.offer.approvals else 0

    def stream(self, llm: abstractcore.LLM, call: ModelCall, timeout: float) -> RoundsStream:
        """Returns the stream of all rounds, which begins when it is entered."""
        return RoundsStream(self, llm, call, timeout)

    async def open_stream(
        self, stack: AsyncExitStack, llm: abstractcore.LLM, call: ModelCall, timeout: float
    ) -> tuple[abstractcore.AsyncStream[None], MergedReply]:
        """Returns the stream of the loop, which `stack` closes, and what merges it."""
        await stack.enter_async_context(self.offer.servers.keep_running())
        loop, answers = await self._begin_loop(call)
        stream = await llm.aresume(
            loop, answers, tools=self._runnable, run_tools=self._policy, timeout=timeout, stream=True
        )
        return await stack.enter_async_context(stream), self._merged_reply(call)

    async def _begin_loop(self, call: ModelCall) -> tuple[ToolLoop, tuple[ToolAnswer, ...]]:
        approved = partial(self.offer.servers.approved.answers, self.owner)
        return await resume_loop(next_trace_id(), call, self.offer.approvals, approved)

    def with_guards(self, guarding: Guarding) -> ToolRounds:
        """Returns these rounds with tools whose arguments the guards of the call see before they run, and whose results
        before the model.
        """
        tools = {name: replace(each, tool=_guard_tool(each.tool, guarding)) for name, each in self.tools.items()}
        return replace(self, tools=tools)

    def shown_reply(self, reply: ModelReply) -> ModelReply:
        """Returns a reply, of which guards may have changed the texts, as the client's wire format writes it."""
        return replace(reply, parts=tuple(map(self.parts.shown_part, reply.parts)))

    def shown_delta(self, delta: Delta) -> Delta:
        """Returns a delta, as `shown` does a reply."""
        return replace(delta, part=self.parts.shown_part(delta.part)) if isinstance(delta, PartDelta) else delta

    def runs(self, steps: Sequence[ToolStep]) -> list[dict[str, Any]]:
        """Returns the calls of tools of the server, as JSON data."""
        return [asdict(self._run_of(step)) for step in steps if step.call.name in self.tools]

    def _run_of(self, step: ToolStep) -> ToolRun:
        tool = self.tools[step.call.name]
        return ToolRun(tool.server, tool.name, step.outcome, round(step.seconds, 6))

    @property
    def _runnable(self) -> list[Any]:
        return [each.tool for each in self.tools.values()]

    @property
    def _policy(self) -> abstractcore.ToolPolicy:
        limits, most = self.limits, self.offer.most_calls
        return abstractcore.ToolPolicy(
            max_rounds=limits.tool_rounds,
            max_calls=limits.tool_calls if most is None else min(most, limits.tool_calls),
            timeout=limits.tool_seconds,
            max_result=_NEVER_KEPT,
            approve=self._decide,
            on_limit="answer",
            on_event=self._note,
        )

    def _decide(self, pending: PendingCall) -> Any:
        return self.offer.decide(pending, self.tools)

    def _note(self, event: ToolEvent) -> None:
        """Notes a call that has ended in the entry of its request, and its result if the client has approved it."""
        if isinstance(event, ToolEnded) and (approval := self.offer.approvals.get(event.step.call.id)) is not None:
            step = event.step
            self.offer.servers.approved.keep(self.owner, approval.request, step.call, step.result)
        if isinstance(event, ToolEnded) and event.step.call.name in self.tools:
            self.entry.tools.append(self._run_of(event.step))

    def _merged_reply(self, call: ModelCall) -> MergedReply:
        return MergedReply(self.own_tools, self.parts, call.model)


def _guard_tool(tool: Tool[..., Any], guarding: Guarding) -> Tool[..., Any]:
    async def run(call: ToolCall, context: ToolContext[Any]) -> ToolResult:
        checked = await guarding.tool_call(call)
        try:
            result: ToolResult = await tool.function(checked, context)
        except ToolFailed as error:  # may repeat what the server has sent
            result = call.result(str(error), is_error=True)
        return await guarding.result(call, result)

    run.__qualname__ = tool.function.__qualname__
    return Tool[..., Any].of(tool.spec, run, is_trusted=tool.is_trusted)


class RoundsStream:
    """The stream of a call whose tools the server runs, with the interface of `AsyncStream`."""

    def __init__(self, rounds: ToolRounds, llm: abstractcore.LLM, call: ModelCall, timeout: float) -> None:
        self._rounds = rounds
        self._llm = llm
        self._call = call
        self._timeout = timeout
        self._stack = AsyncExitStack()
        self._opened: tuple[abstractcore.AsyncStream[None], MergedReply] | None = None
        self._has_ended = False

    async def __aenter__(self) -> Self:
        self._opened = await self._rounds.open_stream(self._stack, self._llm, self._call, self._timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def read(self) -> Sequence[Delta]:
        """Returns the next deltas; none at the end."""
        if self._has_ended or self._opened is None:
            return ()
        stream, merged = self._opened
        while events := await stream.read():
            if deltas := merged.feed(events):
                return deltas
        self._has_ended = True
        await self._rounds.offer.servers.approved.wait_until_saved()
        return merged.finish(stream.response.pending)

    @property
    def response(self) -> GenerateResponse[None]:
        """The response of all rounds, at the end."""
        assert self._opened is not None
        return self._opened[0].response

    @property
    def partial(self) -> ModelReply | None:
        """The reply of the round that runs, as far as it has arrived."""
        return None if self._opened is None else self._opened[0].partial
