"""The state of a tool loop, from a conversation that ends with calls about which the client has decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    ModelCall,
    ModelReply,
    PendingCall,
    ToolAnswer,
    ToolCall,
    ToolLoop,
    ToolResult,
    ToolSpec,
)

from .offers import Approval

_INPUT = "input"


async def resumed(
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
    found = [number for number, message in enumerate(call.messages) if _decided(message.parts, approvals)]
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
    if len(_decided(reply.parts, approvals)) < len(approvals):
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


def _decided(parts: tuple[object, ...], approvals: Mapping[str, Approval]) -> list[ToolCall]:
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
